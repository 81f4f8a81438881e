"""Keeps SMTP connections open for the next letter, for a short time.

Only a connection whose last letter was accepted is kept. If it broke meanwhile, this is noticed
before the next letter begins, and a new one is opened.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from aiosmtplib import SMTP

IDLE: Final = 5.0  # seconds; servers wait for minutes
MOST_LETTERS: Final = 50  # per connection; many servers end it at a hundred
MOST_LINES: Final = 16  # servers allow one client a few
_PARTING: Final = 2.0  # seconds for a QUIT that changes nothing


@dataclass(eq=False, slots=True)
class SmtpConnection:
    """A connection and its password: a renewed password opens a new one."""

    smtp: SMTP
    password: str = field(repr=False)
    letters: int = 0  # letters accepted on it

    @property
    def whole(self) -> bool:
        """Whether it is open, with no unexpected data from the server."""
        open_ = self.smtp.protocol
        return open_ is not None and open_.is_connected and not open_._buffer  # noqa: SLF001 - there is no other way to see it

    def hang_up(self) -> None:
        """Abort it: buffered data must not be sent later."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.abort()
        self.smtp.close()

    def leave(self) -> None:
        """Send QUIT and close without waiting for the answer."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.write(b"QUIT\r\n")
        self.smtp.close()

    async def part(self) -> None:
        """Send QUIT and wait for the answer. No letter is affected any more."""
        with suppress(Exception):
            async with asyncio.timeout(_PARTING):
                await self.smtp.quit()
        self.hang_up()


class SmtpConnectionPool:
    """The idle connections."""

    def __init__(self, idle: float = IDLE) -> None:
        self._idle = idle
        self._kept: dict[SmtpConnection, asyncio.TimerHandle] = {}

    def take(self, password: str) -> SmtpConnection | None:
        """Return a usable connection, if any; it belongs to the caller then."""
        while self._kept:
            line, timer = self._kept.popitem()
            timer.cancel()
            if line.whole and line.password == password:
                return line
            line.hang_up()
        return None

    def give_back(self, line: SmtpConnection) -> None:
        """Keep a healthy connection, or close it if there are enough."""
        if not self._idle or line.letters >= MOST_LETTERS or len(self._kept) >= MOST_LINES:
            line.leave()
            return
        loop = asyncio.get_running_loop()
        self._kept[line] = loop.call_later(self._idle, self._drop, line)

    async def close(self) -> None:
        """Close all of them."""
        while self._kept:
            line, timer = self._kept.popitem()
            timer.cancel()
            await line.part()

    def _drop(self, line: SmtpConnection) -> None:
        del self._kept[line]
        line.leave()
