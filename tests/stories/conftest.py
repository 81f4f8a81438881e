"""A repository, made once and copied for each story that works on it; and both databases."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from remit.settings import EngineSettings
from remit.testing import World
from remit.wiring import app as app_module
from tests.machines.story_engine import StoryEngine
from tests.machines.temporal import TemporalServer
from tests.soak import first_of, one_of
from tests.store.postgres import Postgres
from tests.stories.shop.rig import Opens, opened
from tests.stories.shop.sample import sample
from tests.verify import workshop

# Stories that run on Postgres and on Temporal too: some each on one of them, in `make soak` on all;
# the others only there.
EVERYWHERE = {
    *("test_s0_delivery", "test_s1_steps", "test_s3_continuity", "test_s3_series"),
    *("test_s4_lifecycle", "test_courier", "test_conversation"),
}


# Those about the file itself: a backup, its restore, a folder.
ON_ONE_FILE = {"test_restore"}
STORES = ("sqlite", "postgres", "temporal")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.module.__name__.rpartition(".")[2]
    if name in EVERYWHERE:
        kinds: list[object] = [pytest.param(each, marks=one_of("store")) for each in STORES]
    elif name not in ON_ONE_FILE:
        kinds = first_of(STORES)
    else:
        return
    metafunc.fixturenames.append("store")
    metafunc.parametrize("store", kinds, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set where every world keeps its store."""
    if request.param == "sqlite":
        yield
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    monkeypatch.setattr(World, "store_url", server.store)
    if request.param == "temporal":
        temporal: TemporalServer = request.getfixturevalue("temporal_server")
        address = EngineSettings(address=temporal.address)
        monkeypatch.setattr(StoryEngine, "temporal", address, raising=False)
        monkeypatch.setattr(app_module, "LocalEngine", StoryEngine)
    yield
    server.wipe()


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    server = TemporalServer(tmp_path_factory.mktemp("temporal"), remembers=False)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("plain") / "shop")


@pytest.fixture(scope="session")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("typed") / "shop", typed=True)


@pytest.fixture
def shop(tmp_path: Path, plain: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """Open an app on the repository, checked by pytest and ruff."""
    monkeypatch.setenv("PATH", workshop.environ()["PATH"])
    return partial(opened, tmp_path, plain)


@pytest.fixture
def typed_shop(tmp_path: Path, typed: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """The same with mypy, which takes longest."""
    monkeypatch.setenv("PATH", workshop.environ()["PATH"])
    return partial(opened, tmp_path, typed)
