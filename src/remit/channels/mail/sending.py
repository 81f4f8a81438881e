"""The e-mail channel over SMTP: one letter to one address per call, sent once.

Until the final dot is written the server has no letter, so a failure before it may be retried.
Between the dot and the server's answer the result is unknown; then the mailbox may be searched.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Final, TypeAlias

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPException,
    SMTPResponseException,
    SMTPServerDisconnected,
)
from aiosmtplib.protocol import SMTPProtocol

from remit.channels.mail import letter, letter_head
from remit.channels.mail.account import (
    IDLE,
    Security,
    SmtpAccount,
    SmtpConnection,
    SmtpConnectionPool,
    distrust,
    is_password,
    trust,
)
from remit.channels.mail.letter import MailContent, MailSender, MailThread, OutgoingMail
from remit.channels.mail.letter_head import MailAddress
from remit.channels.mail.mailbox import Mailbox, ReturnedMail
from remit.errors import BadInput
from remit.model.delivery import (
    Accepted,
    Answer,
    Found,
    Locked,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.ports import Clock
from remit.system.http_client import clean, unfit

MOST: Final = 100_000
PATIENCE: Final = 100.0  # seconds for a whole exchange, less than the courier's limit
_GO_ON: Final = 354
_LOCKED: Final = frozenset({530, 534, 535, 538})
_HANGS_UP: Final = 421
_WAYS: Final = ("plain", "login", "cram-md5")  # best first, on an encrypted connection
_GRACE: Final = 900.0

ThreadOf: TypeAlias = Callable[[Parcel], Awaitable[MailThread]]


class EmailChannel:
    most: Final = MOST
    guidance: Final = (
        "It will be sent by e-mail. Markdown is shown well: a heading of its own becomes the "
        "subject, so start with one. Lists, tables and links are fine; pictures are not shown."
    )

    def __init__(  # noqa: PLR0913 - each is handed in by name, and each has to come from outside
        self,
        account: SmtpAccount,
        sender: MailSender,
        clock: Clock,
        *,
        owner: MailAddress | None = None,
        thread_of: ThreadOf | None = None,
        mailbox: Mailbox | None = None,
        name: str = "email",
        patience: float = PATIENCE,
        idle: float = IDLE,
    ) -> None:
        self.name: Final = name
        self.keeps: Final = SendGuarantee.LOOKUP if mailbox is not None else SendGuarantee.NOTHING
        self._account = account
        self._sender = sender
        self._clock = clock
        self._owner = owner
        self._thread_of = thread_of
        self.mailbox: Final = mailbox
        self._patience = patience
        self._trust = None if account.security is Security.NONE else trust(account)
        self._lines = SmtpConnectionPool(idle)

    async def send(self, parcel: Parcel) -> Answer:
        """Send one letter. No byte leaves before it is complete and valid. It never retries."""
        ready = await self._ready(parcel)
        if not isinstance(ready, _Ready):
            return ready
        exchange = _Exchange(self._account, ready)
        limit = asyncio.timeout(self._patience)
        try:
            async with limit:
                kept = self._lines.take(ready.password)
                answer = await self._over(kept, exchange) if kept is not None else None
                if answer is None:  # nothing about the letter was sent yet
                    answer = await self._over(
                        SmtpConnection(self._smtp(), ready.password), exchange
                    )
                return answer or SendRetry(f"The mail server {self._account.host} hung up.")
        except Exception as error:  # noqa: BLE001 - how far it came is known here alone
            late = f"no answer within {self._patience:g} s" if limit.expired() else None
            return exchange.broken(error, late)

    async def close(self) -> None:
        """Close the kept connections."""
        await self._lines.close()

    async def _over(self, line: SmtpConnection, exchange: "_Exchange") -> Answer | None:
        """Send the letter on a connection; None: an old connection turned out to be broken."""
        old = line.letters > 0
        try:
            answer = await exchange.run(line.smtp, opened=old)
        except BaseException as error:
            line.hang_up()
            if old and isinstance(error, Exception) and exchange.unheard(error):
                return None
            raise
        if isinstance(answer, Accepted):
            line.letters += 1
            self._lines.give_back(line)
        else:
            line.leave()
        return answer

    async def lookup(self, key: str, sent_at: datetime) -> Accepted | SendRetry | Unknown:
        """Look up in the mailbox a delivery sent at a time and unknown since."""
        if self.mailbox is None:
            return Unknown("There is no mailbox that could be asked.")
        made = letter_head.message_id(key, self._sender.address.domain)
        return await self.mailbox.lookup(made, self._clock.now() - sent_at)

    async def find(self, parcel: Parcel) -> Found | None:
        """Look up an unknown letter among bounces and sent mails; None: unclear.

        A bounce says nothing if another send of it may be out: both have the same id.
        """
        if self.mailbox is None:
            return None
        returned = await self.mailbox.bounces(None) if parcel.alone else None
        for bounce in returned.bounces if isinstance(returned, ReturnedMail) else ():
            if bounce.delivery_id == parcel.key and bounce.for_good:
                return bounce.answer
        found = await self.lookup(parcel.key, parcel.sent_at or self._clock.now())
        return found if isinstance(found, Accepted | SendRetry) else None

    async def _ready(self, parcel: Parcel) -> "_Ready | SendRetry | Refused | Locked":
        wrong = unfit(parcel.body, MOST)
        if wrong is not None:
            return Refused(wrong)
        try:
            to = self._to(parcel)
            thread = await self._thread_of(parcel) if self._thread_of else MailThread()
            note = MailContent(parcel.key, to, parcel.body, thread)
            # A long text takes a while to render.
            made = await asyncio.to_thread(letter.compose, note, self._sender, self._clock.now())
            password = self._account.password() if self._account.password else ""
        except BadInput as error:
            return Refused(str(error))
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return SendRetry(f"E-mail cannot be used at the moment ({type(error).__name__}).")
        if self._account.user is not None and not is_password(password):
            return Locked("The password of the mail server is missing or none at all. Set it.")
        return _Ready(made, parcel.key, password)

    @property
    def grace(self) -> float:
        """Seconds in which a letter may still be filed or bounce."""
        filed = self.mailbox.files_within if self.mailbox is not None else None
        return max(_GRACE, filed.total_seconds() if filed else 0.0)

    @property
    def knows_owner(self) -> bool:
        return self._owner is not None

    def takes(self, address: str) -> bool:
        """Whether it could send to this address."""
        try:
            letter_head.address(address)
        except BadInput:
            return False
        return True

    def _to(self, parcel: Parcel) -> MailAddress:
        if parcel.recipient is not None:
            return letter_head.address(parcel.recipient)
        if self._owner is None:
            raise BadInput("The owner has no mail address. Name one in the settings.")
        return self._owner

    def _smtp(self) -> SMTP:
        return SMTP(
            hostname=self._account.host,
            port=self._account.port,
            timeout=None,  # one limit for the whole exchange
            use_tls=self._account.security is Security.TLS,
            start_tls=False,  # done below, where a server without it is refused
            tls_context=self._trust,
            local_hostname=self._sender.address.domain,
        )


@dataclass(frozen=True, slots=True)
class _Ready:
    """A complete letter, and the password of the server."""

    letter: OutgoingMail
    key: str
    password: str = field(repr=False)


class _Stage(IntEnum):
    REACHING = 0  # nothing about the letter was sent
    OFFERED = 1  # sender and recipient, and perhaps a part of it
    GIVEN = 2  # the final dot was written


class _Exchange:
    """One exchange with the server about one letter, and how far it came."""

    def __init__(self, account: SmtpAccount, ready: _Ready) -> None:
        self._account = account
        self._letter = ready.letter
        self._key = ready.key
        self._password = ready.password
        self._stage = _Stage.REACHING
        self._heard = False  # whether the server has answered anything about this letter

    async def run(self, smtp: SMTP, *, opened: bool) -> Answer:
        """Send the letter; an already opened connection is used as it is."""
        if not opened:
            await self._open(smtp)
        unable = self._unable(smtp)
        return unable if unable is not None else await self._hand_over(smtp)

    def unheard(self, error: Exception) -> bool:
        """Whether the connection broke before anything was said about this letter."""
        hung_up = not isinstance(error, SMTPResponseException) or error.code == _HANGS_UP
        if self._heard or not hung_up:
            return False
        self._stage = _Stage.REACHING
        return True

    async def _open(self, smtp: SMTP) -> None:
        await smtp.connect()
        if self._account.security is Security.STARTTLS:
            await self._make_private(smtp)
        await smtp.ehlo()
        await self._log_in(smtp)

    async def _make_private(self, smtp: SMTP) -> None:
        await smtp.ehlo()
        if not smtp.supports_extension("starttls"):
            raise _NotPrivate
        await smtp.starttls()

    async def _log_in(self, smtp: SMTP) -> None:
        """Log in once, by the best method; a second try would count as a wrong password."""
        if self._account.user is None:
            return
        way = next((way for way in _WAYS if way in smtp.server_auth_methods), None)
        user, password = self._account.user, self._password
        match way:
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
        said = await smtp.execute_command(b"DATA")
        if said.code != _GO_ON:
            raise SMTPResponseException(said.code, said.message)
        # Everything but the dot first: if that fails, there is no doubt.
        transport.set_write_buffer_limits(high=0)
        line.write(_stuffed(self._letter.wire))
        await line._drain_helper()  # noqa: SLF001 - what asyncio's own writer waits with
        _check_step(line)
        self._stage = _Stage.GIVEN
        line.write(b".\r\n")
        final = await line.read_response()
        return self._final(final.code, final.message)

    def _options(self, smtp: SMTP) -> list[str]:
        options = []
        if smtp.supports_extension("size"):
            options.append(f"SIZE={len(self._letter.wire)}")
        if self._letter.utf8:
            options.append("SMTPUTF8")
        if smtp.supports_extension("dsn"):  # so that a bounce names the delivery
            options += ["RET=HDRS", f"ENVID={self._key}"]
        return options

    def _final(self, code: int, words: str) -> Answer:
        if code // 100 == 2:  # noqa: PLR2004 - as the protocol counts
            return Accepted(self._letter.message_id)
        return self._said(code, words)

    def _said(self, code: int, words: str) -> Answer:
        who = f"The mail server {self._account.host}"
        told = clean(words, self._password)
        if code in _LOCKED:
            return Locked(f"{who} does not let us in ({code}). Renew the user or the password.")
        match code // 100:
            case 4:
                return SendRetry(f"{who} asks for patience ({code} {told}).")
            case 5 if self._stage is not _Stage.REACHING:
                return Refused(f"{who} refused the letter ({code} {told}).")
            case _ if self._stage is _Stage.GIVEN:
                return Unknown(f"{who} was given the letter and said neither yes nor no ({code}).")
            case _:
                return SendRetry(f"{who} cannot be used at the moment ({code} {told}).")

    def broken(self, error: Exception, late: str | None) -> Answer:
        """Return the result of an exchange that ended in an error."""
        who = f"The mail server {self._account.host}"
        if isinstance(error, SMTPAuthenticationError) and error.code // 100 == 5:  # noqa: PLR2004
            # Without the server's text: some servers repeat what they were sent.
            return Locked(f"{who} does not take the user or the password ({error.code}). Renew it.")
        if isinstance(error, SMTPResponseException) and late is None:
            return self._said(error.code, error.message)
        why = late or _why(error)
        if self._stage is _Stage.GIVEN:
            return Unknown(f"{who} was given the letter, and then the line broke ({why}).")
        return SendRetry(f"{who} {_unused(error, why)}.")


class _NotPrivate(SMTPException):
    """The server would receive the password and the letter unencrypted."""

    def __init__(self) -> None:
        super().__init__("it offers no STARTTLS")


def _check_step(line: SMTPProtocol) -> None:
    """Raise if the server answered without being asked; answers would be mixed up."""
    if not line.is_connected:
        raise SMTPServerDisconnected("the line was lost")
    if line._buffer:  # noqa: SLF001 - there is no other way to see it
        raise SMTPException("it answered what it was not asked")


def _unused(error: Exception, why: str) -> str:
    """Return why a server was not used."""
    if isinstance(error, _NotPrivate):
        return "offers no private line (STARTTLS), so it was told nothing"
    wrong = distrust(error)
    if wrong is not None:
        return f"shows a certificate that is not trusted ({wrong}), so it was told nothing"
    return f"could not be reached or broke off before it had the letter ({why})"


def _why(error: Exception) -> str:
    """Return the kind of an error, without anything from the connection."""
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return type(cause).__name__


def _stuffed(wire: bytes) -> bytes:
    """Return the letter with dot-stuffing."""
    stuffed = wire.replace(b"\r\n.", b"\r\n..")
    return b"." + stuffed if stuffed.startswith(b".") else stuffed
