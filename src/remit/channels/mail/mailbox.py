"""The mailbox over IMAP: whether a letter is in the sent folder, and which mails bounced.

A letter found there was sent. One not found proves nothing, unless the operator says that this
server files every letter it accepts.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, Protocol, TypeVar

import imapclient  # type: ignore[import-untyped]
from msgspec import Struct

from remit.channels.mail import bounce, letter_head
from remit.channels.mail.account import Security, SmtpAccount, distrust, is_password, trust
from remit.channels.mail.bounce import BouncedMail
from remit.errors import BadInput
from remit.model.delivery import Accepted, SendRetry, Unknown

T = TypeVar("T")

PATIENCE: Final = 60.0
LEAST_AGE: Final = timedelta(minutes=15)  # a letter may be filed late
_CONNECT: Final = 5.0  # seconds to connect
_MOST_READ: Final = 200  # mails read in one call
_MOST_HITS: Final = 20
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
        if after is not None and after < LEAST_AGE:
            raise BadInput(
                f"authoritative_after is {after}; a letter may be filed late, so at least "
                f"{LEAST_AGE} must pass.",
                field="authoritative_after",
            )


class Mailbox:
    def __init__(
        self,
        account: SmtpAccount,
        domain: str,
        filing: SentFolderPolicy | None = None,
        *,
        patience: float = PATIENCE,
    ) -> None:
        if account.user is None:
            raise BadInput("A mailbox needs a user and a password.", field="user")
        self._account = account
        self._domain = domain
        self._filing = filing or SentFolderPolicy()
        self._patience = patience
        self._trust = None if account.security is Security.NONE else trust(account)

    @property
    def files_within(self) -> timedelta | None:
        """How long filing takes at most; None: some letters are never filed."""
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
            lambda imap: _returned(imap, self._filing.inbox, since, self._domain)
        )

    async def _ask(self, question: Callable[["_Imap"], T]) -> T | Unknown:
        """Ask in a thread; after any error the answer is Unknown."""
        lines: list[_Imap] = []
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.to_thread(self._converse, question, lines)
        except asyncio.CancelledError:
            _hang_up(lines)
            raise
        except Exception as error:  # noqa: BLE001 - no failure here says a thing about the letter
            _hang_up(lines)
            wrong = distrust(error)
            why = f"certificate not trusted: {wrong}" if wrong else type(error).__name__
            return Unknown(f"The mailbox on {self._account.host} could not be asked ({why}).")

    def _converse(self, question: Callable[["_Imap"], T], lines: list["_Imap"]) -> T:
        password = self._account.password() if self._account.password else ""
        if not is_password(password):
            raise BadInput("The password of the mailbox is missing or none at all. Set it.")
        line: _Imap = imapclient.IMAPClient(
            self._account.host,
            port=self._account.port,
            ssl=self._account.security is Security.TLS,
            ssl_context=self._trust,
            timeout=imapclient.SocketTimeout(min(_CONNECT, self._patience), self._patience),
        )
        lines.append(line)
        try:
            if self._account.security is Security.STARTTLS:
                line.starttls(self._trust)
            line.login(self._account.user or "", password)
            return question(line)
        finally:
            with suppress(Exception):
                line.logout()


def _hang_up(lines: Sequence["_Imap"]) -> None:
    """Close the connections: a slow server would block the thread."""
    for line in lines:
        with suppress(Exception):
            line.shutdown()


class _Imap(Protocol):
    """The part of the client that is used; it has no types."""

    def starttls(self, ssl_context: object) -> object: ...

    def login(self, username: str, password: str) -> object: ...

    def logout(self) -> object: ...

    def shutdown(self) -> None: ...

    def find_special_folder(self, folder_flag: bytes) -> str | None: ...

    def select_folder(self, folder: str, readonly: bool = ...) -> Mapping[bytes, object]: ...

    def search(self, criteria: Sequence[str]) -> Sequence[int]: ...

    def fetch(
        self, messages: Sequence[int], data: Sequence[str]
    ) -> Mapping[int, Mapping[bytes, object]]: ...


def _is_filed(imap: _Imap, message_id: str, folders: Sequence[str]) -> bool | None:
    """Whether a letter is in one of the folders; None if there is no folder."""
    own = imap.find_special_folder(_SENT) if not folders else None
    places = tuple(folders) or ((own,) if own is not None else ())
    if not places:
        return None
    return any(_holds(imap, place, message_id) for place in places)


def _holds(imap: _Imap, folder: str, message_id: str) -> bool:
    imap.select_folder(folder, readonly=True)
    # A server matches substrings; only an exact match counts.
    hits = imap.search(["HEADER", "Message-ID", message_id.strip("<>")])[-_MOST_HITS:]
    fetched = imap.fetch(hits, ["BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"]) if hits else {}
    heads = (_bytes(parts.get(_ID_FIELD)).decode("ascii", "replace") for parts in fetched.values())
    return any(message_id in letter_head.ids_in(head) for head in heads)


def _returned(imap: _Imap, inbox: str, since: SentFolderMark | None, domain: str) -> ReturnedMail:
    validity = _number(imap.select_folder(inbox, readonly=True).get(b"UIDVALIDITY"))
    # A renumbered inbox is read again, from its latest mails.
    goes_on = since is not None and since.validity == validity
    start = since.uid if since is not None and goes_on else 0
    # `n:*` always matches the last mail, even if its UID is smaller.
    new = sorted(uid for uid in imap.search(["UID", f"{start + 1}:*"]) if uid > start)
    chosen = new[:_MOST_READ] if goes_on else new[-_MOST_READ:]
    found = tuple(_read(imap, _reports(imap, chosen), domain))
    last = chosen[-1] if chosen else start
    return ReturnedMail(found, SentFolderMark(validity, last), bool(new) and last < new[-1])


def _reports(imap: _Imap, uids: Sequence[int]) -> list[int]:
    if not uids:
        return []
    fetched = imap.fetch(uids, ["BODY.PEEK[HEADER.FIELDS (CONTENT-TYPE)]"])
    kinds = {uid: _bytes(fetched[uid].get(_TYPE_FIELD)) for uid in uids if uid in fetched}
    return [uid for uid, kind in kinds.items() if bounce.is_report(kind.decode("ascii", "replace"))]


def _read(imap: _Imap, uids: Iterable[int], domain: str) -> Iterable[BouncedMail]:
    for uid in uids:  # one at a time, so that a full inbox is never in memory
        parts = imap.fetch([uid], [f"BODY.PEEK[]<0.{bounce.MOST}>"]).get(uid, {})
        raw = next(
            (_bytes(part) for name, part in parts.items() if name.startswith(b"BODY[]")), b""
        )
        found = bounce.read(raw, domain)
        if found is not None:
            yield found


def _bytes(some: object) -> bytes:
    return some if isinstance(some, bytes) else b""


def _number(some: object) -> int:
    return some if isinstance(some, int) else 0
