"""A scene for every test that wants one, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak import one_of
from tests.store.postgres import Postgres
from tests.store.scene import PostgresScene, Scene


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that has a scene on both databases, unless it says why not.

    Each case of a table is tried on one of them, now this, now that; in `make soak` on both.
    """
    if "scene" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker
    kinds = ["sqlite"] if marker("only_sqlite") else ["sqlite", "postgres"]
    marks = one_of("scene") if marker("parametrize") else ()
    scenes = [pytest.param(each, marks=marks) for each in kinds]
    metafunc.parametrize("scene", scenes, indirect=True)


@pytest.fixture
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    if request.param == "sqlite":
        made = Scene(tmp_path / "agent.db")
        yield made
        made.close()
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    made = PostgresScene(server.store)
    yield made
    made.close()
    server.wipe()


@pytest.fixture
def url(postgres_server: Postgres) -> Iterator[str]:
    """The address of a store on Postgres, for processes of one Remit."""
    yield postgres_server.store
    postgres_server.wipe()


@pytest.fixture
def maker(url: str) -> Iterator[PostgresScene]:
    """Makes tasks in the same database, and looks at what became of them."""
    made = PostgresScene(url)
    yield made
    made.close()
