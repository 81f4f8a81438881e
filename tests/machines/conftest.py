"""A Postgres and a Temporal for the processes of one Remit, which may be killed, too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.providers import Providers
from tests.machines.fleet import Fleet
from tests.machines.temporal import TemporalServer
from tests.soak import SOAK
from tests.store.postgres import Postgres, postgres


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """Not the server of the other tests: this one is restarted."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    server = TemporalServer(tmp_path_factory.mktemp("temporal"))
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def providers() -> Iterator[Providers]:
    with Providers(phones=2) as found:
        yield found


@pytest.fixture(scope="module")
def fleet(
    tmp_path_factory: pytest.TempPathFactory,
    own_postgres: Postgres,
    temporal: TemporalServer,
    providers: Providers,
) -> Iterator[Fleet]:
    """Two API processes and two workers; in `make soak` three."""
    folder: Path = tmp_path_factory.mktemp("fleet")
    ports = [providers.office.port, *(each.port for each in providers.phones)]
    made = Fleet(folder, own_postgres, temporal, providers.settings(), ports)
    with made.closing():
        made.start("serve", "serve", "worker", "worker", *(["worker"] if SOAK else []))
        yield made
