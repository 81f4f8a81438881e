"""Lists of tasks: filters, full text, counts and pages that stay fast at a million rows.

A list is read along one index in the order of the page, and only as far as the page needs. Of the
words of a filter the rarest leads; the others are looked at on the way. So no list sorts what it
does not show.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from remit.errors import BadInput
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.store import reviews, rows, tasks
from remit.store.database import Cell, Row, Tx
from remit.store.filter import ASKS, JOURNAL, PLANNED, WHOLE, Filter, Lead, Sort, conditions, leads

__all__ = ["EXACT", "MOST", "Count", "Filter", "Page", "Sort", "count", "ids", "page"]

MOST: Final = 500
EXACT: Final = 10_000  # how far is counted
FEW: Final = 2_000  # so many are sorted, if no index gives the order
_PLACE: Final = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Page:
    tasks: tuple[Task, ...]
    next: str | None  # give it as `before` to get the next page
    asks: frozenset[TaskId] = frozenset()  # those of them with a question that waits for the owner


@dataclass(frozen=True, slots=True)
class Count:
    """How many match. Where there are more than `EXACT` nobody has counted further."""

    total: int
    more: bool
    by_status: Mapping[str, int] = field(default_factory=dict)  # whatever status was asked for
    asks: int = 0  # with a question that waits for the owner


def page(tx: Tx, wanted: Filter) -> Page:
    """The tasks that match, in the order that is asked for, and where the next page begins."""
    if not 1 <= wanted.limit <= MOST:
        raise BadInput(f"limit must lie between 1 and {MOST}.", field="limit")
    found = _found(tx, wanted, "tasks.*", wanted.limit + 1)
    shown = tasks.all_with_deliveries(tx, found[: wanted.limit])
    more = len(found) > wanted.limit
    last = _cursor(wanted.sort, found[wanted.limit - 1]) if more else None
    return Page(tuple(shown), last, reviews.asking(tx, [task.id for task in shown]))


def ids(tx: Tx, wanted: Filter, most: int = EXACT) -> list[TaskId]:
    """The names of all that match, up to a number."""
    found = _found(tx, wanted, "tasks.id, tasks.no, tasks.scheduled_for", most)
    return [TaskId(str(row["id"])) for row in found]


def count(tx: Tx, wanted: Filter) -> Count:
    """How many match, and how many of them would in each status.

    Where there are more than are counted, the parts are told of the newest alone.
    """
    plain = replace(wanted, before=None, sort=Sort.NEWEST)
    everywhere = replace(plain, statuses=(), asks=False)
    if everywhere == Filter(limit=wanted.limit):
        by_status = tasks.counts(tx, EXACT + 1)
        asks = sum(_counted(tx, replace(everywhere, asks=True))[0].values())
    else:
        by_status, asks = _counted(tx, everywhere)
    total = sum(by_status.values())
    if plain.asks or (plain.statuses and total > EXACT):
        total = sum(_counted(tx, plain)[0].values())
    elif plain.statuses:
        total = sum(by_status.get(each, 0) for each in set(plain.statuses))
    return Count(min(total, EXACT), total > EXACT, by_status, asks)


def _counted(tx: Tx, wanted: Filter) -> tuple[dict[str, int], int]:
    """Of all that match, or of one more than are counted: by status, and with a question."""
    found, asks = dict[str, int](), 0
    for lead in _rarest(tx, wanted):
        sql, params = _composed(tx, wanted, lead, f"tasks.status, {ASKS} AS asks", EXACT + 1)
        told = f"SELECT status, COUNT(*) AS n, SUM(asks) AS asks FROM ({sql}) GROUP BY status"  # noqa: S608
        for row in tx.ask(told, params):
            found[str(row["status"])] = rows.number(row["n"])
            asks += rows.number(row["asks"])
    return found, asks


def _found(tx: Tx, wanted: Filter, columns: str, most: int) -> list[Row]:
    match wanted.sort:
        case Sort.NEWEST:
            return _newest(tx, wanted, columns, most)
        case Sort.DUE:
            return tx.ask(*_composed(tx, wanted, _planned(wanted), columns, most))
        case Sort.UPDATED:  # pragma: no branch - there is no other
            return _updated(tx, wanted, columns, most)


def _newest(tx: Tx, wanted: Filter, columns: str, most: int) -> list[Row]:
    ways = _rarest(tx, wanted)
    found = [row for lead in ways for row in tx.ask(*_composed(tx, wanted, lead, columns, most))]
    if len(ways) > 1:
        found.sort(key=lambda row: -rows.number(row["no"]))
    return found[:most]


def _planned(wanted: Filter) -> Lead:
    """Along the clock; whoever looks for words has all that hold them sorted."""
    if wanted.text is None:
        return PLANNED
    ((words,),) = leads(wanted)
    return replace(words, where=(*words.where, *PLANNED.where), order=PLANNED.order)


def _updated(tx: Tx, wanted: Filter, columns: str, most: int) -> list[Row]:
    """Along the journal, where the last entry of a task stands for it; few are sorted instead."""
    columns = f"{columns}, events.seq"
    ways = _rarest(tx, wanted)
    if ways == (WHOLE,) or (wanted.text is None and _size(tx, ways, FEW) >= FEW):
        return tx.ask(*_composed(tx, wanted, JOURNAL, columns, most))
    found: list[Row] = []
    for lead in ways:
        narrow = replace(
            lead,
            tables=f"{lead.tables} CROSS JOIN events INDEXED BY events_by_task"
            " ON events.task_id = tasks.id AND events.n = tasks.events",
            order=lead.order if wanted.text else JOURNAL.order,
            key=JOURNAL.key,
        )
        found += tx.ask(*_composed(tx, wanted, narrow, columns, FEW if wanted.text else most))
    found.sort(key=lambda row: -rows.number(row["seq"]))
    return found[:most]


def _rarest(tx: Tx, wanted: Filter) -> tuple[Lead, ...]:
    ways = leads(wanted)
    if len(ways) < 2:  # noqa: PLR2004 - there is nothing to compare
        return ways[0] if ways else (WHOLE,)
    return min(ways, key=lambda way: _size(tx, way, FEW))


def _size(tx: Tx, way: Sequence[Lead], most: int) -> int:
    """How many rows a way has, as far as that matters."""
    found = 0
    for lead in way:
        where = f" WHERE {' AND '.join(lead.where)}" if lead.where else ""
        sql = f"SELECT COUNT(*) AS n FROM (SELECT 1 FROM {lead.tables}{where} LIMIT {most})"  # noqa: S608
        found += sum(rows.number(row["n"]) for row in tx.ask(sql, lead.params))
    return found


def _composed(
    tx: Tx, wanted: Filter, lead: Lead, columns: str, most: int
) -> tuple[str, dict[str, Cell]]:
    where, params = conditions(wanted)
    params |= lead.params | {"most": most}
    if wanted.before is not None:
        condition, place = _after(tx, wanted.sort, wanted.before, lead)
        where.append(condition)
        params |= place
    sql = (
        f"SELECT {columns} FROM {lead.tables} WHERE {' AND '.join((*lead.where, *where))}"  # noqa: S608
        f" ORDER BY {lead.order} LIMIT :most"
    )
    return sql, params


def _after(tx: Tx, sort: Sort, cursor: str, lead: Lead) -> tuple[str, dict[str, Cell]]:
    """What holds of all that comes after the page before."""
    if sort is Sort.NEWEST:
        return f"{lead.key} < :before", {"before": tasks.find_row(tx, TaskId(cursor))["no"]}
    place = _PLACE.fullmatch(cursor)
    if place is None:
        raise BadInput(f"{cursor!r:.60} is no cursor of a list that is sorted so.", field="cursor")
    at, no = int(place[1]), int(place[2])
    if sort is Sort.UPDATED:
        return "events.seq < :before", {"before": at}
    return "(tasks.scheduled_for, tasks.no) > (:at, :no)", {"at": at, "no": no}


def _cursor(sort: Sort, row: Row) -> str:
    match sort:
        case Sort.NEWEST:
            return str(row["id"])
        case Sort.UPDATED:
            return f"{rows.number(row['seq'])}.0"
        case Sort.DUE:  # pragma: no branch - there is no other
            return f"{rows.number(row['scheduled_for'])}.{rows.number(row['no'])}"
