"""The mailbox over IMAP: whether a letter is in the sent folder, and which mails bounced.

A letter found there was sent. One not found proves nothing, unless the operator says that this
server files every letter it accepts. Anybody who received a letter knows its id and could forge a
bounce: so one is believed only about a delivery that is unknown, and never causes a second send
without asking.
"""

import asyncio
import email
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from email.message import Message
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from remit.channels.mail import letter_head
from remit.channels.mail.account import SmtpAccount, certificate_problem
from remit.channels.mail.imap import ImapClient, ImapConnection, MailboxAccount, bytes_of, number_of
from remit.errors import BadInput
from remit.model.delivery import Accepted, Refused, SendRetry, Unknown
from remit.model.ids import DeliveryId
from remit.system.http_client import clean

MAX_REPORT_BYTES: Final = 262_144  # bytes of a report that are read
_MAX_PARTS: Final = 50
_STATUS: Final = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")
_Mail: TypeAlias = "Message[str, str]"


class BouncedMail(Struct, frozen=True):
    """A letter that was sent and did not arrive."""

    delivery_id: DeliveryId
    why: str
    recipient: str | None = None  # as in the report
    for_good: bool = True  # the status begins with 5, not 4

    @property
    def answer(self) -> Refused:
        """Return what it means for the delivery."""
        return Refused(f"The letter came back: {self.why}.")


def read_bounce(raw: bytes, domain: str) -> BouncedMail | None:
    """Return what a mail reports about our letter from this domain; None if nothing."""
    try:
        return _parse_bounce(email.message_from_bytes(raw[:MAX_REPORT_BYTES]), domain)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # an unreadable mail reports nothing


def is_report(content_type: str) -> bool:
    """Whether a mail of this type may report a failure."""
    kind = content_type.lower()
    return "multipart/report" in kind and "delivery-status" in kind


def _parse_bounce(mail: _Mail, domain: str) -> BouncedMail | None:
    if not is_report(_text(mail, "Content-Type")):
        return None
    parts = [part for _, part in zip(range(_MAX_PARTS), mail.walk(), strict=False)]
    blocks = [block for part in parts for block in _blocks(part)]
    failed = next((each for each in blocks if _text(each, "Action").lower() == "failed"), None)
    key = _key(mail, parts, blocks, domain)
    if failed is None or key is None:
        return None
    status = _STATUS.search(_text(failed, "Status"))
    reason = _value_after_type(_text(failed, "Diagnostic-Code")) or "the report gives no reason"
    return BouncedMail(
        DeliveryId(key),
        clean(f"{status[0]} {reason}" if status and status[0] not in reason else reason, ""),
        clean(_value_after_type(_text(failed, "Final-Recipient")), "") or None,
        not (status and status[0].startswith("4")),
    )


def _blocks(part: _Mail) -> Iterator[_Mail]:
    """Yield the groups of fields in the machine-readable part."""
    if part.get_content_type() == "message/delivery-status":
        payload = part.get_payload()
        yield from (block for block in payload if isinstance(block, Message))


def _key(mail: _Mail, parts: list[_Mail], blocks: list[_Mail], domain: str) -> str | None:
    """Return the delivery it is about: by envelope, returned letter, or thread."""
    envelopes = [f"<{_text(block, 'Original-Envelope-Id').strip()}@{domain}>" for block in blocks]
    originals = [each for part in parts[1:] for each in _originals(part)]
    thread = [_text(mail, "In-Reply-To"), _text(mail, "References")]
    for text in (*envelopes, *originals, *thread):
        for found in letter_head.ids_in(text):
            key = letter_head.key_in(found, domain)
            if key is not None:
                return key
    return None


def _originals(part: _Mail) -> Iterator[str]:
    """Yield the ids of the returned letter or its header."""
    yield _text(part, "Message-ID")
    if part.get_content_type() == "text/rfc822-headers":
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            yield _text(email.message_from_bytes(content), "Message-ID")


def _text(mail: _Mail, name: str) -> str:
    return str(mail.get(name, ""))


def _value_after_type(typed: str) -> str:
    """Return the value of a field like `rfc822; nina@example.org`."""
    return typed.partition(";")[2].strip()


T = TypeVar("T")

LOOKUP_SECONDS: Final = 60.0
MIN_FILING_TIME: Final = timedelta(minutes=15)  # a letter may be filed late
_CONNECT_SECONDS: Final = 5.0  # seconds to connect
_MAX_READ: Final = 200  # mails read in one call
_MAX_HITS: Final = 20
_SENT: Final = rb"\Sent"  # the server's flag for the folder
_ID_FIELD: Final = b"BODY[HEADER.FIELDS (MESSAGE-ID)]"
_TYPE_FIELD: Final = b"BODY[HEADER.FIELDS (CONTENT-TYPE)]"


class SentFolderMark(Struct, frozen=True):
    """How far an inbox was read: up to this UID, as long as its UIDVALIDITY is the same."""

    validity: int
    uid: int


class ReturnedMail(Struct, frozen=True):
    """Bounces since a mark, and the next mark. `more`: not all was read."""

    bounces: tuple[BouncedMail, ...]
    mark: SentFolderMark
    more: bool = False


