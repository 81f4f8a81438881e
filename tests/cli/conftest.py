"""A terminal to type at, with a Remit running and without."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

_DOORS = ["nobody runs", "a Remit runs"]


@pytest.fixture(params=_DOORS)
def own_seat(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of this test alone: the same words must do the same through either door."""
    terminal = Terminal(tmp_path)
    with terminal.up() if request.param == "a Remit runs" else nullcontext():
        yield terminal


@pytest.fixture(scope="module", params=_DOORS)
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
