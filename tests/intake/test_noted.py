"""The words of an event: what they send, what they leave open, what the calendar says better."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remit.contacts.book import Contacts
from remit.intake.calendar_intake import CalendarIntake, EventReading, words_of
from remit.model.contract import ClauseOutcome
from remit.model.task import Cue, Source, SourceKind
from tests.intake.heard_world import Talk
from tests.intake.labelled import BOOK, ZONE

START = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)
READ = EventReading(BOOK, ZONE, frozenset({"backup"}))


@pytest.mark.parametrize(
    "title",
    [
        "Dentist",
        "Lunch with Sam",
        "Team meeting at 3pm",
        "Every day at 8 check mail",
        "What did I do this week?",
        "Water the plants",
    ],
)
def test_words_that_send_nothing_are_taken_as_they_stand(title: str) -> None:
    assert READ(title, "", START) is None


@pytest.mark.parametrize(
    ("title", "text", "sends"),
    [
        ("prepare standup, send it to Bob on WhatsApp", "", {("whatsapp", "Bob", None)}),
        ("Summary", "Sum up the week and mail it to Alice", {("email", "Alice", None)}),
        ("WhatsApp Carlos: dinner is ready", "", {("whatsapp", "Carlos", "dinner is ready")}),
        ("Remind me to call mom", "", {("dashboard", None, "call mom")}),
    ],
)
def test_words_that_send_something_say_what_and_to_whom(
    title: str, text: str, sends: set[tuple[str, str | None, str | None]]
) -> None:
    ledger = READ(title, text, START)
    assert ledger is not None
    assert {(d.channel, d.recipient, d.content) for d in ledger.draft.deliveries} == sends
    assert ledger.gaps == ()
    assert None not in {clause.became for clause in ledger.clauses}


def test_the_calendar_says_when_and_another_time_is_declined() -> None:
    ledger = READ("Mail Alice the report at 18:00", "", START)
    assert ledger is not None
    (declined,) = [each for each in ledger.clauses if each.became is ClauseOutcome.DECLINED]
    assert (declined.text, declined.why) == ("at 18:00", "The calendar says when.")
    assert (ledger.draft.scheduled_for, ledger.draft.recurrence) == (None, None)


def test_an_event_is_one_task_and_another_is_asked_about() -> None:
    said = "Find beaches and send me the list on WhatsApp. Also compare prices and mail them to Bob"
    ledger = READ(said, "", START)
    assert ledger is not None
    assert [each.channel for each in ledger.draft.deliveries] == ["whatsapp"]
    (gap,) = ledger.gaps
    assert gap.about == "task"
    assert "compare prices" in gap.question


def test_what_goes_to_the_same_people_is_one_task_with_all_of_its_work() -> None:
    ledger = READ(
        "Find beaches and mail them to Bob. Also compare prices and mail them to Bob", "", START
    )
    assert ledger is not None
    assert [each.recipient for each in ledger.draft.deliveries] == ["Bob"]
    assert len(ledger.draft.work) == 2
    assert ledger.gaps == ()


def test_a_command_of_the_settings_runs_by_the_calendar() -> None:
    ledger = READ("Run backup", "", START)
    assert ledger is not None
    assert ledger.draft.agent == "command:backup"


def test_a_long_description_is_not_read() -> None:
    long = "Send this to Bob on WhatsApp. " * 1_000
    assert words_of("Agenda", long) == "Agenda"
    assert READ("Agenda", long, START) is None


async def test_an_event_whose_words_hold_it_back_is_asked_about_before_it_is_sent(
    tmp_path: Path,
) -> None:
    allowed = '- name: Bob\n  channels: {whatsapp: "+1555"}\n  policy: {whatsapp: allow}\n'
    async with Talk(tmp_path, book=allowed) as world:
        app = world.app
        book = Contacts(tmp_path / "contacts.yaml", "Hanan", ("dashboard", "whatsapp"))
        noted = CalendarIntake(app.db, app.clock, app.ids, book, app.zone, app.intake.admit)
        for n, words in enumerate(('Text Bob "Hi"', 'Text Bob "No", maybe')):
            source = Source(SourceKind.CALDAV, f"event-{n}")
            at = world.now + timedelta(minutes=n + 1)
            await noted.admit(Cue(source=source, title=words, text=words, scheduled_for=at))
        await world.run(timedelta(hours=1))
        (asked,) = await world.waiting()

    assert [parcel.body for parcel in world.whatsapp.sent] == ["Hi"]
    assert "“maybe”" in asked.question
    assert asked.evidence == "No"
