"""The e-mail channel over SMTP: one letter to one address per call, sent once.

Until the final dot is written the server has no letter, so a failure before it may be retried.
Between the dot and the server's answer the result is unknown; then the mailbox may be searched.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeAlias

from aiosmtplib import SMTP, SMTPAuthenticationError

from remit.channels import ChannelContext
from remit.channels.mail import EmailSettings, letter, letter_head
from remit.channels.mail.account import (
    IDLE_SECONDS,
    Security,
    SmtpAccount,
    SmtpConnection,
    SmtpConnectionPool,
    is_password,
    tls_context,
)
from remit.channels.mail.letter import MailContent, MailSender, MailThread
from remit.channels.mail.letter_head import MailAddress
from remit.channels.mail.mailbox import Mailbox, ReturnedMail, SentFolderPolicy
from remit.channels.mail.smtp_exchange import LOCKED_CODES, SmtpExchange
from remit.channels.oauth import MAIL, client_of
from remit.channels.oauth.tokens import SignInEnded, TokenSource
from remit.errors import BadInput, Transient
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
from remit.model.task_file import FileLimits
from remit.ports import Clock
from remit.store import deliveries
from remit.system.http_client import Token, unfit

MAX_CHARACTERS: Final = 100_000
SEND_SECONDS: Final = 100.0  # seconds for a whole exchange, less than the courier's limit
_GRACE_SECONDS: Final = 900.0
_FILING_MARGIN: Final = timedelta(minutes=1)  # a look at the due time finds the wait over

ThreadOf: TypeAlias = Callable[[Parcel], Awaitable[MailThread]]


class EmailChannel:
    most: Final = MAX_CHARACTERS
    files: Final = FileLimits(16_000_000, 18_000_000)  # a letter of 25 MB is taken nearly anywhere
    answers_by_link: Final = True  # a question comes with links to its card
    counts_every_try: Final = False
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
        patience: float = SEND_SECONDS,
        idle: float = IDLE_SECONDS,
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
        self._tls = None if account.security is Security.NONE else tls_context(account)
        self._connections = SmtpConnectionPool(idle)
        self._filing: dict[str, asyncio.Task[None]] = {}  # doubtful letters that may be filed yet

    async def send(self, parcel: Parcel) -> Answer:
        """Send one letter. No byte leaves before it is complete and valid. It never retries."""
        answer = await self._send_letter(parcel)
        if isinstance(answer, Unknown):
            self._is_too_early(parcel.key, timedelta())  # it may be filed from now on
        return answer

    async def _send_letter(self, parcel: Parcel) -> Answer:
        exchange = await self._compose_letter(parcel)
        if not isinstance(exchange, SmtpExchange):
            return exchange
        limit = asyncio.timeout(self._patience)
        try:
            async with limit:
                kept = self._connections.take(exchange.password)
                answer = await self._send_over(kept, exchange) if kept is not None else None
                if answer is None:  # nothing about the letter was sent yet
                    answer = await self._send_over_new(exchange)
                return answer or SendRetry(f"The mail server {self._account.host} hung up.")
        except (SignInEnded, Transient) as error:
            return _unsent(error)
        except Exception as error:  # noqa: BLE001 - how far it came is known here alone
            late = f"no answer within {self._patience:g} s" if limit.expired() else None
            return exchange.answer_to(error, late)

    async def _send_over_new(self, exchange: SmtpExchange) -> Answer | None:
        """Send the letter on a new connection; a refused access token is renewed, once.

        The server refuses it before it hears of the letter.
        """
        try:
            connection = SmtpConnection(self._smtp(), exchange.password)
            return await self._send_over(connection, exchange)
        except SMTPAuthenticationError as error:
            if self._account.renew is None or error.code not in LOCKED_CODES:
                raise
        exchange.password = await asyncio.to_thread(self._account.renew, exchange.password)
        return await self._send_over(SmtpConnection(self._smtp(), exchange.password), exchange)

    async def close(self) -> None:
        for wait in self._filing.values():
            wait.cancel()
        await self._connections.close()

    async def _send_over(self, connection: SmtpConnection, exchange: SmtpExchange) -> Answer | None:
        """Send the letter on a connection; None: an old connection turned out to be broken."""
        old = connection.letters > 0
        try:
            answer = await exchange.run(connection.smtp, opened=old)
        except BaseException as error:
            connection.abort()
            if old and isinstance(error, Exception) and exchange.broke_unanswered(error):
                return None
            raise
        if isinstance(answer, Accepted):
            connection.letters += 1
            self._connections.give_back(connection)
        else:
            connection.quit()
        return answer

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
        message_id = letter_head.message_id(parcel.key, self._sender.address.domain)
        now = self._clock.now()
        age = now - (parcel.sent_at or now)
        if self._is_too_early(parcel.key, age):
            age = timedelta()
        found = await self.mailbox.lookup(message_id, age)
        return found if isinstance(found, Accepted | SendRetry) else None

    def _is_too_early(self, key: str, age: timedelta) -> bool:
        """Whether a letter may still be filed, whatever the clock says: it may have been set.

        The time is slept from the lost answer on, or from the first look after a start.
        """
        filed = self.mailbox.files_within if self.mailbox else None
        wait = self._filing.get(key)
        if wait is None and filed is not None and age < filed:
            left = max(filed - age - _FILING_MARGIN, timedelta())
            wait = self._filing[key] = asyncio.create_task(self._sleep(left.total_seconds()))
        return wait is not None and not wait.done()

    async def _sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    async def _compose_letter(self, parcel: Parcel) -> SmtpExchange | SendRetry | Refused | Locked:
        wrong = unfit(parcel.body, MAX_CHARACTERS)
        if wrong is not None:
            return Refused(wrong)
        try:
            to = self._recipient_address(parcel)
            thread = await self._thread_of(parcel) if self._thread_of else MailThread()
            note = MailContent(parcel.key, to, parcel.body, thread, parcel.files)
            made = await asyncio.to_thread(letter.compose, note, self._sender, self._clock.now())
            secret = self._account.password
            # A keyring may be slow, and an access token may have to be renewed first.
            password = await asyncio.to_thread(secret) if secret else ""
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return _unsent(error)
        if self._account.user is not None and not is_password(self._account, password):
            return Locked("The password of the mail server is missing or none at all. Set it.")
        return SmtpExchange(self._account, made, parcel.key, password)

    @property
    def grace(self) -> float:
        """Seconds in which a letter may still be filed or bounce; 0: nobody would see that."""
        if self.mailbox is None:
            return 0.0
        filed = self.mailbox.files_within
        return max(_GRACE_SECONDS, filed.total_seconds() if filed else 0.0)

    @property
    def knows_owner(self) -> bool:
        return self._owner is not None

    def takes(self, address: str) -> bool:
        try:
            letter_head.address(address)
        except BadInput:
            return False
        return True

    def _recipient_address(self, parcel: Parcel) -> MailAddress:
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
            tls_context=self._tls,
            local_hostname=self._sender.address.domain,
        )


def _unsent(error: Exception) -> Refused | Locked | SendRetry:
    """Return the answer for an error before any byte of the letter has left."""
    match error:
        case BadInput():
            return Refused(str(error))
        case SignInEnded():
            return Locked(str(error))
        case Transient():
            return SendRetry(str(error))
        case _:
            return SendRetry(f"E-mail cannot be used at the moment ({type(error).__name__}).")


def build(section: EmailSettings, context: ChannelContext) -> EmailChannel:
    sender = letter_head.address(section.sender, section.sender_name or None)
    account = SmtpAccount(
        section.host,
        section.port,
        _security(section.security, "security"),
        *_credentials(section, context, section.user, section.password),
    )
    after = timedelta(minutes=section.filed_within) if section.filed_within else None
    filing = SentFolderPolicy(section.sent_folders, authoritative_after=after)
    return EmailChannel(
        account,
        MailSender(sender, letter_head.address(section.reply_to) if section.reply_to else None),
        context.clock,
        owner=letter_head.address(section.owner) if section.owner else None,
        thread_of=_thread_of(context),
        mailbox=Mailbox(imap_account(section, context), sender.domain, filing)
        if section.imap_host
        else None,
        name=context.name,
    )


def imap_account(section: EmailSettings, context: ChannelContext) -> SmtpAccount:
    """Return the IMAP account; by default with the user and password of SMTP."""
    user, password = section.imap_user or section.user, section.imap_password or section.password
    return SmtpAccount(
        section.imap_host,
        section.imap_port,
        _security(section.imap_security, "imap_security"),
        *_credentials(section, context, user, password),
    )


def token_source(section: EmailSettings, context: ChannelContext) -> TokenSource | None:
    """Return the source of access tokens, if the owner has signed in by OAuth."""
    if (chosen := section.oauth) is None:
        return None
    keys = context.keys
    return TokenSource(
        client_of(chosen, MAIL, keys.get),
        keys.kept,
        chosen.token,
        now=context.clock.now,
        keys=keys,
        todo=f"remit channels connect {context.name}",
    )


def _credentials(
    section: EmailSettings, context: ChannelContext, user: str, password: str
) -> tuple[str | None, Token | None, Path | None, Callable[[str], str] | None, str]:
    """User, password, authority, renewal and what to do without, as an account takes them."""
    authority = Path(section.ca_file).expanduser() if section.ca_file else None
    source = token_source(section, context)
    if source is not None:
        todo = f"Run `remit channels connect {context.name}` and sign in as {user}."
        return user, source, authority, source.renew, todo
    token = context.keys.token(password) if user else None
    return user or None, token, authority, None, "Renew the user or the password."


def _thread_of(context: ChannelContext) -> ThreadOf | None:
    if (db := context.db) is None:
        return None

    async def thread(parcel: Parcel) -> MailThread:
        found = await db.read(deliveries.find_thread, parcel.key, context.name)
        title = found.subject or (letter.subject_of(found.first) if found.first else None)
        return MailThread(title, found.earlier)

    return thread


def _security(word: str, field: str) -> Security:
    if word not in list(Security):
        sentence = f"The {field} {word!r:.60} is none; it may be {', '.join(Security)}."
        raise BadInput(sentence, field=field)
    return Security(word)
