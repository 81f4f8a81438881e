"""The live line: all that happens, in order, once; talk without its words; no flood."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from websockets.exceptions import ConnectionClosed

from remit.model.codec import JsonMap
from remit.server import live_connection
from tests.server.served import Served
from tests.server.sockets import LIMIT, Ear, last, listening, many, opened
from tests.tables import for_each


def _seqs(heard: list[JsonMap]) -> list[int]:
    return [int(str(message["seq"])) for message in heard]


def _kinds(heard: list[JsonMap]) -> list[str]:
    return [str(message["type"]) for message in heard]


# What is told -------------------------------------------------------------------------------------


def test_what_happens_is_told_in_s3s_words(still: Served) -> None:
    with listening(still) as ear:
        begun = ear.next()
        task = still.add("Water the plants")
        (created,) = ear.until(last(still))
        shown = still.get("/api/tasks?limit=1")["tasks"]
        still.patch(task, "pause")
        (moved,) = ear.until(last(still))
        still.patch(task, "cancel")
        ended = ear.until(last(still))

    assert begun == {"type": "subscribed", "seq": int(str(created["seq"])) - 1}
    assert created["type"] == "task:created"
    assert [created["task"]] == shown
    assert (moved["type"], moved["status"], moved["was"]) == ("task:status", "paused", "new")
    assert _kinds(ended) == ["task:status", "task:result"]
    assert {message["taskId"] for message in (created, moved, *ended)} == {task}
    assert [message.get("more", False) for message in ended] == [True, False]


def test_a_task_is_told_from_its_birth_to_its_delivery(working: Served) -> None:
    with listening(working) as ear:
        ear.next()
        working.add("Find a park")
        working.settle()
        heard = ear.until(last(working))

    assert _kinds(heard)[0] == "task:created"
    assert {"task:status", "task:log", "task:updated", "task:delivery_complete"} <= {*_kinds(heard)}
    assert _kinds(heard)[-1] == "task:result"
    (delivered,) = [each for each in heard if each["type"] == "task:delivery_complete"]
    assert isinstance(delivered["delivery"], dict)
    assert delivered["delivery"]["status"] == "completed"
    spoken = [each["turn"] for each in heard if each["type"] == "task:log"]
    assert "I looked around." in json.dumps(spoken)


def test_a_question_needs_attention(working: Served) -> None:
    with listening(working) as ear:
        ear.next()
        working.add("Renew my passport")
        working.settle()
        heard = ear.until(last(working))

    (asked,) = [each for each in heard if each["type"] == "task:needs-attention"]
    assert (asked["reason"], asked["question"]) == ("input", "Which passport do you hold?")
    assert str(asked["reviewId"]).startswith("rev-")


def test_a_long_text_is_cut_and_the_log_has_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.server.news.LONGEST", 5)
    with Served(tmp_path, works=True) as served, listening(served) as ear:
        ear.next()
        served.add("Find a park")
        served.settle()
        turns = [each["turn"] for each in ear.until(last(served)) if "turn" in each]

    assert [turn["content"] for turn in turns if isinstance(turn, dict) and turn.get("cut")] == [
        "I loo"
    ]


def test_who_asks_for_one_task_hears_of_no_other(still: Served) -> None:
    mine, other = still.add("Mine"), still.add("Not mine")
    with listening(still, mine) as ear:
        ear.next()
        still.patch(other, "pause")
        still.patch(mine, "pause")
        heard = ear.next()

    assert (heard["taskId"], heard["seq"]) == (mine, last(still))


def test_who_asks_for_numbers_gets_the_newest(tmp_path: Path) -> None:
    with Served(tmp_path) as served, opened(served) as ear:
        ear.say({"counts": True})
        first = ear.next()
        task = served.add("Count me")
        second = ear.next()
        served.patch(task, "pause")
        third = ear.next()

    told = [message["counts"] for message in (first, second, third)]
    assert all(isinstance(counts, dict) for counts in told)
    assert [counts["pending"] for counts in told if isinstance(counts, dict)] == [0, 1, 0]
    assert [counts["paused"] for counts in told if isinstance(counts, dict)] == [0, 0, 1]
    assert {"type": "counts", "counts": told[0]} == first


# In order, without a gap, once --------------------------------------------------------------------


def test_a_burst_is_told_in_order_without_a_gap(
    still: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        live_connection, "_GRACE_POLLS", 100_000
    )  # on a busy machine this reader is slow
    with listening(still) as ear, ThreadPoolExecutor(1) as reader:
        begun = int(str(ear.next()["seq"]))
        reading = reader.submit(ear.until, begun + 2_000)
        many(still, 2_000)
        heard = reading.result()

    assert _seqs(heard) == list(range(begun + 1, last(still) + 1))


def test_who_comes_back_hears_what_was_missed_and_nothing_twice(still: Served) -> None:
    begun = last(still)
    heard: list[JsonMap] = []
    since = begun
    for size in (1, 70, 3):  # a page is 50
        many(still, size)
        with listening(still, since=since) as ear:
            assert ear.next() == {"type": "subscribed", "seq": since}
            many(still, size)  # while it catches up
            heard += ear.until(last(still))
        since = last(still)

    assert _seqs(heard) == list(range(begun + 1, last(still) + 1))


def test_many_who_come_at_any_moment_hear_the_same(still: Served) -> None:
    begun, lines = last(still), []
    for _ in range(8):
        line = listening(still, since=begun)
        lines.append((line, line.__enter__()))
        many(still, 30)
    end = last(still)
    for line, ear in lines:
        assert _seqs(ear.until(end)[1:]) == list(range(begun + 1, end + 1))
        line.__exit__(None, None, None)


def test_who_asks_again_from_a_place_is_told_again_from_there(still: Served) -> None:
    begun = last(still)
    many(still, 3)
    with listening(still, since=begun) as ear:
        first = ear.until(begun + 3)
        ear.say({"subscribe": ["*"], "since": begun + 1})
        again = ear.until(begun + 3)
        ear.say({"subscribe": ["*"]})
        kept = ear.next()

    assert _seqs(first[1:]) == [begun + 1, begun + 2, begun + 3]
    assert again[0] == {"type": "subscribed", "seq": begun + 1}
    assert _seqs(again[1:]) == [begun + 2, begun + 3]
    assert kept == {"type": "subscribed", "seq": begun + 3}


@pytest.mark.parametrize("most", [9, 10])
def test_who_missed_too_much_is_told_to_look_anew(
    still: Served, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(live_connection, "MOST_BEHIND", most)
    begun = last(still)
    many(still, 10)
    with listening(still, since=begun) as ear:
        first = ear.next()
        many(still, 1)
        heard = ear.until(last(still))

    if most == 10:
        assert first == {"type": "subscribed", "seq": begun}
        assert _seqs(heard) == list(range(begun + 1, begun + 12))
    else:
        assert first == {"type": "resync", "seq": begun + 10}
        assert _seqs(heard) == [begun + 11]


def test_who_knows_a_place_that_is_not_here_yet_looks_anew(still: Served) -> None:
    with listening(still, since=last(still) + 1) as ear:
        assert ear.next() == {"type": "resync", "seq": last(still)}


def test_a_restart_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    heard: list[JsonMap] = []
    since = 0
    for _ in range(3):
        with Served(tmp_path) as served:
            many(served, 5)
            with listening(served, since=since) as ear:
                ear.next()
                many(served, 5)
                heard += ear.until(last(served))
                since = last(served)

    assert _seqs(heard) == list(range(1, 31))


# What a client may say ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{", "Send a JSON object"),
        ("[]", "Send a JSON object"),
        ("[" * 9_000, "Send a JSON object"),
        ('"x"', "Send a JSON object"),
        (b"{}", "Send JSON as text"),
        ('{"x": "' + "x" * 16_000 + '"}', "up to 16000 letters"),
        ('{"subscribed": ["*"]}', "'subscribed' is not known"),
        ('{"subscribe": "*"}', "subscribe is a list"),
        ('{"subscribe": ["task-1"]}', "which is no task id"),
        ('{"subscribe": [7]}', "which is no task id"),
        (json.dumps({"subscribe": ["*"] * 201}), "up to 200"),
        ('{"subscribe": ["*"], "since": -1}', "since is the seq"),
        ('{"subscribe": ["*"], "since": true}', "since is the seq"),
        ('{"subscribe": ["*"], "since": "1"}', "since is the seq"),
        ('{"counts": 1}', "counts is true or false"),
        *((f'{{"since": {number}}}', "") for number in ("1.5", "NaN", "1e999", "9" * 5_000)),
        ('{"subscribe": {"*": 1}}', "subscribe is a list"),
        ('"' + "\\ud800" * 2_000 + '"', "Send a JSON object"),
        ("", "Send a JSON object"),
    ],
)
def test_what_is_not_understood_ends_with_a_sentence(
    still: Served, said: str | bytes, told: str
) -> None:
    with opened(still) as ear:
        ear.line.send(said)
        code, reason = ear.closed()

    assert code == 1008
    assert reason
    assert told in reason
    assert still.ask("GET", "/healthz").status_code == 200


def test_the_end_of_the_server_is_told(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        line = opened(served)
        ear: Ear = line.__enter__()
        ear.say({"subscribe": ["*"]})
        ear.next()
    code, _ = ear.closed()
    line.__exit__(None, None, None)

    assert code == 1012


# Talk ---------------------------------------------------------------------------------------------


def _said(served: Served, text: str) -> str:
    talk = str(served.post("/api/conversations", {})["id"])
    served.post(f"/api/conversations/{talk}/turns", {"text": text})
    return talk


def _turns(heard: list[JsonMap], talk: str) -> list[JsonMap]:
    kind = "conversation:turn"
    return [each for each in heard if each["type"] == kind and each["conversation"] == talk]


def test_both_turns_are_told_without_their_words_and_the_task_between_them(still: Served) -> None:
    since = last(still)
    with listening(still) as ear:
        ear.next()
        talk = _said(still, "Find two parks for hunter2")
        heard = ear.until(last(still))
    with listening(still, since=since) as late:
        caught_up = late.until(last(still))[1:]

    kinds = [str(each["type"]) for each in heard]
    assert kinds == ["conversation:turn", "task:created", "conversation:turn"]
    turns = _turns(heard, talk)
    assert [(each["turn"], each["role"]) for each in turns] == [(1, "user"), (2, "assistant")]
    assert all(each["taskId"] is None for each in turns)
    assert "hunter2" not in json.dumps(turns)
    assert caught_up == heard


def test_who_listens_to_one_task_hears_no_talk(still: Served) -> None:
    task = still.add("Water the plants")
    with listening(still, task) as ear:
        ear.next()
        _said(still, "what is running?")
        still.patch(task, "pause")
        heard = ear.until(last(still))

    assert {cast("str", each["type"]) for each in heard} == {"task:status"}


# Floods -------------------------------------------------------------------------------------------


@for_each("size", [1 << 20, 3 << 20])
def test_what_is_too_large_is_not_read_to_its_end(still: Served, size: int) -> None:
    """Whoever still sends when he is cut off may miss the farewell; the app stays as it was."""
    wish = json.dumps({"subscribe": [f"task-{n:026d}" for n in range(size // 35)]})
    with opened(still) as other:
        other.say({"subscribe": ["*"]})
        other.next()
        with opened(still) as ear:
            with suppress(ConnectionClosed):
                ear.line.send(wish)
                while True:
                    assert json.loads(ear.line.recv(LIMIT))["type"] != "subscribed"
            heard = ear.line.protocol.close_rcvd
        assert heard is None or heard.code == 1009
        still.add("Still heard")
        assert str(other.next()["type"]).startswith("task:")


def test_a_thousand_messages_are_not_listened_to(still: Served) -> None:
    with opened(still) as ear, opened(still) as other:
        other.say({"subscribe": ["*"]})
        other.next()
        for _ in range(1_000):
            try:
                ear.say({"subscribe": ["*"]})
            except ConnectionClosed:
                break
        assert ear.closed() == (1008, "Say at most 30 things a minute.")
        still.add("Still heard")
        assert str(other.next()["type"]).startswith("task:")
