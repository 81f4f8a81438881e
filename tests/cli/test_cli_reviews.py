"""Questions to the owner, answered in the terminal."""

from pathlib import Path

import pytest

from tests.cli.terminal import Said, Terminal, task_of
from tests.soak import one_of

pytestmark = one_of("seat")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("alone"))


def asked(seat: Terminal, *words: str) -> str:
    """Entrust something that leads to a question; return the task that asks."""
    said = seat.run("add", *words, "--wait", "--json")
    assert said.code == 4, said
    return task_of(said)["id"]


def test_what_is_approved_is_sent(seat: Terminal) -> None:
    task = asked(seat, "Find two parks for Anna", "--to", "Anna")
    said = seat.run("approve", task, "--wait")

    assert (said.code, said.out) == (0, "Lumphini Park and Benjakitti Park.\n")


def test_what_is_sent_back_is_done_again_with_a_word(seat: Terminal) -> None:
    task = asked(seat, "untagged")
    said = seat.run("back", task, "-m", "use the tags", "--wait")

    assert (said.code, said.out) == (0, "Done as asked.\n")
    assert "I forgot the tags." in seat.run("log", task).out
    assert "use the tags" in seat.run("log", task).out


def test_a_question_is_answered_and_the_work_goes_on(seat: Terminal) -> None:
    task = asked(seat, "passport")
    said = seat.run("answer", task, "-a Dutch one")

    assert said.code == 0
    assert seat.status(task) != "needs_review"
    assert "-a Dutch one" in seat.run("log", task).out


def test_what_is_declined_is_not_decided_again_and_that_is_5(seat: Terminal) -> None:
    task = asked(seat, "Find two parks for Emil", "--to", "Emil")
    review = seat.review(task)
    declined = seat.run("decline", review.lower(), "-m", "not Emil")
    by_task, by_review = seat.run("approve", task), seat.run("approve", review)

    assert declined.code == 0
    assert seat.status(task) == "cancelled"
    assert (by_task.code, by_review.code) == (5, 5)
    assert "asks nothing now" in by_task.err
    assert "was decided before: decline" in by_review.err


def test_the_owners_own_text_or_what_he_edits_is_sent_instead(
    alone: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("My own words.\n")
    for name, words, editor, sent in (
        ("Cleo", ("--text-file", str(tmp_path / "mine.txt")), "false", "My own words.\n"),
        ("Dora", ("--edit",), "sed -i s/Lum/Lam/", "Lamphini Park and Benjakitti Park.\n"),
    ):
        task = asked(alone, f"Find two parks for {name}", "--to", name)
        said = alone.run("approve", task, *words, "--wait", EDITOR=editor)

        assert (said.code, said.out) == (0, sent)


def test_what_does_not_fit_decides_nothing(alone: Terminal) -> None:
    task = asked(alone, "Find two parks for Fred", "--to", "Fred")
    wrong, early = alone.run("arrived", task), alone.run("run", task)

    assert (wrong.code, early.code) == (2, 4)
    assert "approve, edit, back, decline" in wrong.err
    assert "waits for you" in early.err
    assert alone.run("approve", task, "--edit", EDITOR="false").code == 2
    assert alone.run("approve", task, "--edit", EDITOR="sed -i 1d").code == 2
    assert alone.run("approve", task, "--text-file", "nowhere.txt").code == 2
    assert alone.status(task) == "needs_review"


@pytest.mark.parametrize(
    ("answer", "ends", "code"),
    [("arrived", "completed", 0), ("resend", "failed", 1), ("drop", "failed", 1)],
)
def test_a_send_that_was_cut_off_is_settled_by_the_owner_alone(
    tmp_path: Path, answer: str, ends: str, code: int
) -> None:
    seat = Terminal(tmp_path)
    (task,) = seat.given("Say hi", channel="outbox", content="Hi")
    died = seat.run("run", task, REMIT_FAILPOINT="send:claimed:1")
    doubt = seat.run("run", task)
    settled = seat.run(answer, task)
    done = seat.run("run", task)

    assert died.code == -9
    assert (doubt.code, settled.code, done.code) == (4, 0, code)
    assert "It is not known whether this reached you" in doubt.out
    assert seat.status(task) == ends


def test_on_a_terminal_the_inbox_asks_one_thing_at_a_time(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    skipped, sent, held, back, silent = (
        asked(seat, "Find two parks", "--to", "Anna"),
        asked(seat, "Find two parks", "--to", "Bob"),
        asked(seat, "untagged"),
        asked(seat, "Find two parks", "--to", "Cleo"),
        asked(seat, "passport"),
    )
    keys = ("s", "?", "a", "e", "r", "Three parks", "a", "", "q")
    said = seat.type(("inbox",), keys, EDITOR="sed -i 1s/.*/My.words/")

    assert said.code == 0
    assert "1 of 5" in said.out
    assert "Your answer:" in said.out
    assert [seat.status(task) for task in (skipped, sent, held, silent, back)] == [
        "needs_review",
        "delivering",
        "running",  # his own words are held against the contract first
        "needs_review",
        "running",
    ]
    assert seat.run("run", held).out == "My.words\n"


def test_a_key_of_the_inbox_approves_and_asks_no_more_about_this_person_there(
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path)
    added = ("contacts", "add", "Bob Stone", "--channel", "outbox=bob@example.test")
    assert seat.run(*added).code == 0
    sent, held = asked(seat, "Find two parks", "--to", "Bob Stone"), asked(seat, "untagged")
    said = seat.type(("inbox",), ("w", "w", "q"))

    assert said.out.count("[w] approve, and always write there unasked") == 1, "of one question"
    assert [seat.status(task) for task in (sent, held)] == ["delivering", "needs_review"]
    listed = seat.run("contacts", "show", "Bob Stone").out
    assert "you said allow on dashboard" in listed


def test_a_question_can_be_put_off_and_the_next_visit_does_not_ask_it(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    empty = seat.run("inbox")
    task = asked(seat, "Find two parks", "--to", "Anna")
    said = seat.type(("inbox",), ("l", "no number", "l", "3"))
    again = seat.type(("inbox",), ())
    listed = seat.run("inbox")

    assert empty == Said(0, "", "Nothing waits for you.\n")
    assert (said.code, again.code) == (0, 0)
    assert "'no number' is no number of hours" in said.out + said.err
    assert "It comes back in 3 hours." in said.out
    assert "1 question put off till later." in again.out + again.err
    assert "back in" in listed.out
    assert seat.status(task) == "needs_review"
