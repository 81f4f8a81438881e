"""Recall: what the earlier runs of the same session did. Similar earlier tasks are in `finder`."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, tzinfo
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit.errors import StepFailed
from remit.model.ids import SessionId
from remit.model.reply import Memory, Snippet
from remit.model.review import ReviewAnswer
from remit.model.task import Taint, Task, worst_taint
from remit.recall import snippets
from remit.store import sessions
from remit.store.database import Database
from remit.store.sessions import (
    OwnerStatement,
    PastRun,
    ReportedMessage,
    SessionHistory,
    SessionSummary,
)

# Given the summary so far and the runs to be added, in words: the new summary, or None.
Summarise: TypeAlias = Callable[[str, Sequence[str]], Awaitable[str | None]]
# Given a task: what other work like it came to.
Remind: TypeAlias = Callable[[Task], Awaitable[tuple[Snippet, ...]]]

WHOLE: Final = 3  # how many runs are never summed up
MOST_RUNS: Final = 10  # when so many are not, the older ones are
MOST_CONTEXT: Final = 50_000  # tokens; or when the last run held so much
MOST_WHOLE: Final = 160_000  # characters of thoughts that are handed back; about 40,000 tokens
PATIENCE: Final = 30  # runs for whose summary a model is waited for
MOST_SNIPPET: Final = 2_000
MOST_RUN: Final = 4_000  # of a run that is to be summed up
MOST_FACTS: Final = 4_000
MOST_REPORTED: Final = 6_000
_LINE: Final = 240


class SessionRecall:
    """`summarise` asks a model; without one, code summarises. `remind` finds similar tasks."""

    def __init__(
        self,
        db: Database,
        *,
        summarise: Summarise | None = None,
        zone: tzinfo = UTC,
        remind: Remind | None = None,
    ) -> None:
        self._db = db
        self._remind = remind
        self._summarise = summarise
        self._zone = zone

    def reminded(self, remind: Remind) -> "SessionRecall":
        """Return a copy that also finds similar tasks."""
        return SessionRecall(self._db, summarise=self._summarise, zone=self._zone, remind=remind)

    async def like(self, task: Task) -> Memory:
        """Return the results of the session so far, and similar tasks."""
        memory = await self._of_session(task)
        alike = await self._remind(task) if self._remind else ()
        taint = worst_taint([memory.taint, *(each.taint for each in alike)])
        return replace(memory, alike=alike, taint=taint)

    async def _of_session(self, task: Task) -> Memory:
        """Return the memory of a session; only a series or a retry has an earlier run."""
        if task.series_id is None and task.retry_of is None:
            return Memory()
        shared = await self._db.read(sessions.look_back, task)
        runs, summary = shared.runs, shared.summary
        if _is_long(runs):
            summary = await self._sum_up(task.session_id, runs[:-WHOLE], summary)
            runs = runs[-WHOLE:]
        return self._memory(runs, summary, shared)

    async def _sum_up(
        self, session: SessionId, older: Sequence[PastRun], before: SessionSummary | None
    ) -> SessionSummary:
        text = await self._ask(older, before.text if before else "")
        last = older[-1].ended_at, older[-1].no
        made = SessionSummary(
            text=text or "",
            # A clock that was set back may have ended the later ones earlier.
            upto=max(last, before.upto) if before else last,
            runs=len(older) + (before.runs if before else 0),
            since=before.since if before else older[0].ended_at,
            taint=worst_taint([*_taints(older), *([before.taint] if before else [])]),
            highest=max(before.highest if before else 0, *(each.no for each in older)),
        )
        if text is None:
            made = snippets.summed_up(made, before, older, self._zone)
        # A model that is away for a moment is asked again at the next run, which loses nothing.
        if text is not None or self._summarise is None or len(older) >= PATIENCE:
            await self._db.write(sessions.sum_up, session, made)
        return made

    async def _ask(self, older: Sequence[PastRun], before: str) -> str | None:
        """Return the model's summary; None if it is empty or too long."""
        if self._summarise is None:
            return None
        runs_in_words = [snippets.run(each, self._zone, MOST_RUN) for each in older]
        try:
            text = ((await self._summarise(before, runs_in_words)) or "").strip()
        except StepFailed:
            return None
        return text if 0 < len(text) <= snippets.MOST_SUMMARY else None

    def _memory(
        self, runs: Sequence[PastRun], summary: SessionSummary | None, shared: SessionHistory
    ) -> Memory:
        whole = _runs_kept_whole(runs)
        known = {run.task_id for run in runs}
        reported = [each for each in shared.reported if each.task_id not in known]
        read = [*_taints(runs), *_taints(reported), *([summary.taint] if summary else [])]
        return Memory(
            snippets=tuple(self._snippet(run) for run in runs if run.task_id not in whole),
            runs=tuple(run.task_id for run in runs if run.task_id in whole),
            summary=summary.text if summary else "",
            facts=_facts(shared.said),
            reported=self._reported_lines(reported),
            taint=worst_taint(read),
        )

    def _snippet(self, run: PastRun) -> Snippet:
        title = f"{snippets.day(run.ended_at, self._zone)} {run.title}"
        return Snippet(run.task_id, title, snippets.cut(run.text.strip(), MOST_SNIPPET), run.taint)

    def _reported_lines(self, sent: Sequence[ReportedMessage]) -> tuple[str, ...]:
        """Return one line per message; one that was sent twice is listed once, at its last time."""
        lines: dict[str, str] = {}
        for each in sent:
            line = snippets.line(each.text, _LINE)
            lines.setdefault(line, f"{snippets.day(each.at, self._zone)}: {line}")
        return _newest(list(lines.values()), MOST_REPORTED)


def _is_long(runs: Sequence[PastRun]) -> bool:
    if len(runs) <= WHOLE:
        return False
    too_much = sum(run.size for run in runs) > MOST_WHOLE
    return len(runs) >= MOST_RUNS or runs[-1].context >= MOST_CONTEXT or too_much


def _runs_kept_whole(runs: Sequence[PastRun]) -> set[str]:
    """Return the newest runs whose full thoughts fit."""
    whole: set[str] = set()
    room = MOST_WHOLE
    for run in reversed(runs):
        if 0 < run.size <= room:
            room -= run.size
            whole.add(run.task_id)
    return whole


def _facts(statements: Sequence[OwnerStatement]) -> tuple[str, ...]:
    return _newest([_fact(each) for each in statements], MOST_FACTS)


def _fact(statement: OwnerStatement) -> str:
    text = snippets.line(statement.text, _LINE)
    if statement.asked is not None:
        return f"Asked {snippets.line(statement.asked, _LINE)!r}, the owner said: {text}"
    how = {
        ReviewAnswer.BACK: "The owner sent a result back and said",
        ReviewAnswer.EDIT: "The owner sent this instead of what was written",
    }
    return f"{how.get(statement.how, 'The owner said')}: {text}"


def _newest(lines: Sequence[str], most: int) -> tuple[str, ...]:
    """Return as many of the newest as fit, oldest first; `lines` are newest first."""
    kept: list[str] = []
    for line in lines:
        most -= len(line)
        if most < 0:
            break
        kept.append(line)
    return tuple(reversed(kept))


def _taints(read: Sequence[PastRun] | Sequence[ReportedMessage]) -> list[Taint]:
    return [each.taint for each in read]
