"""Ids: a prefix, and a ULID that sorts by time."""

import re
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Final, NewType

from remit.errors import BadInput

TaskId = NewType("TaskId", str)
RunId = NewType("RunId", str)
ReviewId = NewType("ReviewId", str)
DeliveryId = NewType("DeliveryId", str)
SessionId = NewType("SessionId", str)
SeriesId = NewType("SeriesId", str)
ConversationId = NewType("ConversationId", str)
WorkerId = NewType("WorkerId", str)

RANDOM_BITS: Final = 80
STEP_BITS: Final = 66  # step between ids of one millisecond, so that their first letters differ
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_NOUNS: Final = {"task": "task", "rev": "review", "ser": "series"}
_ULID: Final = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"


class Ids:
    """Makes ids that never repeat and always sort after earlier ones, whatever the clock does."""

    def __init__(self, now: Callable[[], datetime], chance: Callable[[int], int]) -> None:
        self._now = now
        self._chance = chance
        self._last = 0
        self._drawing = threading.Lock()  # the store's writer thread also makes ids

    def ulid(self) -> str:
        with self._drawing:
            moment = int(self._now().timestamp() * 1000) << RANDOM_BITS
            # If the clock stands still or goes back, the new id must still sort after the last.
            if moment > self._last:
                self._last = moment | self._chance(RANDOM_BITS)
            else:
                self._last += 1 + self._chance(STEP_BITS)
            return encode(self._last)

    def task(self) -> TaskId:
        return TaskId("task-" + self.ulid())

    def run(self) -> RunId:
        return RunId("run-" + self.ulid())

    def review(self) -> ReviewId:
        return ReviewId("rev-" + self.ulid())

    def delivery(self) -> DeliveryId:
        return DeliveryId("dlv-" + self.ulid())

    def session(self) -> SessionId:
        return SessionId("ses-" + self.ulid())

    def series(self) -> SeriesId:
        return SeriesId("ser-" + self.ulid())

    def conversation(self) -> ConversationId:
        return ConversationId("conv-" + self.ulid())

    def worker(self) -> WorkerId:
        return WorkerId("wrk-" + self.ulid())


def encode(value: int) -> str:
    """Write a 128-bit number as 26 letters of Crockford's base 32."""
    pairs = [_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10)]
    return "".join(pairs)


def task_id(text: str) -> TaskId:
    """Parse a task id as people write it: with or without the prefix, in any case."""
    return TaskId(_read(text, "task"))


def review_id(text: str) -> ReviewId:
    return ReviewId(_read(text, "rev"))


def series_id(text: str) -> SeriesId:
    return SeriesId(_read(text, "ser"))


def _read(text: str, prefix: str) -> str:
    ulid = text.strip().upper().removeprefix(prefix.upper() + "-")
    if not re.fullmatch(_ULID, ulid):
        shown = text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
        example = f"{prefix}-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"
        sentence = f"{shown!r} is not a {_NOUNS[prefix]} id; one looks like {example}."
        raise BadInput(sentence, field="id")
    return f"{prefix}-{ulid}"
