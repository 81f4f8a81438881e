"""Which tasks a list is asked for: parameters, the filter line, and where the page begins."""

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput, NotFound
from remit.intake.zone import owners
from remit.model import ids
from remit.model.codec import Json, JsonMap, moment
from remit.model.contract import ContractType
from remit.model.status import TERMINAL, Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.model.view import SCHEMA_VERSION, show
from remit.server import filters
from remit.server.call import VIEW, Answer, Call, Query, numbers
from remit.server.filters import DUE_WORDS, STATUS_WORDS, At
from remit.store import search
from remit.store.search import Count, Filter, Page, Sort
from remit.wiring import House


async def find(call: Call) -> Answer:
    """The tasks that match, a page at a time."""
    asked = wanted(call)
    page = await pages(call, asked)
    shown: list[Json] = [show(task, call.view) for task in page.tasks]
    told: JsonMap = {"schema_version": SCHEMA_VERSION, "tasks": shown, "next": page.next}
    told["asks"] = [task.id for task in page.tasks if task.id in page.asks]
    counts = await call.house.db.read(search.count, asked) if call.flag("count") else None
    return Answer(told | {"count": counted(counts) if counts else None})


async def pages(call: Call, asked: Filter) -> Page:
    """One page; a cursor that was never ours is refused by that name."""
    try:
        return await call.house.db.read(search.page, asked)
    except NotFound:
        raise _bad_cursor(asked.before) from None


def counted(count: Count) -> JsonMap:
    return {
        "total": count.total,
        "more": count.more,
        "byState": dict[str, Json](count.by_status),
        "asks": count.asks,
    }


def at(house: House) -> At:
    """What today is, and what the channels are called, as things stand now."""
    zone = owners(house.settings.zone, os.environ).zone
    return At(house.clock.now(), zone, _channels(house))


def wanted(call: Call) -> Filter:
    """All that a request says about a list: the filter line, then what has a parameter."""
    here = at(call.house)
    line = call.text("q")
    asked = filters.typed(line, here) if line is not None else Filter()
    if line is not None and asked == Filter():
        raise BadInput("Search for at least one word.", field="q")
    asked = _said(call, asked, here)
    cursor = call.text("cursor")
    return replace(
        asked,
        statuses=(*asked.statuses, *call.words("status", _statuses(deleted=asked.deleted))),
        sort=call.word("sort", Sort) or asked.sort,
        before=None if cursor is None else _cursor(call, asked, cursor),
        limit=call.number("limit", 50, least=1, most=search.MOST),
    )


def _said(call: Call, asked: Filter, here: At) -> Filter:
    since, until = _time(call, "since"), _time(call, "until")
    asked = replace(
        asked,
        type=call.word("type", TaskType) or asked.type,
        source=call.word("source", SourceKind) or asked.source,
        priority=call.word("priority", Priority) or asked.priority,
        taint=call.word("taint", Taint) or asked.taint,
        contract=call.word("contract", ContractType) or asked.contract,
        unverified=asked.unverified or call.flag("unverified"),
        asks=asked.asks or call.flag("asks"),
        deleted=asked.deleted or call.flag("deleted"),
        since=since or asked.since,
        until=until or asked.until,
    )
    for name in ("channel", "series", "due"):
        asked = _as_typed(call, name, asked, here)
    return asked


def _as_typed(call: Call, name: str, asked: Filter, here: At) -> Filter:
    """A parameter that means what the same word means in the filter line."""
    text = call.text(name)
    try:
        return asked if text is None else filters.read(name, text, asked, here)
    except BadInput as bad:
        raise BadInput(str(bad), field=name) from None


def _time(call: Call, name: str) -> datetime | None:
    text = call.text(name)
    try:
        return None if text is None else moment(text)
    except BadInput as bad:
        raise BadInput(f"{name}: {bad}", field=name) from None


def _statuses(*, deleted: bool) -> Mapping[str, tuple[Status, ...]]:
    # Of what was deleted, S3 calls everything so, whatever it was before.
    return {**STATUS_WORDS, "deleted": tuple(TERMINAL)} if deleted else STATUS_WORDS


def _cursor(call: Call, asked: Filter, text: str) -> str:
    if (call.word("sort", Sort) or asked.sort) is not Sort.NEWEST:
        return text
    try:
        return ids.task_id(text)
    except BadInput:
        raise _bad_cursor(text) from None


def _bad_cursor(text: str | None) -> BadInput:
    sentence = f"{text!r:.60} is no cursor of ours; give `next` of the page before."
    return BadInput(sentence, field="cursor")


def _channels(house: House) -> dict[str, str]:
    found: dict[str, str] = {}
    for way in house.outfit.ways:
        for word in (way.name, *way.aliases, way.kind):
            found.setdefault(word.casefold(), way.name)
    return found


def words(*known: str) -> JsonMap:
    return {"enum": list[Json](known)}


_TEXT: Final[JsonMap] = {"type": "string"}
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
FILTERS: Final = (
    Query(
        "status",
        "Where it stands, in our words or S3's; `running` also finds what is being verified or"
        " delivered, as S3 has it. May be repeated.",
        words(*STATUS_WORDS),
        many=True,
    ),
    Query("type", "Whether it waits for a time.", words(*TaskType)),
    Query("source", "Where it came from.", words(*SourceKind)),
    Query("priority", "How urgent it is.", words(*Priority)),
    Query("taint", "The least trusted thing it has read.", words(*Taint)),
    Query("contract", "How it is proven; advisory work is not verified.", words(*ContractType)),
    Query("unverified", "Only what no check stands for.", words("true", "false")),
    Query("channel", "Where something of it goes.", _TEXT),
    Query("series", "Of one series, by its id.", _TEXT),
    Query("due", "For when it is planned, if it is open.", words(*DUE_WORDS)),
    Query("since", "Created at or after.", _TIME),
    Query("until", "Created before.", _TIME),
    Query("asks", "Only what waits for the owner.", words("true", "false")),
    Query(
        "q",
        "Words of its title, instructions or result, the last may be cut short; and filters as"
        " `status:failed channel:email is:recurring`.",
        _TEXT,
    ),
    Query("sort", "In which order.", {"enum": list[Json](Sort), "default": "newest"}),
    Query("count", "Whether to count all that match, too.", words("true", "false")),
    Query("cursor", "`next` of the page before.", _TEXT),
    numbers("limit", "How many.", 50, 1, search.MOST),
    Query("deleted", "What was deleted, and only that.", words("true", "false")),
    VIEW,
)
