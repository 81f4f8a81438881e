"""IMAP: one connection to a mailbox, on a thread of its own; nothing in it is ever changed.

A mail is known by its UID in the folder. If the folder is renumbered, the mails since the last look
are read again and recognised by their Message-ID.
"""

import select
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import imapclient  # type: ignore[import-untyped]
from msgspec import Struct

from remit.channels.mail import receiving
from remit.channels.mail.account import Security, SmtpAccount, is_password, tls_context, xoauth2
from remit.errors import BadInput

_CONNECT_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 60.0
_MARGIN: Final = timedelta(days=1)  # a renumbered folder is read this far back
_MAX_AGAIN: Final = 1000
_NEVER: Final = datetime(1970, 1, 3, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MailboxAccount:
    """An IMAP account and the folder to read."""

    account: SmtpAccount
    folder: str = "INBOX"
    trusted: ssl.SSLContext | None = field(init=False, repr=False)  # None only on this machine

    def __post_init__(self) -> None:
        if self.account.user is None:
            raise BadInput("A mailbox needs a user and a password.", field="user")
        plain = self.account.security is Security.NONE
        object.__setattr__(self, "trusted", None if plain else tls_context(self.account))


class FolderMark(Struct, frozen=True):
    """How far a folder was read: up to a UID, as long as its UIDVALIDITY is the same.

    Its times are those at which the server received mails: our clock may be another.
    """

    validity: int
    uid: int
    opened: datetime  # of the newest mail that was there before the watch began
    looked: datetime  # of the newest mail that was read


class UnreadMail(Struct, frozen=True):
    """The UIDs of unread mails, and the mark after the last one.

    `again`: the folder was renumbered, so no mark in between counts.
    """

    uids: tuple[int, ...]
    mark: FolderMark
    again: bool = False


class ImapConnection:
    """One connection. Every method blocks: do not call it on the event loop."""

    def __init__(
        self,
        box: MailboxAccount,
        *,
        connect: float = _CONNECT_SECONDS,
        answer: float = _ANSWER_SECONDS,
    ) -> None:
        self._box = box
        self._timeout = imapclient.SocketTimeout(connect, answer)
        self._imap: ImapClient | None = None

    def open(self) -> None:
        """Connect and log in; a refused access token is renewed, once."""
        account = self._box.account
        password = account.password() if account.password else ""
        if not is_password(account, password):
            raise BadInput("the password of the mailbox is missing; `remit secrets set` keeps one")
        imap = self._connect()
        if account.renew is None:
            imap.login(account.user or "", password)
            return
        try:
            _sign_in(imap, account.user or "", password)
        except imapclient.exceptions.LoginError:
            self.close()
            other = account.renew(password)
            _sign_in(self._connect(), account.user or "", other)

    def _connect(self) -> "ImapClient":
        account, trusted = self._box.account, self._box.trusted
        imap: ImapClient = imapclient.IMAPClient(
            account.host,
            port=account.port,
            ssl=account.security is Security.TLS,
            ssl_context=trusted,
            timeout=self._timeout,
        )
        self._imap = imap
        if account.security is Security.STARTTLS:
            imap.starttls(trusted)
        return imap

    @property
    def client(self) -> "ImapClient":
        assert self._imap is not None  # noqa: S101 - it is opened first
        return self._imap

    def unread_since(self, mark: FolderMark | None, now: datetime) -> UnreadMail:
        """Return the mails since a mark. The first look has no mark and returns no mail."""
        imap = self.client
        folder = imap.select_folder(self._box.folder, readonly=True)
        validity = number_of(folder.get(b"UIDVALIDITY"))
        if mark is None:
            there = number_of(folder.get(b"EXISTS"))
            recent = imap.search([f"{max(there - _MAX_AGAIN, 0) + 1}:*"]) if there else []
            newest = _newest(self._dates(recent), now)
            return UnreadMail((), FolderMark(validity, max(recent, default=0), newest, newest))
        if mark.validity != validity:
            return self._after_renumbering(mark, validity, now)
        # `n:*` always matches the last mail, even if its UID is smaller.
        found = imap.search(["UID", f"{mark.uid + 1}:*"])
        uids = tuple(sorted(uid for uid in found if uid > mark.uid))
        last = uids[-1] if uids else mark.uid
        newest = _newest(self._dates(uids[-_MAX_AGAIN:]), now)
        return UnreadMail(uids, FolderMark(validity, last, mark.opened, max(mark.looked, newest)))

    def _after_renumbering(self, mark: FolderMark, validity: int, now: datetime) -> UnreadMail:
        imap = self.client
        last = max(imap.search(["UID", "*"]), default=0)
        since = max(mark.opened, mark.looked - _MARGIN)
        found = sorted(imap.search(["SINCE", (since - _MARGIN).date()]))  # in the server's zone
        dates = self._dates(found[-_MAX_AGAIN:])
        uids = tuple(uid for uid, at in dates.items() if at > since)
        fresh = FolderMark(validity, last, mark.opened, max(mark.looked, _newest(dates, now)))
        return UnreadMail(uids, fresh, again=True)

    def _dates(self, uids: Sequence[int]) -> dict[int, datetime]:
        """When the server received some mails, by its clock; the client uses local time."""
        found = self.client.fetch(uids, ["INTERNALDATE"]) if uids else {}
        dates = {uid: found[uid].get(b"INTERNALDATE") for uid in uids if uid in found}
        return {
            uid: at.astimezone(UTC) if isinstance(at, datetime) else _NEVER
            for uid, at in dates.items()
        }

    def fetch_headers(self, uids: Sequence[int]) -> dict[int, bytes]:
        """Return the headers of mails by UID; missing ones are left out."""
        asked = f"BODY.PEEK[HEADER]<0.{receiving.MAX_HEAD_BYTES}>"
        found = self.client.fetch(uids, [asked])
        return {uid: bytes_of(found[uid], b"BODY[HEADER]") for uid in uids if uid in found}

    def fetch_mail(self, uid: int, most: int = receiving.MAX_BYTES) -> bytes:
        """A mail, as far as it is read at all; nothing if it is gone."""
        found = self.client.fetch([uid], [f"BODY.PEEK[]<0.{most}>"])
        return bytes_of(found.get(uid, {}), b"BODY[]")

    def supports_idle(self) -> bool:
        """Whether the server says by itself that something came."""
        return bool(self.client.has_capability("IDLE"))

    def wait(self, seconds: float) -> None:
        """Return when the server says anything, or after so long."""
        imap = self.client
        imap.idle()
        ready = select.poll()
        ready.register(imap.socket(), select.POLLIN)
        ready.poll(seconds * 1000)
        imap.idle_done()  # reads complete lines, however slowly they come

    def close(self) -> None:
        """Log out, and close the connection in any case."""
        imap, self._imap = self._imap, None
        if imap is not None:
            with suppress(Exception):
                imap.logout()
            with suppress(Exception):
                imap.shutdown()

    def hang_up(self) -> None:
        """Interrupt a waiting call, from any thread."""
        imap = self._imap
        if imap is not None:
            # Not through the client: it would wait for the reader.
            with suppress(Exception):
                imap.socket().shutdown(socket.SHUT_RDWR)


class ImapClient(Protocol):
    """The methods that are used of the client, which has no types of its own."""

    def starttls(self, ssl_context: object) -> object: ...

    def login(self, username: str, password: str) -> object: ...

    def sasl_login(self, mech_name: str, mech_callable: object) -> object: ...

    def logout(self) -> object: ...

    def shutdown(self) -> None: ...

    def socket(self) -> socket.socket: ...

    def find_special_folder(self, folder_flag: bytes) -> str | None: ...

    def has_capability(self, capability: str) -> object: ...

    def idle(self) -> object: ...

    def idle_done(self) -> object: ...

    def select_folder(self, folder: str, readonly: bool = ...) -> Mapping[bytes, object]: ...

    def search(self, criteria: Sequence[object]) -> Sequence[int]: ...

    def fetch(
        self, messages: Sequence[int], data: Sequence[str]
    ) -> Mapping[int, Mapping[bytes, object]]: ...


def _sign_in(imap: ImapClient, user: str, token: str) -> None:
    """Log in by XOAUTH2. A refusal is a challenge with its reason: the answer to it is empty."""
    answers = iter((xoauth2(user, token),))
    imap.sasl_login("XOAUTH2", lambda _: next(answers, b""))


def bytes_of(parts: Mapping[bytes, object], begins: bytes) -> bytes:
    """The first part whose name begins so; nothing if there is none."""
    found = next((part for name, part in parts.items() if name.startswith(begins)), b"")
    return found if isinstance(found, bytes) else b""


def number_of(some: object) -> int:
    return some if isinstance(some, int) else 0


def _newest(dates: Mapping[int, datetime], now: datetime) -> datetime:
    """Return the last of them; a mail that a program has dated years ahead does not count."""
    return max((at for at in dates.values() if at < now + _MARGIN), default=_NEVER)
