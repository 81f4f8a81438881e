"""Orders about what is there: approving, taking back, and words that are no answer."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.model.status import Status
from remit.model.task import Task
from remit.store import search, series, series_orders
from remit.store.database import Tx
from remit.testing import World
from tests.converse import talking
from tests.converse.talking import began, ids, say
from tests.intake.heard_world import Talk

SEND = 'Send Bob "Hi" on WhatsApp'
WEEKLY: Final = "Every Tuesday at 9 remind me to water the plants"
NEXT: Final = datetime(2026, 3, 3, 8, tzinfo=UTC)  # a Tuesday, nine in Berlin


async def every(world: World) -> list[Task]:
    return list((await world.app.db.read(search.page, search.TaskFilter())).tasks)


async def coming(world: World) -> list[datetime]:
    """The runs to come of the one series there is."""

    def look(tx: Tx) -> list[datetime]:
        (found,) = series.list_series(tx)
        slots = series_orders.coming(tx, found, world.now, 4)
        return [each.at for each in slots if each.fate is None]

    return await world.app.db.read(look)


APPROVALS: Final = {
    "yes, send it": ("Nothing in this conversation waits", "Approved."),
    "Approve it!": ("Nothing in this conversation waits", "Approved."),
    "ja, schick es ab": ("In diesem Gespräch wartet nichts", "Freigegeben."),
    "sí, envíalo": ("En esta conversación nada espera", "Approved."),  # after an English order
}


ABOUT_NO_TASK: Final = (
    *(
        "approve it",
        "skip tuesday",
        "not tuesday",
        "pause",
        "undo",
        "decline",
        "reject it",
        "accept",
    ),
    *("genehmigt", "überspringe dienstag", "lass dienstag aus", "weiter", "ablehnen", "rückgängig"),
    *("apruébalo", "sáltate el martes", "pausa", "reanuda", "deshaz", "recházalo", "para ya"),
    *("move it to thursday", "muévelo al jueves", "verschieb es auf donnerstag"),
)


@pytest.mark.parametrize("order", ABOUT_NO_TASK)
async def test_an_order_about_a_task_is_no_work_where_there_is_none(
    tmp_path: Path, order: str
) -> None:
    async with Talk(tmp_path) as world:
        answer = await say(world, await began(world), order)
        heard = await world.say(order)
        stored = await every(world)

    assert answer.content
    assert (stored, heard.tasks) == ([], ())


@pytest.mark.parametrize("yes", APPROVALS)
async def test_the_one_card_of_a_conversation_is_approved_by_closed_words(
    tmp_path: Path, yes: str
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        nothing = await say(world, talk, yes)
        await say(world, talk, SEND)
        await world.run()
        before = len(world.whatsapp.sent)
        approved = await say(world, talk, yes)
        await world.run()

    assert nothing.content.startswith(APPROVALS[yes][0])
    assert before == 0
    assert approved.content.startswith(APPROVALS[yes][1])
    assert [parcel.body for parcel in world.whatsapp.sent] == ["Hi"]


async def test_two_cards_are_not_approved_by_one_word(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, SEND)
        await say(world, talk, 'Send Mum "Hello" on WhatsApp')
        await world.run()
        asked = await say(world, talk, "yes, send it")
        await world.run()

    assert "Several messages wait for your approval" in asked.content
    assert world.whatsapp.sent == []


@pytest.mark.parametrize(
    "words",
    ["scratch that", "actually don't", "stop", "never mind", "mach's doch nicht", "déjalo", "nvm"],
)
async def test_words_that_take_back_cancel_what_was_spoken_of_and_make_no_task(
    tmp_path: Path, words: str
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        first = await say(world, talk, SEND)
        await world.run()
        await say(world, talk, words)
        await world.run()
        (task,) = (await world.app.db.read(search.page, search.TaskFilter())).tasks

    assert first.task_refs[0].task_id == task.id
    assert task.status is Status.CANCELLED
    assert world.whatsapp.sent == []


@pytest.mark.parametrize("words", ["thanks!", "lol", "danke dir", "jajaja"])
async def test_talk_beside_an_open_question_is_no_answer(tmp_path: Path, words: str) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, "Remind me in 10 minutes")
        await say(world, talk, words)
        (review,) = await world.asked()

    assert review.decision is None


@pytest.mark.parametrize(
    "no", ["no", "don't send it", "gar nicht", "nobody, it was a joke", "neither", "a nadie"]
)
async def test_a_no_to_a_question_sends_nothing(tmp_path: Path, no: str) -> None:
    async with Talk(tmp_path) as world:
        await world.one('Send Zoltan "Hi" on WhatsApp')
        await world.answer(no)
        await world.run()
        (task,) = (await world.app.db.read(search.page, search.TaskFilter())).tasks

    assert world.whatsapp.sent == []
    assert task.delivery == ()


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("skip next Tuesday", NEXT),
        ("überspringe Dienstag", NEXT),
        ("sáltate el martes", NEXT),
        ("skip the next one", NEXT),
        ("not this tuesday, i'm away", NEXT),
        ("am 10. März mal nicht", NEXT + timedelta(days=7)),
        ("skip the plants on March 10", NEXT + timedelta(days=7)),
        ("skip Wednesday", None),  # nothing comes back then
    ],
)
async def test_one_run_is_left_out_and_can_be_had_all_the_same(
    tmp_path: Path, words: str, left_out: datetime | None
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, WEEKLY)
        await world.run()
        whole = await coming(world)
        await say(world, talk, words)
        rest = await coming(world)
        back = await say(world, talk, "undo")
        await world.run()
        tasks = await every(world)

    assert whole[0] == NEXT
    assert [slot for slot in whole if slot not in rest] == ([left_out] if left_out else [])
    assert {task.title for task in tasks} == {"Water the plants"}
    if left_out == NEXT:  # it was there already, so it is put in once more
        assert back.content.startswith(("Undone.", "Rückgängig gemacht.", "Deshecho."))
        assert NEXT in [task.scheduled_for for task in tasks if not task.ended]


@pytest.mark.parametrize(
    ("words", "paused", "over"),
    [
        ("pause the weekly one", True, False),
        ("pausiere die wöchentliche Erinnerung", True, False),
        ("pausa la semanal", True, False),
        ("stop those until I'm back", True, False),
        ("cancel the reminder", False, True),
        ("brich die Erinnerung ab", False, True),
        ("cancela el recordatorio", False, True),
    ],
)
async def test_a_series_is_paused_or_ended_as_a_whole_and_brought_back(
    tmp_path: Path, words: str, paused: bool, over: bool
) -> None:
    def look(tx: Tx) -> tuple[bool, bool]:
        found = series.list_series(tx, ended=True)[0]
        return found.paused_at is not None, found.ended_at is not None

    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, 'Tomorrow at 8 send Bob "Hi" on WhatsApp')
        await say(world, talk, WEEKLY)
        await world.run()
        await say(world, talk, words)
        after = await world.app.db.read(look)
        await say(world, talk, "undo")
        again = await coming(world)
        others = [task.status for task in await every(world) if task.title == "Hi"]

    assert after == (paused, over)
    assert again[0] == NEXT
    assert others == [Status.READY]


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("no wait, Thursday", 5),
        ("mejor el jueves", 5),
        ("lieber Freitag", 6),
        ("make it Friday", 6),
    ],
)
async def test_a_correction_changes_the_task_just_made_and_can_be_undone(
    tmp_path: Path, words: str, day: int
) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        made = await say(world, talk, "Remind me tomorrow at 16:00 to call Mum")
        await say(world, talk, words)
        moved = await world.get(ids(made)[0])
        await say(world, talk, "undo that")
        (back,) = await every(world)

    assert moved.scheduled_for == datetime(2026, 3, day, 15, tzinfo=UTC)
    assert back.scheduled_for == datetime(2026, 3, 3, 15, tzinfo=UTC)


async def test_what_was_cancelled_can_be_had_back_once(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, "Remind me tomorrow at 16:00 to call Mum")
        await say(world, talk, "cancel it")
        undone = await say(world, talk, "mach das rückgängig")
        twice = await say(world, talk, "undo")
        live = [task for task in await every(world) if not task.ended]

    assert undone.content.startswith("Rückgängig gemacht.")
    assert "nichts" in twice.content
    assert [task.scheduled_for for task in live] == [datetime(2026, 3, 3, 15, tzinfo=UTC)]


@pytest.mark.parametrize("words", ["Do it again", "mach das nochmal", "hazlo otra vez, por favor"])
async def test_what_was_done_is_done_once_more(tmp_path: Path, words: str) -> None:
    async with talking.world(tmp_path) as world:
        talk = await began(world)
        nothing = await say(world, talk, words)
        (first,) = ids(await say(world, talk, "Research parks in Bangkok"))
        await world.run()
        again = ids(await say(world, talk, words))
        await world.run()
        made = await world.get(again[-1])

    assert not ids(nothing), "nothing was spoken of yet"
    assert (made.title, made.retry_of) == ("Research parks in Bangkok", first)
    assert made.status is Status.COMPLETED


async def test_the_owner_is_asked_which_one_and_no_is_no(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, WEEKLY)
        await say(world, talk, "Every Friday at 9 remind me to call Mum")
        reminder = await say(world, talk, "cancel the reminder")
        await say(world, talk, "no")
        asked = await say(world, talk, "pause the weekly one")
        no = await say(world, talk, "no, never mind")
        which = await say(world, talk, "pause the weekly one")
        chosen = await say(world, talk, "the plants")
        moving = await say(world, talk, "make it Thursday")
        await say(world, talk, "no")
        tasks = await every(world)

    assert asked.content == which.content
    assert asked.content.startswith("Which one shall I pause?")
    assert reminder.content.startswith("Which one shall I cancel?")
    assert no.content == "All right. Nothing was done."
    assert "“Water the plants” is paused" in chosen.content
    assert "only its next run" in moving.content
    assert {task.title for task in tasks} == {"Water the plants", "Call Mum"}


@pytest.mark.parametrize(
    "words", ["Remind me at 5 to go", 'tomorrow at 8 send Bob "Hi" on WhatsApp', "what time is it?"]
)
async def test_an_open_question_does_not_swallow_something_else(tmp_path: Path, words: str) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, 'Send Zoltan "Hi" on WhatsApp')
        await say(world, talk, words)
        (review,) = [each for each in await world.asked() if "Zoltan" in each.question]

    assert review.decision is None


async def test_a_series_whose_next_run_was_skipped_is_still_meant(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        talk = await began(world)
        await say(world, talk, "Every weekday at 7 remind me to feed the cat")
        await say(world, talk, WEEKLY)
        await say(world, talk, "skip the next one")
        paused = await say(world, talk, "pause the weekly one")
        on = await say(world, talk, "actually no, resume it")
        cancelled = await say(world, talk, "cancel the weekly one")
        again = await say(world, talk, "pause the weekly one")

    assert "“Water the plants” is paused" in paused.content
    assert "“Water the plants” goes on" in on.content
    assert "“Water the plants” is cancelled" in cancelled.content
    assert "Water the plants" not in again.content
