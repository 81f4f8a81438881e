"""Who tried a piece of work, for the pages: one line for each try, so that they can be compared."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.model.specialist import Attempt, Ended


class Try(Struct, frozen=True):
    n: int
    agent: str
    kind: str
    icon: str
    word: str
    why: str
    failed: tuple[str, ...]
    at: datetime
    took: timedelta


def rows(found: Sequence[Attempt], zone: tzinfo | None) -> tuple[Try, ...]:
    """Each try, the first one first."""
    return tuple(_row(n, each, zone) for n, each in enumerate(found, 1))


def _row(n: int, attempt: Attempt, zone: tzinfo | None) -> Try:
    kind, icon, word = WORDS[attempt.outcome]
    at, took = attempt.started_at.astimezone(zone), attempt.ended_at - attempt.started_at
    failed = tuple(dict.fromkeys(attempt.failed))
    return Try(n, attempt.agent, kind, icon, word, attempt.error or "", failed, at, took)


WORDS: Final = {
    Ended.SUCCESS: ("ok", "done", "Did it"),
    Ended.NEEDS_OWNER: ("you", "you", "Asked you"),
    Ended.RATE_LIMIT: ("idle", "clock", "Reached a limit"),
    Ended.BAD_OUTPUT: ("bad", "fail", "Left nothing to check"),
    Ended.VERIFICATION_FAILED: ("bad", "fail", "Did not pass"),
    Ended.CONTEXT_OVERFLOW: ("bad", "fail", "Too long for it"),
    Ended.CRASH: ("bad", "fail", "Crashed"),
    Ended.TIMEOUT: ("bad", "clock", "Took too long"),
}
