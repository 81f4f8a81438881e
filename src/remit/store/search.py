"""Lists of tasks: filters, full text, counts and pages that stay fast at a million rows.

A list is read along one index in page order, and only as far as the page needs, so nothing is
sorted that is not shown. The rarest filter leads; the others are checked on the way. Search words
can lead too, unless they are common and a filter is rare.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput, UnknownName
from remit.model.ids import SessionId, TaskId
from remit.model.review import Review
from remit.model.status import Status
from remit.model.task import Task
from remit.store import reviews, rows, task_filter, tasks
from remit.store.database import Cell, Row, Tx
from remit.store.task_filter import (
    ASKS,
    JOURNAL,
    PLANNED,
    WHOLE,
    ListIndex,
    SearchWords,
    SortOrder,
    TaskFilter,
    by_text,
    conditions,
    leads,
    newest_by_text,
    probe_words,
)

__all__ = [
    "EXACT",
    "MOST",
    "AgentTaskFilter",
    "SortOrder",
    "TaskCount",
    "TaskFilter",
    "TaskPage",
    "count",
    "count_agent_tasks",
    "ids",
    "list_agent_tasks",
    "page",
    "prepare_filter",
    "task_and_question",
]

MOST: Final = 500
EXACT: Final = task_filter.MANY_TASKS  # counts stop here
FEW: Final = 2_000  # this many are sorted, or probed for words, if no index gives the order
_PLANNED: Final = "COUNT(CASE WHEN status = 'ready' AND type = 'scheduled' THEN 1 END)"
_PLACE: Final = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})")


class TaskPage(Struct, frozen=True):
    tasks: tuple[Task, ...]
    next: str | None  # pass it as `before` to get the next page
    asks: frozenset[TaskId] = frozenset()  # those with a question to the owner


class TaskCount(Struct, frozen=True):
    """How many match. Beyond `EXACT` the count stops."""

    total: int
    more: bool  # there may be more
    by_status: Mapping[str, int] = field(default_factory=dict)  # whatever status was filtered
    asks: int = 0  # with a question to the owner
    planned: int = 0  # ready, but planned for later
    cut: bool = False  # the numbers by status cover only the newest
    asks_more: bool = False  # the same for questions, which are counted separately


class _Tally(Struct):
    """The counts from one pass over the matching tasks."""

    by_status: dict[str, int] = field(default_factory=dict)
    asks: int = 0
    planned: int = 0
    looked: int = 0

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def is_cut(self) -> bool:
        return self.looked > EXACT


def prepare_filter(tx: Tx, wanted: TaskFilter) -> TaskFilter:
    """Return the filter with its words looked up, for repeated use."""
    if wanted.text is None or wanted.words is not None:
        return wanted
    return replace(wanted, words=task_filter.read_words(tx, wanted.text))


def page(tx: Tx, wanted: TaskFilter) -> TaskPage:
    """Return the matching tasks in the requested order, and the next cursor."""
    if not 1 <= wanted.limit <= MOST:
        raise BadInput(f"limit must lie between 1 and {MOST}.", field="limit")
    found = _find_rows(tx, prepare_filter(tx, wanted), "tasks.*", wanted.limit + 1)
    shown = tasks.all_with_deliveries(tx, found[: wanted.limit])
    more = len(found) > wanted.limit
    last = _cursor(wanted.sort, found[wanted.limit - 1]) if more else None
    return TaskPage(tuple(shown), last, reviews.asking(tx, [task.id for task in shown]))


def ids(tx: Tx, wanted: TaskFilter, most: int = EXACT) -> list[TaskId]:
    """Return the ids of all matches, up to a number."""
    found = _find_rows(
        tx, prepare_filter(tx, wanted), "tasks.id, tasks.no, tasks.scheduled_for", most
    )
    return [TaskId(str(row["id"])) for row in found]


def count(tx: Tx, wanted: TaskFilter) -> TaskCount:
    """Return how many match, and how many would in each status.

    Beyond the counted number the parts cover only the newest.
    """
    plain = prepare_filter(tx, replace(wanted, before=None, sort=SortOrder.NEWEST))
    everywhere = replace(plain, statuses=(), asks=False)
    parts = (
        _of_all(tx)
        if everywhere == TaskFilter(limit=wanted.limit)
        else _count_matches(tx, everywhere)
    )
    asking = _count_matches(tx, replace(everywhere, asks=True)) if parts.is_cut else parts
    by_status, asked = parts.by_status, parts
    if plain.asks or (plain.statuses and parts.is_cut):
        asked = _count_matches(tx, plain)
        by_status = by_status if plain.asks else by_status | asked.by_status
    elif plain.statuses:
        asked = _Tally({each: by_status.get(each, 0) for each in plain.statuses})
    return TaskCount(
        min(asked.total, EXACT),
        asked.is_cut or asked.total > EXACT,
        by_status,
        asking.asks,
        parts.planned,
        cut=parts.is_cut,
        asks_more=asking.is_cut,
    )


def _of_all(tx: Tx) -> _Tally:
    """Count all tasks, each number along its own index."""
    planned = tx.all("count_planned", {"most": EXACT + 1})[0]["tasks"]
    asks = _count_matches(tx, TaskFilter(asks=True)).total
    return _Tally(tasks.counts(tx, EXACT + 1), asks, rows.number(planned))


def _count_matches(tx: Tx, wanted: TaskFilter) -> _Tally:
    """Count the matches, up to one more than `EXACT`."""
    found = _Tally()
    for lead in _rarest(tx, wanted):
        for row in tx.ask(*_tally(tx, wanted, lead)):
            number = rows.number(row["n"])
            found.looked += number
            if row["status"] is not None:
                found.by_status[str(row["status"])] = number
                found.asks += rows.number(row["asks"])
                found.planned += rows.number(row["planned"])
    return found


def _tally(tx: Tx, wanted: TaskFilter, lead: ListIndex) -> tuple[str, dict[str, Cell]]:
    columns = f"tasks.status, tasks.type, {ASKS} AS asks"
    if wanted.words and lead == by_text(wanted.words):
        # The newest matches of the words are read; one that fails the other filters has no status
        # here. Otherwise a rare filter would walk all of them.
        lead = newest_by_text(wanted.words, EXACT + 1, "LEFT JOIN")
        where, params = conditions(wanted)
        sql = f"SELECT {columns} FROM {lead.tables} AND {' AND '.join(where)}"  # noqa: S608
        params |= lead.params
    else:
        sql, params = _compose_page(tx, wanted, lead, columns, EXACT + 1)
    asks = "COUNT(CASE WHEN asks THEN 1 END)"
    counted_columns = f"status, COUNT(*) AS n, {asks} AS asks, {_PLANNED} AS planned"
    return f"SELECT {counted_columns} FROM ({sql}) GROUP BY status", params  # noqa: S608


def _find_rows(tx: Tx, wanted: TaskFilter, columns: str, most: int) -> list[Row]:
    match wanted.sort:
        case SortOrder.NEWEST:
            return _newest(tx, wanted, columns, most)
        case SortOrder.DUE:
            return _due(tx, wanted, columns, most)
        case SortOrder.UPDATED:  # pragma: no branch - there is no other
            return _list_by_update(tx, wanted, columns, most)


def _newest(tx: Tx, wanted: TaskFilter, columns: str, most: int) -> list[Row]:
    ways = _rarest(tx, wanted)
    found = [
        row for lead in ways for row in tx.ask(*_compose_page(tx, wanted, lead, columns, most))
    ]
    if len(ways) > 1:
        found.sort(key=lambda row: -rows.number(row["no"]))
    return found[:most]


def _due(tx: Tx, wanted: TaskFilter, columns: str, most: int) -> list[Row]:
    """List along the schedule index; if another index or the words are short, sort those."""
    ways, search_words = _rarest(tx, wanted), wanted.words
    if ways == (WHOLE,) or (
        search_words and search_words.is_common and ways == (by_text(search_words),)
    ):
        ways = (probe_words(PLANNED, search_words) if search_words else PLANNED,)
    elif search_words is None and _size(tx, ways, FEW) >= FEW:
        ways = (PLANNED,)
    found: list[Row] = []
    for lead in ways:
        timed = replace(lead, where=(*lead.where, *PLANNED.where), order=PLANNED.order)
        found += tx.ask(*_compose_page(tx, wanted, timed, columns, most))
    found.sort(key=lambda row: (rows.number(row["scheduled_for"]), rows.number(row["no"])))
    return found[:most]


def _list_by_update(tx: Tx, wanted: TaskFilter, columns: str, most: int) -> list[Row]:
    """List along the journal, by each task's last entry; few rows are sorted instead."""
    columns = f"{columns}, events.seq"
    ways = _rarest(tx, wanted)
    if _is_long(tx, wanted, ways):
        journal = probe_words(JOURNAL, wanted.words) if wanted.words else JOURNAL
        return tx.ask(*_compose_page(tx, wanted, journal, columns, most))
    if wanted.words and ways == (by_text(wanted.words),):
        ways = (newest_by_text(wanted.words, EXACT),)
    found: list[Row] = []
    for lead in ways:
        narrow = replace(
            lead,
            tables=f"{lead.tables} CROSS JOIN events INDEXED BY events_by_task"
            " ON events.task_id = tasks.id AND events.n = tasks.events",
            order=JOURNAL.order,
            key=JOURNAL.key,
        )
        found += tx.ask(*_compose_page(tx, wanted, narrow, columns, most))
    found.sort(key=lambda row: -rows.number(row["seq"]))
    return found[:most]


