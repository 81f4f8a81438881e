"""Conditions of priority rules: true, false, or undecided until a score is known."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from remit.plan.priority_facts import Key, PriorityFacts

# How many tasks share a value, roughly: the rarer field is looked up.
_COMMON: Final[Mapping[str, int]] = {
    "source": 100,
    "taint": 100,
    "created_by": 100,
    "weekday": 100,
    "channel": 50,
    "series": 20,
}


class PriorityCondition(Protocol):
    @property
    def said(self) -> str:
        """The condition as a person would write it, on one line."""

    @property
    def keys(self) -> frozenset[Key] | None:
        """Unless one of these is among the facts it cannot hold; None if it always may."""

    @property
    def asks_score(self) -> bool: ...

    def holds(self, facts: PriorityFacts) -> bool | None:
        """Return whether it holds; None if only a score can tell."""


class FieldCondition(Struct, frozen=True):
    """A field has one of some values, or a pattern matches it."""

    keys: frozenset[Key]
    said: str
    asks_score: bool = False

    def holds(self, facts: PriorityFacts) -> bool:
        return not self.keys.isdisjoint(facts.keys)


class HoursCondition(Struct, frozen=True):
    """It came between two times of the owner's day; the second may be on the next day."""

    start: int
    end: int
    said: str
    keys: None = None
    asks_score: bool = False

    def holds(self, facts: PriorityFacts) -> bool:
        if self.start < self.end:
            return self.start <= facts.minute < self.end
        return facts.minute >= self.start or facts.minute < self.end


class ScoreCondition(Struct, frozen=True):
    """A model scores it at least this urgent."""

    least: float
    said: str
    keys: None = None
    asks_score: bool = True

    def holds(self, facts: PriorityFacts) -> bool | None:
        return None if facts.score is None else facts.score >= self.least


class AllOf(Struct, frozen=True):
    parts: tuple[PriorityCondition, ...]

    @property
    def said(self) -> str:
        return f"all of ({_listed(self.parts)})"

    @property
    def keys(self) -> frozenset[Key] | None:
        known = [part.keys for part in self.parts if part.keys is not None]
        return min(known, key=_cost, default=None)

    @property
    def asks_score(self) -> bool:
        return any(part.asks_score for part in self.parts)

    def holds(self, facts: PriorityFacts) -> bool | None:
        found: bool | None = True
        for part in self.parts:
            now = part.holds(facts)
            if now is False:
                return False
            found = found if now else None
        return found


class AnyOf(Struct, frozen=True):
    parts: tuple[PriorityCondition, ...]

    @property
    def said(self) -> str:
        return f"any of ({_listed(self.parts)})"

    @property
    def keys(self) -> frozenset[Key] | None:
        known = [part.keys for part in self.parts]
        if any(each is None for each in known):
            return None
        return frozenset(key for each in known if each for key in each)

    @property
    def asks_score(self) -> bool:
        return any(part.asks_score for part in self.parts)

    def holds(self, facts: PriorityFacts) -> bool | None:
        found: bool | None = False
        for part in self.parts:
            now = part.holds(facts)
            if now:
                return True
            found = found if now is False else None
        return found


class NotCondition(Struct, frozen=True):
    part: PriorityCondition
    keys: None = None

    @property
    def said(self) -> str:
        return f"not ({self.part.said})"

    @property
    def asks_score(self) -> bool:
        return self.part.asks_score

    def holds(self, facts: PriorityFacts) -> bool | None:
        found = self.part.holds(facts)
        return None if found is None else not found


class ConditionIndex:
    """Which conditions could hold at all, so that of a thousand a handful is tested."""

    def __init__(self, conditions: Sequence[PriorityCondition]) -> None:
        self._open: list[int] = []
        self._by: dict[Key, list[int]] = {}
        for place, condition in enumerate(conditions):
            keys = condition.keys
            if keys is None:
                self._open.append(place)
            for key in keys or ():
                self._by.setdefault(key, []).append(place)

    def find(self, facts: PriorityFacts) -> list[int]:
        """Return their places, in order."""
        found = set(self._open)
        for key in facts.keys:
            found.update(self._by.get(key, ()))
        return sorted(found)


def _cost(keys: frozenset[Key]) -> int:
    return sum(_COMMON.get(field, 1) for field, _ in keys)


def _listed(parts: Sequence[PriorityCondition]) -> str:
    return "; ".join(part.said for part in parts)
