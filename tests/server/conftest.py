"""Served apps: an idle one, where tasks stay as they are, and a working one."""

from collections.abc import Iterator

import pytest

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
