"""A delivery: one send to one recipient on one channel, and what a channel may answer."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from remit.model.ids import DeliveryId
from remit.model.task_file import FileContent


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    SENDING = "sending"  # claimed: nobody may send it again without asking
    SENT = "sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # interrupted between send and record


class Delivery(Struct, frozen=True):
    """One delivery. `content` is the owner's text; `body` is what passed the gate and is sent."""

    channel: str
    recipient: str | None = None  # None: the owner
    content: str | None = None
    status: DeliveryStatus = DeliveryStatus.PENDING
    id: DeliveryId | None = None
    body: str | None = None
    reason: str | None = None
    receipt: str | None = None
    sent_at: datetime | None = None
    part: int = 0  # a long text is sent as several messages, one row each
    parts: int = 1
    doubted_at: datetime | None = None  # since when the result is unknown
    reported: "ProviderReport | None" = None  # the provider's later report
    address: str | None = None  # the approved address; None if the channel knows the owner's

    def cut(self, texts: Sequence[str]) -> "tuple[Delivery, ...]":
        """Return this delivery split into parts; the first part keeps the id."""
        return tuple(
            replace(
                self,
                id=DeliveryId(f"{self.id}.{n}") if n else self.id,
                content=None if n else self.content,
                body=text,
                part=n,
                parts=len(texts),
            )
            for n, text in enumerate(texts)
        )

    @property
    def in_doubt(self) -> bool:
        """Whether it may have been sent without a record."""
        return self.status in (DeliveryStatus.SENDING, DeliveryStatus.UNKNOWN)

    @property
    def is_cut(self) -> bool:
        """Whether it is one part of a longer text that was gated or approved as a whole."""
        return self.parts > 1


class SendGuarantee(StrEnum):
    """What a channel guarantees, which decides what we may do after an interrupted send."""

    TRANSACTION = "transaction"  # a row in our database: sending and recording are one transaction
    KEY = "key"  # the same key twice is one message
    LOOKUP = "lookup"  # the channel can look up whether a message arrived
    NOTHING = "nothing"


class ActionButton(Struct, frozen=True):
    """A button under a message: its words, and what the channel returns when it is pressed."""

    label: str
    data: str


class Parcel(Struct, frozen=True):
    """What a channel gets: the exact text, the recipient, and a key that never changes."""

    key: str
    recipient: str | None
    body: str
    attempt: int = 1  # which attempt this is; a channel may wait longer each time
    sent_at: datetime | None = None  # when the send began that is looked up
    alone: bool = True  # no other send of it may be out, to which a "not found" could refer
    buttons: tuple[ActionButton, ...] = ()  # only for a channel that shows them
    files: tuple[FileContent, ...] = ()  # only for a channel that carries files
    uploads: tuple[str, ...] = ()  # what the provider calls them, if they are uploaded first


class Accepted(Struct, frozen=True):
    ref: str


class SendRetry(Struct, frozen=True):
    """Definitely not sent; may be retried after this many seconds."""

    why: str
    after: float | None = None
    spends: bool = True  # whether it uses up an attempt; waiting for a rate limit does not

    @property
    def doubtful(self) -> bool:
        """Whether it may have arrived, so that only a retry with the same key is safe."""
        return False


class Refused(Struct, frozen=True):
    """Definitely not sent, and never will be."""

    why: str


class Locked(Struct, frozen=True):
    """Definitely not sent; nothing can be sent until the owner has fixed the account."""

    why: str


class Unknown(Struct, frozen=True):
    """Bytes were sent and no answer came: the result is unknown."""

    why: str


Answer = Accepted | SendRetry | Refused | Locked | Unknown
Found = Accepted | Refused | SendRetry  # resolves an unknown send; SendRetry: it never left


class SendHistory(Struct, frozen=True):
    """The attempts of a delivery so far: how many, the last time, and how many may be out."""

    last: int
    last_at: datetime | None
    out: int  # attempts that may have been sent


class SendCap(Struct, frozen=True):
    """How many messages may go to one place since a moment."""

    since: datetime
    most: int


class ProviderReport(Struct, frozen=True):
    """A provider's later report on a message, under the provider's id."""

    ref: str
    arrived: bool
    why: str = ""  # why it did not arrive

    @property
    def answer(self) -> Accepted | Refused:
        return Accepted(self.ref) if self.arrived else Refused(self.why)


class DeliveryReport(Struct, frozen=True):
    """A report and its delivery: by our key, or else by the provider's id.

    It applies only to messages of its own channel.
    """

    said: ProviderReport
    channel: str
    key: str | None = None
