"""A bot server in its own thread, and a real `remit up` that is paired with the owner's chat."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.channels.telegram.bot_server import OWNER, TOKEN, BotServer, Sent
from tests.cli.terminal import Terminal
from tests.live.http_client import Client
from tests.live.loopback import LIMIT_SECONDS, ServerThread

SETTINGS: Final = """\
zone = "UTC"
[brain]
kind = "scripted"
[engine]
stop_limit = 1
[deliver]
undo = 0
[recall]
store = "off"
[reflect]
nightly = false
[contracts]
written = false
"""
SCRIPT: Final = """\
- when: passport
  ask: Which passport do you hold?
  times: 1
- when: price list
  use: [{tool: write_file, args: {path: prices.csv, text: "park,price"}}]
  times: 1
- when: prices.csv is written
  reply: "<deliverable>The prices.\n\n[file: prices.csv]</deliverable>"
- when: shorter
  reply: <deliverable>Short.</deliverable>
- when: untagged
  reply: I forgot the tags.
- reply: I thought about it. <deliverable>Done as **asked**.</deliverable>
"""


class Town(ServerThread):
    """The bot server, in its own thread."""

    def __init__(self) -> None:
        super().__init__()
        self.bot = BotServer()

    async def open(self) -> None:
        await self.entered(self.bot)

    def until(self, holds: Callable[[], object], what: str) -> None:
        end = time.monotonic() + LIMIT_SECONDS
        while not holds():
            assert time.monotonic() < end, (what, self.bot.accepted, self.bot.toasts)
            time.sleep(0.02)

    def sent(self, words: str, after: int = 0, chat: int = OWNER) -> Sent:
        """Wait for a message with these words; return it."""

        def found() -> list[Sent]:
            said = [each for each in self.bot.accepted[after:] if each.chat == chat]
            return [each for each in said if words in each.text]

        self.until(found, f"a message with {words!r}")
        return found()[0]

    def toast(self, words: str) -> None:
        self.until(lambda: any(words in each for each in self.bot.toasts), f"a toast {words!r}")


def seat_of(folder: Path) -> Terminal:
    """A home with a scripted brain, and no channel yet."""
    seat = Terminal(folder, script=SCRIPT)
    (seat.home / "settings.toml").write_text(SETTINGS)
    return seat


def add(seat: Terminal, town: Town) -> str:
    """Add the channel by the command; return the pairing code."""
    said = seat.run(
        "channels", "add", "telegram", "--url", town.bot.root, "--json", stdin=f"{TOKEN}\n"
    )
    assert said.code == 0, said.err
    return str(said.json["code"])


@contextmanager
def paired(folder: Path, town: Town) -> Iterator[Client]:
    """A running Remit that gets the channel, and is connected with the owner's chat by the code."""
    seat = seat_of(folder)
    with seat.up() as up:
        code = add(seat, town)
        town.bot.write(f"/start {code}")
        town.sent("This chat is yours")
        yield Client(seat, up)
