"""The specialists' attempts on a task, one comparable line each."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.model.specialist import AttemptOutcome, SpecialistAttempt


class TryRow(Struct, frozen=True):
    n: int
    agent: str
    kind: str
    icon: str
    word: str
    why: str
    failed: tuple[str, ...]
    at: datetime
    took: timedelta


def rows(found: Sequence[SpecialistAttempt], zone: tzinfo | None) -> tuple[TryRow, ...]:
    """Return each attempt, first one first."""
    return tuple(_row(n, each, zone) for n, each in enumerate(found, 1))


def _row(n: int, attempt: SpecialistAttempt, zone: tzinfo | None) -> TryRow:
    kind, icon, word = WORDS[attempt.outcome]
    at, took = attempt.started_at.astimezone(zone), attempt.ended_at - attempt.started_at
    failed = tuple(dict.fromkeys(attempt.failed))
    return TryRow(n, attempt.agent, kind, icon, word, attempt.error or "", failed, at, took)


WORDS: Final = {
    AttemptOutcome.SUCCESS: ("ok", "done", "Did it"),
    AttemptOutcome.NEEDS_OWNER: ("you", "you", "Asked you"),
    AttemptOutcome.RATE_LIMIT: ("idle", "clock", "Reached a limit"),
    AttemptOutcome.BAD_OUTPUT: ("bad", "fail", "Left nothing to check"),
    AttemptOutcome.VERIFICATION_FAILED: ("bad", "fail", "Did not pass"),
    AttemptOutcome.CONTEXT_OVERFLOW: ("bad", "fail", "Too long for it"),
    AttemptOutcome.CRASH: ("bad", "fail", "Crashed"),
    AttemptOutcome.TIMEOUT: ("bad", "clock", "Took too long"),
}
