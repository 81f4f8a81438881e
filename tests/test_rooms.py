"""The rooms before the brain: when, what was asked for, what it becomes, what is known of it."""

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.intake import admit
from remit.model.contract import ClauseOutcome, Contract, ContractType, Plan, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import Ids
from remit.model.status import Status
from remit.model.task import Cue, Priority, Source, SourceKind, Task, TaskType
from remit.plan import Planner
from remit.testing import World
from remit.triggers import cron, cue_admission
from tests.tables import for_each

NOW = datetime(2026, 2, 22, 15, 0, tzinfo=UTC)
IDS = Ids(lambda: NOW, lambda bits: bits)
NO_SPAN = "write it like 90s, 2h30m or 3d"


# Timers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("90s", timedelta(seconds=90)),
        ("2h30m", timedelta(hours=2, minutes=30)),
        ("3d", timedelta(days=3)),
        ("1w1d", timedelta(days=8)),
        ("0s", timedelta(0)),
        ("87672h", timedelta(days=3653)),
    ],
)
def test_a_span_is_so_much_time_from_now(text: str, span: timedelta) -> None:
    assert cron.parse_delay(text, NOW) == NOW + span


@given(st.text(max_size=20))
def test_any_text_is_a_span_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert cron.parse_delay(text, NOW) >= NOW


