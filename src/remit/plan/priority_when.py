"""Conditions of priority rules, their patterns, and the facts of a task that they test.

A condition is true, false, or undecided until a score is known. Patterns, `/…/i`, are in RE2, so
that none is slow on any text; all patterns for one text are tried in one pass.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import lru_cache
from typing import Final, Protocol, TypeAlias

import idna
import re2
from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import Json
from remit.model.task import SourceKind, Task

MAX_CHARACTERS: Final = 1000  # letters of one pattern
_MEMORY: Final = 1 << 20  # bytes for one pattern: larger ones are refused when they are read
_MEMORY_OF_ALL: Final = 64 << 20
_AROUND: Final = ("(?=", "(?!", "(?<=", "(?<!")
_BACK: Final = ("(?P=", "(?P>", r"\k")


class Pattern(Struct, frozen=True):
    """The text between the slashes, and whether case counts."""

    source: str
    any_case: bool

    @property
    def whole(self) -> str:
        return f"(?i:{self.source})" if self.any_case else f"(?:{self.source})"


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern of a rule; one that RE2 does not support is refused."""
    body, stroke, flags = text[1:].rpartition("/")
    if not text.startswith("/") or not stroke:
        raise BadInput(
            f"must be a pattern like /invoice/i, not {text!r:.60}; "
            "put the whole condition in quotes if there is a # or a colon in it"
        )
    if flags not in ("", "i"):
        raise BadInput(f"has a pattern with the flags {flags!r:.20}; only i is known")
    if not body:
        raise BadInput("has an empty pattern; it would match everything")
    if len(body) > MAX_CHARACTERS:
        raise BadInput(f"has a pattern that is too long; at most {MAX_CHARACTERS} letters are read")
    found = Pattern(body, bool(flags))
    _compile_pattern(found)
    return found


def _compile_pattern(pattern: Pattern) -> re2._Regexp:
    """Compile it alone: within a group a stray bracket could close another's."""
    options = _options(_MEMORY)
    options.case_sensitive = not pattern.any_case
    try:
        return re2.compile(pattern.source, options)
    except re2.error as error:
        raise BadInput(_meaning(pattern.source, error)) from None


