"""One send to one recipient on one channel, and what a channel may answer."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from remit.model.ids import DeliveryId


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    SENDING = "sending"  # claimed: from here on nobody may send it again unasked
    SENT = "sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # cut between "accepted" and "written down"


@dataclass(frozen=True, slots=True)
class Delivery:
    """`content` is what the owner wrote; `body` is what passed the gate and goes out."""

    channel: str
    recipient: str | None = None  # None is the owner
    content: str | None = None
    status: DeliveryStatus = DeliveryStatus.PENDING
    id: DeliveryId | None = None
    body: str | None = None
    reason: str | None = None
    receipt: str | None = None
    sent_at: datetime | None = None


class Keeps(StrEnum):
    """What a channel keeps of a send, from which follows what we may do after a cut."""

    TRANSACTION = "transaction"  # a row of ours: sent and written down are one
    KEY = "key"  # the same key twice is one message
    LOOKUP = "lookup"  # can be asked whether a message arrived
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a channel is given: the exact text, for whom, and a key that never changes."""

    key: str
    recipient: str | None
    body: str
    attempt: int = 1  # the how-manieth, so that who may wait longer each time can


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a channel took a parcel."""

    delivery_id: DeliveryId
    provider_ref: str
    accepted_at: datetime


@dataclass(frozen=True, slots=True)
class Accepted:
    ref: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Definitely not sent; may be tried again after so many seconds."""

    why: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Definitely not sent, and never will be."""

    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Bytes left, no answer came: nobody knows."""

    why: str


Answer = Accepted | Retry | Refused | Unknown
