"""Sessions: what earlier runs left for later ones, and summaries of the older runs.

Runs are only added. A summary says how far it reaches; nothing is deleted for it. The taint of a
session stays until the owner vouches for it.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import Conflict
from remit.model.caller import is_owners, may_see
from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.model.task import Taint, Task
from remit.store import events, meta, rows, tasks
from remit.store.database import Row, Tx

RECENT: Final = 200  # tasks of a session searched for its runs
MOST_SAID: Final = 20
MOST_REPORTED: Final = 50
_FIRST: Final = "execute_tool"
_VOUCHED: Final = "vouched:"  # plus the session id, in `meta`: vouched up to when


class PastRun(Struct, frozen=True):
    """One earlier run."""

    no: int
    task_id: TaskId
    title: str
    text: str  # what was sent, or the result
    ended_at: datetime
    taint: Taint
    size: int = 0  # size of its messages in characters; 0 if they are incomplete
    context: int = 0  # tokens of its last request


class SessionSummary(Struct, frozen=True):
    text: str
    upto: tuple[datetime, int]  # end time and number of the last run in it
    runs: int
    since: datetime
    taint: Taint
    highest: int = 0  # highest run number in it; 0: unknown


class OwnerStatement(Struct, frozen=True):
    """What the owner said about the work, how, and the question if there was one."""

    text: str
    how: ReviewAnswer
    asked: str | None = None


class ReportedMessage(Struct, frozen=True):
    task_id: TaskId
    text: str
    at: datetime
    taint: Taint


class SessionHistory(Struct, frozen=True):
    """Everything the next run of a session may look back on."""

    runs: tuple[PastRun, ...] = ()  # not summarised yet, oldest first
    summary: SessionSummary | None = None
    said: tuple[OwnerStatement, ...] = ()  # newest first
    reported: tuple[ReportedMessage, ...] = ()  # newest first


def look_back(tx: Tx, task: Task) -> SessionHistory:
    """Return what came before this task in its session; empty if it may not see all of it."""
    if not _sees_all(tx, task):
        return SessionHistory()
    summary = _summary(tx, task.session_id)
    at, no = summary.upto if summary else (None, 0)
    found = tx.all(
        "list_session_runs",
        {
            "session": task.session_id,
            "task": task.id,
            "upto_at": rows.ms(at) if at else -1,
            "upto": no,
            "highest": (summary.highest or None) if summary else None,
            "limit": RECENT,
        },
    )
    shared = SessionHistory(
        _runs(tx, found), summary, owner_statements(tx, task), _list_reported(tx, task)
    )
    vouched = _vouched_until(tx, task.session_id)
    return shared if vouched is None else _mark_vouched(shared, vouched)


def _sees_all(tx: Tx, task: Task) -> bool:
    """Whether a task may see every other of its session; a summary cannot be shown in part."""
    if is_owners(task):
        return True
    found = tx.all(
        "list_session_tasks", {"session": task.session_id, "task": task.id, "limit": RECENT}
    )
    others = tasks.all_with_deliveries(tx, found)
    return all(may_see(task, other) for other in others)


def vouch(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Record that the owner vouches for a task's session: up to now it counts as the owner's.

    The tasks' own taint, and everything read later, stays.
    """
    task = tasks.get(tx, task_id)
    if not task.ended:
        sentence = f"Task {task.id} is {task.status}; vouch for it when it has ended."
        raise Conflict(sentence)
    meta.put(tx, _VOUCHED + task.session_id, str(rows.ms(now)))
    details: JsonMap = {"what": "vouched", "session": task.session_id}
    events.tell_task(tx, task_id, NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, details), now)
    return tasks.get(tx, task_id)


def _vouched_until(tx: Tx, session_id: SessionId) -> datetime | None:
    found = meta.get(tx, _VOUCHED + session_id)
    return rows.parse_time(int(found)) if found else None


def _mark_vouched(shared: SessionHistory, upto: datetime) -> SessionHistory:
    """Return the history with everything vouched for marked as the owner's."""
    own, summary = Taint.OWNER, shared.summary
    if summary is not None and summary.upto[0] <= upto:
        summary = replace(summary, taint=own)
    return replace(
        shared,
        runs=tuple(replace(r, taint=own) if r.ended_at <= upto else r for r in shared.runs),
        summary=summary,
        reported=tuple(replace(r, taint=own) if r.at <= upto else r for r in shared.reported),
    )


