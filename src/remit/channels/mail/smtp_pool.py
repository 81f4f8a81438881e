"""Keeps SMTP connections open for the next letter, for a short time.

Only a connection whose last letter was accepted is kept. If it broke meanwhile, this is noticed
before the next letter begins, and a new one is opened.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from aiosmtplib import SMTP

IDLE: Final = 5.0  # seconds; a server waits for minutes
MOST_LETTERS: Final = 50  # over one line; many a server ends it at a hundred
MOST_LINES: Final = 16  # a server lets one client have some
_PARTING: Final = 2.0  # seconds for a farewell that changes nothing


@dataclass(eq=False, slots=True)
class SmtpConnection:
    """A line, and with which password it was opened: one that was renewed opens another."""

    smtp: SMTP
    password: str = field(repr=False)
    letters: int = 0  # that were taken over it

    @property
    def whole(self) -> bool:
        """Whether it is open, and the server has said nothing that it was not asked."""
        open_ = self.smtp.protocol
        return open_ is not None and open_.is_connected and not open_._buffer  # noqa: SLF001 - there is no other way to see it

    def hang_up(self) -> None:
        """End it at once: what it still holds must not follow later."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.abort()
        self.smtp.close()

    def leave(self) -> None:
        """Say goodbye and go; nobody waits for what the server says to that."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.write(b"QUIT\r\n")
        self.smtp.close()

    async def part(self) -> None:
        """Say goodbye, and hear it. Nothing that happens from here on is about a letter."""
        with suppress(Exception):
            async with asyncio.timeout(_PARTING):
                await self.smtp.quit()
        self.hang_up()


class SmtpConnectionPool:
    """Those that nobody uses at the moment."""

    def __init__(self, idle: float = IDLE) -> None:
        self._idle = idle
        self._kept: dict[SmtpConnection, asyncio.TimerHandle] = {}

    def take(self, password: str) -> SmtpConnection | None:
        """One that can be used, if there is one; it is the taker's then."""
        while self._kept:
            line, timer = self._kept.popitem()
            timer.cancel()
            if line.whole and line.password == password:
                return line
            line.hang_up()
        return None

    def give_back(self, line: SmtpConnection) -> None:
        """Keep a line that is whole, or leave it if there are enough."""
        if not self._idle or line.letters >= MOST_LETTERS or len(self._kept) >= MOST_LINES:
            line.leave()
            return
        loop = asyncio.get_running_loop()
        self._kept[line] = loop.call_later(self._idle, self._drop, line)

    async def close(self) -> None:
        """Part with all of them."""
        while self._kept:
            line, timer = self._kept.popitem()
            timer.cancel()
            await line.part()

    def _drop(self, line: SmtpConnection) -> None:
        del self._kept[line]
        line.leave()
