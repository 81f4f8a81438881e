"""The words of the terminal: cleaned, measured, dated, told."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from msgspec.structs import replace

from remit.cli import (
    codes,
    log,
    out,
    show,
    words,
)
from remit.errors import (
    AlreadyDecided,
    BadInput,
    Conflict,
    HomeLocked,
    IllegalMove,
    NotFound,
    Permanent,
    RemitError,
    StoreTrouble,
    Unreachable,
)
from remit.journal import event_words
from remit.model.codec import JsonMap
from remit.model.contract import ItemStatus, WorkItem
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Reason, Status
from tests.sample_task import sample_task

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TASK = sample_task(
    "Family Trip Research",
    NOW,
    status=Status.COMPLETED,
    work=(WorkItem("Research family-friendly attractions", ItemStatus.COMPLETED),),
    delivery=(Delivery("WhatsApp", status=DeliveryStatus.SENT),),
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("\x1bPdcs\x1b\\x", "x"),
        ("\x1b(Bcharset", "charset"),
        ("a\rb\x08c\x00d\x7f", "abcd"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\u202eback\u2066", "back"),
        ("\x1b", ""),
        ("naïve 日本 👩\u200d👧", "naïve 日本 👩\u200d👧"),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(written: str, shown: str) -> None:
    assert out.clean(written) == shown


def test_wide_letters_take_two_columns_and_columns_stand_under_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out.table([["日本", "x"], ["a\x1b[2Jb", "y\nz"]])

    assert capsys.readouterr().out == "日本  x\nab    y z\n"
    assert (out.width("日本"), out.width("e\u0301")) == (4, 1)
    assert (out.cut("日本語です", 6), out.cut("short", 6)) == ("日本…", "short")


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=-59), "just now"),
        (timedelta(seconds=30), "in 30 s"),
        (timedelta(minutes=-5), "5 min ago"),
        (timedelta(hours=2, minutes=30), "in 2 h"),
        (timedelta(hours=1, minutes=57), "in 2 h"),
        (timedelta(hours=1, minutes=50), "in 1 h"),
        (timedelta(hours=23, minutes=30), "in 1 d"),
        (timedelta(days=-3), "3 d ago"),
        (timedelta(days=-30), "2026-01-31"),
    ],
)
def test_how_far_away_a_moment_is(away: timedelta, said: str) -> None:
    assert words.relative(NOW + away, NOW) == said


def test_a_card_that_waits_says_what_for_and_stays_within_its_edges() -> None:
    held = replace(
        TASK,
        title="Trip Research " * 20,
        status=Status.NEEDS_REVIEW,
        reason=Reason.DELIVERABLE,
        resume_to=Status.DELIVERING,
        delivery=(Delivery("WhatsApp", recipient="Anna"),),
    )
    drawn = show.card_lines(held, "deliverable empty")

    assert "[needs review] WhatsApp to Anna - deliverable empty" in "\n".join(drawn)
    assert {len(line) for line in drawn} == {show.MOST + 2}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadInput("x"), 2),
        (NotFound("task", "x"), 3),
        (codes.OwnerMustAnswer("x"), 4),
        (Conflict("x"), 5),
        (IllegalMove("x", "new", "running", ()), 5),
        (AlreadyDecided("x", "approve", "then"), 5),
        (Unreachable("here", "x"), 6),
        (HomeLocked("here", "x"), 75),
        (codes.TimedOut("x"), 124),
        (codes.ServerRefusal("x", 5, "conflict"), 5),
        (Permanent("x"), 1),
        (StoreTrouble("x"), 1),
        (Status.COMPLETED, 0),
        (Status.FAILED, 1),
        (Status.CANCELLED, 1),
        (Status.NEEDS_REVIEW, 4),
        (Status.PAUSED, 4),
    ],
)
def test_an_error_and_a_status_have_one_code(error: RemitError | Status, code: int) -> None:
    if isinstance(error, Status):
        assert codes.of_status(error) == code
        return
    assert codes.of_error(error) == code
    assert codes.problem_type(error).startswith("urn:remit:problem:")


# What happened: its kind and actor, its data, and how it is told.
TOLD: Final[tuple[tuple[str, str, JsonMap, str], ...]] = (
    ("task.created", "intake", {"source": "manual:1"}, "You created it."),
    ("task.created", "intake", {"source": "email:1"}, "It came in by email."),
    (
        "task.moved",
        "prioritise",
        {"was": "new", "to": "ready", "priority": "low", "rule": "default"},
        "Ready, with priority low (rule: default).",
    ),
    ("task.moved", "engine", {"was": "ready", "to": "running"}, "Started: running."),
    ("task.moved", "owner", {"to": "paused", "note": "restored"}, "Paused: restored."),
    ("task.moved", "owner", {"to": "running"}, "May go on: running."),
    ("task.moved", "owner", {"to": "cancelled"}, "Cancelled."),
    ("task.moved", "reaper", {"to": "needs_review", "crashes": 3}, "Waits for you."),
    ("task.moved", "courier", {"to": "completed", "summary": "Hello!"}, "Completed: Hello!"),
    (
        "task.moved",
        "executor",
        {"to": "running", "note": "form: no list"},
        "Not proven, goes back: form: no list.",
    ),
    ("run.ended", "executor", {"outcome": "retry", "note": "busy"}, "Did not work out: busy."),
    (
        "run.ended",
        "executor",
        {"outcome": "parked"},
        "Its process was stopped; it goes on where Remit runs.",
    ),
    ("step.done", "executor", {"step": "execute_tool:1"}, "Thought it through, turn 2."),
    ("step.done", "executor", {"step": "dance"}, "Did dance."),
    ("delivery.claimed", "courier", {"attempt": 2}, "Sends (try 2)."),
    (
        "delivery.settled",
        "courier",
        {"answer": "refused", "note": "no"},
        "Refused by the channel: no.",
    ),
    ("review.decided", "owner", {"answer": "back", "text": "shorter"}, "You sent it back: shorter"),
    (
        "task.updated",
        "owner",
        {"wish": "pause"},
        "You asked for a pause; it stops at the next boundary.",
    ),
    ("task.updated", "owner", {"wish": None}, "You took that back; it goes on."),
    ("task.updated", "owner", {"what": "restored"}, "You took its deletion back."),
    ("task.updated", "owner", {"what": "put off"}, "You put the question off."),
    ("task.updated", "owner", {"what": "as you answered"}, "Your answer changed it."),
    (
        "task.updated",
        "meta",
        {"what": "slots skipped", "slots": 1, "why": "it slept"},
        "1 run was left out before this one: it slept.",
    ),
    (
        "task.updated",
        "meta",
        {"what": "slots skipped", "slots": 12, "why": "it slept"},
        "12 runs were left out before this one: it slept.",
    ),
    (
        "task.updated",
        "meta",
        {"task": "task-1", "to": "failed", "summary": "No room"},
        "A task it made is failed: No room.",
    ),
)


@pytest.mark.parametrize(("kind", "actor", "data", "said"), TOLD)
def test_what_happened_is_told_in_a_sentence(
    kind: str, actor: str, data: JsonMap, said: str
) -> None:
    entry = Event(1, TASK.id, 1, EventKind(kind), Actor(actor), NOW, data, "")

    assert log.sentence(entry) == said
    assert log.styled_sentence(entry).text == said


@pytest.mark.parametrize(
    ("by", "actor"), [("owner", "owner"), ("owner: a brain is there now", "remit")]
)
def test_the_log_says_who_decided(capsys: pytest.CaptureFixture[str], by: str, actor: str) -> None:
    data: JsonMap = {"answer": "approve", "by": by}
    log._Printer()(Event(1, TASK.id, 1, EventKind.REVIEW_DECIDED, Actor.OWNER, NOW, data, ""))

    assert f"  {actor} " in capsys.readouterr().out


def test_every_kind_of_event_can_be_told() -> None:
    assert {*log._TELL, *event_words.SENTENCES} == set(EventKind)
    assert log._TELL.keys().isdisjoint(event_words.SENTENCES)
