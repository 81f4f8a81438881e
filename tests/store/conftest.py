"""A scene for every test that wants one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "agent.db")
    yield made
    made.close()
