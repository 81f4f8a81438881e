"""A repository, made once and copied for each story that works on it."""

from functools import partial
from pathlib import Path

import pytest

from tests.stories.shop.rig import Opens, opened
from tests.stories.shop.sample import sample
from tests.verify import workshop


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
