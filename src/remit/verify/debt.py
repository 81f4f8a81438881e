"""Files that failed before: for a while more is asked of a change that touches them.

debt = failed(debt, ("src/cart.py",), now)
alive(debt, now)                    # what still counts
asked(debt, ("src/cart.py",), now)  # the criteria it adds
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from remit.model.codec import Json, from_json, to_json
from remit.model.contract import Criterion

DECAY: Final = timedelta(days=30)
OFTEN: Final = 3  # failures, after which a change is also tried from end to end


@dataclass(frozen=True, slots=True)
class Debt:
    """One file: how often a check of a change to it failed, and when it last did."""

    path: str
    failures: int
    last_failed_at: datetime
    reasons: tuple[str, ...] = ()  # why a check of it was skipped by hand


@dataclass(frozen=True, slots=True)
class Book:
    """All debts, as they are kept in a file."""

    debts: tuple[Debt, ...] = ()
    version: int = 1


def failed(book: Book, paths: Sequence[str], now: datetime, reason: str = "") -> Book:
    """Write down that a change to these files failed, or was let through unchecked for a reason."""
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


def alive(book: Book, now: datetime) -> Book:
    """What still counts: nothing that has not failed for thirty days."""
    return replace(book, debts=tuple(d for d in book.debts if now - d.last_failed_at < DECAY))


def asked(book: Book, paths: Sequence[str], now: datetime) -> tuple[Criterion, ...]:
    """What is asked besides of a change to these files."""
    hot = [debt for debt in alive(book, now).debts if debt.path in set(paths)]
    if not hot:
        return ()
    often = [debt.path for debt in hot if debt.failures >= OFTEN]
    added = [Criterion("unit-test", f"All tests pass: {_list(hot)} failed before")]
    if often:
        added.append(Criterion("e2e", f"It works from end to end: {', '.join(often)} failed often"))
    return tuple(added)


def read(data: Json) -> Book:
    return from_json(Book, data)


def write(book: Book) -> Json:
    return to_json(book)


def _list(debts: Sequence[Debt]) -> str:
    return ", ".join(debt.path for debt in debts)
