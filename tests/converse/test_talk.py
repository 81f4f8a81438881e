"""Talk through the whole app: what is said is kept, understood by code, and answered once."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remit.brain.think import NoBrain
from remit.converse import LEFT_AFTER
from remit.errors import BadInput, NotFound, StoreTrouble
from remit.model.conversation import SCHEDULED, Action, Role
from remit.model.ids import ConversationId, TaskId
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import SourceKind
from remit.settings import NoticeSettings
from remit.store import conversations, search
from remit.store.conversations import NewTurnRecord
from tests.converse.talking import began, ids, say, told, turns, world
from tests.engine.rig import until
from tests.restoring import restore, save


async def every(app: object) -> int:
    """How many tasks there are."""
    page = await app.app.db.read(search.page, search.TaskFilter(limit=100))  # type: ignore[attr-defined]
    return len(page.tasks)


# Work ---------------------------------------------------------------------------------------------


async def test_work_becomes_tasks_with_a_receipt_and_comes_back_where_it_was_born(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        answer = await say(app, talk, "Research kid-friendly Bangkok attractions")
        (task_id,) = ids(answer)
        await app.run()

        task = await app.get(task_id)
        assert task.source.kind is SourceKind.CONVERSATION
        assert task.source.ref == f"{talk}:1"
        assert answer.task_refs[0].action is Action.CREATED
        assert [c["became"] for c in answer.receipt["clauses"]] == ["work"]  # type: ignore[index,union-attr,call-overload]
        last = (await turns(app, talk))[-1]
        assert last.content == f"“{task.title}” is done.\n\nLumphini Park."
        assert [(ref.task_id, ref.action) for ref in last.task_refs] == [
            (task_id, Action.COMPLETED)
        ]


async def test_two_wishes_in_one_message_are_two_tasks_on_one_turn(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        answer = await say(app, talk, "Find two parks. Remind me tomorrow at 9 to call mom.")

        titles = [line for line in answer.content.splitlines() if line.startswith("Task: ")]
        assert titles == ["Task: Find two parks", "Task: Call mom"]
        assert [ref.action for ref in answer.task_refs] == [Action.CREATED, Action.CREATED]


async def test_a_conversation_is_named_after_the_first_thing_said_in_it(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "what is running?\nreally")

        found = await app.app.db.read(conversations.get, talk)
        assert found.title == "what is running?"


async def test_a_task_that_asks_and_one_that_fails_say_so_in_the_talk(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the hopeless case")
        await say(app, talk, "Research the passport rules")
        await app.run()

        said = await told(app, talk)
        assert "“Research the passport rules” needs you: Which passport do you hold?" in said
        assert any(line.startswith("“Research the hopeless case” failed.") for line in said)


async def test_what_was_planned_is_told_among_scheduled_events(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Remind me tomorrow at 9 to call mom")
        before = len(await turns(app, talk))
        await app.run(timedelta(days=2))

        events = await app.app.db.read(conversations.find_by_title, SCHEDULED)
        assert events is not None
        assert [line.partition("\n")[0] for line in await told(app, events.id)] == [
            "“Call mom” is done."
        ]
        assert len(await turns(app, talk)) == before


async def test_whoever_is_still_there_is_told_there(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "In 10 minutes remind me to call mom")
        await app.run(timedelta(minutes=12))

        assert (await told(app, talk))[-1].startswith("“Call mom” is done.")
        assert await app.app.db.read(conversations.find_by_title, SCHEDULED) is None


async def test_what_nobody_wants_to_hear_is_not_told(tmp_path: Path) -> None:
    async with world(tmp_path, notices=NoticeSettings(done=())) as app:
        talk = await began(app)
        await say(app, talk, "Research the parks")
        await app.run()

        assert len(await turns(app, talk)) == 2


# Questions ----------------------------------------------------------------------------------------


async def test_a_short_reply_answers_the_only_open_question(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        asked = await say(app, talk, "Remind me to water the plants")
        answer = await say(app, talk, "tomorrow at 9:30")
        task = await app.get(ids(asked)[0])

        assert task.scheduled_for == datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
        assert answer.content == "Thank you. “Water the plants”: planned for tomorrow 09:30."
        assert await app.waiting() == []
        assert await every(app) == 1


async def test_an_answer_that_does_not_fit_is_asked_about_again(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Remind me to water the plants")
        answer = await say(app, talk, "purple")

        assert "purple" in answer.content
        assert await every(app) == 1
        assert len(await app.waiting()) == 1


async def test_the_brains_question_is_answered_in_the_talk_and_the_task_goes_on(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the passport rules")
        await app.run()
        await say(app, talk, "the blue one")

        (decided,) = [  # the task goes on, and this brain asks the same once more
            each.decision
            for task in await app.app.db.read(conversations.tasks_in, talk)
            for each in await app.app.inbox.of_task(task.id)
            if each.decision is not None
        ]
        assert (decided.answer, decided.text) == (ReviewAnswer.ANSWER, "the blue one")


async def test_work_beside_an_open_question_is_asked_about_and_never_taken_for_an_answer(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the passport rules")
        await app.run()
        asked = await say(app, talk, "Find two parks")
        assert asked.content.startswith("Is that the answer to")
        assert len(await app.waiting()) == 1

        made = await say(app, talk, "new")

        assert [(await app.get(task)).title for task in ids(made)] == ["Find two parks"]
        assert len(await app.waiting()) == 1


async def test_what_was_asked_about_can_be_the_answer_too(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the passport rules")
        await app.run()
        (asked,) = await app.waiting()
        await say(app, talk, "Find two parks")
        await say(app, talk, "answer")

        assert asked.id not in {each.id for each in await app.waiting()}
        assert await every(app) == 1


# Orders about tasks -------------------------------------------------------------------------------


async def test_a_task_is_stopped_paused_and_resumed_by_its_name(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 9 to call mom")
        (task_id,) = ids(made)

        assert (await say(app, talk, "pause the mom thing")).content == "“Call mom” is paused."
        assert (await app.get(task_id)).status is Status.PAUSED
        assert (await say(app, talk, "resume it")).content == "“Call mom” goes on."
        assert (await say(app, talk, "cancel it")).content == "“Call mom” is cancelled."
        assert (await app.get(task_id)).status is Status.CANCELLED
        assert (await say(app, talk, "cancel it")).content == "“Call mom” is cancelled."


async def test_where_two_tasks_may_be_meant_the_owner_is_asked_which(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Remind me tomorrow at 9 to call mom")
        await say(app, talk, "Remind me tomorrow at 10 to call the bank")
        asked = await say(app, talk, "cancel the call task")
        assert asked.content.startswith("Which one shall I cancel?")
        assert [(await app.get(task)).ended for task in ids(asked)] == [False, False]

        answer = await say(app, talk, "the bank one")

        assert answer.content == "“Call the bank” is cancelled."
        assert sorted([(await app.get(task)).ended for task in ids(asked)]) == [False, True]


async def test_words_that_may_be_work_are_not_an_order_to_cancel(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Remind me tomorrow at 9 to call the gym about prices")
        asked = await say(app, talk, "cancel my gym prices")
        assert "something new" in asked.content

        made = await say(app, talk, "new")

        assert made.task_refs[0].action is Action.CREATED
        assert await every(app) == 2


async def test_a_task_that_is_not_there_is_not_made_up(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)

        for text in ("pause the bangkok thing", "cancel it", "pause everything"):
            answer = await say(app, talk, text)
            assert answer.task_refs == ()
        assert await every(app) == 0


# Corrections --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("make it 5pm", datetime(2026, 3, 3, 16, 0, tzinfo=UTC)),
        ("No wait, make that Thursday", datetime(2026, 3, 5, 15, 0, tzinfo=UTC)),
        ("lieber um 17 Uhr", datetime(2026, 3, 3, 16, 0, tzinfo=UTC)),
        ("mejor el jueves", datetime(2026, 3, 5, 15, 0, tzinfo=UTC)),
    ],
)
async def test_a_correction_changes_the_task_and_makes_no_second_one(
    tmp_path: Path, text: str, at: datetime
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 4pm to call mom")
        await say(app, talk, text)

        assert (await app.get(ids(made)[0])).scheduled_for == at
        assert await every(app) == 1
        await app.run(at - app.now - timedelta(minutes=1))
        assert (await app.get(ids(made)[0])).status is Status.READY
        await app.run(timedelta(minutes=2))
        assert (await app.get(ids(made)[0])).status is Status.COMPLETED


async def test_a_correction_that_may_mean_two_times_is_asked_about(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 9am to call mom")
        asked = await say(app, talk, "make it 5")
        assert "morning or in the afternoon" in asked.content

        await say(app, talk, "17:00")

        assert (await app.get(ids(made)[0])).scheduled_for == datetime(2026, 3, 3, 16, tzinfo=UTC)
        assert await every(app) == 1


@pytest.mark.parametrize("text", ["make it blue", "make it yesterday at 3pm"])
async def test_a_correction_nobody_can_read_changes_nothing(tmp_path: Path, text: str) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Remind me tomorrow at 4pm to call mom")
        before = (await app.get(ids(made)[0])).scheduled_for
        answer = await say(app, talk, text)

        assert "not been changed" in answer.content or "has passed" in answer.content
        assert (await app.get(ids(made)[0])).scheduled_for == before
        assert await every(app) == 1


async def test_what_has_begun_or_comes_back_is_not_moved(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the parks")
        await app.run()
        assert "has begun" in (await say(app, talk, "make it tomorrow at 5pm")).content
        await say(app, talk, "Every Monday at 9 remind me to call mom")
        assert "comes back" in (await say(app, talk, "make it 10:00")).content


# Records and answers ------------------------------------------------------------------------------


async def test_code_says_what_runs_what_is_planned_and_what_was_done(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        assert (await say(app, talk, "what is running?")).content == "Nothing is running."
        await say(app, talk, "Research the parks")
        await app.run()
        await say(app, talk, "Remind me tomorrow at 9 to call mom")

        planned = await say(app, talk, "what is planned?")
        done = await say(app, talk, "what did you do at 10?")
        nothing = await say(app, talk, "what did you do yesterday?")
        state = await say(app, talk, "is the parks research done?")

        assert planned.content == "Planned:\n- “Call mom”: planned for tomorrow 09:00"
        assert "“Research the parks”: done 10:00" in done.content
        assert nothing.content == "Nothing is on record for yesterday."
        assert state.content.startswith("“Research the parks”: done 10:00")


async def test_a_question_is_answered_by_the_brain(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        answer = await say(app, talk, "How many legs has a spider?")

        assert (answer.content, answer.notes) == ("Eight legs.", ())
        assert await every(app) == 0


async def test_an_answer_that_lies_is_shown_with_a_mark(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        answer = await say(app, talk, "What is the lie?")

        assert answer.content == "Spiders are nice. I sent the list to Anna."
        assert answer.notes == ("Not on record: I sent the list to Anna.",)


async def test_without_a_brain_a_question_gets_a_plain_sentence(tmp_path: Path) -> None:
    async with world(tmp_path, brain=NoBrain()) as app:
        talk = await began(app)
        answer = await say(app, talk, "How many legs has a spider?")

        assert "a language model is needed" in answer.content


async def test_a_brain_that_fails_is_said_to_have_failed(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        answer = await say(app, talk, "What is a broken thing?")

        assert answer.content.startswith("That cannot be answered now.")


@pytest.mark.parametrize("text", ["thanks", "hello", "lol"])
async def test_talk_that_asks_for_nothing_makes_nothing(tmp_path: Path, text: str) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, text)

        assert await every(app) == 0


# Durable ------------------------------------------------------------------------------------------


async def test_a_turn_that_was_cut_is_answered_once_after_the_restart(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        said = NewTurnRecord(role=Role.USER, content="Remind me tomorrow at 9 to call mom")
        await app.app.db.write(conversations.say, talk, said, app.now, owed=True)
        await app.restart()
        await app.run()
        await app.restart()
        await app.run()

        assert [turn.answers for turn in await turns(app, talk)] == [None, 1]
        assert await every(app) == 1


async def test_a_turn_of_before_a_restore_may_have_been_obeyed_and_is_not_again(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the parks")
        await app.run()
        said = NewTurnRecord(role=Role.USER, content="Do it again.")
        await app.app.db.write(conversations.say, talk, said, app.now, owed=True)
        await restore(app, save(app, tmp_path / "saved"))
        await app.run()

        assert "it may have been done already" in (await told(app, talk))[-1]
        assert await every(app) == 1
        app.clock.advance(timedelta(minutes=1))
        await say(app, talk, "Do it again.")
        assert await every(app) == 2


async def test_a_turn_that_another_process_left_is_answered_without_a_restart(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await app.app.talk.start()
        said = NewTurnRecord(role=Role.USER, content="Remind me tomorrow at 9 to call mom")
        await app.app.db.write(conversations.say, talk, said, app.now, owed=True)
        for _ in range(2):
            await asyncio.sleep(0)  # the loop sleeps until then
            app.clock.advance(LEFT_AFTER)
            await asyncio.sleep(0.05)
        await app.run()

        assert [turn.answers for turn in await turns(app, talk)] == [None, 1]
        assert await every(app) == 1


async def test_an_answer_cut_behind_the_deed_is_given_without_doing_it_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Remind me to water the plants")

        def cut(*_: object) -> None:
            raise StoreTrouble("The disk is full.")

        with monkeypatch.context() as power:
            power.setattr("remit.store.conversations.answer", cut)
            turn = await app.app.talk.say(talk, "tomorrow at 9:30")
            assert await app.app.talk.answered(turn, 5) is None
        assert await app.waiting() == []  # it was done, and nobody was told
        await app.restart()
        await app.run()

        last = (await turns(app, talk))[-1]
        assert (last.answers, last.content) == (
            turn.n,
            "Thank you. “Water the plants”: planned for tomorrow 09:30.",
        )
        assert await every(app) == 1


async def test_an_answer_that_can_never_be_stored_is_shown_and_others_are_given(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk, other = await began(app), await began(app)
        await app.app.talk.start()
        with closing(sqlite3.connect(app.app.settings.home / "agent.db")) as db:
            refuses = f"INSERT ON turns WHEN NEW.conversation_id = '{talk}' AND NEW.role <> 'user'"
            db.execute(f"CREATE TRIGGER spoilt BEFORE {refuses} BEGIN SELECT json('['); END")
        await app.app.talk.say(talk, "Remind me to water the plants")

        def is_shown() -> bool:
            app.clock.advance(LEFT_AFTER)
            return bool(app.app.background.failing)

        await until(is_shown)
        (loop,) = app.app.background.failing
        assert (loop.name, "malformed JSON" in loop.error) == ("refused answers", True)
        assert (await say(app, other, "Remind me to water the plants")).answers == 1

        with closing(sqlite3.connect(app.app.settings.home / "agent.db")) as db:
            db.execute("DROP TRIGGER spoilt")

        async def is_answered() -> bool:
            return not is_shown() and len(await turns(app, talk)) > 1

        await until(is_answered)


async def test_news_is_told_once_whatever_restarts(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        await say(app, talk, "Research the parks")
        await app.run()
        for _ in range(3):
            await app.restart()
            await app.run()

        said = await told(app, talk)
        assert sum(line.startswith("“Research the parks” is done.") for line in said) == 1


async def test_who_goes_on_talking_need_not_wait_for_a_slow_answer(tmp_path: Path) -> None:
    class Slow:
        async def think(self, prompt: Prompt, *, session: str) -> Reply:
            await asyncio.Event().wait()
            return Reply(f"{prompt.text} {session}")

    async with world(tmp_path, brain=Slow()) as app:
        talk = await began(app)
        slow = await app.app.talk.say(talk, "How many legs has a spider?")
        quick = await say(app, talk, "what is running?")

        assert quick.content == "Nothing is running."
        assert await app.app.talk.answered(slow, 0) is None
        await app.app.talk.stop()


async def test_the_same_key_is_the_same_turn(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        first = await app.app.talk.say(talk, "what is running?", key="k")
        again = await app.app.talk.say(talk, "what is running?", key="k")
        await app.run()

        assert first.n == again.n
        assert len(await turns(app, talk)) == 2


# Where a task was talked about --------------------------------------------------------------------


async def test_a_conversation_is_resumed_from_its_task_or_begun_anew_with_it(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        (task_id,) = ids(await say(app, talk, "Remind me tomorrow at 9 to call mom"))
        assert (await app.app.talk.resume(task_id)).id == talk

        await app.app.db.write(conversations.remove, talk, app.now)
        fresh = await app.app.talk.resume(task_id)

        assert fresh.id != talk
        (first,) = await turns(app, fresh.id)
        assert ids(first) == [task_id]
        assert (await say(app, fresh.id, "cancel it")).content == "“Call mom” is cancelled."
        assert (await app.app.talk.resume(task_id)).id == fresh.id


async def test_who_points_at_a_task_speaks_about_it(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        task = await app.add("Water the plants", at=app.now + timedelta(days=1))
        talk = await began(app)
        await say(app, talk, "Remind me tomorrow at 9 to call mom")
        answer = await say(app, talk, "cancel it", about=task.id)

        assert answer.content == "“Water the plants” is cancelled."


async def test_what_cannot_be_kept_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        talk = await began(app)
        for text in ("", "   ", "x" * 20_001):
            with pytest.raises(BadInput, match="text"):
                await app.app.talk.say(talk, text)
        with pytest.raises(BadInput, match="title"):
            await app.app.talk.begin("x" * 200)
        with pytest.raises(NotFound):
            await app.app.talk.say(ConversationId("conv-none"), "hello")
        with pytest.raises(NotFound):
            await app.app.talk.say(talk, "hello", about=TaskId("task-none"))
        with pytest.raises(NotFound):
            await app.app.talk.resume(TaskId("task-none"))
