"""What the owner says becomes tasks, in one transaction, and every clause is accounted for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from remit.contacts import ContactBook
from remit.contacts.book import Contacts
from remit.errors import BadInput, KeyReused, Permanent, Transient
from remit.intake import hear
from remit.intake.extraction import Extraction
from remit.intake.hear import MessageReader
from remit.intake.message import OwnerMessage, message_result_to_json
from remit.language.order_words import SmallTalk
from remit.model.contract import ClauseOutcome
from remit.model.recurrence import Repeats
from remit.model.status import Status
from remit.model.task import Priority, Source, SourceKind, TaskType
from remit.store import search, tasks
from remit.store.database import Tx
from remit.store.search import TaskFilter
from remit.testing import script
from tests.intake.heard_world import Talk, fates, plans
from tests.intake.labelled import Message as Labelled
from tests.intake.labelled import messages
from tests.tables import for_each

LIST = "I looked. <deliverable>Wat Pho.</deliverable>"


def count(tx: Tx) -> int:
    return len(search.page(tx, TaskFilter()).tasks)


async def test_two_tasks_in_one_message_one_now_and_one_at_its_time(tmp_path: Path) -> None:
    async with Talk(tmp_path, brain=script([{"reply": LIST}])) as world:
        heard = await world.say(
            "Research Bangkok attractions and send me the list on WhatsApp. "
            "And remind me tomorrow at 9 to call mom."
        )
        research, reminder = heard.tasks
        await world.run()
        done, planned = await world.get(research.id), await world.get(reminder.id)
        await world.days(1)
        rung = await world.get(reminder.id)

    assert (research.source.ref, reminder.source.ref) == ("key:1", "key:1/2")
    assert plans(research) == [("whatsapp", None, None)]
    assert (done.status, planned.status) == (Status.COMPLETED, Status.READY)
    assert planned.scheduled_for == datetime(2026, 3, 3, 8, tzinfo=UTC)
    assert [parcel.body for parcel in world.whatsapp.sent] == ["Wat Pho."]
    assert (rung.status, rung.delivery[0].body) == (Status.COMPLETED, "call mom")


async def test_every_clause_of_a_message_is_on_record_with_one_of_its_tasks(tmp_path: Path) -> None:
    words = "Hi! Remind me at 5pm to stretch. Tell Mum that I am late. Thanks!"
    async with Talk(tmp_path) as world:
        heard = await world.say(words)

    first, second = ([clause for clause, _ in fates(task)] for task in heard.tasks)
    assert first == ["Hi!", "Remind me", "at 5pm", "to stretch"]
    assert (second[0], second[-1]) == ("Tell Mum that I am late", "Thanks!")
    assert all(became for task in heard.tasks for _, became in fates(task))
    assert all(task.request and task.request.text == words for task in heard.tasks)


async def test_the_same_message_twice_is_the_same_tasks_whatever_the_time(tmp_path: Path) -> None:
    words = "Remind me at 5pm to stretch and remind me soon to call mom"
    async with Talk(tmp_path) as world:
        first = await world.say(words)
        world.clock.advance(timedelta(days=40))
        again = await world.say(f"  {words}\n")
        stored = await world.app.db.read(count)

    assert [task.id for task in again.tasks] == [task.id for task in first.tasks]
    assert [review.id for review in again.reviews] == [review.id for review in first.reviews]
    assert (len(first.tasks), len(first.reviews), stored) == (2, 1, 2)


async def test_a_key_that_stood_for_other_words_is_refused(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.say("Remind me at 5pm to stretch")
        with pytest.raises(KeyReused):
            await world.say("Remind me at 6pm to stretch")


async def test_a_key_taken_by_half_of_another_message_stores_nothing(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.say("Find two parks", key="a/2")
        with pytest.raises(KeyReused):
            await world.say("Remind me at 5pm to stretch and remind me at 6pm to eat", key="a")
        stored = await world.app.db.read(count)

    assert stored == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Thanks, that was great!", SmallTalk.THANKS),
        ("Hello!", SmallTalk.GREETING),
        ("What is the capital of France?", SmallTalk.QUESTION),
        ("Wie spät ist es in Tokio?", SmallTalk.QUESTION),
    ],
)
async def test_talk_makes_no_task(tmp_path: Path, words: str, answer: SmallTalk) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(words)
        stored = await world.app.db.read(count)

    assert (heard.tasks, heard.answer, stored) == ((), answer, 0)
    assert [clause.became for clause in heard.clauses] == [ClauseOutcome.DECLINED]


async def test_work_without_a_word_on_where_it_goes_comes_home(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        home = await world.one("Find two parks")
        stays = (await world.say("Write Bob an email about the trip but don't send it", "b")).tasks

    assert plans(home) == [("dashboard", None, None)]
    assert [plans(task) for task in stays] == [[]]


@pytest.mark.parametrize(
    ("words", "content", "at"),
    [
        ("Erinnere mich morgen um 9 an das Training", "das Training", 3),
        ("Recuérdame mañana a las 9 llamar a mamá", "llamar a mamá", 3),
        ("Remind me on Wednesday at 9 to call Bob", "call Bob", 4),
    ],
)
async def test_a_reminder_in_three_languages_needs_no_brain(
    tmp_path: Path, words: str, content: str, at: int
) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one(words)
        await world.days(3)
        ended = await world.get(task.id)

    assert task.scheduled_for == datetime(2026, 3, at, 8, tzinfo=UTC)
    assert task.plan.precomposed
    assert (ended.status, ended.delivery[0].body) == (Status.COMPLETED, content)
    assert ended.completed_at == task.scheduled_for


QUOTED = "Don’t forget:\n  «2 × 3 = 6»\t🙂 naïve"


async def test_quoted_text_goes_out_to_the_letter(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one(f'In two minutes send Mum on WhatsApp: "{QUOTED}"')
        await world.run(timedelta(minutes=3))
        await world.approve()
        ended = await world.get(task.id)

    assert plans(task) == [("whatsapp", "Mum", QUOTED)]
    assert ended.status is Status.COMPLETED
    assert [(each.recipient, each.body) for each in world.whatsapp.sent] == [("+1777", QUOTED)]


async def test_a_rule_of_repetition_is_handed_on(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one("Every weekday at 8:30 remind me to stretch")
        kept = await world.get(task.id)

    rule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=30"
    first = datetime(2026, 3, 3, 7, 30, tzinfo=UTC)
    assert kept.repeats == Repeats(rule, "Europe/Berlin", first)
    assert kept.scheduled_for == first


async def test_a_zone_in_the_words_holds_for_that_time_alone(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(
            "Remind me tomorrow at 9 New York time to call Bob. Remind me tomorrow at 9 to eat."
        )

    assert [task.scheduled_for and task.scheduled_for.hour for task in heard.tasks] == [14, 8]


async def test_a_time_given_beside_the_words_holds_for_all_of_them(tmp_path: Path) -> None:
    at = datetime(2026, 3, 5, 12, tzinfo=UTC)
    async with Talk(tmp_path) as world:
        heard = await world.say("Remind me to call Bob", scheduled_for=at, priority=Priority.HIGH)
        kept = await world.get(heard.tasks[0].id)

    assert (kept.scheduled_for, kept.type, kept.gaps) == (at, TaskType.SCHEDULED, ())
    assert (kept.priority, heard.reviews) == (Priority.HIGH, ())


@pytest.mark.parametrize("words", ["tomorrow at 5pm", "tomorrow", "later today", "every day at 9"])
async def test_two_times_that_contradict_are_refused(tmp_path: Path, words: str) -> None:
    async with Talk(tmp_path) as world:
        with pytest.raises(BadInput, match="say it once"):
            await world.say(
                f"Remind me {words} to call Bob", scheduled_for=world.now + timedelta(days=1)
            )
        assert await world.app.db.read(count) == 0


async def test_a_checklist_is_one_task_and_what_is_ticked_is_declined(tmp_path: Path) -> None:
    words = "# Trip\n- [ ] research hotels\n- [x] book flights\n- [ ] compare prices\n"
    async with Talk(tmp_path) as world:
        task = await world.one(words)

    assert [item.description for item in task.work] == ["research hotels", "compare prices"]
    assert ("book flights", ClauseOutcome.DECLINED) in fates(task)
    assert plans(task) == [("dashboard", None, None)]


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "x" * 100_001])
async def test_a_message_nobody_can_read_is_refused(tmp_path: Path, text: str) -> None:
    async with Talk(tmp_path) as world:
        with pytest.raises(BadInput):
            await world.say(text)


class Falls:
    """A reader that cannot read today."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        del text, now, zone, book
        raise self.error


