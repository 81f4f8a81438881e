"""Parses rule conditions: `objective matches /invoice/i`, `source in [email, webhook]`."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from remit.errors import BadInput
from remit.formats.yaml import YamlPart
from remit.model import ids
from remit.model.task import Creator, SourceKind, Taint
from remit.plan import priority_pattern
from remit.plan.priority_pattern import Pattern, Patterns
from remit.plan.priority_when import (
    ANY,
    CONTEXT,
    FIELDS,
    NONE,
    WEEKDAYS,
    AllOf,
    AnyOf,
    FieldCondition,
    HoursCondition,
    Key,
    NotCondition,
    PriorityCondition,
    ScoreCondition,
    domain,
    plain,
)

_SHAPE: Final = re.compile(r"(\S+)\s+(is|in|matches|>=|≥)\s+(\S.*)", re.DOTALL)
_PATH: Final = re.compile(r"[\w-]{1,60}(\.[\w-]{1,60}){0,7}")
_TIMES: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_SCORE: Final = re.compile(r"0(\.\d{1,4})?|1(\.0{1,4})?")
_JOINS: Final = ("all", "any", "not")
_MAX_PARTS: Final = 200
_SEARCHED: Final = ("objective", "instructions", "sender_domain", "channel")
_EXAMPLE: Final = "objective matches /invoice/i"


class ConditionParser:
    """Parses conditions and collects the fields they test."""

    def __init__(self, lists: Mapping[str, tuple[str, ...]]) -> None:
        self._lists = lists
        self._patterns: dict[str, dict[Pattern, int]] = {}

    @property
    def fields(self) -> dict[str, Patterns]:
        """Return every field that a condition tests, with its patterns."""
        return {field: Patterns(list(known)) for field, known in self._patterns.items()}

    def condition(self, part: YamlPart) -> PriorityCondition:
        """Parse one line, or a table with all, any or not; errors name their line."""
        if isinstance(part.value, dict):
            return self._joined(part)
        if isinstance(part.value, list):
            raise part.bad("is a list; say whether all: or any: of it must hold")
        said = " ".join(part.text().split())
        try:
            return self._leaf(said)
        except BadInput as error:
            raise part.bad(str(error)) from None

    def _joined(self, part: YamlPart) -> PriorityCondition:
        told = part.table(_JOINS)
        if len(told) != 1:
            raise part.bad("must say one of all, any, not; put one into the other")
        ((name, inner),) = told.items()
        if name == "not":
            return NotCondition(self.condition(inner))
        if not 1 <= len(inner.items()) <= _MAX_PARTS:
            raise inner.bad(f"must have from 1 to {_MAX_PARTS} conditions")
        parts = tuple(self.condition(each) for each in inner.items())
        return AllOf(parts) if name == "all" else AnyOf(parts)

    def _leaf(self, said: str) -> PriorityCondition:
        found = _SHAPE.fullmatch(said)
        if found is None:
            raise BadInput(f"is {said!r:.80}; a condition looks like {_EXAMPLE}")
        field, verb, value = found.groups()
        if field == "llm_score":
            return _score(said, verb, value)
        if field == "time":
            return _time(said, verb, value)
        _check_field(field)
        if verb == "matches":
            return self._matches(said, field, value)
        if verb not in ("is", "in"):
            raise BadInput(
                f"has {verb!r}, which is for llm_score; {field} may be is, in or matches"
            )
        values = [value] if verb == "is" else self._several(field, value)
        self._patterns.setdefault(field, {})
        return FieldCondition(frozenset(_keys(field, values)), said)

    def _matches(self, said: str, field: str, value: str) -> PriorityCondition:
        if field not in _SEARCHED and not field.startswith(CONTEXT):
            raise BadInput(f"has a pattern for {field}, whose few words are known; use is or in")
        known = self._patterns.setdefault(field, {})
        place = known.setdefault(priority_pattern.read(value), len(known))
        return FieldCondition(frozenset({(field, place)}), said)

    def _several(self, field: str, value: str) -> Iterable[str]:
        if value.startswith("[") and value.endswith("]"):
            return [each.strip().strip("\"'") for each in value[1:-1].split(",")]
        if value in self._lists:
            return self._lists[value]
        if field == "weekday":
            return _days(value)
        known = ", ".join(self._lists) or "there are none"
        raise BadInput(f"names the list {value!r:.60}, which is not under lists: ({known})")


def _score(said: str, verb: str, value: str) -> ScoreCondition:
    if verb not in (">=", "≥") or not _SCORE.fullmatch(value):
        raise BadInput(f"is {said!r:.60}; a score is asked for like llm_score >= 0.8, from 0 to 1")
    return ScoreCondition(float(value), said)


def _time(said: str, verb: str, value: str) -> HoursCondition:
    found = _TIMES.fullmatch(value)
    if verb != "in" or found is None:
        raise BadInput(f"is {said!r:.60}; a time of day is said like time in 08:00-18:00")
    hour, minute, last_hour, last_minute = map(int, found.groups())
    start, end = hour * 60 + minute, last_hour * 60 + last_minute
    if start == end:
        raise BadInput(f"is {said!r:.60}; that is no time at all, or always")
    return HoursCondition(start, end, said)


def _check_field(field: str) -> None:
    if field.startswith(CONTEXT) and _PATH.fullmatch(field.removeprefix(CONTEXT)):
        return
    if field not in FIELDS:
        known = ", ".join((*FIELDS, "context.<name>", "time", "llm_score"))
        raise BadInput(f"asks about {field!r:.60}; known are {known}")


def _days(value: str) -> tuple[str, ...]:
    first, dash, last = value.partition("-")
    if not dash or first not in WEEKDAYS or last not in WEEKDAYS:
        raise BadInput(f"has the days {value!r:.60}; say mon-fri, or [mon, wed]")
    start, end = WEEKDAYS.index(first), WEEKDAYS.index(last)
    return tuple(WEEKDAYS[n % 7] for n in range(start, end + 1 if end >= start else end + 8))


def _keys(field: str, values: Iterable[str]) -> Iterable[Key]:
    for value in values:
        check = _CHECKS.get(field, _some_text)
        yield field, check(value)


def _word_of(field: str, known: Iterable[str]) -> Callable[[str], str]:
    words = tuple(known)

    def check(value: str) -> str:
        said = plain(value)
        if said not in words:
            raise BadInput(f"has the {field} {value!r:.60}; it may be {', '.join(words)}")
        return said

    return check


def _some_text(value: str) -> str:
    said = plain(value.strip("\"'"))
    if not said:
        raise BadInput("compares with nothing; say with what")
    return said


def _domain(value: str) -> str:
    star = "*." if value.startswith("*.") else ""
    found = domain(value.removeprefix("*."))
    if found is None:
        raise BadInput(
            f"has the domain {value!r:.60}; one looks like bank.example, or *.bank.example"
        )
    return star + found


def _series(value: str) -> str:
    if plain(value) in (ANY, NONE):
        return plain(value)
    try:
        return plain(ids.series_id(value))
    except BadInput:
        raise BadInput(
            f"has the series {value!r:.60}; it may be any, none, or an id that begins with ser-"
        ) from None


_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    "sender_domain": _domain,
    "source": _word_of("source", SourceKind),
    "taint": _word_of("taint", Taint),
    "created_by": _word_of("created_by", Creator),
    "weekday": _word_of("weekday", WEEKDAYS),
    "series": _series,
}
