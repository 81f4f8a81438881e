"""Reads a mailbox over IMAP in its own thread, without changing anything in it.

A mail is known by its UID in the folder. If the folder is renumbered, the mails since the last look
are read again and recognised by their Message-ID.
"""

import select
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import imapclient  # type: ignore[import-untyped]
from msgspec import Struct

from remit.channels.mail import receiving
from remit.errors import BadInput

_CONNECT: Final = 10.0
_ANSWER: Final = 60.0
_MARGIN: Final = timedelta(days=1)  # a folder that is numbered anew is read back so far
_MOST_AGAIN: Final = 1000


@dataclass(frozen=True, slots=True)
class MailboxAccount:
    """Where a mailbox is, and what opens it; the password is asked for at each use."""

    host: str
    port: int
    user: str
    password: Callable[[], str] = field(repr=False)
    folder: str = "INBOX"
    private: ssl.SSLContext | None = None  # None only on this machine
    starttls: bool = False


class FolderMark(Struct, frozen=True):
    """How far a folder was read: up to a number, as long as its age is the same."""

    validity: int
    uid: int
    opened: datetime  # what is older than this was there before the door
    looked: datetime


class UnreadMail(Struct, frozen=True):
    """The numbers of mails that were not read yet, and the mark behind the last of them.

    `again` says that the folder was numbered anew: then no mark between two of them counts.
    """

    uids: tuple[int, ...]
    mark: FolderMark
    again: bool = False


class ImapConnection:
    """One connection. Every method waits: none is for the loop's own thread."""

    def __init__(self, box: MailboxAccount) -> None:
        self._box = box
        self._imap: _Imap | None = None

    def open(self) -> None:
        """Connect, log in, and open the folder to be read alone."""
        box = self._box
        password = box.password()
        if not password:
            raise BadInput("the password of the mailbox is missing; `remit secrets set` keeps one")
        imap: _Imap = imapclient.IMAPClient(
            box.host,
            port=box.port,
            ssl=box.private is not None and not box.starttls,
            ssl_context=box.private,
            timeout=imapclient.SocketTimeout(_CONNECT, _ANSWER),
        )
        self._imap = imap
        if box.private is not None and box.starttls:
            imap.starttls(box.private)
        imap.login(box.user, password)

    def fresh(self, mark: FolderMark | None, now: datetime) -> UnreadMail:
        """What came since a mark. At the first look there is none: what is there stays unread."""
        imap = self._held()
        validity = _number(imap.select_folder(self._box.folder, readonly=True).get(b"UIDVALIDITY"))
        if mark is None:
            last = max(imap.search(["UID", "*"]), default=0)
            return UnreadMail((), FolderMark(validity, last, now, now))
        if mark.validity != validity:
            return self._anew(mark, validity, now)
        # `n:*` always matches the last mail, even if its number is smaller.
        found = imap.search(["UID", f"{mark.uid + 1}:*"])
        uids = tuple(sorted(uid for uid in found if uid > mark.uid))
        last = uids[-1] if uids else mark.uid
        return UnreadMail(uids, FolderMark(validity, last, mark.opened, now))

    def _anew(self, mark: FolderMark, validity: int, now: datetime) -> UnreadMail:
        imap = self._held()
        last = max(imap.search(["UID", "*"]), default=0)
        since = max(mark.opened, mark.looked - _MARGIN)
        found = sorted(imap.search(["SINCE", since.date()]))[-_MOST_AGAIN:]
        dates = imap.fetch(found, ["INTERNALDATE"]) if found else {}
        # By the minute: a server that has no seconds must not hide what came in this one.
        least = since.replace(second=0, microsecond=0)
        uids = [uid for uid in found if uid in dates and _date(dates[uid]) >= least]
        return UnreadMail(tuple(uids), FolderMark(validity, last, mark.opened, now), again=True)

    def heads(self, uids: Sequence[int]) -> dict[int, bytes]:
        """The beginnings of mails, by number; one that is gone meanwhile is left out."""
        asked = f"BODY.PEEK[HEADER]<0.{receiving.MOST_HEAD}>"
        found = self._held().fetch(uids, [asked])
        return {uid: _raw(found[uid], b"BODY[HEADER]") for uid in uids if uid in found}

    def whole(self, uid: int) -> bytes:
        """A mail, as far as it is read at all; nothing if it is gone."""
        found = self._held().fetch([uid], [f"BODY.PEEK[]<0.{receiving.MOST}>"])
        return _raw(found.get(uid, {}), b"BODY[]")

    def idles(self) -> bool:
        """Whether the server says by itself that something came."""
        return bool(self._held().has_capability("IDLE"))

    def wait(self, seconds: float) -> None:
        """Return when the server says anything, or after so long."""
        imap = self._held()
        imap.idle()
        ready = select.poll()
        ready.register(imap.socket(), select.POLLIN)
        ready.poll(seconds * 1000)
        imap.idle_done()  # reads the lines whole, however slowly they come

    def close(self) -> None:
        """Say good-bye, and give the line back whatever is answered."""
        imap, self._imap = self._imap, None
        if imap is not None:
            with suppress(Exception):
                imap.logout()
            with suppress(Exception):
                imap.shutdown()

    def hang_up(self) -> None:
        """End whatever waits on the line, from any thread."""
        imap = self._imap
        if imap is not None:
            # Not by the client: it would wait for whoever reads.
            with suppress(Exception):
                imap.socket().shutdown(socket.SHUT_RDWR)

    def _held(self) -> "_Imap":
        assert self._imap is not None  # noqa: S101 - it is opened first
        return self._imap


class _Imap(Protocol):
    """What is used of the client, which comes without types."""

    def starttls(self, ssl_context: object) -> object: ...

    def login(self, username: str, password: str) -> object: ...

    def logout(self) -> object: ...

    def shutdown(self) -> None: ...

    def socket(self) -> socket.socket: ...

    def has_capability(self, capability: str) -> object: ...

    def idle(self) -> object: ...

    def idle_done(self) -> object: ...

    def select_folder(self, folder: str, readonly: bool = ...) -> Mapping[bytes, object]: ...

    def search(self, criteria: Sequence[object]) -> Sequence[int]: ...

    def fetch(
        self, messages: Sequence[int], data: Sequence[str]
    ) -> Mapping[int, Mapping[bytes, object]]: ...


def _raw(parts: Mapping[bytes, object], begins: bytes) -> bytes:
    found = next((part for name, part in parts.items() if name.startswith(begins)), b"")
    return found if isinstance(found, bytes) else b""


def _number(some: object) -> int:
    return some if isinstance(some, int) else 0


def _date(parts: Mapping[bytes, object]) -> datetime:
    """When the server got a mail; the client says it in the time of this machine."""
    found = parts.get(b"INTERNALDATE")
    return (
        found.astimezone(UTC) if isinstance(found, datetime) else datetime.min.replace(tzinfo=UTC)
    )
