"""One exchange with an SMTP server about one letter, and how far it came.

Until the final dot is written the server has no letter, so a failure before it may be retried.
"""

import asyncio
import base64
from enum import IntEnum
from typing import Final

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPException,
    SMTPResponseException,
    SMTPServerDisconnected,
)
from aiosmtplib.protocol import SMTPProtocol

from remit.channels.mail.account import Security, SmtpAccount, certificate_problem, xoauth2
from remit.channels.mail.letter import OutgoingMail
from remit.model.delivery import Accepted, Answer, Locked, Refused, SendRetry, Unknown
from remit.system import first_byte
from remit.system.http_client import clean

_GO_ON: Final = 354
LOCKED_CODES: Final = frozenset({530, 534, 535, 538})
_HANGS_UP: Final = 421
_WAYS: Final = ("plain", "login", "cram-md5")  # best first, on an encrypted connection
_TOKEN_WAYS: Final = ("xoauth2",)
_CHALLENGE: Final = 334
_LOGGED_IN: Final = 235


class _Stage(IntEnum):
    REACHING = 0  # nothing about the letter was sent
    OFFERED = 1  # sender and recipient, and perhaps a part of it
    GIVEN = 2  # the final dot was written


class SmtpExchange:
    """One exchange with the server about one letter, and how far it came."""

    def __init__(self, account: SmtpAccount, letter: OutgoingMail, key: str, password: str) -> None:
        self._account = account
        self._letter = letter
        self._key = key
        self.password = password
        self._stage = _Stage.REACHING
        self._heard = False  # whether the server has answered anything about this letter

    async def run(self, smtp: SMTP, *, opened: bool) -> Answer:
        """Send the letter; an already opened connection is used as it is."""
        if not opened:
            await self._open(smtp)
        unable = self._unable(smtp)
        return unable if unable is not None else await self._hand_over(smtp)

    def broke_unanswered(self, error: Exception) -> bool:
        """Whether the connection broke before anything was said about this letter."""
        hung_up = not isinstance(error, SMTPResponseException) or error.code == _HANGS_UP
        if self._heard or not hung_up:
            return False
        self._stage = _Stage.REACHING
        return True

    async def _open(self, smtp: SMTP) -> None:
        await smtp.connect()
        if self._account.security is Security.STARTTLS:
            await smtp.ehlo()
            if not smtp.supports_extension("starttls"):
                raise _NotPrivate
            await smtp.starttls()
        await smtp.ehlo()
        await self._log_in(smtp)

    async def _log_in(self, smtp: SMTP) -> None:
        """Log in once, by the best method; a second try would count as a wrong password."""
        if self._account.user is None:
            return
        ways = _WAYS if self._account.renew is None else _TOKEN_WAYS
        way = next((way for way in ways if way in smtp.server_auth_methods), None)
        user, password = self._account.user, self.password
        match way:
            case "xoauth2":
                await _sign_in(smtp, user, password)
            case "plain":
                await smtp.auth_plain(user, password)
            case "login":
                await smtp.auth_login(user, password)
            case "cram-md5":
                await smtp.auth_crammd5(user, password)
            case _:
                raise SMTPException("it offers no way to log in")

    def _unable(self, smtp: SMTP) -> Refused | None:
        """Return what this server can never accept, before it is asked."""
        if self._letter.utf8 and not smtp.supports_extension("smtputf8"):
            return Refused(
                f"The mail server {self._account.host} takes ASCII addresses alone. "
                f"Write to another address than {self._letter.to}."
            )
        most = smtp.esmtp_extensions.get("size", "")
        if most.isdecimal() and 0 < int(most) < len(self._letter.wire):
            return Refused(
                f"The letter has {len(self._letter.wire)} bytes; the mail server "
                f"{self._account.host} takes {most}. Make it shorter."
            )
        return None

    async def _hand_over(self, smtp: SMTP) -> Answer:
        self._stage = _Stage.OFFERED
        encoding = "utf-8" if self._letter.utf8 else "ascii"
        await smtp.mail(str(self._letter.sender), options=self._options(smtp), encoding=encoding)
        self._heard = True
        await smtp.rcpt(str(self._letter.to), encoding=encoding)
        line, transport = smtp.protocol, smtp.transport
        if line is None or not isinstance(transport, asyncio.WriteTransport):
            raise SMTPServerDisconnected("the line was lost")
        _check_step(line)
        reply = await smtp.execute_command(b"DATA")
        if reply.code != _GO_ON:
            raise SMTPResponseException(reply.code, reply.message)
        # Everything but the dot first: if that fails, there is no doubt.
        transport.set_write_buffer_limits(high=0)
        line.write(_dot_stuffed(self._letter.wire))
        await line._drain_helper()  # noqa: SLF001 - what asyncio's own writer waits with
        _check_step(line)
        await first_byte.before_sending()
        _check_step(line)
        self._stage = _Stage.GIVEN
        line.write(b".\r\n")
        final = await line.read_response()
        if final.code // 100 == 2:  # noqa: PLR2004 - as the protocol counts
            return Accepted(self._letter.message_id)
        return self._answer_of(final.code, final.message)

    def _options(self, smtp: SMTP) -> list[str]:
        options = []
        if smtp.supports_extension("size"):
            options.append(f"SIZE={len(self._letter.wire)}")
        if self._letter.utf8:
            options.append("SMTPUTF8")
        if smtp.supports_extension("dsn"):  # so that a bounce names the delivery
            options += ["RET=HDRS", f"ENVID={self._key}"]
        return options

    def _answer_of(self, code: int, words: str) -> Answer:
        who = f"The mail server {self._account.host}"
        text = clean(words, self.password)
        if code in LOCKED_CODES:
            return Locked(f"{who} does not let us in ({code}). {self._account.todo}")
        match code // 100:
            case 4:
                return SendRetry(f"{who} asks for patience ({code} {text}).")
            case 5 if self._stage is not _Stage.REACHING:
                return Refused(f"{who} refused the letter ({code} {text}).")
            case _ if self._stage is _Stage.GIVEN:
                return Unknown(f"{who} was given the letter and said neither yes nor no ({code}).")
            case _:
                return SendRetry(f"{who} cannot be used at the moment ({code} {text}).")

    def answer_to(self, error: Exception, late: str | None) -> Answer:
        """Return the result of an exchange that ended in an error."""
        who = f"The mail server {self._account.host}"
        if isinstance(error, SMTPAuthenticationError) and error.code // 100 == 5:  # noqa: PLR2004
            # Without the server's text: some servers repeat what they were sent.
            what, todo = self._account.credential, self._account.todo
            return Locked(f"{who} does not take {what} ({error.code}). {todo}")
        if isinstance(error, SMTPResponseException) and late is None:
            return self._answer_of(error.code, error.message)
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        why = late or type(cause).__name__  # without anything from the connection
        if self._stage is _Stage.GIVEN:
            return Unknown(f"{who} was given the letter, and then the line broke ({why}).")
        return SendRetry(f"{who} {_unused_because(error, why)}.")


