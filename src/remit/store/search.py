"""Lists of tasks: filters, full text and pages that stay fast at a million rows.

Each status is read along its own index in the order of the page, and only as far as the page
needs; the parts are merged. So no filter sorts what it does not show.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remit.errors import BadInput
from remit.model.ids import SessionId, TaskId
from remit.model.status import TERMINAL, Status
from remit.model.task import Priority, SourceKind, Task, TaskType
from remit.store import rows, tasks
from remit.store.database import Cell, Row, Tx

MOST: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    statuses: tuple[Status, ...] = ()
    type: TaskType | None = None
    source: SourceKind | None = None
    priority: Priority | None = None
    session: SessionId | None = None
    text: str | None = None
    deleted: bool = False  # show what was deleted, and only that
    before: TaskId | None = None  # the last one of the page before
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page:
    tasks: tuple[Task, ...]
    next: TaskId | None  # give it as `before` to get the next page


def page(tx: Tx, wanted: Filter) -> Page:
    """The newest tasks that match, and where the next page begins."""
    if not 1 <= wanted.limit <= MOST:
        raise BadInput(f"limit must lie between 1 and {MOST}.", field="limit")
    found = _rows(tx, wanted)
    shown = tasks.all_with_deliveries(tx, found[: wanted.limit])
    more = len(found) > wanted.limit
    return Page(tuple(shown), shown[-1].id if more else None)


def _rows(tx: Tx, wanted: Filter) -> list[Row]:
    where, params = _conditions(tx, wanted)
    if wanted.text is not None:
        return _search(tx, wanted, where, params)
    # Only what has ended can be deleted, and along these three there is an index of it.
    statuses = wanted.statuses or (tuple(TERMINAL) if wanted.deleted else ())
    if not statuses:
        return _ordered(tx, where, params)
    parts: list[Row] = []
    for status in dict.fromkeys(statuses):
        parts += _ordered(tx, [*where, "tasks.status = :status"], params | {"status": status})
    parts.sort(key=lambda row: -rows.number(row["no"]))
    return parts[: wanted.limit + 1]


def _ordered(tx: Tx, where: Sequence[str], params: dict[str, Cell]) -> list[Row]:
    sql = f"SELECT * FROM tasks WHERE {' AND '.join(where)} ORDER BY no DESC LIMIT :most"  # noqa: S608
    return tx.ask(sql, params)


def _search(tx: Tx, wanted: Filter, where: list[str], params: dict[str, Cell]) -> list[Row]:
    if wanted.statuses:
        names = ", ".join(f"'{status.value}'" for status in wanted.statuses)
        where.append(f"tasks.status IN ({names})")
    params["text"] = _match(wanted.text or "")
    sql = (
        "SELECT tasks.* FROM tasks_text JOIN tasks ON tasks.no = tasks_text.rowid"  # noqa: S608
        f" WHERE tasks_text MATCH :text AND {' AND '.join(where)}"
        " ORDER BY tasks_text.rowid DESC LIMIT :most"
    )
    return tx.ask(sql, params)


def _conditions(tx: Tx, wanted: Filter) -> tuple[list[str], dict[str, Cell]]:
    where = [f"tasks.deleted_at IS {'NOT ' if wanted.deleted else ''}NULL"]
    params: dict[str, Cell] = {"most": wanted.limit + 1}
    for column, value in (
        ("tasks.type", wanted.type),
        # The plus keeps SQLite from the index that makes sources unique: along it, it would sort.
        ("+tasks.source_kind", wanted.source),
        ("tasks.priority", wanted.priority),
        ("tasks.session_id", wanted.session),
    ):
        if value is not None:
            name = column.rpartition(".")[2]
            where.append(f"{column} = :{name}")
            params[name] = value
    if wanted.before is not None:
        last = "tasks_text.rowid" if wanted.text is not None else "tasks.no"
        where.append(f"{last} < :before")
        params["before"] = tasks.find_row(tx, wanted.before)["no"]
    return where, params


def _match(text: str) -> str:
    """Every word must occur; the last one may be unfinished. Nothing is read as an operator."""
    words = re.findall(r"\w+", text)
    if not words:
        raise BadInput("Search for at least one word.", field="q")
    return " ".join(f'"{word}"' for word in words) + "*"
