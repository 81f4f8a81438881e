"""Priority rules from YAML; the first rule that matches decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cache
from importlib.resources import files as packaged
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.formats.yaml import YamlPart, load_yaml
from remit.model.task import Priority, Task
from remit.plan.priority_pattern import Patterns
from remit.plan.priority_said import ConditionParser
from remit.plan.priority_when import ConditionIndex, PriorityCondition, gather

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


@dataclass(frozen=True, slots=True)
class PriorityRules:
    file: str  # its name for people; empty for the built-in rules
    rules: tuple[PriorityRule, ...]
    lists: Mapping[str, tuple[str, ...]]
    default: Priority
    fields: Mapping[str, Patterns] = field(repr=False, compare=False)
    _index: ConditionIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", ConditionIndex([rule.when for rule in self.rules]))

    def find(self, task: Task, zone: tzinfo, score: float | None = None) -> RuleMatch:
        """Return the first rule that matches; one that needs an unknown score does not."""
        facts = gather(task, zone, self.fields, score)
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
    return packaged("remit.plan").joinpath(FILE).read_text(encoding="utf-8")


@cache
def default() -> PriorityRules:
    """Return the built-in rules."""
    return load(packaged_text(), "")


def load(text: str, file: str) -> PriorityRules:
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
    lists = {name: each.texts() for name, each in _table_named(top, "lists").items()}
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


def _table_named(top: Mapping[str, YamlPart], name: str) -> Mapping[str, YamlPart]:
    return top[name].table() if name in top else {}


def _rule(part: YamlPart, reading: ConditionParser) -> PriorityRule:
    told = part.table(_RULE)
    for name in _RULE:
        if name not in told:
            raise part.bad(f"is a rule without {name}:; it needs {', '.join(_RULE)}")
    name = _line(told["name"], _MAX_NAME_CHARACTERS)
    if name.casefold() in ("default", *SPOKEN):
        raise told["name"].bad(f"is called {name!r}, which means something else; choose another")
    return PriorityRule(
        name,
        part.line,
        reading.condition(told["when"]),
        _priority(told["priority"]),
        _line(told["because"], _MAX_WORDS_CHARACTERS),
    )


def _line(part: YamlPart, most: int) -> str:
    said = " ".join(part.text().split())
    if len(said) > most:
        raise part.bad(f"is longer than {most} letters")
    return said


def _priority(part: YamlPart) -> Priority:
    said = part.text()
    if said not in list(Priority):
        raise part.bad(f"has the priority {said!r:.60}; it may be {', '.join(Priority)}")
    return Priority(said)
