"""A repository with a worktree, for the tests of code work."""

import asyncio
from pathlib import Path

import pytest

from tests.specialist.repository import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return asyncio.run(Shop.open(tmp_path))
