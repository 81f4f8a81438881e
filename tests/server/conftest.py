"""Served apps: an idle one, where tasks stay as they are, and a working one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peer.peers import Peers
from tests.server.served import Served


@pytest.fixture(scope="session")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served app whose engine does not run: whatever is admitted stays new."""
    with Served(tmp_path_factory.mktemp("still")) as served:
        yield served


@pytest.fixture(scope="session")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("working"), works=True) as served:
        yield served


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """As `still`, and nothing is in it yet."""
    with Served(tmp_path) as served:
        yield served


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Served]:
    """As `working`, and nothing is in it yet."""
    with Served(tmp_path, works=True) as served:
        yield served


@pytest.fixture
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    """A working app with something of everything, and callers of every kind."""
    with Peers(tmp_path_factory.mktemp("house")) as opened:
        opened.furnish()
        yield opened
