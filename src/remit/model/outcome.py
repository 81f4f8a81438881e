"""The outcomes of a run."""

from msgspec import Struct

from remit.model.review import Review


class Done(Struct, frozen=True):
    summary: str


class Wait(Struct, frozen=True):
    review: Review


class Retry(Struct, frozen=True):
    """Try again later; `anew` discards this round's steps, and says what was wrong."""

    why: str
    after: float | None = None
    anew: bool = False


class Later(Struct, frozen=True):
    """Nothing failed and nobody is asked: check again after this many seconds."""

    why: str
    after: float


class Fail(Struct, frozen=True):
    why: str


Outcome = Done | Wait | Retry | Later | Fail


def first_line(text: str) -> str:
    """Return the first line of a text, shortened for a list of tasks."""
    lines = text.strip().splitlines() or [""]
    return lines[0] if len(lines[0]) <= 200 else lines[0][:197] + "..."  # noqa: PLR2004
