"""Recall: the last runs whole, the older ones in a few words, and never more than there is room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Concatenate, Final, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit import recall
from remit.errors import Transient
from remit.model.ids import SeriesId, TaskId
from remit.model.reply import Memory
from remit.model.review import ReviewAnswer
from remit.model.task import Taint
from remit.recall import (
    MOST_FACTS,
    MOST_REPORTED,
    MOST_WHOLE,
    WHOLE,
    SessionRecall,
    Summarise,
    snippets,
)
from remit.store import sessions
from remit.store.database import OnCommit, Tx
from remit.store.sessions import (
    OwnerStatement,
    PastRun,
    ReportedMessage,
    SessionHistory,
    SessionSummary,
)
from remit.testing import START as NOW
from tests.model.examples import NEW
from tests.soak import examples
from tests.tables import for_each

P = ParamSpec("P")
T = TypeVar("T")
TASK: Final = replace(NEW, series_id=SeriesId("ser-1"))


@dataclass
class Shelf:
    """A store that knows one session, and keeps what is summed up of it."""

    shared: SessionHistory
    kept: list[SessionSummary] = field(default_factory=list)

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        del args, kwargs
        assert work is sessions.look_back
        return self.shared  # type: ignore[return-value]

    async def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        assert (work, kwargs) == (sessions.sum_up, {})
        self.kept.append(args[1])  # type: ignore[arg-type]
        return True  # type: ignore[return-value]

    async def turn(self) -> None:
        raise NotImplementedError

    def on_commit(self, tell: OnCommit) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


def past(n: int, size: int = 100, text: str = "", **more: object) -> PastRun:
    at = NOW + timedelta(days=n)
    run = PastRun(n, TaskId(f"task-{n}"), "News", text or f"Day {n}.\nMore.", at, Taint.OWNER, size)
    return replace(run, **more)


def several(count: int, **more: object) -> tuple[PastRun, ...]:
    return tuple(past(n, **more) for n in range(1, count + 1))  # type: ignore[arg-type]


async def recalled(
    runs: Sequence[PastRun], summarise: Summarise | None = None, **more: object
) -> tuple[Memory, list[SessionSummary]]:
    shelf = Shelf(SessionHistory(tuple(runs), **more))  # type: ignore[arg-type]
    memory = await SessionRecall(shelf, summarise=summarise).like(TASK)
    return memory, shelf.kept


class Scribe:
    """Sums up as it is told, or fails to."""

    def __init__(self, *says: str | Exception | None) -> None:
        self.says = list(says)
        self.heard: list[tuple[str, Sequence[str]]] = []

    async def __call__(self, before: str, runs: Sequence[str]) -> str | None:
        self.heard.append((before, runs))
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


# How much is told ---------------------------------------------------------------------------------


async def test_only_a_series_and_a_retry_look_back() -> None:
    shelf = Shelf(SessionHistory(several(2)))

    assert await SessionRecall(shelf).like(NEW) == Memory()
    assert (await SessionRecall(shelf).like(replace(NEW, retry_of=TaskId("task-1")))).runs


@for_each("count", [1, 3, 9])
async def test_until_there_are_ten_all_runs_are_told_whole(count: int) -> None:
    memory, kept = await recalled(several(count))

    assert memory == Memory(runs=tuple(f"task-{n}" for n in range(1, count + 1)))
    assert kept == []


async def test_at_ten_runs_the_last_three_stay_whole_and_the_others_are_summed_up() -> None:
    scribe = Scribe("Seven days of news.")
    memory, kept = await recalled(several(10), scribe)

    assert memory.runs == ("task-8", "task-9", "task-10")
    assert memory.summary == "Seven days of news."
    ((before, told),) = scribe.heard
    assert (before, len(told)) == ("", 7)
    assert told[0] == "2026-03-03 News\nDay 1.\nMore."
    upto = (NOW + timedelta(days=7), 7)
    assert kept == [
        SessionSummary("Seven days of news.", upto, 7, past(1).ended_at, Taint.OWNER, 7)
    ]


@for_each("last", [{"context": 50_000}, {"size": MOST_WHOLE}])
async def test_a_session_that_holds_too_much_is_summed_up_earlier(last: dict[str, object]) -> None:
    memory, kept = await recalled([*several(4), past(5, **last)])  # type: ignore[arg-type]

    assert len(kept) == 1
    assert memory.summary.startswith("2026-03-03: News: Day 1.")
    assert "Day 3." not in memory.summary


async def test_three_runs_are_never_summed_up_but_what_has_no_room_is_told_in_short() -> None:
    runs = [past(1), past(2, size=MOST_WHOLE), past(3, context=90_000)]
    memory, kept = await recalled(runs)

    assert kept == []
    assert memory.runs == ("task-1", "task-3")
    assert [snippet.task_id for snippet in memory.snippets] == ["task-2"]


# The summary --------------------------------------------------------------------------------------


async def test_a_summary_goes_on_from_the_one_before_it() -> None:
    before = SessionSummary("Old news.", (NOW, 0), 7, NOW, Taint.CONTACT)
    scribe = Scribe("Old and new.")
    memory, (kept,) = await recalled(several(10), scribe, summary=before)

    assert scribe.heard[0][0] == "Old news."
    assert (kept.runs, kept.since, kept.taint) == (14, NOW, Taint.CONTACT)
    assert memory.taint is Taint.CONTACT


@for_each("said", [None, "", "  \n", "x" * 8_001, Transient("busy")])
async def test_what_a_model_does_not_sum_up_code_does_and_the_model_is_asked_again(
    said: str | Exception | None,
) -> None:
    memory, kept = await recalled(several(10), Scribe(said))

    assert memory.summary.splitlines()[0] == "2026-03-03: News: Day 1."
    assert len(memory.summary.splitlines()) == 7
    assert kept == [], "the next run asks again, of everything"
    # One that never answers is not waited for for ever.
    memory, (last,) = await recalled(several(33), Scribe(None))
    assert memory.summary == last.text
    assert WHOLE < recall.MOST_RUNS < recall.PATIENCE < sessions.RECENT


async def test_without_a_model_code_sums_up_in_the_owners_zone() -> None:
    late = past(1, ended_at=NOW.replace(hour=23, minute=30))
    shelf = Shelf(SessionHistory((late, *several(9))))
    memory = await SessionRecall(shelf, zone=ZoneInfo("Asia/Tokyo")).like(TASK)

    assert memory.summary.splitlines()[0] == "2026-03-03: News: Day 1."
    assert [kept.text for kept in shelf.kept] == [memory.summary]


@settings(max_examples=examples(60), deadline=None)
@given(texts=st.lists(st.text(max_size=300), min_size=1, max_size=40), rounds=st.integers(1, 12))
def test_what_code_sums_up_is_bounded_however_often_and_whatever_the_runs_say(
    texts: list[str], rounds: int
) -> None:
    summary: SessionSummary | None = None
    older = [past(n, text=text or "-") for n, text in enumerate(texts)]
    for _ in range(rounds):
        runs = len(older) + (summary.runs if summary else 0)
        made = SessionSummary("", (NOW, 1), runs, NOW, Taint.OWNER)
        summary = snippets.summed_up(made, summary, older, ZoneInfo("UTC"))

    assert summary is not None
    assert 0 < len(summary.text) <= snippets.MOST_SUMMARY
    last = older[-1].text.strip().splitlines() or [""]
    assert snippets.line(last[0], 40)[:39] in summary.text


def test_lines_that_are_left_out_are_counted_once() -> None:
    summary: SessionSummary | None = None
    for n in range(1, 40):
        older = [past(n * 10 + m, text="y" * 150) for m in range(10)]
        made = SessionSummary("", (NOW, n), n * 10, NOW, Taint.OWNER)
        summary = snippets.summed_up(made, summary, older, ZoneInfo("UTC"))

    assert summary is not None
    first, *rest = summary.text.splitlines()
    assert first == "(The oldest of 390 runs since 2026-03-02 are left out.)"
    assert not any(line.startswith("(The oldest") for line in rest)


# Facts --------------------------------------------------------------------------------------------


async def test_the_owners_corrections_stay_in_his_words_oldest_first() -> None:
    said = (
        OwnerStatement("Red.", ReviewAnswer.ANSWER, "Which\ncolour?"),
        OwnerStatement("Mine.", ReviewAnswer.EDIT),
        OwnerStatement("No.", ReviewAnswer.ANSWER),
        OwnerStatement("Shorter.", ReviewAnswer.BACK),
    )
    memory, _ = await recalled((), said=said)

    assert memory.facts == (
        "The owner sent a result back and said: Shorter.",
        "The owner said: No.",
        "The owner sent this instead of what was written: Mine.",
        "Asked 'Which colour?', the owner said: Red.",
    )


async def test_what_was_sent_is_one_line_each_and_not_what_is_told_anyway() -> None:
    told = ReportedMessage(TaskId("task-1"), "Told whole.", NOW, Taint.PUBLIC)
    old = ReportedMessage(TaskId("task-0"), "Sanur is calm.\nAnd shallow.", NOW, Taint.OWNER)
    twice = replace(old, task_id=TaskId("task-00"), at=NOW - timedelta(days=1))
    memory, _ = await recalled(several(1), reported=(told, old, twice))

    assert memory.reported == ("2026-03-02: Sanur is calm. And shallow.",)
    assert memory.taint is Taint.OWNER


async def test_facts_are_bounded_and_the_newest_stay() -> None:
    said = tuple(OwnerStatement(f"{n} " + "s" * 230, ReviewAnswer.BACK) for n in range(20))
    sent = tuple(
        ReportedMessage(TaskId(f"task-x{n}"), f"{n} " + "r" * 900, NOW, Taint.PUBLIC)
        for n in range(50)
    )
    memory, _ = await recalled((), said=said, reported=sent)

    assert 0 < sum(map(len, memory.facts)) <= MOST_FACTS
    assert 0 < sum(map(len, memory.reported)) <= MOST_REPORTED
    assert ": 0 sss" in memory.facts[-1]
    assert ": 0 rrr" in memory.reported[-1]
    assert memory.taint is Taint.PUBLIC


@for_each("where", ["runs", "summary", "reported"])
async def test_a_session_that_has_read_what_others_wrote_says_so(where: str) -> None:
    parts: dict[str, object] = {
        "runs": (past(1, taint=Taint.PUBLIC),),
        "summary": SessionSummary("x", (NOW, 0), 7, NOW, Taint.PUBLIC),
        "reported": (ReportedMessage(TaskId("task-x"), "x", NOW, Taint.PUBLIC),),
    }
    shelf = Shelf(SessionHistory(**{where: parts[where]}))  # type: ignore[arg-type]
    memory = await SessionRecall(shelf).like(TASK)

    assert memory.taint is Taint.PUBLIC
