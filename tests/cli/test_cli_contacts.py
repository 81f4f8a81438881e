"""`remit contacts` and `remit undo`: whom one writes to, where, and whether it asks."""

from collections.abc import Iterator

import pytest

from tests.cli.terminal import Terminal, task_of


@pytest.fixture(params=["nobody runs", "a Remit runs"])
def seat(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    """The same words must do the same through either door."""
    terminal = Terminal(tmp_path_factory.mktemp("contacts"))
    if request.param == "nobody runs":
        yield terminal
    else:
        with terminal.up():
            yield terminal


ANNA = ("contacts", "add", "Anna Weber", "--channel", "dashboard=anna", "--alias", "my sister")


def test_someone_is_added_shown_and_taken_out(seat: Terminal) -> None:
    nobody = seat.run("contacts")
    added = seat.run(*ANNA, "--id", "dashboard=49@lid")
    listed, shown = seat.run("contacts"), seat.run("contacts", "show", "my sister")
    removed, gone = (
        seat.run("contacts", "remove", "Anna Weber"),
        seat.run("contacts", "show", "Anna"),
    )

    assert (nobody.code, added.code) == (0, 0)
    assert "Nobody is in contacts.yaml" in nobody.err
    assert (seat.home / "contacts.yaml").stat().st_mode & 0o777 == 0o600
    assert "Anna Weber" in listed.out
    assert "ask" in listed.out
    assert "known by 49@lid" in shown.out
    assert (removed.code, gone.code) == (0, 3)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("add", "Bob", "--channel", "dashboard"), "it looks like whatsapp="),
        (("add", "Bob", "--id", "email=x"), "gives no address on it"),
        (("add", " "), "text on one line"),
        (("allow", "Zoe", "dashboard"), "Who is 'Zoe'?"),
        (("allow", "Zoe", "pigeon"), "There is no channel 'pigeon'"),
        (("allow", "you", "dashboard"), "You are always written to"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, words: tuple[str, ...], says: str
) -> None:
    said = Terminal(tmp_path_factory.mktemp("wrong")).run("contacts", *words)

    assert said.code == 2
    assert says in said.err


def test_who_is_allowed_is_written_to_unasked_and_who_is_denied_is_not(seat: Terminal) -> None:
    seat.run(*ANNA)
    allowed = seat.run("contacts", "allow", "my sister", "dashboard")
    went = seat.run("add", "Find two parks for Anna", "--to", "my sister", "--wait")
    denied = seat.run("contacts", "deny", "Anna Weber", "dashboard", "--json")
    refused = seat.run("add", "Find two parks for her", "--to", "Anna Weber", "--wait")

    assert "Anna Weber on dashboard: allow." in allowed.err
    assert went.code == 0
    assert denied.json["holds"] == "deny"
    assert refused.code == 1
    assert "Anna Weber is not written to on dashboard" in refused.out + refused.err


def test_always_is_kept_listed_and_taken_back(seat: Terminal) -> None:
    seat.run(*ANNA)
    words = ("add", "Find two parks for Anna", "--to", "Anna Weber", "--wait", "--json")
    first = task_of(seat.run(*words))["id"]
    approved = seat.run("approve", first, "--always", "--wait")
    unasked = seat.run(*words)
    told = seat.run("contacts", "show", "Anna Weber", "--json").json
    seat.run("contacts", "ask", "Anna Weber", "dashboard")
    asks = seat.run(*words)

    assert (approved.code, unasked.code, asks.code) == (0, 0, 4)
    assert isinstance(told["permissions"], list)
    assert [each["policy"] for each in told["permissions"] if isinstance(each, dict)] == ["allow"]


def test_the_file_may_be_stricter_than_what_was_said(seat: Terminal) -> None:
    seat.run(*ANNA)
    book = seat.home / "contacts.yaml"
    book.write_text(book.read_text() + "  policy: {dashboard: ask}\n")

    said = seat.run("contacts", "allow", "Anna Weber", "dashboard")

    assert "allow is kept, but ask counts, for contacts.yaml says so" in said.err


def test_what_is_not_about_to_be_sent_cannot_be_called_back(seat: Terminal) -> None:
    task = task_of(seat.run("add", "Find two parks", "--to", "Bob", "--wait", "--json"))["id"]

    said = seat.run("undo", task)

    assert said.code == 5
    assert "nothing of it is about to be sent" in said.err
