"""The table of operations: each row is asked for over HTTP, and nothing writes beside it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import httpx2
import pytest
from msgspec import structs

import remit
from remit.model.caller import ALL, Caller, Scope
from remit.operations.arguments import Arguments, TaskChange
from remit.operations.callers import CallerRegistry
from remit.operations.operation import AgentRule, Operation, OperationPorts, OperationRequest
from remit.operations.permission import NotAllowed
from remit.operations.table import OPERATIONS
from remit.server import app as pages_app
from remit.server import openapi
from remit.server.routes import Route
from tests.peer.peers import Peers
from tests.server.besieged import bearer, rows
from tests.server.served import Answer

# These take more than a scope: a browser that is signed in, or every scope there is.
TAKE_MORE: Final = ("subscribe_push", "unsubscribe_push", "invite_browser")
DOORS: Final = ("a2a", "cli", "mcp", "peer", "server")
# What a door keeps for itself: which requests were answered, that a person was there. A provider's
# call has no caller: it is believed by its signature.
OWN_WRITES: Final = ("server/app.py", "server/open_addresses.py", "server/call.py")
WRITES: Final[dict[str, set[str]]] = {
    "db": {"write"},
    "_db": {"write"},
    "owner": set(),
    "inbox": {"decide", "grant", "later"},
    "intake": {"admit", "edit", "receive"},
    "permits": {"permit", "switch_on"},
    "talk": {"begin", "say", "resume"},
    "push": {"subscribe", "unsubscribe"},
    "herald": {"test"},
    "reflection": {"now", "revert"},
    "recollection": {"rebuild", "turn_off"},
    "calendars": {"look"},
    "doors": {"begin"},
}


def _route(operation: Operation) -> Route:
    kind = operation.arguments
    address = kind.http_method(), kind.http_path()
    return next(each for each in rows() if (each.method, each.path) == address)


def _send(app: Peers, operation: Operation, secret: str) -> httpx2.Response:
    route, action = _route(operation), operation.arguments.__struct_config__.tag
    if action is None:
        return app.send(route, bearer(secret))
    return app.ask("PATCH", app.place(route), {"action": action}, secret=secret)


def test_every_row_is_reached_with_its_scopes_and_refused_without_one_of_them(app: Peers) -> None:
    lacking = {
        scope: app.secret(f"no {scope}", *(each for each in Scope if each is not scope))
        for scope in Scope
    }
    holding: dict[tuple[Scope, ...], str] = {}
    cookie = {"Cookie": app.cookie(), "Origin": app.pages, "Accept": "text/html"}
    for operation in OPERATIONS:
        if operation.page:
            cookie["Cookie"] = app.cookie()  # a new password signs browsers out
            app.url, before = app.pages, app.url
            answer = app.send(_route(operation), cookie)
            app.url = before
            assert answer.status_code not in (401, 403, 405), (operation.name, answer.text[:300])
            continue
        for scope in operation.scopes:
            refused = _send(app, operation, lacking[scope])
            assert refused.status_code == 403, operation.name
            assert f"it needs the scope `{scope}`." in refused.json()["detail"], operation.name
        if operation.scopes not in holding:
            holding[operation.scopes] = app.secret(f"{len(holding)}", *operation.scopes)
        answer = _send(app, operation, holding[operation.scopes])
        assert (answer.status_code == 403) is (operation.name in TAKE_MORE), answer.text
        assert answer.status_code < 500, (operation.name, answer.text)


async def test_every_row_itself_refuses_whoever_lacks_a_scope_by_whatever_door_they_came() -> None:
    for operation in OPERATIONS:
        for scope in operation.scopes:
            caller = Caller("nina", ALL - {scope})
            request = OperationRequest(
                app=cast("OperationPorts", None),
                ref="1",
                callers=cast("CallerRegistry", None),
                caller=caller,
            )
            with pytest.raises(NotAllowed, match=f"nina .*`{scope}`"):
                await operation.perform(request, cast("Arguments", None))


def test_the_description_of_the_api_says_what_the_row_says() -> None:
    paths = cast("Answer", openapi.document(pages_app.table(1, debug=False), 1))["paths"]
    for operation in (each for each in OPERATIONS if not each.page):
        kind = operation.arguments
        told = paths[kind.http_path()][kind.http_method().lower()]
        given = told["responses"][str(operation.status)]
        body = str(told.get("requestBody", ""))
        elsewhere = {*kind.in_path().values(), *kind.internal}
        takes = {each.name for each in structs.fields(kind)} - elsewhere
        name = TaskChange.__name__ if kind.address == TaskChange.address else kind.__name__

        assert told["x-scopes"] == [scope.value for scope in operation.scopes], operation.name
        is_action = kind.__struct_config__.tag is not None  # one of several at one address
        assert is_action or told["summary"] == operation.summary
        assert f"schemas/{operation.result}'" in str(given) or operation.result == "Task"
        assert (f"schemas/{name}'" in body) is (bool(takes) or name == "TaskChange"), operation.name
        assert bool(body) is not operation.bodiless


def test_each_row_has_a_name_a_sentence_and_arguments_of_its_own() -> None:
    names = [operation.name for operation in OPERATIONS]
    kinds = [operation.arguments for operation in OPERATIONS]

    assert len({*names}) == len({*kinds}) == len(names)
    for operation in OPERATIONS:
        assert operation.sentence.endswith("."), operation.name
        never = operation.scope in (Scope.APPROVE, Scope.ADMIN) or bool(operation.people)
        assert (operation.agents is AgentRule.NEVER) is never, operation.name


def test_no_door_writes_beside_the_table() -> None:
    root = Path(remit.__file__).parent
    found = [
        f"{path.relative_to(root)}:{line} {what}"
        for door in DOORS
        for path in sorted((root / door).rglob("*.py"))
        if str(path.relative_to(root)) not in OWN_WRITES
        for line, what in _writes(ast.parse(path.read_text("utf-8")))
    ]

    assert found == []


def _writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
            continue
        room, verb = node.value, node.attr
        of_app = isinstance(room.value, ast.Name | ast.Attribute)
        verbs = WRITES.get(room.attr)
        if of_app and verbs is not None and (verb in verbs or not verbs):
            owner = room.value
            name = owner.attr if isinstance(owner, ast.Attribute) else cast("ast.Name", owner).id
            if name in ("app", "_app", "self", "call") or room.attr in ("db", "_db"):
                yield node.lineno, f"{room.attr}.{verb}"
