"""Remits to knock at: one at rest, where tasks stay where they are put, and one at work."""

from collections.abc import Iterator

import pytest

from tests.server.served import Served


@pytest.fixture(scope="session")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Served, but its engine does not work: whatever is admitted stays new."""
    with Served(tmp_path_factory.mktemp("still")) as served:
        yield served


@pytest.fixture(scope="session")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("working"), works=True) as served:
        yield served
