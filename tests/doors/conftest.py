"""Remits to knock at: one at rest, where tasks stay where they are put, and one at work."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.doors.served import Served
from tests.doors.terminal import Terminal


@pytest.fixture(scope="session")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Served, but its engine does not work: whatever is admitted stays new."""
    with Served(tmp_path_factory.mktemp("still")) as served:
        yield served


@pytest.fixture(scope="session")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("working"), works=True) as served:
        yield served


@pytest.fixture(scope="module", params=["nobody runs", "a Remit runs"])
def seat(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    """A terminal, furnished by `furnish` of the module: commands do the same through either door.

    In `make test` each test goes through one of them, if its module is marked `one_of("seat")`.
    """
    terminal = Terminal(tmp_path_factory.mktemp("seat"))
    getattr(request.module, "furnish", lambda _: None)(terminal)
    with terminal.up() if request.param == "a Remit runs" else nullcontext():
        yield terminal