class SentFolderPolicy(Struct, frozen=True):
    """Where sent letters are filed.

    `authoritative_after`: the server files every accepted letter within this time; then one that is
    missing was not sent.
    """

    folders: tuple[str, ...] = ()  # empty: the folder that the server marks as sent
    inbox: str = "INBOX"
    authoritative_after: timedelta | None = None

    def __post_init__(self) -> None:
        after = self.authoritative_after
        if after is not None and after < MIN_FILING_TIME:
            raise BadInput(
                f"authoritative_after is {after}; a letter may be filed late, so at least "
                f"{MIN_FILING_TIME} must pass.",
                field="authoritative_after",
            )


class Mailbox:
    def __init__(
        self,
        account: SmtpAccount,
        domain: str,
        filing: SentFolderPolicy | None = None,
        *,
        patience: float = LOOKUP_SECONDS,
    ) -> None:
        self._box = MailboxAccount(account)
        self._domain = domain
        self._filing = filing or SentFolderPolicy()
        self._patience = patience

    @property
    def files_within(self) -> timedelta | None:
        """The longest time that filing takes; None: some letters are never filed."""
        return self._filing.authoritative_after

    async def lookup(self, message_id: str, age: timedelta) -> Accepted | SendRetry | Unknown:
        """Look up a letter that was handed over this long ago without an answer."""
        found = await self._ask(lambda imap: _is_filed(imap, message_id, self._filing.folders))
        if isinstance(found, Unknown):
            return found
        if found is None:
            return Unknown("The mailbox has no folder for sent letters. Name one.")
        if found:
            return Accepted(message_id)
        after = self._filing.authoritative_after
        if after is not None and age >= after:
            return SendRetry("The letter is not among the sent ones, where this server files each.")
        return Unknown(
            "The letter is not among the sent ones, which does not prove that it stayed."
        )

    async def bounces(self, since: SentFolderMark | None) -> ReturnedMail | Unknown:
        """Return bounces since a mark; None reads the latest mails of the inbox."""
        return await self._ask(
            lambda imap: _read_returned_mail(imap, self._filing.inbox, since, self._domain)
        )

    async def _ask(self, question: Callable[[ImapClient], T]) -> T | Unknown:
        """Ask in a thread. Whatever breaks, the answer is that nobody knows."""
        connect = min(_CONNECT_SECONDS, self._patience)
        connection = ImapConnection(self._box, connect=connect, answer=self._patience)
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.to_thread(_converse, connection, question)
        except asyncio.CancelledError:
            connection.hang_up()  # a server that drips would hold the thread
            raise
        except Exception as error:  # noqa: BLE001 - no failure here says a thing about the letter
            connection.hang_up()
            wrong = certificate_problem(error)
            why = f"certificate not trusted: {wrong}" if wrong else type(error).__name__
            host = self._box.account.host
            return Unknown(f"The mailbox on {host} could not be asked ({why}).")


def _converse(connection: ImapConnection, question: Callable[[ImapClient], T]) -> T:
    try:
        connection.open()
        return question(connection.client)
    finally:
        connection.close()


def _is_filed(imap: ImapClient, message_id: str, folders: Sequence[str]) -> bool | None:
    """Whether a letter is in one of the folders; None if there is no folder to look in."""
    own = imap.find_special_folder(_SENT) if not folders else None
    places = tuple(folders) or ((own,) if own is not None else ())
    if not places:
        return None
    return any(_holds(imap, place, message_id) for place in places)


def _holds(imap: ImapClient, folder: str, message_id: str) -> bool:
    imap.select_folder(folder, readonly=True)
    # A server matches substrings; only an exact match counts.
    hits = imap.search(["HEADER", "Message-ID", message_id.strip("<>")])[-_MAX_HITS:]
    fetched = imap.fetch(hits, ["BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"]) if hits else {}
    heads = (bytes_of(parts, _ID_FIELD).decode("ascii", "replace") for parts in fetched.values())
    return any(message_id in letter_head.ids_in(head) for head in heads)


def _read_returned_mail(
    imap: ImapClient, inbox: str, since: SentFolderMark | None, domain: str
) -> ReturnedMail:
    validity = number_of(imap.select_folder(inbox, readonly=True).get(b"UIDVALIDITY"))
    # An inbox that was numbered anew is read anew, from its latest mails.
    goes_on = since is not None and since.validity == validity
    start = since.uid if since is not None and goes_on else 0
    # `n:*` always matches the last mail, even if its UID is smaller.
    new = sorted(uid for uid in imap.search(["UID", f"{start + 1}:*"]) if uid > start)
    chosen = new[:_MAX_READ] if goes_on else new[-_MAX_READ:]
    found = tuple(_read(imap, _reports(imap, chosen), domain))
    last = chosen[-1] if chosen else start
    return ReturnedMail(found, SentFolderMark(validity, last), bool(new) and last < new[-1])


def _reports(imap: ImapClient, uids: Sequence[int]) -> list[int]:
    if not uids:
        return []
    fetched = imap.fetch(uids, ["BODY.PEEK[HEADER.FIELDS (CONTENT-TYPE)]"])
    kinds = {uid: bytes_of(fetched[uid], _TYPE_FIELD) for uid in uids if uid in fetched}
    return [uid for uid, kind in kinds.items() if is_report(kind.decode("ascii", "replace"))]


def _read(imap: ImapClient, uids: Iterable[int], domain: str) -> Iterable[BouncedMail]:
    for uid in uids:  # one at a time, so that a full inbox is never in memory at once
        parts = imap.fetch([uid], [f"BODY.PEEK[]<0.{MAX_REPORT_BYTES}>"]).get(uid, {})
        found = read_bounce(bytes_of(parts, b"BODY[]"), domain)
        if found is not None:
            yield found
