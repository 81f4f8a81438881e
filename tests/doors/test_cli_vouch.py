"""`remit vouch`: the owner has looked at what a session remembers; it is written down."""

from collections.abc import Iterator

import pytest

from tests.doors.terminal import Terminal


@pytest.fixture(scope="module", params=["nobody runs", "a Remit runs"])
def seat(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    """The same command must do the same through either door."""
    terminal = Terminal(tmp_path_factory.mktemp("vouch"))
    if request.param == "nobody runs":
        yield terminal
    else:
        with terminal.up():
            yield terminal


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
