"""Lists of tasks by filter, and one search over everything."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.calendar import entry
from remit.errors import BadInput, NotFound, UnknownName
from remit.language import outside_text
from remit.language.tokens import fold
from remit.model import ids
from remit.model.codec import Json, JsonMap, moment
from remit.model.contract import ContractType
from remit.model.recurrence import Series
from remit.model.status import TERMINAL, Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.model.view import SCHEMA_VERSION, show
from remit.operations import filters, upkeep
from remit.operations.filters import DUE_WORDS, STATUS_WORDS, FilterContext
from remit.operations.shapes import review_to_json, similar_to_json
from remit.server.call import Call, CallResult, result_of, wrong_cursor
from remit.server.routes import CURSOR, VIEW, QueryParameter, numbers, read
from remit.store import calendars, inbox, search, series
from remit.store.calendars import StoredResource
from remit.store.database import Tx
from remit.store.inbox import WaitingReview
from remit.store.search import SortOrder, TaskCount, TaskFilter, TaskPage


def words(*known: str) -> JsonMap:
    return {"enum": list[Json](known)}


_LIMIT: Final = numbers("limit", "How many.", 50, 1, search.MOST)
_OF_EACH: Final = numbers("limit", "How many of each.", 10, 1, 50)
_TIME: Final[JsonMap] = {"type": "string", "format": "date-time"}
FILTERS: Final = (
    QueryParameter(
        "status",
        "Where it stands, in our words or S3's; `running` also finds what is being verified or"
        " delivered, as S3 has it. May be repeated.",
        words(*STATUS_WORDS),
        many=True,
    ),
    QueryParameter("type", "Whether it waits for a time.", words(*TaskType)),
    QueryParameter("source", "Where it came from.", words(*SourceKind)),
    QueryParameter("priority", "How urgent it is.", words(*Priority)),
    QueryParameter("taint", "The least trusted thing it has read.", words(*Taint)),
    QueryParameter(
        "contract", "How it is proven; advisory work is not verified.", words(*ContractType)
    ),
    QueryParameter("unverified", "Only what no check stands for.", words("true", "false")),
    QueryParameter("channel", "Where something of it goes."),
    QueryParameter("series", "Of one series, by its id."),
    QueryParameter("due", "For when it is planned, if it is open.", words(*DUE_WORDS)),
    QueryParameter("since", "Created at or after.", _TIME),
    QueryParameter("until", "Created before.", _TIME),
    QueryParameter("asks", "Only what waits for the owner.", words("true", "false")),
    QueryParameter(
        "q",
        "Words of its title, instructions or result, the last may be cut short; and filters as"
        " `status:failed channel:email is:recurring`.",
        {"type": "string", "pattern": r"\w"},
    ),
    QueryParameter("sort", "In which order.", {"enum": list[Json](SortOrder), "default": "newest"}),
    QueryParameter("count", "Whether to count all that match, too.", words("true", "false")),
    CURSOR,
    _LIMIT,
    QueryParameter("deleted", "What was deleted, and only that.", words("true", "false")),
    VIEW,
)


@read("/api/tasks", "TaskPage", *FILTERS)
async def find(call: Call) -> CallResult:
    """List tasks, newest first if nothing else is said."""
    asked = filter_of_request(call)
    page = await pages(call, asked)
    shown: list[Json] = [show(task, call.view) for task in page.tasks]
    content: JsonMap = {"schema_version": SCHEMA_VERSION, "tasks": shown, "next": page.next}
    content["asks"] = [task.id for task in page.tasks if task.id in page.asks]
    counts = await call.app.db.read(search.count, asked) if call.flag("count") else None
    return CallResult(content | {"count": count_to_json(counts) if counts else None})


async def pages(call: Call, asked: TaskFilter) -> TaskPage:
    """Return one page; an invalid cursor is refused by name."""
    try:
        return await call.app.db.read(search.page, asked)
    except NotFound:
        raise wrong_cursor(asked.before) from None


def count_to_json(count: TaskCount) -> JsonMap:
    return {
        "total": count.total,
        "more": count.more,
        "byState": dict[str, Json](count.by_status),
        "asks": count.asks,
    }


def filter_of_request(call: Call) -> TaskFilter:
    """All that a request says about a list: the filter line, then what has a parameter."""
    here = filters.context(call.app)
    line = call.text("q")
    asked = filters.parse_filter(line, here) if line is not None else TaskFilter()
    if line is not None and asked == TaskFilter():
        raise BadInput("Search for at least one word.", field="q")
    asked = _with_query(call, asked, here)
    sort = call.word("sort", SortOrder) or asked.sort
    before = call.cursor(ids.task_id) if sort is SortOrder.NEWEST else call.text("cursor")
    return replace(
        asked,
        statuses=(*asked.statuses, *call.words("status", _statuses(deleted=asked.deleted))),
        sort=sort,
        before=before,
        limit=_LIMIT.of(call),
    )


def _with_query(call: Call, asked: TaskFilter, here: FilterContext) -> TaskFilter:
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
        asked = _filter_by_parameter(call, name, asked, here)
    return asked


def _filter_by_parameter(
    call: Call, name: str, asked: TaskFilter, here: FilterContext
) -> TaskFilter:
    """Apply a parameter that means the same as in the filter line."""
    text = call.text(name)
    try:
        return asked if text is None else filters.read(name, text, asked, here)
    except BadInput as bad:
        raise UnknownName(str(bad), field=name) from None


def _time(call: Call, name: str) -> datetime | None:
    text = call.text(name)
    try:
        return None if text is None else moment(text)
    except BadInput as bad:
        raise type(bad)(f"{name}: {bad}", field=name) from None


def _statuses(*, deleted: bool) -> Mapping[str, tuple[Status, ...]]:
    # S3 calls every deleted task so, whatever its status was.
    return {**STATUS_WORDS, "deleted": tuple(TERMINAL)} if deleted else STATUS_WORDS


_MOST: Final = 100


class CalendarRefusalRow(Struct, frozen=True):
    resource: StoredResource
    title: str
    calendar: str  # the owner's name for it
    why: str

    @property
    def seen(self) -> bool:
        return self.resource.seen


def look(tx: Tx) -> list[CalendarRefusalRow]:
    """Return the refused events, unseen first."""
    names = {(each.account, each.path): each.name for each in calendars.list_calendars(tx)}
    found = [_refusal(each, names) for each in calendars.list_refused(tx, _MOST)]
    return sorted(found, key=lambda each: each.seen)


def refusals_to_json(found: list[CalendarRefusalRow]) -> list[Json]:
    """Return the same for programs."""
    listed: list[Json] = []
    for each in found:
        one: JsonMap = {
            "account": each.resource.account,
            "calendar": each.calendar,
            "uid": each.resource.uid,
            "title": each.title,
            "why": each.why,
            "seen": each.seen,
        }
        listed.append(one)
    return listed


def _refusal(resource: StoredResource, names: dict[tuple[str, str], str]) -> CalendarRefusalRow:
    name = names.get((resource.account, resource.calendar), resource.calendar)
    title = outside_text.title(entry.value(resource.body, "SUMMARY"))
    return CalendarRefusalRow(resource, title, f"{resource.account}/{name}", resource.why or "")


@read("/api/recall", "Recall")
async def look_recall(call: Call) -> CallResult:
    """How the index of tasks stands."""
    return CallResult(await call.app.recollection.state())


_LOOKED: Final = 500  # open questions and series that are searched


@read(
    "/api/search",
    "Found",
    QueryParameter("q", "Words, and filters as in the list of tasks."),
    QueryParameter("like", "A task's id, or words: only what is like it."),
    _OF_EACH,
    VIEW,
)
async def search_everything(call: Call) -> CallResult:
    """Look for words in tasks, open questions and series."""
    line, limit = call.text("q"), _OF_EACH.of(call)
    like = call.text("like")
    if like is not None and like.strip():
        found = await call.app.recollection.like(like, limit)
        return CallResult(_search_json([], alike=similar_to_json(found, call.view)))
    if line is None or not _search_words(line):
        return CallResult(_search_json([]))
    asked = filters.parse_filter(line, filters.context(call.app))
    page = await call.app.db.read(search.page, replace(asked, limit=limit))
    now, words = call.app.clock.now(), _search_words(asked.text or "")
    others = (
        await call.app.db.read(_search_questions_and_series, now, words, limit)
        if words
        else ([], [])
    )
    shown = {task.id for task in page.tasks}
    # Filters narrow the list; similar tasks would ignore them.
    plain = (
        asked.text if replace(asked, text=None, limit=limit) == TaskFilter(limit=limit) else None
    )
    near = await call.app.recollection.finder.find(plain, limit) if plain else []
    undo = call.app.settings.deliver.undo
    content = _search_json(
        [show(task, call.view) for task in page.tasks],
        more=page.next is not None,
        reviews=[review_to_json(each, undo) for each in others[0]],
        series=[{"id": each.id, "title": each.title} for each in others[1]],
        alike=similar_to_json([each for each in near if each.task.id not in shown], call.view),
    )
    return CallResult(content)


def _search_json(tasks: list[Json], *, more: bool = False, **parts: list[Json]) -> JsonMap:
    none: JsonMap = {"reviews": [], "series": [], "alike": []}
    return {"tasks": tasks, "more": more, **none, **parts}


def _search_questions_and_series(
    tx: Tx, now: datetime, words: list[str], limit: int
) -> tuple[list[WaitingReview], list[Series]]:
    asked = [
        each
        for each in inbox.questions(tx, now, limit=_LOOKED)
        if _contains_words(f"{each.task.title} {each.review.question}", words)
    ]
    repeated = [
        each for each in series.list_series(tx, limit=_LOOKED) if _contains_words(each.title, words)
    ]
    return asked[:limit], repeated[:limit]


def _search_words(text: str) -> list[str]:
    return [fold(word) for word in re.findall(r"\w+", text)]


def _contains_words(text: str, words: list[str]) -> bool:
    folded = fold(text)
    return all(word in folded for word in words)


@read("/api/views", "Views")
async def list_views(call: Call) -> CallResult:
    """Filters with a name."""
    return result_of(await upkeep.list_views(call))
