"""Form handlers of the notice settings, and a test notice."""

import asyncio
import os
from typing import Annotated, Final

from msgspec.structs import replace
from pydantic import BeforeValidator, Field

from remit.errors import BadInput
from remit.model.caller import Scope
from remit.model.notice import CONVERSATION
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult, Route
from remit.server.notices import TriedWay
from remit.server.web import notices_section, settings
from remit.settings import DEFAULT_FILE, NoticeSettings, edit, load
from remit.settings.notices import check, check_hour

_FILE: Final = "settings.toml"
_KEPT: Final = "Kept in settings.toml; it holds from now on."
_OUTDONE: Final = "Kept in settings.toml, but a variable of the environment counts instead."


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Words = Annotated[
    tuple[Annotated[str, Field(max_length=100)], ...],
    BeforeValidator(_listed),
    Field(max_length=40),
]


class NoticesForm(RequestBody):
    """The form: for each kind its ways; a kind without one is not sent."""

    question: Words = ()
    done: Words = ()
    failed: Words = ()
    lost: Words = ()
    missed: Words = ()
    refused: Words = ()
    urgent: Words = ()
    digest_at: Annotated[str, Field(max_length=20)] = "08:00"
    digest_over: Words = (CONVERSATION,)


async def save(call: Call) -> CallResult:
    """Write the notice settings into settings.toml; they apply at once."""
    said, house = call.read(NoticesForm), call.house
    told = {name: getattr(said, name) for name in NoticesForm.model_fields}
    wanted = replace(house.wishes.notices, **told)
    path = house.settings.home / _FILE
    try:
        check_hour(wanted.digest_at, "the form")
        check(wanted, house.settings.channels)
        await asyncio.to_thread(edit.put, path, "notices", told, DEFAULT_FILE)
        holds = await asyncio.to_thread(_holding, call)
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    house.wishes.notices = holds
    said_now = _KEPT if holds == wanted else _OUTDONE
    return await settings.section(call, "notices", {"said": said_now})


async def try_out(call: Call) -> CallResult:
    """Send a test notice over one way, and show the result."""
    way = call.read(TriedWay).way
    try:
        found = await call.house.herald.test(way)
    except BadInput as bad:
        return await settings.section(call, "notices", {"wrong": str(bad)}, 422)
    told = notices_section.test_result_sentence(found, notices_section.ways(call))
    return await settings.section(call, "notices", {"said": told})


def _holding(call: Call) -> NoticeSettings:
    """Return what the file and the environment say together."""
    environ = {**os.environ, "REMIT_HOME": str(call.house.settings.home)}
    return load(environ).notices


ROUTES: Final = (
    Route(
        method="POST",
        path="/settings/notices",
        does=save,
        says="What is told where",
        gives="Page",
        page=True,
        body=NoticesForm,
        scope=Scope.ADMIN,
    ),
    Route(
        method="POST",
        path="/settings/notices/test",
        does=try_out,
        says="Try a way out",
        gives="Page",
        page=True,
        body=TriedWay,
        scope=Scope.ADMIN,
    ),
)
