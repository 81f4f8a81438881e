"""`remit chat`: lines in, receipts and answers out, and what becomes of the tasks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import JsonMap
from remit.model.conversation import Conversation
from remit.model.ids import ConversationId
from remit.store import conversations
from remit.store.read_only import open_read_only
from tests.cli.terminal import Terminal


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal beside a Remit that runs."""
    seat = Terminal(tmp_path)
    with seat.up():
        yield seat


def _talks(seat: Terminal) -> list[Conversation]:
    with open_read_only(seat.home / "agent.db") as tx:
        return conversations.recent(tx)


def _said(seat: Terminal, talk: str) -> list[str]:
    with open_read_only(seat.home / "agent.db") as tx:
        return [turn.content for turn in conversations.turns(tx, ConversationId(talk))]


def test_a_line_is_answered_with_a_receipt_and_followed_to_its_result(seat: Terminal) -> None:
    said = seat.run("chat", "--follow", stdin="Find two parks\n")

    assert said.code == 0, said.err
    assert "Task: Find two parks\n" in said.out
    assert "  Runs: now\n" in said.out
    assert f"remit show {seat.only()}" in said.out
    assert "Lumphini Park" in said.out  # what came of it
    assert seat.status(seat.only()) == "completed"


def test_each_line_is_answered_before_the_next_is_said(seat: Terminal) -> None:
    lines = "Remind me tomorrow at 9 to call mom\ncancel it\n\nwhat is planned?\n"
    said = seat.run("chat", stdin=lines)
    german = seat.run("chat", stdin="Erinnere mich morgen um 9 an den Zahnarzt\n")

    places = [said.out.index(each) for each in ("Task: Call mom", "is cancelled", "Nothing is")]
    assert places == sorted(places)
    # A receipt is wholly in the language of the message.
    assert "Aufgabe: Den Zahnarzt" in german.out
    assert all(word not in german.out for word in ("delivery", "time:", "created"))


def test_a_question_of_a_task_is_answered_in_a_later_chat(seat: Terminal) -> None:
    first = seat.run("chat", "--follow", stdin="Check what my passport allows\n")
    assert "Which passport do you hold?" in first.out
    seat.until(seat.only(), "needs_review")

    later = seat.run("chat", "--last", "--follow", stdin="The German one\n")

    assert later.code == 0, later.err
    assert "Thank you." in later.out
    assert "passport do you hold" not in later.out  # what was said before is not said again
    assert seat.status(seat.only()) == "completed"
    assert len(_talks(seat)) == 1


def test_as_json_each_turn_is_an_object_on_a_line_of_its_own(seat: Terminal) -> None:
    said = seat.run("chat", "--json", stdin="what is running?\nthanks\n")

    first, second = said.lines
    assert (first["content"], first["role"], first["answers"]) == (
        "Nothing is running.",
        "assistant",
        1,
    )
    assert (second["turnNumber"], second["answers"]) == (4, 3)
    assert first["conversationId"] == second["conversationId"] == _talks(seat)[0].id


def test_one_that_is_named_is_gone_on_with_and_one_that_is_not_there_is_refused(
    seat: Terminal,
) -> None:
    nobody, last = seat.run("chat", "conv-none", stdin="hi\n"), seat.run("chat", "--last", stdin="")
    assert _talks(seat) == []
    seat.run("chat", stdin="what is running?\n")
    seat.run("chat", stdin="thanks\n")
    newest, oldest = _talks(seat)

    seat.run("chat", oldest.id, stdin="what failed?\n")

    assert 0 not in (nobody.code, last.code)
    assert "conv-none" in nobody.err
    assert "conversation" in last.err
    assert _said(seat, oldest.id)[-2:] == ["what failed?", "Nothing failed in the last week."]
    assert len(_said(seat, newest.id)) == 2


def test_words_for_another_terminal_do_nothing_here(tmp_path: Path) -> None:
    """An escape sequence in an answer would move the cursor, or worse."""
    script = '- reply: "\\e]0;owned\\a\\e[2J Eight legs."\n'
    seat = Terminal(tmp_path, script=script)
    nobody = seat.run("chat", stdin="hello\n")
    with seat.up():
        said = seat.run("chat", stdin="How many legs has a spider?\n")
        told = seat.run("chat", "--json", "--last", stdin="How many legs has a fly?\n")

    assert (nobody.code != 0, "remit up" in nobody.err) == (True, True)
    assert "Eight legs." in said.out
    assert "\x1b" not in said.out
    assert "\x07" not in said.out
    assert "Eight legs." in str(cast("JsonMap", json.loads(told.out))["content"])