@pytest.mark.parametrize("error", [Transient("busy"), Permanent("no such model")])
async def test_where_a_reader_fails_the_rules_read(tmp_path: Path, error: Exception) -> None:
    async with Talk(tmp_path) as world:
        app = world.app
        contacts = Contacts(tmp_path / "contacts.yaml", "Hanan", ("dashboard",))
        berlin = ZoneInfo("Europe/Berlin")
        ear = MessageReader(app.db, app.clock, app.ids, contacts, berlin, Falls(error))
        source = Source(SourceKind.MANUAL, "k")
        heard = await ear.hear(OwnerMessage(text="Remind me at 5pm to stretch", source=source))

    assert [task.title for task in heard.tasks] == ["Stretch"]


async def test_what_is_read_is_told_and_nothing_is_stored(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        source = Source(SourceKind.MANUAL, "k")
        found = await world.app.intake.read(OwnerMessage(text="Find two parks", source=source))
        stored = await world.app.db.read(count)

    assert plans_of(found) == ["dashboard"]
    assert stored == 0


def plans_of(found: Extraction) -> list[str]:
    return [each.channel for draft in found.tasks for each in draft.deliveries]


EVERY = messages()


@for_each("message", EVERY)
def test_each_clause_and_each_question_of_a_labelled_message_has_a_task(message: Labelled) -> None:
    found = message.read()
    ledgers = hear.ledgers(found)

    kept = [clause for ledger in ledgers for clause in ledger.clauses]
    asked = sum(len(ledger.gaps) for ledger in ledgers)
    if found.tasks:
        assert set(kept) == set(found.clauses)
        assert asked >= len({(each.clause, each.about) for each in found.questions})


async def test_what_is_told_has_every_clause_once_and_each_question_with_its_id(
    tmp_path: Path,
) -> None:
    async with Talk(tmp_path) as world:
        shown = message_result_to_json(
            await world.say("Remind me at 9 and at 17:00 tomorrow to call Zoltan's dog")
        )
        open_ = message_result_to_json(await world.say("Remind me tomorrow", "b"))
        stored = await world.app.db.read(tasks.counts)

    clauses = shown["clauses"]
    assert isinstance(clauses, list)
    starts = [clause["start"] for clause in clauses if isinstance(clause, dict)]
    assert len(starts) == len(set(map(str, starts)))
    questions = open_["questions"]
    assert isinstance(questions, list)
    assert all(isinstance(each, dict) and str(each["id"]).startswith("rev-") for each in questions)
    assert sum(stored.values()) == 3
