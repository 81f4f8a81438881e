"""Shared by the live tests."""

import logging
from collections.abc import Iterator

import pytest


class Ear(logging.Handler):
    """Hears every record there is, down to the last detail."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{self.format(record)} {record.__dict__}")


@pytest.fixture
def ear() -> Iterator[Ear]:
    root, ear = logging.getLogger(), Ear()
    level = root.level
    root.addHandler(ear)
    root.setLevel(1)
    yield ear
    root.setLevel(level)
    root.removeHandler(ear)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the SDKs retry as they do, only sooner."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("anthropic._base_client.INITIAL_RETRY_DELAY", 0.01)
