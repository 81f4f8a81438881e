"""`remit vouch`: the owner has looked at what a session remembers; it is written down."""

from tests.cli.terminal import Terminal
from tests.soak import one_of

pytestmark = one_of("seat")


def test_who_vouches_for_a_session_finds_it_in_the_log_of_its_task(seat: Terminal) -> None:
    task = seat.add("Find two parks", "--work", "Look around", "--wait")
    said = seat.run("vouch", task)

    assert said.code == 0
    assert "You vouched for what its session remembers." in seat.run("log", task).out


def test_what_has_not_ended_is_not_vouched_for(seat: Terminal) -> None:
    task = seat.add("Find two parks", "--in", "2h")
    said = seat.run("vouch", task)

    assert said.code == 5
    assert "vouch for it when it has ended" in said.err
