"""Parses a unified diff, and says what proof the rules ask for its files and changed lines."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from remit.model.contract import Criterion, Timing
from remit.plan.activities import Activities, CheckDemand, EndToEnd, FileRule, UnitTests
from remit.plan.files import basename, folder, normal_path, own_tests, short_list

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_GIT: Final = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?$')
_BINARY: Final = re.compile(r'Binary files "?(?:a/)?(.*?)"? and "?(?:b/)?(.*?)"? differ$')
_BEGINS: Final = ("diff --git ", "Binary files ")
_MOVED: Final = ("rename from ", "rename to ", "copy from ", "copy to ")
_OCTAL: Final = re.compile(r"((?:\\[0-3][0-7]{2})+)")
_NOWHERE: Final = "dev/null"


class Diff(Struct, frozen=True):
    """Changed lines by file; lines without a file are under the empty name."""

    lines: Mapping[str, Sequence[str]]
    removed: frozenset[str] = frozenset()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(name for name in self.lines if name)


def parse_diff(text: str) -> Diff:
    """Parse a diff. A line that is neither head nor hunk counts as changed, so nothing is dropped.

    A text that is no diff is therefore examined whole.
    """
    state = _State()
    lines = iter(text.replace("\r\n", "\n").removesuffix("\r").split("\n"))
    for each in lines:
        line: str | None = each
        while line is not None:
            line = state.inside(lines) if state.begins(line) else None
    return Diff(state.lines, frozenset(state.removed))


class _State(Struct):
    lines: dict[str, list[str]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    name: str = ""
    raw: str = ""  # the raw name: a diff repeats it four times
    gone: int = 0  # remaining lines of the hunk in the old file
    come: int = 0  # and in the new one

    def begins(self, line: str) -> bool:
        """Take a line outside of a hunk; return whether a hunk begins."""
        hunk = _HUNK.match(line) if line.startswith("@@") else None
        if hunk is not None:
            old, new = hunk.groups()
            self.gone, self.come = int(old[:9]) if old else 1, int(new[:9]) if new else 1
            return self.gone > 0 or self.come > 0
        if not self._heads(line):
            self.lines.setdefault(self.name, []).append(line)
        return False

    def inside(self, lines: Iterator[str]) -> str | None:
        """Take the lines of a hunk; return the line that ended it early, if any.

        A hunk says how long it is, so none of its lines passes for a file header.
        """
        gone, come, changed = self.gone, self.come, self.lines.get(self.name)
        for line in lines:
            mark = line[:1]
            if mark in ("+", "-"):
                come -= mark == "+"
                gone -= mark == "-"
                if changed is None:
                    changed = self.lines[self.name] = []
                changed.append(line[1:])
            elif mark in (" ", ""):
                come -= 1
                gone -= 1
            elif mark != "\\":
                return line
            if gone <= 0 and come <= 0:
                break
        return None

    def _heads(self, line: str) -> bool:
        if line.startswith(("--- ", "+++ ")):
            if line[6:] != self.raw or line[4:6] not in ("a/", "b/"):
                self._name(_bare(line[4:]))
        elif line.startswith(_BEGINS) and (both := _names_in_head(line)):
            self._name(both[0])
            self._name(both[1])
        elif line.startswith(_MOVED):
            self._name(line.split(" ", 2)[2])
        elif line.startswith("deleted file mode "):
            self.removed.add(self.name)
        else:
            return not line.strip() or line.startswith(_SILENT)
        return True

    def _name(self, raw: str) -> None:
        if raw == self.raw:
            return
        path = normal_path(_unquote_path(raw))
        if path not in (_NOWHERE, "."):
            # A time follows a tab: such a name is parsed each time.
            self.name, self.raw = path, raw if "\t" not in raw else ""
            self.lines.setdefault(path, [])


_SILENT: Final = (  # headers without information about the change
    "index ",
    "similarity index ",
    "dissimilarity index ",
    "new file mode ",
    "old mode ",
    "new mode ",
    "GIT binary patch",
    "\\ No newline",
)


def _names_in_head(line: str) -> tuple[str, str] | None:
    """The old and the new name in the first line of a file; they are the same nearly always."""
    names = line.removeprefix("diff --git a/")
    old, _, new = names.partition(" b/")
    if old == new and old and '"' not in names and len(names) < len(line):
        return old, new
    found = _GIT.match(line) or _BINARY.match(line)
    return (found.group(1), found.group(2)) if found else None


def _bare(path: str) -> str:
    """Return the name without git's a/ or b/ and without diff's time."""
    name = path.partition("\t")[0].strip().strip('"')
    return name[2:] if name.startswith(("a/", "b/")) else name


def _unquote_path(path: str) -> str:
    """Decode git's octal escapes of non-ASCII letters."""

    def letters(found: re.Match[str]) -> str:
        numbers = found.group().split("\\")[1:]
        return bytes(int(each, 8) for each in numbers).decode("utf-8", "replace")

    return _OCTAL.sub(letters, path.strip('"'))


def contains_phrase(phrase: str, text: str) -> bool:
    """Whether lines contain a phrase: whole words at its ends, `*` for anything in a line.

    Both are in lower case. Each piece is searched once, so the time grows with the text alone.
    """
    first, *rest = (piece.strip() for piece in phrase.split("*"))
    at = _find(first, text, 0, ends=not rest)
    while at >= 0:
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        if _follow(rest, text[at + len(first) : end]):
            return True
        at = _find(first, text, end, ends=not rest) if end < len(text) else -1
    return False