class _NotPrivate(SMTPException):
    """The server would receive the password and the letter unencrypted."""

    def __init__(self) -> None:
        super().__init__("it offers no STARTTLS")


async def _sign_in(smtp: SMTP, user: str, token: str) -> None:
    """Log in by XOAUTH2. A refusal is a challenge with its reason: the answer to it is empty."""
    credentials = base64.b64encode(xoauth2(user, token))
    reply = await smtp.execute_command(b"AUTH", b"XOAUTH2", credentials)
    if reply.code == _CHALLENGE:
        reply = await smtp.execute_command(b"")
    if reply.code != _LOGGED_IN:
        raise SMTPAuthenticationError(reply.code, "")


def _unused_because(error: Exception, why: str) -> str:
    """Return why a server was not used."""
    if isinstance(error, _NotPrivate):
        return "offers no private line (STARTTLS), so it was told nothing"
    wrong = certificate_problem(error)
    if wrong is not None:
        return f"shows a certificate that is not trusted ({wrong}), so it was told nothing"
    return f"could not be reached or broke off before it had the letter ({why})"


def _check_step(line: SMTPProtocol) -> None:
    """Raise if the server answered without being asked; answers would be mixed up."""
    if not line.is_connected:
        raise SMTPServerDisconnected("the line was lost")
    if line._buffer:  # noqa: SLF001 - there is no other way to see it
        raise SMTPException("it answered what it was not asked")


def _dot_stuffed(wire: bytes) -> bytes:
    stuffed = wire.replace(b"\r\n.", b"\r\n..")
    return b"." + stuffed if stuffed.startswith(b".") else stuffed
