"""The rules for what a change must prove, from YAML: built-in, and the project's on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from pkgutil import get_data
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput
from remit.formats.yaml import YamlPart, load_yaml
from remit.plan.files import Glob, Globs, compile_glob

FILE: Final = "activities.yml"
MAX_CHARS: Final = 256_000
ALWAYS: Final = ("typecheck", "lint", "build")


class UnitTests(IntEnum):
    NONE = 0
    OWN = 1  # the tests of the file
    ALL = 2  # every test


class EndToEnd(IntEnum):
    """When end-to-end tests run; later is weaker."""

    SKIP = 0
    DEFERRED = 1
    IMMEDIATE = 2


class CheckDemand(Struct, frozen=True):
    """What a rule demands of a change."""

    unit: UnitTests = UnitTests.NONE
    e2e: EndToEnd = EndToEnd.SKIP
    critics: tuple[str, ...] = ()
    build: bool = False
    why: str = ""

    def __bool__(self) -> bool:
        """Whether it demands more than what always runs."""
        return bool(self.unit or self.e2e or self.critics or self.build)

    def covers(self, other: "CheckDemand") -> bool:
        """Whether it demands at least as much."""
        is_whole = self.unit >= other.unit and self.e2e >= other.e2e and self.build >= other.build
        return is_whole and set(other.critics) <= set(self.critics)


class FileRule(Struct, frozen=True):
    glob: Glob
    demand: CheckDemand
    but: tuple[Glob, ...] = ()


class DiffPhrase(Struct, frozen=True):
    """A phrase that a diff may contain."""

    name: str
    says: tuple[str, ...]
    demand: CheckDemand


class CrossFileRule(Struct, frozen=True):
    """What several files together, or one that others depend on, demand."""

    directories: int
    spread: CheckDemand
    paths: tuple[Glob, ...]
    shared: CheckDemand


@dataclass(frozen=True)
class Activities:
    always: tuple[str, ...]
    defaults: CheckDemand
    files: Mapping[str, FileRule]
    diff: Mapping[str, DiffPhrase]
    cross: CrossFileRule

    @cached_property
    def _rules(self) -> tuple[FileRule, ...]:
        return tuple(self.files.values())

    @cached_property
    def _index(self) -> Globs:
        return Globs(rule.glob for rule in self._rules)

    @cached_property
    def _shared(self) -> Globs:
        return Globs(self.cross.paths)

    @cached_property
    def _spared(self) -> tuple[Globs, list[list[int]]]:
        """Globs of files that rules leave alone: each is asked once, for all its rules."""
        spared: dict[Glob, list[int]] = {}
        for at, rule in enumerate(self._rules):
            for glob in rule.but:
                spared.setdefault(glob, []).append(at)
        return Globs(spared), list(spared.values())

    def groups(self, paths: Sequence[str]) -> list[tuple[tuple[FileRule, ...], list[str]]]:
        """Return files grouped by the rules that match them."""
        made: dict[tuple[int, ...], list[str]] = {}
        spared, rules = self._spared
        spares = frozenset[int]().union(*rules)
        for path in paths:
            found = self._index.find(path)
            if not spares.isdisjoint(found):
                for n in spared.find(path):
                    found = tuple(at for at in found if at not in rules[n])
            made.setdefault(found, []).append(path)
        return [(tuple(self._rules[at] for at in key), each) for key, each in made.items()]

    @property
    def critics(self) -> frozenset[str]:
        """Every critic that may review a change."""
        demands = (
            self.defaults,
            self.cross.spread,
            self.cross.shared,
            *(rule.demand for rule in self._rules),
            *(phrase.demand for phrase in self.diff.values()),
        )
        return frozenset(name for each in demands for name in each.critics)

    def shared(self, paths: Sequence[str]) -> list[str]:
        """Return the files that others depend on."""
        return [path for path in paths if self._shared.find(path)]


class RulesFile(Struct, frozen=True):
    """The name and text of a rules file; the caller reads it."""

    name: str
    text: str


@cache
def default_activities() -> Activities:
    """Return the built-in rules."""
    text = (get_data("remit.plan", FILE) or b"").decode()
    return _merge_rules(_NOTHING, RulesFile(FILE, text))


def load_activities(*papers: RulesFile) -> Activities:
    """Return the built-in rules with each of these on top; errors name file and line."""
    rules = default_activities()
    for paper in papers:
        rules = _merge_rules(rules, paper)
    return rules


# Reading ------------------------------------------------------------------------------------------

_TOP: Final = ("version", "always", "defaults", "files", "diff", "cross")
_ASKS: Final = ("unit", "e2e", "critics", "build", "why")
_HOW: Final = ("replace", "because")
_UNITS: Final = {"true": UnitTests.OWN, "false": UnitTests.NONE, "all": UnitTests.ALL}
_WHOLES: Final = {each.name.casefold(): each for each in EndToEnd}
_MAX_DIRECTORIES: Final = 999
_BOOLS: Final = {"true": True, "false": False}
_NOTHING: Final = Activities(
    (), CheckDemand(), {}, {}, CrossFileRule(0, CheckDemand(), (), CheckDemand())
)


def _merge_rules(rules: Activities, paper: RulesFile) -> Activities:
    part = load_yaml(paper.text, paper.name, field="activities", max_chars=MAX_CHARS)
    top = part.table(_TOP)
    if "version" not in top or top["version"].value != "1":
        raise top.get("version", part).bad("must say version: 1")
    empty = _nothing_at(part)
    always = _always(top["always"]) if "always" in top else ()
    files = dict(rules.files)
    for text, each in top.get("files", empty).table().items():
        files[text] = _file_rule(text, each, rules.files.get(text))
    diff = dict(rules.diff)
    for name, each in top.get("diff", empty).table().items():
        diff[name] = _phrase(name, each, rules.diff.get(name))
    asked = top.get("defaults", empty)
    return Activities(
        tuple(dict.fromkeys((*rules.always, *always))),
        _demand(asked, asked.table((*_ASKS, *_HOW)), rules.defaults),
        files,
        diff,
        _cross(top.get("cross", empty), rules.cross),
    )


def _nothing_at(part: YamlPart) -> YamlPart:
    return YamlPart(part.file, part.line, {}, part.field)


def _always(part: YamlPart) -> tuple[str, ...]:
    for each in part.items():
        _word(each, dict.fromkeys(ALWAYS, True))
    return part.texts()


def _file_rule(text: str, part: YamlPart, before: FileRule | None) -> FileRule:
    fields = part.table((*_ASKS, *_HOW, "except"))
    but = _globs(fields["except"]) if "except" in fields else ()
    old = before or FileRule(_glob(text, part), CheckDemand())
    if before and set(but) - set(before.but):
        _need_reason(part, fields, "leaves files out that were meant before")
    if before and not _replaces(fields):
        but = tuple(dict.fromkeys((*before.but, *but)))
    return FileRule(old.glob, _demand(part, fields, old.demand), but)


def _phrase(name: str, part: YamlPart, before: DiffPhrase | None) -> DiffPhrase:
    fields = part.table((*_ASKS, *_HOW, "says"))
    says = tuple(_read_text(each) for each in fields["says"].items()) if "says" in fields else ()
    if before is None and not says:
        raise part.bad("lacks says, the list of what is looked for")
    old = before or DiffPhrase(name, (), CheckDemand())
    if _replaces(fields) and set(old.says) - set(says):
        _need_reason(part, fields, "looks for less than before")
    elif not _replaces(fields):
        says = tuple(dict.fromkeys((*old.says, *says)))
    return DiffPhrase(name, says, _demand(part, fields, old.demand))


def _read_text(part: YamlPart) -> str:
    phrase = " ".join(part.text().casefold().split())
    if not any(letter.isalnum() for letter in phrase):
        raise part.bad(f"has the phrase {phrase!r:.60}, which has no word in it")
    return phrase


def _cross(part: YamlPart, before: CrossFileRule) -> CrossFileRule:
    fields = part.table(("spread", "shared"))
    empty = _nothing_at(part)
    spread, shared = fields.get("spread", empty), fields.get("shared", empty)
    wide = spread.table((*_ASKS, *_HOW, "directories"))
    common = shared.table((*_ASKS, *_HOW, "paths"))
    many = _count(wide["directories"]) if "directories" in wide else before.directories
    if before.directories and many > before.directories:
        _need_reason(spread, wide, "lets more directories pass than before")
    paths = _globs(common["paths"]) if "paths" in common else ()
    if _replaces(common) and set(before.paths) - set(paths):
        _need_reason(shared, common, "leaves out paths that were shared before")
    elif not _replaces(common):
        paths = tuple(dict.fromkeys((*before.paths, *paths)))
    return CrossFileRule(
        many, _demand(spread, wide, before.spread), paths, _demand(shared, common, before.shared)
    )


def _demand(part: YamlPart, fields: Mapping[str, YamlPart], before: CheckDemand) -> CheckDemand:
    """Return the new demand; less than before needs a reason."""
    old = CheckDemand() if _replaces(fields) else before
    critics = fields["critics"].texts() if "critics" in fields else ()
    new = replace(
        old,
        unit=_word(fields["unit"], _UNITS) if "unit" in fields else old.unit,
        e2e=_word(fields["e2e"], _WHOLES) if "e2e" in fields else old.e2e,
        build=_word(fields["build"], _BOOLS) if "build" in fields else old.build,
        critics=tuple(dict.fromkeys((*old.critics, *critics))),
        why=fields["why"].text() if "why" in fields else before.why,
    )
    if not new.covers(before):
        _need_reason(part, fields, "asks for less than before")
    return new


def _need_reason(part: YamlPart, fields: Mapping[str, YamlPart], what: str) -> None:
    if "because" not in fields:
        raise part.bad(f"{what}; say because: and why that is right")
    fields["because"].text()


def _replaces(fields: Mapping[str, YamlPart]) -> bool:
    return "replace" in fields and _word(fields["replace"], _BOOLS)


_T = TypeVar("_T")


def _word(part: YamlPart, known: Mapping[str, _T]) -> _T:
    word = part.text()
    if word not in known:
        raise part.bad(f"is {word!r:.60}; it may be {', '.join(known)}")
    return known[word]


def _count(part: YamlPart) -> int:
    word = part.text()
    if not word.isdecimal() or not 1 < int(word[:6]) <= _MAX_DIRECTORIES:
        raise part.bad(f"is {word!r:.60}; it must be a number from 2 to {_MAX_DIRECTORIES}")
    return int(word)


def _globs(part: YamlPart) -> tuple[Glob, ...]:
    return tuple(_glob(each.text(), each) for each in part.items())


def _glob(text: str, part: YamlPart) -> Glob:
    try:
        return compile_glob(text)
    except BadInput as error:
        raise part.bad(f"has a glob that cannot be read: {error}") from None
