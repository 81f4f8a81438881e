"""A mail server account: address, credentials, connection security, and its open SMTP connections.

Only a connection whose last letter was accepted is kept for the next one, for a short time.
"""

import asyncio
import ipaddress
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from aiosmtplib import SMTP

from remit.errors import BadInput
from remit.system.http_client import Token

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
_MAX_PORT: Final = 65_535
_FIT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,256}")


class Security(StrEnum):
    """How the connection is encrypted. There is no fallback from one to another."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"  # only for this machine


@dataclass(frozen=True, slots=True)
class SmtpAccount:
    """An SMTP account. `password` is called at each use, so a renewed one needs no restart.

    With `renew` the password is an access token of OAuth; both may block, so call them in a thread.
    """

    host: str
    port: int
    security: Security = Security.STARTTLS
    user: str | None = None
    password: Token | None = field(default=None, repr=False)
    ca_file: Path | None = None  # replaces the machine's authorities
    renew: Callable[[str], str] | None = field(default=None, repr=False)  # after a refused one
    todo: str = "Renew the user or the password."

    def __post_init__(self) -> None:
        if not (_is_ip(self.host) or _HOST.fullmatch(self.host)):
            raise BadInput(
                f"The mail server {self.host!r:.60} is no host name; "
                "write it like mail.example.org, without a port.",
                field="host",
            )
        if not 0 < self.port <= _MAX_PORT:
            raise BadInput(
                f"The port {self.port} of the mail server is none; 587, 465 and 993 are usual.",
                field="port",
            )
        near = _is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback
        if self.security is Security.NONE and not (near or self.host == "localhost"):
            raise BadInput(
                f"The line to {self.host} must be private: set security to starttls or tls. "
                "None is only for a server on this machine.",
                field="security",
            )
        if (self.user is None) != (self.password is None):
            raise BadInput("A user needs a password, and a password a user.", field="user")
        if self.user is not None and not _FIT.fullmatch(self.user):
            raise BadInput("The user of the mail server has characters no name has.", field="user")

    @property
    def credential(self) -> str:
        return "the user or the password" if self.renew is None else f"the sign-in of {self.user}"


def tls_context(account: SmtpAccount) -> ssl.SSLContext:
    """Return the TLS context: the server needs a valid certificate for its name."""
    try:
        return ssl.create_default_context(cafile=account.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"The file {account.ca_file} holds no certificate of an authority. Name one that does.",
            field="ca_file",
        ) from error


def is_password(account: SmtpAccount, text: str) -> bool:
    """Whether a text can be the account's password at all; an access token was checked before."""
    return account.renew is not None or _FIT.fullmatch(text) is not None


def xoauth2(user: str, token: str) -> bytes:
    """The response of the SASL mechanism XOAUTH2."""
    return f"user={user}\x01auth=Bearer {token}\x01\x01".encode()


def certificate_problem(error: BaseException | None) -> str | None:
    """Return what was wrong with a certificate, if that broke the connection."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return str(error.verify_message or "it cannot be checked").rstrip(". ")
        error = error.__cause__ or error.__context__
    return None


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return "%" not in host


IDLE_SECONDS: Final = 5.0  # seconds; servers wait for minutes
MAX_LETTERS_PER_CONNECTION: Final = 50  # per connection; many servers end it at a hundred
MAX_IDLE_CONNECTIONS: Final = 16  # servers allow one client a few
_QUIT_SECONDS: Final = 2.0  # seconds for a QUIT that changes nothing


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

    def abort(self) -> None:
        """Abort it: buffered data must not be sent later."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.abort()
        self.smtp.close()

    def quit(self) -> None:
        """Send QUIT and close without waiting for the answer."""
        if isinstance(self.smtp.transport, asyncio.WriteTransport):
            self.smtp.transport.write(b"QUIT\r\n")
        self.smtp.close()

    async def quit_and_wait(self) -> None:
        """Send QUIT and wait for the answer. No letter is affected any more."""
        with suppress(Exception):
            async with asyncio.timeout(_QUIT_SECONDS):
                await self.smtp.quit()
        self.abort()


class SmtpConnectionPool:
    """The idle connections."""

    def __init__(self, idle: float = IDLE_SECONDS) -> None:
        self._seconds = idle
        self._idle_ones: dict[SmtpConnection, asyncio.TimerHandle] = {}

    def take(self, password: str) -> SmtpConnection | None:
        """Return a usable connection, if any; it belongs to the caller then."""
        while self._idle_ones:
            connection, timer = self._idle_ones.popitem()
            timer.cancel()
            if connection.whole and connection.password == password:
                return connection
            connection.abort()
        return None

    def give_back(self, connection: SmtpConnection) -> None:
        """Keep a healthy connection, or close it if there are enough."""
        full = len(self._idle_ones) >= MAX_IDLE_CONNECTIONS
        if not self._seconds or full or connection.letters >= MAX_LETTERS_PER_CONNECTION:
            connection.quit()
            return
        loop = asyncio.get_running_loop()
        self._idle_ones[connection] = loop.call_later(self._seconds, self._drop, connection)

    async def close(self) -> None:
        while self._idle_ones:
            connection, timer = self._idle_ones.popitem()
            timer.cancel()
            await connection.quit_and_wait()

    def _drop(self, connection: SmtpConnection) -> None:
        del self._idle_ones[connection]
        connection.quit()
