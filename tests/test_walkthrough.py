"""docs/architecture.md follows one task from the keystroke to the receipt; it really goes there."""

import asyncio
import contextlib
import io
import re
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from remit.cli import clock
from remit.cli.main import run
from remit.model.delivery import DeliveryStatus
from remit.model.task import Task
from remit.settings import load
from remit.store import tasks
from remit.store.read_only import open_read_only
from remit.store.secrets import Secrets
from remit.testing import START, World, script
from remit.wiring import WallClock
from tests.channels.whatsapp.whatsapp import NUMBER_ID, TOKEN, Provider

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "architecture.md"
MOST_MODULES: Final = 15
# 1. [`cli/main.py`](../src/remit/cli/main.py) `run`: what it does.
STEP: Final = re.compile(
    r"^\d+\. \[`([\w/]+)\.py`\]\(\.\./src/remit/\1\.py\) `(\w+)`: ", re.MULTILINE
)
WORDS: Final = "Research the parks of Bangkok and send it to Anna on WhatsApp tomorrow at 9"
REPLY: Final = "I looked around. <deliverable>The parks of Bangkok: Lumphini Park.</deliverable>"
SETTINGS: Final = f"""\
zone = "UTC"
[channels.whatsapp]
kind = "whatsapp"
number_id = "{NUMBER_ID}"
token = "whatsapp_token"
url = "{{url}}"
template = "note"
language = "en_US"
"""
CONTACTS: Final = """\
- name: Anna
  channels: {whatsapp: "972501111111"}
  policy: {whatsapp: allow}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where Anna may be written to, at a time that stands still."""
    (tmp_path / "contacts.yaml").write_text(CONTACTS)
    _settings(tmp_path, "http://127.0.0.1:9/v25.0")
    Secrets(tmp_path, None).put("whatsapp_token", TOKEN)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: START)
    monkeypatch.setattr(WallClock, "now", lambda _: START)
    return tmp_path


def test_the_walk_through_names_the_way_that_a_real_task_goes(home: Path) -> None:
    steps = STEP.findall(PAGE.read_text("utf-8"))
    with _traced() as passed:
        _type()
        ended = asyncio.run(_tomorrow(home))

    assert [each.status for each in ended.delivery] == [DeliveryStatus.SENT]
    assert ended.delivery[0].receipt
    assert len(steps) <= MOST_MODULES
    named = [
        (f"remit.{path.replace('/', '.')}".removesuffix(".__init__"), name) for path, name in steps
    ]
    assert [each for each in named if each not in passed] == []
    assert named == sorted(named, key=passed.index)


def _type() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        assert run(["add", WORDS]) == 0, said.getvalue()
    assert "Anna" in said.getvalue()


async def _tomorrow(home: Path) -> Task:
    """Let Remit run until nine o'clock of the next day, with the provider on loopback."""
    async with Provider() as provider:
        _settings(home, provider.url)
        brain = script([{"reply": REPLY}])
        async with World(home, brain=brain, settings=load()) as world:
            await world.run(timedelta(days=1))
            with open_read_only(home / "agent.db") as tx:
                (found,) = tasks.ids_like(tx, "task-")
            return await world.get(found)


def _settings(home: Path, url: str) -> None:
    (home / "settings.toml").write_text(SETTINGS.format(url=url))


@contextlib.contextmanager
def _traced() -> Iterator[list[tuple[str, str]]]:
    """Every function of ours that is called, in the order of first calls."""
    passed: dict[tuple[str, str], None] = {}

    def look(frame: FrameType, happens: str, _: object) -> None:
        if happens == "call":
            module = str(frame.f_globals.get("__name__", ""))
            if module.startswith("remit."):
                passed.setdefault((module, frame.f_code.co_name))

    found: list[tuple[str, str]] = []
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        found.extend(passed)