def _is_long(tx: Tx, wanted: TaskFilter, ways: Sequence[ListIndex]) -> bool:
    """Whether there are too many rows to sort."""
    if wanted.words is not None:
        return wanted.words.is_common and ways == (by_text(wanted.words),)
    return ways == (WHOLE,) or _size(tx, ways, FEW) >= FEW


def _rarest(tx: Tx, wanted: TaskFilter) -> tuple[ListIndex, ...]:
    ways = leads(wanted)
    if wanted.words is not None:
        return _with_words(tx, wanted.words, ways)
    if len(ways) < 2:  # noqa: PLR2004 - there is nothing to compare
        return ways[0] if ways else (WHOLE,)
    return min(ways, key=lambda way: _size(tx, way, FEW))


def _with_words(
    tx: Tx, search_words: SearchWords, ways: Sequence[tuple[ListIndex, ...]]
) -> tuple[ListIndex, ...]:
    """Choose the text index, except for common words with a rare filter."""
    if not ways or (search_words.terms is not None and not search_words.is_common):
        return (by_text(search_words),)
    size, way = min(((_size(tx, way, FEW), way) for way in ways), key=lambda each: each[0])
    if search_words.terms is not None and size * search_words.terms < FEW:
        return tuple(probe_words(lead, search_words) for lead in way)
    return (by_text(search_words, way if size < FEW else ()),)


