"""`remit contacts` and `remit undo`: whom one writes to, where, and whether it asks."""

from tests.cli.terminal import Terminal, task_of

ANNA = ("contacts", "add", "Anna Weber", "--channel", "dashboard=anna", "--alias", "my sister")


def test_someone_is_added_shown_and_taken_out(own_seat: Terminal) -> None:
    nobody = own_seat.run("contacts")
    added = own_seat.run(*ANNA, "--id", "dashboard=49@lid")
    listed, shown = own_seat.run("contacts"), own_seat.run("contacts", "show", "my sister")
    removed, gone = (
        own_seat.run("contacts", "remove", "Anna Weber"),
        own_seat.run("contacts", "show", "Anna"),
    )

    assert (nobody.code, added.code) == (0, 0)
    assert "Nobody is in contacts.yaml" in nobody.err
    assert (own_seat.home / "contacts.yaml").stat().st_mode & 0o777 == 0o600
    assert "Anna Weber" in listed.out
    assert "ask" in listed.out
    assert "known by 49@lid" in shown.out
    assert (removed.code, gone.code) == (0, 3)


def test_who_is_allowed_is_written_to_unasked_and_who_is_denied_is_not(own_seat: Terminal) -> None:
    own_seat.run(*ANNA)
    allowed = own_seat.run("contacts", "allow", "my sister", "dashboard")
    went = own_seat.run("add", "Find two parks for Anna", "--to", "my sister", "--wait")
    denied = own_seat.run("contacts", "deny", "Anna Weber", "dashboard", "--json")
    refused = own_seat.run("add", "Find two parks for her", "--to", "Anna Weber", "--wait")

    assert "Anna Weber on dashboard: allow." in allowed.err
    assert went.code == 0
    assert denied.json["holds"] == "deny"
    assert refused.code == 1
    assert "Anna Weber is not written to on dashboard" in refused.out + refused.err


def test_always_is_kept_listed_and_taken_back(own_seat: Terminal) -> None:
    own_seat.run(*ANNA)
    words = ("add", "Find two parks for Anna", "--to", "Anna Weber", "--wait", "--json")
    first = task_of(own_seat.run(*words))["id"]
    approved = own_seat.run("approve", first, "--always", "--wait")
    unasked = own_seat.run(*words)
    told = own_seat.run("contacts", "show", "Anna Weber", "--json")
    own_seat.run("contacts", "ask", "Anna Weber", "dashboard")
    asks = own_seat.run(*words)

    assert (approved.code, unasked.code, asks.code) == (0, 0, 4)
    assert [each["policy"] for each in told.maps("permissions")] == ["allow"]


def test_the_file_may_be_stricter_than_what_was_said(own_seat: Terminal) -> None:
    own_seat.run(*ANNA)
    book = own_seat.home / "contacts.yaml"
    book.write_text(book.read_text() + "  policy: {dashboard: ask}\n")

    said = own_seat.run("contacts", "allow", "Anna Weber", "dashboard")

    assert "allow is kept, but ask counts, for contacts.yaml says so" in said.err


def test_what_is_not_about_to_be_sent_cannot_be_called_back(own_seat: Terminal) -> None:
    task = task_of(own_seat.run("add", "Find two parks", "--to", "Bob", "--wait", "--json"))["id"]

    said = own_seat.run("undo", task)

    assert said.code == 5
    assert "nothing of it is about to be sent" in said.err