def _follow(pieces: Sequence[str], line: str) -> bool:
    at = 0
    for n, piece in enumerate(pieces, 1):
        found = _find(piece, line, at, ends=n == len(pieces))
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _find(piece: str, text: str, start: int, *, ends: bool) -> int:
    """Return where a piece stands as a word, or as the beginning of one."""
    at = text.find(piece, start)
    while at >= 0:
        end = at + len(piece)
        starts_inside = piece[:1].isalnum() and text[at - 1 : at].isalnum()
        goes_on = ends and piece[-1:].isalnum() and text[end : end + 1].isalnum()
        if not starts_inside and not goes_on:
            return at
        at = text.find(piece, end)
    return -1


MAX_OWN_TEST_FILES: Final = 25  # whose own tests are run; of more files, every test
_LETTERS: Final = 2_000_000  # of a diff that are looked at


class RequestedProof(Struct, frozen=True):
    criteria: tuple[Criterion, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether the files demand more than what always runs."""
        return bool(self.criteria)


class _Tally(Struct):
    """Everything demanded so far, and by which files."""

    own: dict[str, str] = field(default_factory=dict)  # the name of tests, and one of their files
    all: bool = False
    build: bool = False
    critics: dict[str, None] = field(default_factory=dict)
    e2e: list[tuple[EndToEnd, Sequence[str]]] = field(default_factory=list)
    why: dict[str, list[str]] = field(default_factory=dict)

    def add(self, demand: CheckDemand, title: str, paths: Sequence[str] = ()) -> None:
        self.why.setdefault(f"{title}: {demand.why}" if demand.why else title, []).extend(paths)
        self.build = self.build or demand.build
        self.critics |= dict.fromkeys(demand.critics)
        if demand.e2e:
            self.e2e.append((demand.e2e, paths))
        self.all = self.all or demand.unit is UnitTests.ALL or (bool(demand.unit) and not paths)

    def ask_own(self, paths: Iterable[str], removed: Collection[str]) -> None:
        """Demand the tests of each file; for one that is gone or unnamed, those of others."""
        for path in paths:
            if len(self.own) > MAX_OWN_TEST_FILES:  # every test runs
                return
            name = own_tests(path) if path not in removed else None
            if name is None:
                self.all = True
            else:
                self.own.setdefault(name, path)


def required_proof(files: Sequence[str], diff: Diff, rules: Activities) -> RequestedProof:
    """Return what these files demand: each by its rules, then the diff's phrases, then together."""
    tally = _Tally()
    code = [
        path
        for known, paths in rules.groups(files)
        if _ask(known, paths, diff, rules, tally)
        for path in paths
    ]
    _listen(code, diff, rules, tally)
    _look_across(code, rules, tally)
    names = ((title, [basename(path) for path in paths]) for title, paths in tally.why.items())
    why = (f"{title} ({short_list(named)})" if named else title for title, named in names)
    return RequestedProof(tuple(_criteria(tally)), tuple(why))


def _ask(
    known: Sequence[FileRule], paths: Sequence[str], diff: Diff, rules: Activities, tally: _Tally
) -> bool:
    """Apply rules to files; return whether any demands more than what always runs."""
    demands = [(rule.glob.text, rule.demand) for rule in known]
    demands = demands or [("other files", rules.defaults)]
    for title, demand in demands:
        tally.add(demand, title, paths)
    if any(demand.unit is UnitTests.OWN for _, demand in demands):
        tally.ask_own(paths, diff.removed)
    return any(demand for _, demand in demands)


def _listen(code: Sequence[str], diff: Diff, rules: Activities, tally: _Tally) -> None:
    """Search phrases in what changed, except in documents: they may mention anything."""
    lines = [line for path in ("", *code) for line in diff.lines.get(path, ())]
    text = "\n".join(lines)[:_LETTERS].casefold()
    for phrase in rules.diff.values() if text else ():
        found = next((each for each in phrase.says if contains_phrase(each, text)), None)
        if found is not None:
            tally.add(phrase.demand, f"the diff says “{found}”")


def _look_across(code: Sequence[str], rules: Activities, tally: _Tally) -> None:
    cross, folders = rules.cross, {folder(path) for path in code}
    if len(folders) >= cross.directories > 0:
        tally.add(cross.spread, f"{len(folders)} directories")
    shared = rules.shared(code)
    if shared:
        tally.add(cross.shared, f"shared code ({short_list(shared)})")


def _criteria(tally: _Tally) -> Iterator[Criterion]:
    if tally.build:
        yield Criterion("build", "It builds")
    whole = tally.all or len(tally.own) > MAX_OWN_TEST_FILES
    if whole:
        yield Criterion("unit-test", "All tests pass")
    for name, path in tally.own.items() if len(tally.own) <= MAX_OWN_TEST_FILES else ():
        yield Criterion("unit-test", f"Tests for {basename(path)}", name)
    for critic in tally.critics:
        yield Criterion("critic", f"{critic} review", critic)
    yield from _e2e(tally.e2e)


def _e2e(demands: Sequence[tuple[EndToEnd, Sequence[str]]]) -> Iterator[Criterion]:
    """Yield one end-to-end run for all, as early as the most urgent needs it."""
    if demands:
        soon = any(when is EndToEnd.IMMEDIATE for when, _ in demands)
        named = [basename(path) for _, paths in demands for path in paths]
        what = short_list(named, 3) if named else "what changed"
        timing = Timing.IMMEDIATE if soon else Timing.DEFERRED
        yield Criterion("e2e", f"E2E coverage for {what}", timing=timing)