def _size(tx: Tx, way: Sequence[ListIndex], most: int) -> int:
    """Return how many rows an index path has, up to a number."""
    found = 0
    for lead in way:
        where = f" WHERE {' AND '.join(lead.where)}" if lead.where else ""
        sql = f"SELECT COUNT(*) AS n FROM (SELECT 1 FROM {lead.tables}{where} LIMIT {most})"  # noqa: S608
        found += sum(rows.number(row["n"]) for row in tx.ask(sql, lead.params))
    return found


def _compose_page(
    tx: Tx, wanted: TaskFilter, lead: ListIndex, columns: str, most: int
) -> tuple[str, dict[str, Cell]]:
    where, params = conditions(wanted)
    params |= lead.params | {"most": most}
    if wanted.before is not None:
        condition, place = _condition_after(tx, wanted.sort, wanted.before, lead)
        where.append(condition)
        params |= place
    sql = (
        f"SELECT {columns} FROM {lead.tables} WHERE {' AND '.join((*lead.where, *where))}"  # noqa: S608
        f" ORDER BY {lead.order} LIMIT :most"
    )
    return sql, params


def _condition_after(
    tx: Tx, sort: SortOrder, cursor: str, lead: ListIndex
) -> tuple[str, dict[str, Cell]]:
    """Return the condition for everything after the previous page."""
    if sort is SortOrder.NEWEST:
        return f"{lead.key} < :before", {"before": tasks.find_row(tx, TaskId(cursor))["no"]}
    place = _PLACE.fullmatch(cursor)
    if place is None:
        sentence = f"{cursor!r:.60} is no cursor of a list that is sorted so."
        raise UnknownName(sentence, field="cursor")
    at, no = int(place[1]), int(place[2])
    if sort is SortOrder.UPDATED:
        return "events.seq < :before", {"before": at}
    return "(tasks.scheduled_for, tasks.no) > (:at, :no)", {"at": at, "no": no}


def _cursor(sort: SortOrder, row: Row) -> str:
    match sort:
        case SortOrder.NEWEST:
            return str(row["id"])
        case SortOrder.UPDATED:
            return f"{rows.number(row['seq'])}.0"
        case SortOrder.DUE:  # pragma: no branch - there is no other
            return f"{rows.number(row['scheduled_for'])}.{rows.number(row['no'])}"


class AgentTaskFilter(Struct, frozen=True, kw_only=True):
    """Which of its tasks an agent asks for; an unset field does not filter."""

    statuses: Collection[Status] = ()
    session: SessionId | None = None
    since: datetime | None = None  # changed at or after
    before: TaskId | None = None  # the last task of the previous page
    limit: int = 50


def list_agent_tasks(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> list[Task]:
    """Return tasks whose source ref has this prefix, newest first, without deleted ones."""
    params = {**_agent_params(prefix, wanted), "before": wanted.before}
    return tasks.all_with_deliveries(tx, tx.all("list_caller_tasks", params))


def count_agent_tasks(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> int:
    """Return how many there are, whatever the page, counted up to the filter's limit."""
    row = tx.one("count_caller_tasks", _agent_params(prefix, wanted))
    return rows.number(row["tasks"]) if row else 0


def task_and_question(tx: Tx, task_id: TaskId) -> tuple[Task, Review | None]:
    """Return a task, and its open question to the owner."""
    waiting = [each for each in reviews.of_task(tx, task_id) if each.decision is None]
    return tasks.get(tx, task_id), waiting[-1] if waiting else None


def _agent_params(prefix: str, wanted: AgentTaskFilter) -> dict[str, Cell]:
    return {
        **rows.prefix_range(prefix),
        "session": wanted.session,
        "since": rows.millis(wanted.since),
        "statuses": f" {' '.join(wanted.statuses)} " if wanted.statuses else None,
        "limit": wanted.limit,
    }
