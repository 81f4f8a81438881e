"""Priority rules from YAML; the first rule that matches decides."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cache, cached_property
from pkgutil import get_data
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.formats.yaml import YamlPart, load_yaml
from remit.model import ids
from remit.model.task import Creator, Priority, SourceKind, Taint, Task
from remit.plan import priority_when
from remit.plan.priority_when import (
    ANY,
    CONTEXT,
    FIELDS,
    NONE,
    WEEKDAYS,
    ConditionIndex,
    FieldCondition,
    HoursCondition,
    JoinedConditions,
    NotCondition,
    Pattern,
    Patterns,
    PriorityCondition,
    ScoreCondition,
    comparable,
    gather_facts,
    normal_domain,
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
            return self._parse_joined_condition(part)
        if isinstance(part.value, list):
            raise part.bad("is a list; say whether all: or any: of it must hold")
        line = " ".join(part.text().split())
        try:
            return self._leaf(line)
        except BadInput as error:
            raise part.bad(str(error)) from None

    def _parse_joined_condition(self, part: YamlPart) -> PriorityCondition:
        choice = part.table(_JOINS)
        if len(choice) != 1:
            raise part.bad("must say one of all, any, not; put one into the other")
        ((name, inner),) = choice.items()
        if name == "not":
            return NotCondition(self.condition(inner))
        if not 1 <= len(inner.items()) <= _MAX_PARTS:
            raise inner.bad(f"must have from 1 to {_MAX_PARTS} conditions")
        parts = tuple(self.condition(each) for each in inner.items())
        return JoinedConditions(parts, needs_all=name == "all")

    def _leaf(self, text: str) -> PriorityCondition:
        found = _SHAPE.fullmatch(text)
        if found is None:
            raise BadInput(f"is {text!r:.80}; a condition looks like {_EXAMPLE}")
        field, verb, value = found.groups()
        if field == "llm_score":
            return _score(text, verb, value)
        if field == "time":
            return _time(text, verb, value)
        _check_field(field)
        if verb == "matches":
            return self._matches(text, field, value)
        if verb not in ("is", "in"):
            raise BadInput(
                f"has {verb!r}, which is for llm_score; {field} may be is, in or matches"
            )
        values = [value] if verb == "is" else self._several(field, value)
        self._patterns.setdefault(field, {})
        check = _CHECKS.get(field, _some_text)
        return FieldCondition(frozenset((field, check(each)) for each in values), text)

    def _matches(self, text: str, field: str, value: str) -> PriorityCondition:
        if field not in _SEARCHED and not field.startswith(CONTEXT):
            raise BadInput(f"has a pattern for {field}, whose few words are known; use is or in")
        known = self._patterns.setdefault(field, {})
        place = known.setdefault(priority_when.parse_pattern(value), len(known))
        return FieldCondition(frozenset({(field, place)}), text)

    def _several(self, field: str, value: str) -> Iterable[str]:
        if value.startswith("[") and value.endswith("]"):
            return [each.strip().strip("\"'") for each in value[1:-1].split(",")]
        if value in self._lists:
            return self._lists[value]
        if field == "weekday":
            return _days(value)
        known = ", ".join(self._lists) or "there are none"
        raise BadInput(f"names the list {value!r:.60}, which is not under lists: ({known})")


def _score(text: str, verb: str, value: str) -> ScoreCondition:
    if verb not in (">=", "≥") or not _SCORE.fullmatch(value):
        raise BadInput(f"is {text!r:.60}; a score is asked for like llm_score >= 0.8, from 0 to 1")
    return ScoreCondition(float(value), text)


def _time(text: str, verb: str, value: str) -> HoursCondition:
    found = _TIMES.fullmatch(value)
    if verb != "in" or found is None:
        raise BadInput(f"is {text!r:.60}; a time of day is said like time in 08:00-18:00")
    hour, minute, last_hour, last_minute = map(int, found.groups())
    start, end = hour * 60 + minute, last_hour * 60 + last_minute
    if start == end:
        raise BadInput(f"is {text!r:.60}; that is no time at all, or always")
    return HoursCondition(start, end, text)


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


def _word_of(field: str, known: Iterable[str]) -> Callable[[str], str]:
    words = tuple(known)

    def check(value: str) -> str:
        text = comparable(value)
        if text not in words:
            raise BadInput(f"has the {field} {value!r:.60}; it may be {', '.join(words)}")
        return text

    return check


def _some_text(value: str) -> str:
    text = comparable(value.strip("\"'"))
    if not text:
        raise BadInput("compares with nothing; say with what")
    return text


def _domain(value: str) -> str:
    star = "*." if value.startswith("*.") else ""
    found = normal_domain(value.removeprefix("*."))
    if found is None:
        raise BadInput(
            f"has the domain {value!r:.60}; one looks like bank.example, or *.bank.example"
        )
    return star + found


def _series(value: str) -> str:
    if comparable(value) in (ANY, NONE):
        return comparable(value)
    try:
        return comparable(ids.series_id(value))
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


FILE: Final = "priority.yml"
MAX_CHARS: Final = 512_000
MAX_RULES: Final = 5000
SPOKEN: Final = ("owner", "agent")  # who may say a priority himself
_TOP: Final = ("version", "lists", "rules", "default")
_RULE: Final = ("name", "when", "priority", "because")
_MAX_NAME_CHARACTERS: Final = 60
_MAX_WORDS_CHARACTERS: Final = 300
_FIELD: Final = "priority"


class PriorityRule(Struct, frozen=True):
    name: str
    line: int  # its first line in the file
    when: PriorityCondition
    priority: Priority
    because: str


class RuleMatch(Struct, frozen=True):
    """Which rule decides, if any; and whether a score could change that."""

    rule: PriorityRule | None
    unsure: bool = False


@dataclass(frozen=True)
class PriorityRules:
    file: str  # its name for people; empty for the built-in rules
    rules: tuple[PriorityRule, ...]
    lists: Mapping[str, tuple[str, ...]]
    default: Priority
    fields: Mapping[str, Patterns] = field(repr=False, compare=False)

    @cached_property
    def _index(self) -> ConditionIndex:
        return ConditionIndex([rule.when for rule in self.rules])

    def find(self, task: Task, zone: tzinfo, score: float | None = None) -> RuleMatch:
        """Return the first rule that matches; one that needs an unknown score does not."""
        facts = gather_facts(task, zone, self.fields, score)
        unsure = False
        for place in self._index.find(facts):
            found = self.rules[place].when.holds(facts)
            if found:
                return RuleMatch(self.rules[place], unsure)
            unsure = unsure or found is None
        return RuleMatch(None, unsure)

    @property
    def asks_score(self) -> bool:
        return any(rule.when.asks_score for rule in self.rules)


@cache
def packaged_text() -> str:
    """Return the file that every installation begins with."""
    return (get_data("remit.plan", FILE) or b"").decode()


@cache
def default_rules() -> PriorityRules:
    return load_rules(packaged_text(), "")


def load_rules(text: str, file: str) -> PriorityRules:
    """Parse rules from a file's text; errors name file and line."""
    try:
        part = load_yaml(text, file or FILE, field=_FIELD, max_chars=MAX_CHARS, quote_booleans=True)
        return _read(part, file)
    except BadInput as error:
        raise BadInput(str(error), field=_FIELD) from None


