"""One CalDAV server of each kind for all tests of a process; each test makes its own calendars."""

from collections.abc import Iterator

import pytest

from tests.calendar.caldav_servers import Server


def _running(kind: str, factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(kind, factory.mktemp(kind))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _running("radicale", tmp_path_factory)


@pytest.fixture(scope="session")
def xandikos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _running("xandikos", tmp_path_factory)


@pytest.fixture
def server(radicale: Server) -> Server:
    return radicale