@for_each(
    ("text", "sentence"),
    [
        *((each, NO_SPAN) for each in ("", "5", "h", "5 m", " 5m", "5m ", "5min", "-5m", "+5m")),
        *((each, NO_SPAN) for each in ("1.5h", "5M", "\u0665m", "1e3s")),
        *((each, "more than ten years") for each in ("999999999w", "3654d", "523w")),
    ],
)
def test_what_is_no_span_is_refused_with_an_example(text: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        cron.parse_delay(text, NOW)
    assert refused.value.field == "in"


@for_each(
    ("text", "sentence"),
    [
        ("2026-02-22T16:30:00+01:00", ""),
        ("2026-02-22T15:00:00Z", "has passed"),
        ("2025-01-01T00:00:00Z", "has passed"),
        ("2026-02-22T16:00:00", "has no offset"),
        ("tomorrow", "is not a time"),
        ("", "is not a time"),
    ],
)
def test_a_moment_has_an_offset_and_lies_ahead_or_it_is_refused(text: str, sentence: str) -> None:
    if not sentence:
        assert cron.parse_moment(text, NOW) == NOW + timedelta(minutes=30)
        return
    with pytest.raises(BadInput, match=sentence):
        cron.parse_moment(text, NOW)


# Commands and intake ------------------------------------------------------------------------------


def test_what_is_typed_goes_to_the_dashboard_unless_it_says_otherwise() -> None:
    cue = cue_admission.cue("  Find beaches\nin Bali ", ref="cli:1", work=["Look"])

    assert (cue.title, cue.text) == ("Find beaches", "Find beaches\nin Bali")
    assert cue.delivery == (Delivery("dashboard"),)
    assert cue.work == (WorkItem("Look"),)
    assert cue.source == Source(SourceKind.MANUAL, "cli:1")
    # A long first line is shortened in the title alone.
    for size, title in ((120, "x" * 120), (121, "x" * 117 + "...")):
        long = cue_admission.cue("x" * size, ref="1")
        assert (long.title, long.text) == (title, "x" * size)


def cue(**more: object) -> Cue:
    plain = Cue(source=Source(SourceKind.MANUAL, "1"), title="Beaches", text="Find beaches")
    return replace(plain, **more)


def test_a_cue_becomes_a_task_that_keeps_its_words() -> None:
    made = admit.make(cue(delivery=(Delivery("outbox"),), work=(WorkItem("Look"),)), IDS, NOW)

    assert made.id.startswith("task-")
    assert made.delivery[0].id is not None
    assert made.delivery[0].id.startswith("dlv-")
    assert made.request is not None
    assert made.request.text == made.instructions == "Find beaches"
    assert [clause.became for clause in made.request.clauses] == [ClauseOutcome.WORK]
    assert (made.type, made.status) == (TaskType.IMMEDIATE, Status.NEW)
    assert made.rule is None


def test_a_cue_without_a_text_is_its_title_and_its_time_makes_it_scheduled() -> None:
    later, late = NOW + timedelta(days=1), NOW - timedelta(seconds=59)
    made = admit.make(cue(text="", scheduled_for=later, priority=Priority.HIGH), IDS, NOW)
    sent = admit.make(cue(delivery=(Delivery("outbox", content="Hi"),)), IDS, NOW)

    assert made.instructions == "Beaches"
    assert (made.type, made.scheduled_for) == (TaskType.SCHEDULED, later)
    assert made.rule is not None
    assert (made.priority, made.rule.name) == (Priority.HIGH, "owner")
    # A time that passed on the way is taken.
    assert admit.make(cue(scheduled_for=late), IDS, NOW).scheduled_for == late
    # What is only to be sent became a delivery.
    assert sent.request is not None
    assert sent.request.clauses[0].became is ClauseOutcome.DELIVERY
    assert sent.plan.precomposed


@pytest.mark.parametrize(
    ("more", "field", "sentence"),
    [
        ({"title": "  "}, "title", "title is empty"),
        ({"title": "a\nb"}, "title", "must be one line"),
        ({"title": "x" * 301}, "title", "title has 301 characters; at most 300 are kept."),
        ({"title": "a\x00b"}, "title", "control character (U+0000)"),
        ({"text": "a\x1bb"}, "text", "control character (U+001B)"),
        ({"text": "a\ud800b"}, "text", "control character (U+D800)"),
        ({"text": "x" * 100_001}, "text", "at most 100000 are kept"),
        ({"instructions": "\x07"}, "instructions", "control character"),
        ({"work": (WorkItem("\x07"),)}, "work item", "control character"),
        ({"source": Source(SourceKind.EMAIL, "x" * 501)}, "source ref", "at most 500"),
        ({"delivery": (Delivery("x" * 101),)}, "channel", "at most 100"),
        ({"delivery": (Delivery("a", "x" * 501),)}, "recipient", "at most 500"),
        ({"delivery": (Delivery("a", content=" \n"),)}, "content", "content is empty"),
        ({"delivery": (Delivery("a", content="\x9b"),)}, "content", "control character"),
        ({"scheduled_for": NOW - timedelta(minutes=2)}, "scheduled_for", "has passed"),
    ],
)
def test_what_no_task_can_be_made_of_is_refused_by_name(
    more: dict[str, object], field: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        admit.make(cue(**more), IDS, NOW)
    assert refused.value.field == field
    assert sentence in str(refused.value)


async def test_the_same_cue_twice_is_the_same_task(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        intake = world.app.intake
        first = await intake.admit(cue())
        again = await intake.admit(cue(title="Other words", text="altogether"))
        other = await intake.admit(cue(source=Source(SourceKind.EMAIL, "1")))

        assert first.id == again.id != other.id
        assert (await world.get(first.id)).title == "Beaches"


# Plan and prompt ----------------------------------------------------------------------------------


def made(**more: object) -> Task:
    return replace(admit.make(cue(), IDS, NOW), **more)


async def test_without_work_items_the_instructions_are_the_one_item() -> None:
    planner = Planner()
    sent = (Delivery("outbox", content="Hi"),)
    contract = Contract(ContractType.SKIP)

    bare = await planner.draft(made(contract=contract))
    assert bare == Plan((WorkItem("Find beaches"),), (), contract)
    assert (await planner.draft(made(work=(WorkItem("Look"),)))).work == (WorkItem("Look"),)
    assert (await planner.draft(made(delivery=sent))).work == ()