def _read(part: YamlPart, file: str) -> PriorityRules:
    top = part.table(_TOP)
    if "version" not in top or top["version"].value != "1":
        raise top.get("version", part).bad("must say version: 1")
    named = top["lists"].table() if "lists" in top else {}
    lists = {name: each.texts() for name, each in named.items()}
    reading = ConditionParser(lists)
    listed = top["rules"].items() if "rules" in top else []
    if len(listed) > MAX_RULES:
        raise top["rules"].bad(f"has {len(listed):,} rules; at most {MAX_RULES:,} are read")
    rules: dict[str, PriorityRule] = {}
    for each in listed:
        rule = _rule(each, reading)
        if rule.name in rules:
            first = rules[rule.name].line
            raise each.bad(f"has the name {rule.name!r}, as the rule in line {first} has")
        rules[rule.name] = rule
    last = _priority(top["default"]) if "default" in top else Priority.LOW
    return PriorityRules(file, tuple(rules.values()), lists, last, reading.fields)


def _rule(part: YamlPart, reading: ConditionParser) -> PriorityRule:
    fields = part.table(_RULE)
    for name in _RULE:
        if name not in fields:
            raise part.bad(f"is a rule without {name}:; it needs {', '.join(_RULE)}")
    name = _line(fields["name"], _MAX_NAME_CHARACTERS)
    if name.casefold() in ("default", *SPOKEN):
        raise fields["name"].bad(f"is called {name!r}, which means something else; choose another")
    return PriorityRule(
        name,
        part.line,
        reading.condition(fields["when"]),
        _priority(fields["priority"]),
        _line(fields["because"], _MAX_WORDS_CHARACTERS),
    )


def _line(part: YamlPart, most: int) -> str:
    value = " ".join(part.text().split())
    if len(value) > most:
        raise part.bad(f"is longer than {most} letters")
    return value


def _priority(part: YamlPart) -> Priority:
    value = part.text()
    if value not in list(Priority):
        raise part.bad(f"has the priority {value!r:.60}; it may be {', '.join(Priority)}")
    return Priority(value)
