"""The live line carries talk: who listens hears that something was said, and never what."""

import json
from typing import cast

from remit.model.codec import JsonMap
from tests.server.served import Served
from tests.server.sockets import last, listening

SECRET = "my password is hunter2"


def _said(served: Served, text: str) -> str:
    talk = str(served.post("/api/conversations", {})["id"])
    served.post(f"/api/conversations/{talk}/turns", {"text": text})
    return talk


def _turns(heard: list[JsonMap], talk: str) -> list[JsonMap]:
    kind = "conversation:turn"
    return [each for each in heard if each["type"] == kind and each["conversation"] == talk]


def test_both_turns_are_told_in_order_and_without_their_words(still: Served) -> None:
    with listening(still) as ear:
        ear.next()
        talk = _said(still, SECRET)
        heard = ear.until(last(still))

    turns = _turns(heard, talk)
    assert [(each["turn"], each["role"]) for each in turns] == [(1, "user"), (2, "assistant")]
    assert all(each["taskId"] is None for each in turns)
    assert "hunter2" not in json.dumps(heard)


def test_a_task_that_is_made_by_talking_is_told_before_the_answer(still: Served) -> None:
    with listening(still) as ear:
        ear.next()
        talk = _said(still, "Find two parks")
        heard = ear.until(last(still))

    kinds = [str(each["type"]) for each in heard]
    assert kinds == ["conversation:turn", "task:created", "conversation:turn"]
    assert [each["turn"] for each in _turns(heard, talk)] == [1, 2]


def test_what_was_said_while_nobody_listened_is_caught_up_with(still: Served) -> None:
    since = last(still)
    talk = _said(still, "what is running?")
    with listening(still, since=since) as ear:
        heard = ear.until(last(still))

    assert [each["turn"] for each in _turns(heard, talk)] == [1, 2]


def test_who_listens_to_one_task_hears_no_talk(still: Served) -> None:
    task = still.add("Water the plants")
    with listening(still, task) as ear:
        ear.next()
        _said(still, "what is running?")
        still.patch(task, "pause")
        heard = ear.until(last(still))

    assert {cast("str", each["type"]) for each in heard} == {"task:status"}
