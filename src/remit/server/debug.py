"""S3's debug routes: the same operations under S3's paths, and a look at internals."""

from typing import Final

from msgspec.structs import replace

from remit.model.codec import to_json
from remit.operations.tasks import CREATE, DELETE
from remit.server import tasks
from remit.server.call import VIEW, Call, CallResult, read, route_of
from remit.store import tasks as stored

_MIRRORED: Final = {
    ("GET", "/api/tasks"),
    ("POST", "/api/tasks"),
    ("PATCH", "/api/tasks/{id}"),
    ("DELETE", "/api/tasks/{id}"),
    ("GET", "/api/tasks/{id}/log"),
}


async def look(call: Call) -> CallResult:
    """Return a task in every detail, with internals."""
    task = await call.house.db.read(stored.get, call.task_id)
    version, content = await tasks.detail(call)
    return CallResult(content | {"internal": to_json(task)}, headers={"ETag": f'"{version}"'})


ROUTES: Final = (
    *(
        replace(route, path=route.path.replace("/api/", "/api/debug/"))
        for route in (*tasks.ROUTES, route_of(CREATE), route_of(DELETE))
        if (route.method, route.path) in _MIRRORED
    ),
    read(
        "/api/debug/tasks/{id}", look, "One task in every detail", "DebugDetail", VIEW, tagged=True
    ),
)
