"""What the owner writes into his calendar is read like what he says: nothing of it is dropped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from remit.model.contract import ClauseOutcome
from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Taint
from remit.testing import Outbox
from tests.calendar.caldav_servers import Server
from tests.calendar.caldav_stage import DAY, HOUR, NINE, Phone, Stage, agenda, event

BOOK = """\
- {name: Anna Weber, channels: {whatsapp: "+491"}, policy: {whatsapp: allow}}
- {name: Bob, channels: {whatsapp: "+1555"}, policy: {whatsapp: allow}}
"""
STANDUP = "prepare standup\\, send to Anna on WhatsApp"


@asynccontextmanager
async def written(
    server: Server, home: Path, *, trusted: bool = True
) -> AsyncIterator[tuple[Stage, Phone, Outbox]]:
    whatsapp = Outbox("whatsapp")
    (home / "contacts.yaml").write_text(BOOK)
    made = agenda(server, home, trusted=trusted, channels={"whatsapp": whatsapp})
    async with made as (stage, phone):
        yield stage, phone, whatsapp


async def test_an_event_that_says_to_whom_goes_to_them_at_its_time(
    server: Server, tmp_path: Path
) -> None:
    async with written(server, tmp_path) as (stage, phone, whatsapp):
        await phone.write("a", event("a", NINE + HOUR, STANDUP))
        await stage.look()

        (task,) = await stage.tasks()
        assert [(each.channel, each.recipient) for each in task.delivery] == [
            ("whatsapp", "Anna Weber")
        ]
        assert [item.description for item in task.work] == ["prepare standup"]
        assert task.request is not None
        assert {each.became for each in task.request.clauses} == {
            ClauseOutcome.WORK,
            ClauseOutcome.DELIVERY,
        }
        assert (task.scheduled_for, whatsapp.sent) == (NINE + HOUR, [])

        await stage.live(2 * HOUR)
        assert [parcel.recipient for parcel in whatsapp.sent] == ["+491"]


async def test_a_reminder_in_the_calendar_is_told_as_it_was_written_at_its_time(
    server: Server, tmp_path: Path
) -> None:
    async with written(server, tmp_path) as (stage, phone, _):
        await phone.write("a", event("a", NINE + HOUR, "Remind me to call mom"))
        await stage.look()

        (task,) = await stage.tasks()
        assert (task.plan.precomposed, task.gaps) == (True, ())
        assert [each.content for each in task.delivery] == ["call mom"]
        assert task.scheduled_for == NINE + HOUR


async def test_whoever_is_not_known_is_asked_about_once_for_all_of_a_series(
    server: Server, tmp_path: Path
) -> None:
    async with written(server, tmp_path) as (stage, phone, whatsapp):
        daily = event("a", NINE + HOUR, "Sum up the news and send it to Zoe", "RRULE:FREQ=DAILY")
        await phone.write("a", daily)
        await stage.look()
        await stage.world.run()

        (review,) = await stage.world.waiting()
        assert review.reason is Reason.INPUT
        assert "Zoe" in review.question
        await stage.world.decide(review, ReviewAnswer.ANSWER, "Bob on WhatsApp")
        await stage.live(3 * DAY, 6 * HOUR)

        assert [parcel.recipient for parcel in whatsapp.sent] == ["+1555"] * 3
        assert await stage.world.waiting() == []


@pytest.mark.parametrize(
    ("words", "goes_to"),
    [(STANDUP.replace("Anna", "Bob"), ["+1555"]), ("Prepare standup", [])],
    ids=["to another", "to nobody"],
)
async def test_what_is_rewritten_goes_to_nobody_else(
    server: Server, tmp_path: Path, words: str, goes_to: list[str]
) -> None:
    async with written(server, tmp_path) as (stage, phone, whatsapp):
        await phone.write("a", event("a", NINE + HOUR, STANDUP))
        await stage.look()
        await phone.write("a", event("a", NINE + HOUR, words))
        await stage.live(2 * HOUR)

        before, after = await stage.tasks()
        assert (before.status, after.status) == (Status.CANCELLED, Status.COMPLETED)
        assert before.result_summary == "Skipped: its event was rewritten in the calendar."
        assert [parcel.recipient for parcel in whatsapp.tried] == goes_to


@pytest.mark.parametrize(
    ("trusted", "more"), [(False, ()), (True, ("ORGANIZER:mailto:eve@example.net",))]
)
async def test_nobody_elses_event_names_whom_something_is_sent_to(
    server: Server, tmp_path: Path, *, trusted: bool, more: tuple[str, ...]
) -> None:
    async with written(server, tmp_path, trusted=trusted) as (stage, phone, whatsapp):
        await phone.write("a", event("a", NINE + HOUR, STANDUP, *more))
        await stage.live(2 * HOUR)

        (task,) = await stage.tasks()
        assert task.taint is Taint.PUBLIC
        assert [each.channel for each in task.delivery] == ["dashboard"]
        assert whatsapp.tried == []


async def test_a_book_that_cannot_be_read_leaves_a_question_and_loses_no_start(
    server: Server, tmp_path: Path
) -> None:
    async with written(server, tmp_path) as (stage, phone, whatsapp):
        (tmp_path / "contacts.yaml").write_text("- {name: [")
        await phone.write("a", event("a", NINE + HOUR, STANDUP))
        await stage.look()
        await stage.world.run()

        (review,) = await stage.world.waiting()
        assert (review.reason, whatsapp.tried) == (Reason.INPUT, [])
