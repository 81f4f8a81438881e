"""What a run came to."""

from dataclasses import dataclass

from remit.model.review import Review


@dataclass(frozen=True, slots=True)
class Done:
    summary: str


@dataclass(frozen=True, slots=True)
class Wait:
    review: Review


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later; `anew` throws this round's steps away, with a word on what was wrong."""

    why: str
    after: float | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """Nothing failed and nobody is asked: look again after so many seconds."""

    why: str
    after: float


@dataclass(frozen=True, slots=True)
class Fail:
    why: str


Outcome = Done | Wait | Retry | Later | Fail


def first_line(text: str) -> str:
    """What a text comes to, for a list of tasks."""
    lines = text.strip().splitlines() or [""]
    return lines[0] if len(lines[0]) <= 200 else lines[0][:197] + "..."  # noqa: PLR2004
