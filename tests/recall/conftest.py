"""A busy machine is slow, not wrong: no time limits on the index here."""

import pytest

from remit.recall import finder, library


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (library, finder):
        monkeypatch.setattr(room, "PATIENCE", 100.0)
