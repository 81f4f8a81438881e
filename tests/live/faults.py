"""Thirteen ways in which a vendor fails, and the required result of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from tests.live.vendor import Order
from tests.live.wire import Answer, End

GOOD: Final = "I looked around.\n<deliverable>Lumphini Park, mornings.</deliverable>"
MEGABYTE: Final = "So it goes on and on. " * 48_000 + GOOD
# In another language, and with its brackets.
THAI: Final = "ฉันค้นหาแล้ว\n\uff1cdeliverable\uff1eสวนลุมพินี ตอนเช้า\uff1c/deliverable\uff1e"


class Comes(Enum):
    RETRY = auto()  # errors.Transient
    HELD = auto()  # a reply that the gate holds


@dataclass(frozen=True, slots=True)
class Fault:
    order: Callable[[bool], Order]  # by whether the answer is streamed
    comes: Comes
    requests: int  # at most this many, including the SDK's retries
    after: float | None = None  # seconds, if the vendor says so
    time_limit: int = 100


def _always(order: Order) -> Callable[[bool], Order]:
    return lambda _: order


def _body(whole: bytes, streamed: bytes) -> Callable[[bool], Order]:
    return lambda streams: Order(body=streamed if streams else whole)


FAULTS: Final[Mapping[str, Fault]] = {
    "429-retry-after": Fault(
        _always(Order(status=429, kind="rate_limit_error", headers={"retry-after": "30"})),
        Comes.RETRY,
        requests=1,
        after=30,
    ),
    "429": Fault(_always(Order(status=429, kind="rate_limit_error")), Comes.RETRY, requests=3),
    "500": Fault(_always(Order(status=500, kind="api_error")), Comes.RETRY, requests=3),
    "529": Fault(_always(Order(status=529, kind="overloaded_error")), Comes.RETRY, requests=3),
    "time-out": Fault(
        _always(Order(Answer(GOOD), wait=300)), Comes.RETRY, requests=1, time_limit=3
    ),
    "reset": Fault(_always(Order(Answer(GOOD), reset_after=4)), Comes.RETRY, requests=3),
    "token-limit": Fault(_always(Order(Answer(GOOD, End.LIMIT))), Comes.HELD, requests=1),
    "refusal": Fault(_always(Order(Answer(GOOD, End.REFUSAL))), Comes.HELD, requests=1),
    "invalid-json": Fault(
        _body(b'{"id": "x", "choi', b'data: {"id": "x", "choi\n\n'), Comes.RETRY, requests=1
    ),
    "wrong-schema": Fault(
        _body(b'{"hello": "world"}', b'data: {"hello": "world"}\n\n'), Comes.RETRY, requests=1
    ),
    "empty": Fault(_always(Order(Answer(""))), Comes.RETRY, requests=1),
    "megabyte": Fault(_always(Order(Answer(MEGABYTE))), Comes.HELD, requests=1),
    "other-language": Fault(_always(Order(Answer(THAI))), Comes.HELD, requests=1),
}
