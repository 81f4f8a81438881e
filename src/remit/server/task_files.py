"""The files of a task: listed, and downloaded. A browser shows none of them, it only saves them."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from remit.errors import NotFound
from remit.files import checks
from remit.model.codec import Json, JsonMap
from remit.model.task_file import TaskFile
from remit.operations.settings_arguments import KeepFile
from remit.operations.table import perform
from remit.server.call import Call, CallResult, page, read
from remit.store import tasks
from remit.store.opening import task_files

# Whatever is in it, a browser runs and loads nothing of it.
_SANDBOX: Final = "sandbox; default-src 'none'; frame-ancestors 'none'"
_SHOWN: Final = checks.IMAGES | checks.OFFICE | {checks.PDF, checks.ZIP, checks.TEXT, "text/csv"}


async def listed(call: Call) -> CallResult:
    task = await call.house.db.read(tasks.get, call.task_id)
    found: list[Json] = [file_to_json(each) for each in task.files]
    return CallResult({"files": found})


async def download(call: Call) -> CallResult:
    """Return a file of this task; a hash alone opens nothing."""
    task = await call.house.db.read(tasks.get, call.task_id)
    file = next((each for each in task.files if each.sha256 == call.path["sha256"]), None)
    kept = task_files(call.house.settings)
    content = await asyncio.to_thread(kept.read, file.sha256) if file else None
    if file is None or content is None:
        raise NotFound("file", f"{call.path['sha256'][:12]!r} of {call.task_id}")
    name = quote(file.name, safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": _SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    media = file.type if file.type in _SHOWN else checks.UNKNOWN
    return CallResult(None, media=media, headers=headers, raw=content)


def file_to_json(file: TaskFile) -> JsonMap:
    return {
        "name": file.name,
        "type": file.type,
        "size": file.size,
        "sha256": file.sha256,
        "made": file.made,
        "taint": file.taint,
    }


async def named_files(call: Call, named: Sequence[str]) -> dict[str, str]:
    """Return the files that a form names, by their names: each says its hash and its name.

    What a form without a script carries is kept first.
    """
    for each in call.uploads:
        content = base64.b64encode(each.content).decode("ascii")
        await perform(call, KeepFile(each.name[:300] or "file", content))
    found: dict[str, str] = {}
    for one in named:
        digest, _, given_name = one.partition(" ")
        name = checks.safe_name(given_name)
        while found.get(name, digest) != digest:
            name = f"copy of {name}"
        found[name] = digest
    return found


ROUTES: Final = (
    read("/api/tasks/{id}/files", listed, "The files of a task, in and out", "TaskFiles"),
    read(
        "/api/tasks/{id}/files/{sha256}", download, "One of its files, to be saved", "FileContent"
    ),
)
PAGES: Final = (page("/tasks/{id}/files/{sha256}", download, "One of its files, to be saved"),)
