"""A scene for every test that wants one, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.postgres import Postgres
from tests.store.scene import PostgresScene, Scene


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that has a scene on both databases, unless it says why not."""
    if "scene" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("only_sqlite")
        metafunc.parametrize(
            "scene", ["sqlite"] if alone else ["sqlite", "postgres"], indirect=True
        )


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
