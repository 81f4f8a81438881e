"""A delivery: one send to one recipient on one channel, and what a channel may answer."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from remit.model.ids import DeliveryId


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    SENDING = "sending"  # claimed: from here on nobody may send it again unasked
    SENT = "sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # cut between "accepted" and "written down"


class Delivery(Struct, frozen=True):
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
    part: int = 0  # a long text goes out in several messages, each a row of its own
    parts: int = 1
    doubted_at: datetime | None = None  # since when nobody knows
    reported: "ProviderReport | None" = None  # what the provider said of it later
    address: str | None = None  # where it was let go to; for the owner the channel may know it

    def cut(self, texts: Sequence[str]) -> "tuple[Delivery, ...]":
        """This delivery in several parts; the first keeps its name, and its place."""
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
        """Whether it may have left without a record of it."""
        return self.status in (DeliveryStatus.SENDING, DeliveryStatus.UNKNOWN)

    @property
    def is_cut(self) -> bool:
        """Whether it is a part of a longer text: its body was gated, or approved, as a whole."""
        return self.parts > 1


class SendGuarantee(StrEnum):
    """What a channel keeps of a send, from which follows what we may do after a cut."""

    TRANSACTION = "transaction"  # a row of ours: sent and written down are one
    KEY = "key"  # the same key twice is one message
    LOOKUP = "lookup"  # can be asked whether a message arrived
    NOTHING = "nothing"


class Parcel(Struct, frozen=True):
    """What a channel is given: the exact text, for whom, and a key that never changes."""

    key: str
    recipient: str | None
    body: str
    attempt: int = 1  # the how-manieth, so that who may wait longer each time can
    sent_at: datetime | None = None  # when the send began that is looked for
    alone: bool = True  # whether no other send of it may be out: a no could be about any of them


class Receipt(Struct, frozen=True):
    """Proof that a channel took a parcel."""

    delivery_id: DeliveryId
    provider_ref: str
    accepted_at: datetime


class Accepted(Struct, frozen=True):
    ref: str


class SendRetry(Struct, frozen=True):
    """Definitely not sent; may be tried again after so many seconds."""

    why: str
    after: float | None = None
    spends: bool = True  # whether it uses up a try; to wait for one's turn does not

    @property
    def doubtful(self) -> bool:
        """Whether it may have arrived all the same, and can go again under its key alone."""
        return False


class Refused(Struct, frozen=True):
    """Definitely not sent, and never will be."""

    why: str


class Locked(Struct, frozen=True):
    """Definitely not sent, and nothing will be until the owner has put the account right."""

    why: str


class Unknown(Struct, frozen=True):
    """Bytes left, no answer came: nobody knows."""

    why: str


Answer = Accepted | SendRetry | Refused | Locked | Unknown
Found = Accepted | Refused | SendRetry  # what clears a doubt; to retry says that it never left


class SendHistory(Struct, frozen=True):
    """What was tried with a delivery so far: how often, when last, and what may be out."""

    last: int
    last_at: datetime | None
    out: int  # of how many nobody can say that they did not leave


class ProviderReport(Struct, frozen=True):
    """What a provider says later about a message, under the name it gave it."""

    ref: str
    arrived: bool
    why: str = ""  # it did not arrive

    @property
    def answer(self) -> Accepted | Refused:
        return Accepted(self.ref) if self.arrived else Refused(self.why)


class DeliveryReport(Struct, frozen=True):
    """A report, and whose it is: by the key we gave, or else by the provider's name for it.

    It is about what went out on its own channel, and about nothing else.
    """

    said: ProviderReport
    channel: str
    key: str | None = None