def states(tx: Tx, task_ids: Sequence[str]) -> list[str]:
    """Return the brain's stored states of some tasks, turn by turn."""
    thoughts = _thoughts(tx, task_ids, whole=True)
    turns = (row for task_id in task_ids for row in thoughts.get(task_id, ()))
    return [str(row["state"]) for row in turns if row["size"]]


def sum_up(tx: Tx, session_id: SessionId, summary: SessionSummary) -> bool:
    """Store a summary, unless one that reaches as far exists."""
    at, no = summary.upto
    kept = tx.run(
        "put_session_summary",
        {
            "id": session_id,
            "summary": summary.text,
            "upto_at": rows.ms(at),
            "upto": no,
            "runs": summary.runs,
            "since": rows.ms(summary.since),
            "taint": summary.taint.value,
            "highest": summary.highest or None,
        },
    )
    return bool(kept)


def _summary(tx: Tx, session_id: SessionId) -> SessionSummary | None:
    row = tx.one("get_session", {"id": session_id})
    if row is None:
        return None
    upto = (rows.parse_time(row["upto_at"]), rows.number(row["upto"]))
    highest = rows.number(row["highest"] or 0)
    return rows.value(SessionSummary, row, text=row["summary"], upto=upto, highest=highest)


def _runs(tx: Tx, found: Sequence[Row]) -> tuple[PastRun, ...]:
    thoughts = _thoughts(tx, [str(row["id"]) for row in found], whole=False)
    ended = tasks.all_with_deliveries(tx, found)
    return tuple(
        PastRun(
            no=rows.number(row["no"]),
            task_id=task.id,
            title=task.title,
            text=_came_to(task),
            ended_at=rows.parse_time(row["completed_at"]),
            taint=task.taint,
            size=_whole_size(thoughts.get(task.id, ())),
            context=max(
                (rows.number(turn["context"]) for turn in thoughts.get(task.id, ())), default=0
            ),
        )
        for row, task in zip(found, ended, strict=True)
    )


def _came_to(task: Task) -> str:
    sent = [each.body for each in task.delivery if each.body and each.sent_at]
    return sent[0] if sent else task.tool_output or task.result_summary or ""


def _thoughts(tx: Tx, task_ids: Sequence[str], *, whole: bool) -> dict[str, list[Row]]:
    """Return the turns of each task's last round, in order."""
    if not task_ids:
        return {}
    thoughts: dict[str, list[Row]] = {}
    for row in tx.all("list_session_turns", {"tasks": json.dumps(list(task_ids)), "whole": whole}):
        thoughts.setdefault(str(row["task_id"]), []).append(row)
    for turns in thoughts.values():
        turns.sort(key=_turn)
    return thoughts


def _turn(row: Row) -> int:
    """Return the turn number: `execute_tool`, `execute_tool:1`, … `execute_tool:10`."""
    return int(str(row["name"])[len(_FIRST) + 1 :] or 0)


def _whole_size(turns: Sequence[Row]) -> int:
    """Return the size of a complete exchange; 0 if it broke off at a call or was not stored."""
    if not turns or turns[-1]["calls"] or not turns[-1]["size"]:
        return 0
    return sum(rows.number(turn["size"]) for turn in turns)


def owner_statements(tx: Tx, task: Task) -> tuple[OwnerStatement, ...]:
    """Return what the owner said about the work of earlier runs, newest first."""
    found = tx.all(
        "list_corrections",
        {"session": task.session_id, "task": task.id, "limit": 2 * MOST_SAID},
    )
    statements: dict[str, OwnerStatement] = {}
    for row in found:
        # The question may contain an outsider's text; then only the answer is used.
        asked = row["answer"] == ReviewAnswer.ANSWER and row["taint"] == Taint.OWNER
        text = str(row["answer_text"]).strip()
        how, question = rows.word(ReviewAnswer, row["answer"]), rows.text(row["question"])
        statements.setdefault(text, OwnerStatement(text, how, question if asked else None))
    return tuple(statements.values())[:MOST_SAID]


def _list_reported(tx: Tx, task: Task) -> tuple[ReportedMessage, ...]:
    found = tx.all(
        "list_reported", {"session": task.session_id, "task": task.id, "limit": MOST_REPORTED}
    )
    return tuple(
        rows.value(
            ReportedMessage,
            row,
            task_id=row["id"],
            text=row["body"],
            at=rows.parse_time(row["sent_at"]),
        )
        for row in found
    )
