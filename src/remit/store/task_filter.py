"""The filter of a task list, the indexes it can be read along, and its search words.

The last word may be unfinished. A prefix search in SQLite collects every task of every matching
word first. So the prefix is expanded here to the words that begin with it, if they are few; each is
then read only as far as the list needs.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput, Conflict, NotFound
from remit.model.contract import ContractType
from remit.model.ids import SeriesId, SessionId
from remit.model.status import TERMINAL, Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.store import rows
from remit.store.database import Cell, Tx

MAX_VIEWS: Final = 100


class SortOrder(StrEnum):
    NEWEST = "newest"
    UPDATED = "updated"  # most recently changed first
    DUE = "due"  # open tasks with a time, soonest first


class SearchWords(Struct, frozen=True):
    match: str
    terms: int | None = None  # words probed per task; None: that needs a walk
    is_common: bool = False


class TaskFilter(Struct, frozen=True, kw_only=True):
    """A filter; all set fields must match."""

    statuses: tuple[Status, ...] = ()
    type: TaskType | None = None
    source: SourceKind | None = None
    priority: Priority | None = None
    taint: Taint | None = None
    contract: ContractType | None = None  # its contract type
    unverified: bool = False  # advice, and results that no check confirms
    channel: str | None = None  # it has a delivery there
    session: SessionId | None = None
    series: SeriesId | None = None
    recurring: bool | None = None
    asks: bool = False  # it has an open question
    since: datetime | None = None  # when it was created
    until: datetime | None = None
    planned_since: datetime | None = None  # planned for, if it is open
    planned_until: datetime | None = None
    text: str | None = None
    words: SearchWords | None = None  # the same, looked up in the index; filled in by the reader
    deleted: bool = False  # only deleted tasks
    sort: SortOrder = SortOrder.NEWEST
    before: str | None = None  # the end of the previous page
    limit: int = 50

    @property
    def is_planned(self) -> bool:
        return self.planned_since is not None or self.planned_until is not None


class SavedView(Struct, frozen=True):
    """A filter with a name."""

    name: str
    filter: str  # as typed
    created_at: datetime


class ListIndex(Struct, frozen=True):
    """An index to read along; its conditions narrow the list before rows are read."""

    tables: str
    where: tuple[str, ...] = ()
    order: str = "tasks.no DESC"
    key: str = "tasks.no"  # compared with a cursor
    params: dict[str, Cell] = field(default_factory=dict)


_UNVERIFIED: Final = "(tasks.contract_type = 'advisory' OR tasks.unproven = 1)"
WHOLE: Final = ListIndex("tasks NOT INDEXED")
PLANNED: Final = ListIndex(
    "tasks INDEXED BY tasks_planned",
    ("tasks.scheduled_for IS NOT NULL", "tasks.completed_at IS NULL"),
    "tasks.scheduled_for, tasks.no",
)
JOURNAL: Final = ListIndex(
    "events CROSS JOIN tasks ON tasks.id = events.task_id AND tasks.events = events.n",
    order="events.seq DESC",
    key="events.seq",
)
# No task is in both.
_UNVERIFIED_WAY: Final = (
    ListIndex(
        "tasks INDEXED BY tasks_by_contract",
        ("tasks.contract_type = 'advisory'", "tasks.contract_type <> 'verifiable'"),
    ),
    ListIndex("tasks INDEXED BY tasks_unproven", ("tasks.unproven = 1",)),
)
_EARLIER: Final = (
    "SELECT 1 FROM deliveries AS other WHERE other.task_id = deliveries.task_id"
    " AND other.channel = :channel AND (other.n, other.part) < (deliveries.n, deliveries.part)"
)
# A task with several deliveries on one channel is found by the first of them.
_CHANNEL: Final = ListIndex(
    "deliveries INDEXED BY deliveries_by_channel CROSS JOIN tasks ON tasks.id = deliveries.task_id",
    (
        "deliveries.channel = :channel",
        "deliveries.channel <> 'dashboard'",
        f"NOT EXISTS ({_EARLIER})",
    ),
    "deliveries.task_id DESC",
)
_ASKS: Final = (
    "(SELECT DISTINCT task_id FROM reviews INDEXED BY reviews_open WHERE decided_at IS NULL)"
    " AS asked CROSS JOIN tasks ON tasks.id = asked.task_id"
)
ASKS: Final = (
    "tasks.id IN (SELECT task_id FROM reviews INDEXED BY reviews_open WHERE decided_at IS NULL)"
)
_TEXT: Final = "tasks_text CROSS JOIN tasks NOT INDEXED ON tasks.no = tasks_text.rowid"
_PROBE: Final = "CROSS JOIN tasks_text ON tasks_text.rowid = tasks.no"
_MATCH: Final = "tasks_text MATCH :text"


def leads(wanted: TaskFilter) -> list[tuple[ListIndex, ...]]:
    """Return every way to read this list except by text; one may merge several indexes."""
    found: list[tuple[ListIndex, ...]] = [(each,) for each in _words(wanted)]
    statuses = wanted.statuses or (tuple(TERMINAL) if wanted.deleted else ())
    if wanted.unverified:
        found.append(_UNVERIFIED_WAY)
    if statuses:
        found.append(tuple(_status(each, deleted=wanted.deleted) for each in _once(statuses)))
    return found


def by_text(words: SearchWords, among: Sequence[ListIndex] = ()) -> ListIndex:
    """Read along the tasks that contain the words; `among`: restricted to a few known ones."""
    key, where = "tasks_text.rowid", [_MATCH]
    params: dict[str, Cell] = {"text": words.match}
    for lead in among:
        params |= lead.params
    if among:
        # The plus keeps SQLite from searching each of them again.
        where.append(f"+{key} IN ({' UNION ALL '.join(map(_numbers, among))})")
    return ListIndex(_TEXT, tuple(where), f"{key} DESC", key, params)


def newest_by_text(words: SearchWords, most: int, join: str = "CROSS JOIN") -> ListIndex:
    """Read the newest matches of the words, whatever the other filters say."""
    hits = f"(SELECT rowid AS no FROM tasks_text WHERE {_MATCH} ORDER BY no DESC LIMIT :hits)"  # noqa: S608
    tables = f"{hits} AS hits {join} tasks NOT INDEXED ON tasks.no = hits.no"
    return ListIndex(tables, params={"text": words.match, "hits": most})


def probe_words(lead: ListIndex, words: SearchWords) -> ListIndex:
    """Read along another index and probe each task for the words."""
    return replace(
        lead,
        tables=f"{lead.tables} {_PROBE}",
        where=(*lead.where, _MATCH),
        params={**lead.params, "text": words.match},
    )


def _numbers(lead: ListIndex) -> str:
    return f"SELECT tasks.no FROM {lead.tables} WHERE {' AND '.join(lead.where or ('TRUE',))}"  # noqa: S608


def conditions(wanted: TaskFilter) -> tuple[list[str], dict[str, Cell]]:
    """Return all conditions and their parameters."""
    where = [f"tasks.deleted_at IS {'NOT ' if wanted.deleted else ''}NULL"]
    params: dict[str, Cell] = {}
    for condition, name, value in _conditions(wanted):
        if value is not None:
            where.append(condition)
            params[name] = rows.ms(value) if isinstance(value, datetime) else value
    if wanted.statuses:
        names = ", ".join(f"'{status.value}'" for status in _once(wanted.statuses))
        where.append(f"tasks.status IN ({names})")
    where += _flags(wanted)
    return where, params


def _conditions(wanted: TaskFilter) -> Iterator[tuple[str, str, str | datetime | None]]:
    yield "tasks.type = :type", "type", wanted.type
    yield "tasks.source_kind = :source", "source", wanted.source
    yield "tasks.priority = :priority", "priority", wanted.priority
    yield "tasks.taint = :taint", "taint", wanted.taint
    yield "tasks.contract_type = :contract", "contract", wanted.contract
    yield "tasks.session_id = :session", "session", wanted.session
    yield "tasks.series_id = :series", "series", wanted.series
    yield "tasks.created_at >= :since", "since", wanted.since
    yield "tasks.created_at < :until", "until", wanted.until
    yield "tasks.scheduled_for >= :planned_since", "planned_since", wanted.planned_since
    yield "tasks.scheduled_for < :planned_until", "planned_until", wanted.planned_until
    sent = "SELECT 1 FROM deliveries WHERE task_id = tasks.id AND channel = :channel"
    yield f"EXISTS ({sent})", "channel", wanted.channel


def _flags(wanted: TaskFilter) -> Iterator[str]:
    if wanted.recurring is not None:
        yield f"tasks.series_id IS {'NOT ' if wanted.recurring else ''}NULL"
    if wanted.asks:
        yield ASKS
    if wanted.is_planned:
        yield "tasks.completed_at IS NULL"
    if wanted.unverified:
        yield _UNVERIFIED


def _words(wanted: TaskFilter) -> Iterator[ListIndex]:
    for column, index, common, value in (
        ("tasks.source_kind", "source", SourceKind.MANUAL, wanted.source),
        ("tasks.taint", "taint", Taint.OWNER, wanted.taint),
        ("tasks.priority", "priority", Priority.LOW, wanted.priority),
        ("tasks.contract_type", "contract", ContractType.VERIFIABLE, wanted.contract),
    ):
        if value not in (None, common):
            where = (f"{column} = :{index}", f"{column} <> '{common.value}'")
            yield ListIndex(f"tasks INDEXED BY tasks_by_{index}", where, params={index: value})
    if wanted.channel not in (None, "dashboard"):
        yield replace(_CHANNEL, params={"channel": wanted.channel})
    if wanted.asks:
        yield ListIndex(_ASKS)
    yield from _plain(wanted)


def _plain(wanted: TaskFilter) -> Iterator[ListIndex]:
    if wanted.is_planned:
        yield replace(PLANNED, order="tasks.no DESC")
    if wanted.type is TaskType.SCHEDULED:
        yield ListIndex("tasks INDEXED BY tasks_scheduled", ("tasks.type = 'scheduled'",))
    if wanted.session is not None:
        where = ("tasks.session_id = :session",)
        yield ListIndex(
            "tasks INDEXED BY tasks_by_session", where, params={"session": wanted.session}
        )
    if wanted.series is not None:
        where = ("tasks.series_id = :series",)
        yield ListIndex("tasks INDEXED BY tasks_by_series", where, params={"series": wanted.series})
    elif wanted.recurring:
        yield ListIndex("tasks INDEXED BY tasks_recurring", ("tasks.series_id IS NOT NULL",))


def _status(status: Status, *, deleted: bool) -> ListIndex:
    stands = f"tasks.status = '{status.value}'"
    if deleted:
        where = (stands, "tasks.deleted_at IS NOT NULL")
        return ListIndex("tasks INDEXED BY tasks_deleted", where)
    return ListIndex("tasks INDEXED BY tasks_by_status", (stands,))


def _once(statuses: tuple[Status, ...]) -> list[Status]:
    return list(dict.fromkeys(statuses))


def save_view(tx: Tx, name: str, line: str, now: datetime) -> None:
    """Store a filter under a name, replacing an older one."""
    others = tx.all("count_views", {"name": name})[0]["n"]
    if rows.number(others) >= MAX_VIEWS:
        raise Conflict(f"There are {MAX_VIEWS} views; delete one before you keep another.")
    tx.run("insert_view", {"name": name, "filter": line, "now": rows.ms(now)})


def saved_views(tx: Tx) -> list[SavedView]:
    """All saved views, by name."""
    return [rows.value(SavedView, row) for row in tx.all("list_views")]


def delete_view(tx: Tx, name: str) -> None:
    if not tx.run("delete_view", {"name": name}):
        raise NotFound("view", repr(name)[:80])


# Search words -------------------------------------------------------------------------------------


MANY_TASKS: Final = 10_000  # a word in more tasks than this is common
_ENDINGS: Final = 64  # words that an unfinished one may expand to
# For these letters it is certain how the index folds them.
_FOLDED: Final = re.compile(r"[0-9a-z]+")
_PLAIN: Final = re.compile(r"[0-9A-Za-z\u00c0-\u024f]+")


def read_words(tx: Tx, text: str) -> SearchWords:
    """Parse search words: all must occur; the last may be unfinished. There are no operators."""
    # A vowel sign or an accent of its own belongs to the word before it.
    marked = "".join(each for each in text if unicodedata.category(each)[0] == "M")
    words: list[str] = re.findall(rf"\w[\w{re.escape(marked)}]*", text)
    if not words:
        raise BadInput("Search for at least one word.", field="q")
    endings = _endings(tx, words)
    quoted = " ".join(f'"{word}"' for word in words[:-1])
    if endings is None:
        return SearchWords(f'{quoted} "{words[-1]}"*'.lstrip())
    last = " OR ".join(f'"{word}"' for word in endings)
    match = f"{quoted} AND ({last})" if quoted else last
    return SearchWords(match, len(words) - 1 + len(endings), _is_common(tx, match))


def _endings(tx: Tx, words: list[str]) -> list[str] | None:
    """Return all stored words that begin like the last one; None if many or uncertain.

    Postgres has no list of its words and finds them by their beginning itself.
    """
    start = words[-1].lower()
    if not _FOLDED.fullmatch(start) or not all(map(_PLAIN.fullmatch, words[:-1])):
        return None
    found: list[str] = []
    at = start
    while (row := tx.one("find_word", {"from": at})) and str(row["term"] or at).startswith(start):
        if row["term"] is None or len(found) == _ENDINGS:
            return None
        found.append(str(row["term"]))
        at = f"{found[-1]}\x01"  # sorts before every other word with this beginning
    return found or [start]


def _is_common(tx: Tx, match: str) -> bool:
    row = tx.one("count_hits", {"text": match, "most": MANY_TASKS + 1})
    return row is not None and rows.number(row["hits"]) > MANY_TASKS
