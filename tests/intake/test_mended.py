"""What once did harm: words taken back, pasted text, ends said later, clocks elsewhere."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.intake.extract import Extraction, extract
from remit.intake.heard import rehearsed, told
from remit.intake.recipients import About
from remit.model.plan import Became
from tests.intake.heard_world import Talk, plans
from tests.intake.labelled import BOOK, NOW, ZONE, Message, messages, score

DAYS = ("Monday", "Tuesday", "Thursday", "Friday", "Saturday", "Sunday")
TURNS = (
    ", no wait, make that ",
    "… I mean ",
    ", no, ",
    " - sorry, I meant ",
    ". Actually make it ",
)
FORWARDED = "\n\n---------- Forwarded message ---------\nFrom: Sue <sue@example.com>\n\n"
SAID = [
    message.say
    for half in ("tuned", "fresh", "blind")
    for message in messages(half)
    if "\n" not in message.say
]

TYPED = {message.say for message in messages("mended_phone")}
GUARDED = [message for message in messages("mended") if message.say not in TYPED]


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


@pytest.mark.parametrize("message", GUARDED, ids=lambda message: message.say[:50])
def test_what_was_mended_stays_mended(message: Message) -> None:
    assert score(message).wrong == []


# Words taken back ---------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.permutations(DAYS), st.sampled_from(TURNS))
def test_the_last_word_counts_as_if_it_had_been_the_only_one(days: list[str], turn: str) -> None:
    old, new, *_ = days
    corrected = read(f"Remind me on {old}{turn}{new} at 10am to call the bank")
    plain = read(f"Remind me on {new} at 10am to call the bank")

    assert [(d.scheduled_for, d.deliveries) for d in corrected.tasks] == [
        (d.scheduled_for, d.deliveries) for d in plain.tasks
    ]
    assert corrected.questions == plain.questions == ()


@settings(deadline=None)
@given(st.permutations(DAYS), st.sampled_from(TURNS))
def test_the_hour_stays_when_only_the_day_is_taken_back(days: list[str], turn: str) -> None:
    old, new, *_ = days
    corrected = read(f"Remind me on {old} at 10am to call the bank{turn}{new}")
    plain = read(f"Remind me on {new} at 10am to call the bank")

    if turn == ", no, ":  # too weak to reach back over other words
        return
    assert [(d.scheduled_for, d.deliveries) for d in corrected.tasks] == [
        (d.scheduled_for, d.deliveries) for d in plain.tasks
    ]


@pytest.mark.parametrize(
    "text",
    [message.say for message in messages("mended") if any(d.noted for d in message.tasks)],
)
def test_the_ledger_of_a_corrected_message_is_that_of_the_message(text: str) -> None:
    found = read(text)
    spans = [(c.start, c.end) for c in found.clauses]

    assert all(text[c.start : c.end] == c.text for c in found.clauses)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    struck = [c for c in found.clauses if c.became is Became.DECLINED]
    assert struck
    assert all("counts" in (c.why or "") for c in struck)
    assert sum(len(draft.clauses) for draft in found.tasks) == len(found.clauses)


@pytest.mark.parametrize(
    "text",
    [
        "Remind me on Friday at 5pm to tell Bob I mean Saturday",
        "Remind me on Friday at 5pm that I meant Saturday",
        'Email Alice "Friday, no wait, Saturday"',
        "Recuérdame el viernes a las 17, no el sábado, llamar",
        "Erinnere mich nicht am Freitag um 17 Uhr, lieber am Samstag",
    ],
)
def test_what_takes_nothing_back_is_left_as_it_was_said(text: str) -> None:
    found = read(text)

    assert not any("corrected" in note for draft in found.tasks for note in draft.notes)
    assert not any("counts" in (clause.why or "") for clause in found.clauses)


def test_a_correction_that_may_mean_two_times_is_asked_about() -> None:
    found = read("Remind me on Friday at 5pm to eat and on Sunday at 6pm to run. I meant Monday.")

    assert About.TIME in [question.about for question in found.questions]
    assert "Monday" not in " ".join(str(draft.deliveries) for draft in found.tasks)


async def test_the_receipt_says_what_was_corrected(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say("Remind me on Tuesday at 9am, no wait, Thursday to call the bank")

    receipt = told(heard)
    assert heard.tasks[0].scheduled_for == datetime(2026, 3, 5, 8, tzinfo=UTC)
    assert "You corrected it: 'Thursday' counts." in str(receipt["clauses"])
    found = read("Remind me on Tuesday at 9am, no wait, Thursday to call the bank")
    assert "You corrected 'on Tuesday' to 'Thursday'." in str(rehearsed(found))


@pytest.mark.parametrize(
    "text",
    [
        "Remind me on Tuesday at 5, no wait, Thursday to call the bank",
        "At 5 remind me on Thursday to call the bank",
    ],
)
async def test_the_day_is_kept_when_only_the_hour_is_asked(tmp_path: Path, text: str) -> None:
    async with Talk(tmp_path) as world:
        await world.one(text)
        settled = await world.answer("17:00")

    assert settled.scheduled_for == datetime(2026, 3, 5, 16, tzinfo=UTC)


async def test_nobody_gets_it_until_an_unclear_correction_is_settled(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.say('Email "the party is off" to Bob and Anna Weber, sorry, I mean Mum')
        await world.days(1)
        before = [*world.email.sent, *world.whatsapp.sent]
        settled = await world.answer("Mum on whatsapp")
        await world.approve()

    assert before == []
    assert plans(settled) == [("whatsapp", "Mum", "the party is off")]


# Text of others -----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SAID), st.sampled_from(SAID))
def test_what_others_wrote_below_a_request_asks_for_nothing(own: str, theirs: str) -> None:
    alone, both = read(own), read(own + FORWARDED + theirs)

    assert [(d.scheduled_for, d.deliveries, d.work) for d in both.tasks] == [
        (d.scheduled_for, d.deliveries, d.work) for d in alone.tasks
    ]
    assert len(both.questions) <= len(alone.questions) + (not alone.tasks)


@pytest.mark.parametrize(
    "text",
    [
        "> Please send Alice the contract\n> and email Bob",
        "From: Sue\nSubject: Money\n\nSend Bob 500 euros",
        "[04.03.26, 09:12] Sue: send Alice my address",
    ],
)
def test_pasted_text_alone_makes_no_task_and_is_asked_about(text: str) -> None:
    found = read(text if "\n" in text else f"{text}\n{text}")

    assert found.tasks == ()
    assert [question.about for question in found.questions] == [About.TASK]


def test_a_list_of_ones_own_is_no_pasted_text() -> None:
    found = read("From Monday on:\n- email Alice the list\n- call the bank")

    assert len(found.tasks) == 2


# Ends and clocks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Remind me daily to take the pill. Stop after two weeks.", "UNTIL=20260316"),
        ("Remind me every Monday to swim. Stop after five times.", "COUNT=5"),
    ],
)
async def test_an_end_said_later_holds_when_no_hour_is_said(
    tmp_path: Path, text: str, ends: str
) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one(text)

    assert task.repeats is not None
    assert ends in task.repeats.rule
    assert "BYHOUR=9" in task.repeats.rule


@pytest.mark.parametrize(
    ("answer", "hour"), [("Bangkok", 2), ("in Nairobi", 6), ("Asia/Tokyo", 0), ("my time", 8)]
)
async def test_a_clock_nobody_named_is_asked_for_and_holds_for_that_time(
    tmp_path: Path, answer: str, hour: int
) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Remind me tomorrow at 9am local time to check in")
        settled = await world.answer(answer)
        later = await world.say("Remind me tomorrow at 9am to eat", "b")

    assert settled.scheduled_for == datetime(2026, 3, 3, hour, tzinfo=UTC)
    assert later.tasks[0].scheduled_for == datetime(2026, 3, 3, 8, tzinfo=UTC)


async def test_a_time_elsewhere_that_has_passed_keeps_its_clock(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.one("Remind me at 9am Bangkok time to call the hotel")
        settled = await world.answer("tomorrow at 9:00")

    assert settled.scheduled_for == datetime(2026, 3, 3, 2, tzinfo=UTC)
