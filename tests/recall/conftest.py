"""A busy machine is slow, not wrong: here nobody loses patience with the index."""

import pytest

from remit.recall import duplicates, library


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (library, duplicates):
        monkeypatch.setattr(room, "PATIENCE", 100.0)
