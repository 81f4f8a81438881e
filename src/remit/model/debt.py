"""Test debt: files whose tests failed need extra checks for a while.

    book = failed(DebtBook(), ("src/cart.py",), now)
    alive(book, now)                    # what still counts
    asked(book, ("src/cart.py",), now)  # the criteria it adds

Only time reduces a debt; work on the file does not.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.contract import Criterion
from remit.model.listing import first_few

DECAY: Final = timedelta(days=30)
OFTEN: Final = 3  # failures after which a change also needs end-to-end tests
TESTS: Final = frozenset({"unit-test", "e2e"})  # activities whose failures are remembered
_NAMED: Final = 3  # files named before the rest is only counted


class DebtCause(StrEnum):
    """Why a file has debt. One task adds each cause to a file once."""

    CHECK = "check"  # tests of a change to it failed
    LATE = "late"  # a deferred check failed when its group ended
    SKIP = "skip"  # the owner accepted a change without proof


class Debt(Struct, frozen=True):
    """One file: how often tests of a change to it failed, and when they last did."""

    path: str
    failures: int
    last_failed_at: datetime
    reasons: tuple[str, ...] = ()  # why a check of it was skipped by hand


class DebtBook(Struct, frozen=True):
    """All debts of a project."""

    debts: tuple[Debt, ...] = ()


def failed(book: DebtBook, paths: Sequence[str], now: datetime, reason: str = "") -> DebtBook:
    """Return the book with a failure added, or an unchecked change with its reason."""
    known = {each.path: each for each in alive(book, now).debts}
    for path in paths:
        old = known.get(path) or Debt(path, 0, now)
        reasons = tuple(dict.fromkeys((*old.reasons, *((reason,) if reason else ()))))
        known[path] = replace(
            old,
            failures=old.failures + 1,
            last_failed_at=max(now, old.last_failed_at),
            reasons=reasons,
        )
    return replace(book, debts=tuple(known[path] for path in sorted(known)))


def alive(book: DebtBook, now: datetime) -> DebtBook:
    """Return only the debts that still count: those that failed within the last thirty days."""
    return replace(book, debts=tuple(d for d in book.debts if now - d.last_failed_at < DECAY))


def asked(book: DebtBook, paths: Sequence[str], now: datetime) -> tuple[Criterion, ...]:
    """Return the extra criteria for a change to these files."""
    hot = _hot(book, paths, now)
    often = [debt.path for debt in hot if debt.failures >= OFTEN]
    named = first_few([debt.path for debt in hot], _NAMED)
    added = [Criterion("unit-test", f"All tests pass: {named} failed before")]
    if often:
        added.append(
            Criterion("e2e", f"It works from end to end: {first_few(often, _NAMED)} failed often")
        )
    return tuple(added) if hot else ()


def why(book: DebtBook, paths: Sequence[str], now: datetime) -> tuple[str, ...]:
    """Return one sentence for each file with debt, saying why more is required."""
    return tuple(_owed(each) for each in _hot(book, paths, now))


def _hot(book: DebtBook, paths: Sequence[str], now: datetime) -> list[Debt]:
    touched = set(paths)
    return [debt for debt in alive(book, now).debts if debt.path in touched]


def _owed(debt: Debt) -> str:
    often = "once" if debt.failures == 1 else f"{debt.failures} times"
    skipped = f"; taken unproven: {', '.join(debt.reasons)}" if debt.reasons else ""
    last = f"last on {debt.last_failed_at:%Y-%m-%d}"
    return f"{debt.path} failed {often}, {last}, so more is checked{skipped}"
