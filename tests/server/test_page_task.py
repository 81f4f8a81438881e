"""The page of one task without a browser: every part is whole HTML, every act a plain form."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import pytest
from msgspec.structs import replace

from remit.model.ids import TaskId
from remit.model.run import Event, EventKind
from remit.model.status import Actor
from remit.server.web import task_history, task_log
from remit.server.web.task_history import TimelineBar, ToolUse
from remit.server.web.task_log import LogKind
from remit.store.database import Tx
from remit.triggers import cue_admission
from remit.wiring import App
from tests.engine.rig import Watched
from tests.server.served import Served
from tests.tables import for_each

P = ParamSpec("P")
T = TypeVar("T")

START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)


def later(fresh: Served) -> str:
    at = (fresh.clock.now() + timedelta(days=3)).isoformat().replace("+00:00", "Z")
    return fresh.add("Plan the trip", scheduledFor=at)


def test_a_task_has_a_page_and_its_parts_are_the_same_html(fresh: Served) -> None:
    task = fresh.add("Find a park", title="Find a park", work=["Look", "Choose"])
    page = fresh.look(f"/tasks/{task}")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    for part in ("bar", "body", "rail"):
        drawn = fresh.look(f"/tasks/{task}/part/{part}", part=True).text
        assert f'id="task-{part}"' in drawn
        assert drawn.strip() in page.text


@for_each("rest", ["part/secrets", "compare?a=1&b=2"])
def test_a_part_and_an_attempt_that_never_were_are_not_found(fresh: Served, rest: str) -> None:
    assert fresh.look(f"/tasks/{fresh.add('Find a park')}/{rest}").status_code == 404


def test_only_what_has_ended_is_tried_again(fresh: Served) -> None:
    task = later(fresh)
    assert fresh.look(f"/tasks/{task}/again").status_code == 409
    fresh.submit(f"/tasks/{task}/cancel")
    assert fresh.look(f"/tasks/{task}/again").status_code == 200
    again = fresh.submit(f"/tasks/{task}/retry", instructions="Another way")
    made = fresh.stored(again.headers["location"].rpartition("/")[2])
    assert (made.retry_of, made.instructions) == (task, "Another way")


def form_of(fresh: Served, task: str) -> dict[str, str]:
    page = fresh.look(f"/tasks/{task}/edit").text
    version = page.partition('name="version" value="')[2].partition('"')[0]
    return {"title": "A", "instructions": "B", "priority": "high", "version": version}


def test_an_edit_changes_only_what_differs(fresh: Served) -> None:
    task = later(fresh)
    before = fresh.stored(task)
    assert fresh.submit(f"/tasks/{task}/edit", form_of(fresh, task)).status_code == 303
    after = fresh.stored(task)
    assert (after.title, after.instructions, after.priority) == ("A", "B", "high")
    assert after.scheduled_for == before.scheduled_for


def test_an_edit_of_what_changed_meanwhile_is_refused_with_the_words_kept(fresh: Served) -> None:
    task = later(fresh)
    form = form_of(fresh, task)
    fresh.patch(task, "pause")
    answer = fresh.submit(f"/tasks/{task}/edit", form)
    assert answer.status_code == 412
    assert 'value="A"' in answer.text
    assert fresh.stored(task).title == "Plan the trip"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"title": " "}, "The title may not be empty."),
        ({"instructions": " "}, "The instructions may not be empty."),
        ({"at": "tomorrow"}, "is no time"),
    ],
)
def test_a_wrong_edit_is_told_in_a_sentence(
    fresh: Served, wrong: dict[str, str], sentence: str
) -> None:
    task = later(fresh)
    answer = fresh.submit(f"/tasks/{task}/edit", form_of(fresh, task) | wrong)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_the_log_is_filtered_and_paged_on_the_server(busy: Served) -> None:
    task = busy.add("Find a park")
    busy.settle()
    everything = busy.look(f"/tasks/{task}/log").text
    assert "I looked around." in everything
    thinking = busy.look(f"/tasks/{task}/log?show=thinking").text
    assert "I looked around." in thinking
    assert "You created it." not in thinking
    assert "data-n" not in busy.look(f"/tasks/{task}/log?find=nowhere").text
    first = busy.look(f"/tasks/{task}/log?before=2").text
    assert 'id="log-1"' in first
    assert 'id="log-2"' not in first
    behind = busy.look(f"/tasks/{task}/log?after=2").text
    assert 'id="log-2"' not in behind
    assert 'id="log-3"' in behind


# What happened, in words --------------------------------------------------------------------------


def event(n: int, kind: EventKind, actor: Actor = Actor.EXECUTOR, **data: object) -> Event:
    at = START + timedelta(seconds=n)
    return Event(n, TaskId("task-x"), n, kind, actor, at, data, "")  # type: ignore[arg-type]


def test_what_was_said_aloud_is_not_said_again_by_its_step() -> None:
    told = task_log.lines(
        [
            event(1, EventKind.RUN_SAID, text="First I look.\n"),
            event(2, EventKind.STEP_DONE, step="plan_step"),
            event(3, EventKind.STEP_DONE, step="execute_tool", text="First I look."),
            event(4, EventKind.STEP_DONE, step="execute_tool:1", text="Then I write."),
        ],
        {},
    )
    assert [line.text for line in told] == ["First I look.", "Planned the work.", "Then I write."]


def test_a_tool_is_told_by_its_name_and_one_that_failed_is_an_error() -> None:
    calls = {"use:0:0": [ToolUse("search_tasks"), ToolUse("write_file", failed=True)]}
    step = "use:0:0"
    told = task_log.lines(
        [
            event(1, EventKind.STEP_DONE, step=step, text="Nothing was found."),
            event(2, EventKind.STEP_DONE, step=step, text="The disk is full."),
        ],
        calls,
    )
    assert [(line.word, line.error) for line in told] == [
        ("search_tasks", False),
        ("write_file", True),
    ]
    assert told[1].fits(LogKind.ERRORS, "disk")
    assert not told[0].fits(LogKind.ERRORS, "")


@pytest.mark.parametrize("kind", list(EventKind))
def test_every_kind_of_event_has_a_line(kind: EventKind) -> None:
    data = {
        "to": "failed",
        "answer": "refused",
        "attempt": 1,
        "question": "Which?",
        "step": "verify",
        "outcome": "retry",
        "conversation": "conv-1",
        "policy": "allow",
        "contact": "Anna",
        "channel": "email",
        "account": "home",
        "what": "left out",
        "why": "it has no time",
        "file": "guidelines.txt",
        "loop": "search index",
    }
    (line,) = task_log.lines([event(1, kind, Actor.EXECUTOR, **data)], {})
    assert line.word
    assert line.text


def test_work_that_goes_back_says_so_and_why() -> None:
    moved = event(1, EventKind.TASK_MOVED, Actor.EXECUTOR, to="running", note="form: no list")
    (line,) = task_log.lines([moved], {})

    assert line.text == "Not proven, goes back: form: no list"


def test_bars_lie_one_behind_the_other_and_fit() -> None:
    own = [
        event(0, EventKind.TASK_MOVED, Actor.ENGINE, lease=1, to="running"),
        event(6, EventKind.STEP_DONE, step="plan_step"),
        event(54, EventKind.STEP_DONE, step="execute_tool"),
        event(60, EventKind.DELIVERY_CLAIMED, attempt=1),
        event(62, EventKind.DELIVERY_SETTLED, answer="accepted"),
    ]
    bars = task_history.bars(own, own[-1].at, own[-1].at, {})
    assert [(bar.label, bar.took) for bar in bars] == [
        ("Plan", "6 s"),
        ("Think", "48 s"),
        ("Send", "2 s"),
    ]
    chart = task_history.chart(bars, "attempt 1")
    assert chart is not None
    assert chart.words == "Timeline of attempt 1: Plan 6 s, Think 48 s, Send 2 s"
    assert [mark for _, mark in chart.marks][-1] == "1 min 40 s"
    assert all(row.x >= 0 and row.x + row.width <= 100.5 for row in chart.rows)


def test_what_runs_now_has_a_bar_that_ends_now() -> None:
    own = [event(0, EventKind.TASK_MOVED, Actor.ENGINE, lease=1, to="running")]
    (bar,) = task_history.bars(own, None, START + timedelta(minutes=3), {})
    assert bar == TimelineBar("Think", START, START + timedelta(minutes=3), "run")


def test_a_long_attempt_is_drawn_from_its_end() -> None:
    steps = [event(n, EventKind.STEP_DONE, step=f"execute_tool:{n}") for n in range(1, 100)]
    chart = task_history.chart(task_history.bars(steps, START, START, {}), "attempt 1")
    assert chart is not None
    assert (len(chart.rows), chart.left_out) == (
        task_history.MOST_BARS,
        99 - task_history.MOST_BARS,
    )


class Meanwhile(Watched):
    """Something happens whenever what stands around a page is looked at."""

    happens: Callable[[], Awaitable[object]]

    async def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if work.__name__ == "_look":
            await self.happens()
        return await super().read(work, *args, **kwargs)


def _eventful(app: App) -> App:
    db = Meanwhile(app.db)
    db.happens = lambda: app.intake.admit(cue_admission.cue("Meanwhile", ref="meanwhile"))
    return replace(app, db=db)


@pytest.mark.parametrize("path", ["/tasks/{}", "/tasks", "/inbox", "/schedule", "/conversations"])
def test_what_happens_while_a_page_is_made_is_told_to_it_by_the_socket(
    tmp_path: Path, path: str
) -> None:
    with Served(tmp_path, alter=_eventful) as served:
        task = served.add("Find a park")
        before = served.do(served.app.journal.last())
        page = served.look(path.format(task))
        after = served.do(served.app.journal.last())

    assert f'<body data-seq="{before}"' in page.text
    assert before < after
