"""A repository, made once and copied for each story that works on it; and both databases."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from remit.testing import World
from tests.soak import one_of
from tests.store.postgres import Postgres
from tests.stories.shop.rig import Opens, opened
from tests.stories.shop.sample import sample
from tests.verify import workshop

# Stories that run on Postgres too: each on one of the databases, in `make soak` on both.
ON_BOTH = {
    *("test_s0_delivery", "test_s1_steps", "test_s3_continuity", "test_s3_series"),
    *("test_s4_lifecycle", "test_courier"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in ON_BOTH:
        metafunc.fixturenames.append("store")
        both = [pytest.param(each, marks=one_of("store")) for each in ("sqlite", "postgres")]
        metafunc.parametrize("store", both, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set where every world keeps its store."""
    if request.param == "sqlite":
        yield
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    monkeypatch.setattr(World, "store_url", server.store)
    yield
    server.wipe()


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