def _meaning(source: str, error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    message = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
    what, _, where = message.partition(": ")
    if where in _AROUND:
        return f"has a pattern that looks around ({where}); that can be slow, and is not known here"
    refers = what == "invalid escape sequence" and where[1:2].isdigit()
    if refers or any(each in source for each in _BACK):
        return f"has a pattern that refers back ({where}); that can be slow, and is not known here"
    return f"has a pattern that cannot be read: {message:.120}"


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


class Patterns:
    """Many patterns over one text: which of them match."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._groups = tuple(_groups(list(enumerate(patterns))))

    def found(self, text: str) -> Iterator[int]:
        """Yield the numbers of those that match a text."""
        raw = text.encode("utf-8", "replace")
        for group in self._groups:
            yield from group.found(raw)


class _Group:
    """Patterns tried at once; if that fails, one by one."""

    def __init__(self, places: Sequence[tuple[int, Pattern]], joined: re2.Set | None) -> None:
        self._places = [place for place, _ in places]
        self._patterns = [pattern for _, pattern in places]
        self._joined = joined
        self._single: list[re2._Regexp] | None = None

    def found(self, raw: bytes) -> Iterator[int]:
        hits = self._joined.Match(raw) if self._joined is not None else None
        if hits is None:
            # The first of a set matches everything: without it there was an error, not no match.
            yield from self._one_by_one(raw)
            return
        for hit in hits:
            if hit:
                yield self._places[hit - 1]

    def _one_by_one(self, raw: bytes) -> Iterator[int]:
        if self._single is None:
            self._single = [_compile_pattern(pattern) for pattern in self._patterns]
        for place, regex in zip(self._places, self._single, strict=True):
            if regex.search(raw) is not None:
                yield place


def _groups(places: Sequence[tuple[int, Pattern]]) -> Iterator[_Group]:
    """Yield as few groups as the memory allows."""
    if not places:
        return
    joined = _joined([pattern for _, pattern in places])
    if joined is not None or len(places) == 1:
        yield _Group(places, joined)
        return
    half = len(places) // 2
    yield from _groups(places[:half])
    yield from _groups(places[half:])


def _joined(patterns: Sequence[Pattern]) -> re2.Set | None:
    joined = re2.Set.SearchSet(_options(_MEMORY_OF_ALL))
    try:
        joined.Add("")
        for pattern in patterns:
            joined.Add(pattern.whole)
        joined.Compile()
    except re2.error:
        return None
    return joined


# A field and a value, or a field and the number of a pattern found in it.
Key: TypeAlias = "tuple[str, str | int]"
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CONTEXT: Final = "context."
ANY: Final = "any"
NONE: Final = "none"
_MAX_TEXTS: Final = 100  # of one place in the context
_MAX_DEPTH: Final = 4


class PriorityFacts(Struct, frozen=True):
    """The facts of a task for some rules; `score` is None if unknown."""

    keys: frozenset[Key]
    minute: int  # minute of the owner's day in which it came
    score: float | None = None


def gather_facts(
    task: Task, zone: tzinfo, fields: Mapping[str, Patterns], score: float | None = None
) -> PriorityFacts:
    """Collect the fields that some rules test, each with its patterns."""
    local = task.created_at.astimezone(zone)
    keys: set[Key] = {("weekday", WEEKDAYS[local.weekday()])}
    for field, patterns in fields.items():
        for text in _texts(task, field):
            keys.add((field, comparable(text)))
            keys.update((field, place) for place in patterns.found(text))
    return PriorityFacts(frozenset(keys), local.hour * 60 + local.minute, score)


def comparable(text: str) -> str:
    """Return a text for comparison: case and blanks do not count."""
    return " ".join(text.split()).casefold()


@lru_cache(4096)
def normal_domain(name: str) -> str | None:
    """Return a domain for comparison, in ASCII form; None if it is none."""
    try:
        found = idna.encode(name.lower(), uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return None
    return found if "." in found and not found.endswith(".") else None


def _texts(task: Task, field: str) -> Iterator[str]:
    if field.startswith(CONTEXT):
        yield from _inside(task.context, field.removeprefix(CONTEXT).split("."))
    elif field in _FIELDS:
        yield from _FIELDS[field](task)


def _inside(value: Json, path: list[str]) -> list[str]:
    """Return the texts at a place in the context; each item of a list counts."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return list(_flat(value, _MAX_DEPTH))[:_MAX_TEXTS]


def _flat(value: Json, deepest: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, list) and deepest:
        for each in value:
            yield from _flat(each, deepest - 1)


def _sender_domain(task: Task) -> Iterator[str]:
    """Yield the sender's domain and its parents, if our server authenticated the sender.

    Anybody can write any name into a letter: only authenticated mail counts.
    """
    sender, context = task.context.get("sender"), task.context
    if task.source.kind is not SourceKind.EMAIL or context.get("sender_verified") is not True:
        return
    # The text after the first @ must be a domain: an address with two @ is invalid.
    found = normal_domain(sender.partition("@")[2]) if isinstance(sender, str) else None
    if found is None:
        return
    yield found
    _, dot, above = found.partition(".")
    while dot:
        yield f"*.{above}"
        _, dot, above = above.partition(".")


def _series(task: Task) -> Iterator[str]:
    if task.series_id is None:
        yield NONE
    else:
        yield from (ANY, task.series_id)


_FIELDS: Final[Mapping[str, Callable[[Task], Iterator[str]]]] = {
    "objective": lambda task: iter((task.title,)),
    "instructions": lambda task: iter((task.instructions,)),
    "sender_domain": _sender_domain,
    "source": lambda task: iter((task.source.kind.value,)),
    "taint": lambda task: iter((task.taint.value,)),
    "created_by": lambda task: iter((task.created_by.value,)),
    "series": _series,
    "channel": lambda task: iter([each.channel for each in task.delivery] or (NONE,)),
}
FIELDS: Final = (*_FIELDS, "weekday")
_COMMON: Final[Mapping[str, int]] = {
    **dict.fromkeys(("source", "taint", "created_by", "weekday"), 100),
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


class JoinedConditions(Struct, frozen=True):
    """All of some conditions hold, or any of them."""

    parts: tuple[PriorityCondition, ...]
    needs_all: bool

    @property
    def said(self) -> str:
        return f"{'all' if self.needs_all else 'any'} of ({'; '.join(p.said for p in self.parts)})"

    @property
    def keys(self) -> frozenset[Key] | None:
        known = [part.keys for part in self.parts if part.keys is not None]
        if self.needs_all:
            # How many tasks share a value, roughly: the rarer field is looked up.
            return min(
                known, key=lambda keys: sum(_COMMON.get(f, 1) for f, _ in keys), default=None
            )
        return frozenset().union(*known) if len(known) == len(self.parts) else None

    @property
    def asks_score(self) -> bool:
        return any(part.asks_score for part in self.parts)

    def holds(self, facts: PriorityFacts) -> bool | None:
        found: bool | None = self.needs_all
        for part in self.parts:
            now = part.holds(facts)
            if now is not None and now is not self.needs_all:
                return now
            found = None if now is None else found
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
