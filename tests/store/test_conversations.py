"""Conversations in the store: turns in order, answered once, each about the tasks it names."""

from datetime import timedelta

import pytest

from remit.errors import NotFound
from remit.model.conversation import Action, Conversation, Role, TaskRef, Turn
from remit.model.delivery import Accepted
from remit.model.status import Status
from remit.store import conversations
from remit.store.conversations import NewTurnRecord
from tests.store.scene import Scene


def begun(scene: Scene, title: str = "Bangkok", channel: str = "dashboard") -> Conversation:
    made = Conversation(scene.ids.conversation(), title, scene.now, scene.now, channel)
    return scene.do(conversations.begin, made)


def says(scene: Scene, talk: Conversation, text: str, *refs: TaskRef) -> Turn:
    said = NewTurnRecord(role=Role.USER, content=text, task_refs=refs)
    return scene.do(conversations.say, talk.id, said, scene.now, owed=True)


def test_a_turn_is_answered_once_and_owed_until_then(scene: Scene) -> None:
    talk = begun(scene)
    turn = says(scene, talk, "hello?")
    reply = NewTurnRecord(role=Role.ASSISTANT, content="hello", receipt={"a": 1}, notes=("n",))
    assert [each.n for each in scene.do(conversations.list_unanswered)] == [turn.n]

    answer = scene.do(conversations.answer, turn, reply, scene.now)
    again = scene.do(conversations.answer, turn, reply, scene.now)

    assert answer is not None
    assert (answer.answers, answer.receipt, answer.notes) == (turn.n, {"a": 1}, ("n",))
    assert again is None
    assert scene.do(conversations.list_unanswered) == []
    assert len(scene.do(conversations.turns, talk.id)) == 2


def test_a_task_was_born_where_it_was_made_not_where_it_was_spoken_of(scene: Scene) -> None:
    task, early, born = scene.admit(), begun(scene, "early"), begun(scene, "born")
    says(scene, early, "what of it?", TaskRef(task.id, Action.DISCUSSED))
    says(scene, born, "make it", TaskRef(task.id, Action.CREATED))

    found = scene.do(conversations.birthplace, task.id)

    assert found is not None
    assert found.id == born.id


def test_a_reply_finds_the_task_of_the_message_it_answers(scene: Scene) -> None:
    claim = scene.delivering("whatsapp")
    scene.send(claim, Accepted("wamid.1"))

    assert scene.do(conversations.replied_to, "whatsapp", "wamid.1") == claim.task.id
    assert scene.do(conversations.replied_to, "whatsapp", "wamid.2") is None
    assert scene.do(conversations.replied_to, "email", "wamid.1") is None


def test_the_talk_by_a_channel_is_the_last_that_began_there(scene: Scene) -> None:
    begun(scene, "a", "whatsapp")
    scene.wait()
    last = begun(scene, "b", "whatsapp")

    found = scene.do(conversations.on_channel, "whatsapp")
    assert found is not None
    assert found.id == last.id
    assert scene.do(conversations.on_channel, "email") is None


def test_tasks_are_found_by_where_they_stand_and_when_they_ended(scene: Scene) -> None:
    ready, new = scene.ready("one"), scene.admit("two")
    scene.sql(
        "UPDATE tasks SET status = 'cancelled', completed_at = ? WHERE id = ?",
        int(scene.now.timestamp() * 1000),
        new.id,
    )
    hour = timedelta(hours=1)

    assert [
        t.id for t in scene.do(conversations.list_tasks_with_status, (Status.READY, Status.NEW))
    ] == [ready.id]
    span = (scene.now - hour, scene.now)
    assert [t.id for t in scene.do(conversations.ended_between, *span)] == [new.id]
    assert scene.do(conversations.ended_between, scene.now - 2 * hour, scene.now - hour) == []


def test_open_questions_about_its_tasks_belong_to_a_conversation(scene: Scene) -> None:
    task, review = scene.asking()
    other, _ = scene.asking()
    talk = begun(scene)
    says(scene, talk, "do it", TaskRef(task.id, Action.CREATED))

    assert [each.id for each in scene.do(conversations.asked_in, talk.id)] == [review]
    assert other.id not in {each.task_id for each in scene.do(conversations.asked_in, talk.id)}


def test_a_conversation_that_was_put_away_is_gone_from_everywhere(scene: Scene) -> None:
    talk, task = begun(scene), scene.admit()
    says(scene, talk, "do it", TaskRef(task.id, Action.CREATED))
    assert scene.do(conversations.rename, talk.id, "Trip").title == "Trip"
    assert scene.do(conversations.birthplace, task.id) is not None

    scene.do(conversations.remove, talk.id, scene.now)

    assert scene.do(conversations.recent) == []
    assert scene.do(conversations.list_unanswered) == []
    assert scene.do(conversations.birthplace, task.id) is None
    for verb, args in (
        (conversations.get, ()),
        (conversations.turns, ()),
        (conversations.remove, (scene.now,)),
        (conversations.rename, ("x",)),
        (conversations.say, (NewTurnRecord(role=Role.USER, content="x"), scene.now)),
        (conversations.turn, (99,)),
    ):
        with pytest.raises(NotFound):
            scene.do(verb, talk.id, *args)  # type: ignore[arg-type]


def test_a_deleted_task_is_not_spoken_of_any_more(scene: Scene) -> None:
    task, talk = scene.admit(), begun(scene)
    says(scene, talk, "do it", TaskRef(task.id, Action.CREATED))
    scene.sql("UPDATE tasks SET status = 'cancelled', deleted_at = 1 WHERE id = ?", task.id)

    assert scene.do(conversations.tasks_in, talk.id) == []


def test_news_is_told_once_and_the_place_reached_with_it(scene: Scene) -> None:
    place = Conversation(scene.ids.conversation(), "Scheduled Events", scene.now, scene.now)
    said = NewTurnRecord(role=Role.ASSISTANT, content="done", key="event:7")
    before = scene.do(conversations.told_upto)

    first = scene.do(conversations.tell, [(place, said)], 7, scene.now)
    second = scene.do(conversations.tell, [(place, said)], 5, scene.now)

    assert before == 0
    assert ([turn.content for turn in first], second) == (["done"], [])
    assert scene.do(conversations.told_upto) == 7
    found = scene.do(conversations.find_by_title, "Scheduled Events")
    assert found is not None
    assert found.id == place.id
    assert scene.do(conversations.find_by_title, "Other") is None


def test_nothing_is_told_into_a_conversation_that_was_put_away(scene: Scene) -> None:
    place = begun(scene)
    scene.do(conversations.remove, place.id, scene.now)
    said = NewTurnRecord(role=Role.ASSISTANT, content="done", key="event:7")

    assert scene.do(conversations.tell, [(place, said)], 7, scene.now) == []
    assert scene.do(conversations.told_upto) == 7


def test_a_file_without_a_place_reached_begins_at_the_start(scene: Scene) -> None:
    scene.sql("DELETE FROM meta WHERE key = 'told'")

    assert scene.do(conversations.told_upto) == 0
