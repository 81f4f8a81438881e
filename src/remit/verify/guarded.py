"""Files that judge work are used as they were before the work, even if the work changed them.

Every file that differs from the base commit is considered. Files that steer a run (runner settings,
modules that would shadow one) are restored in every run. Existing tests are restored in a first
run, without new tests; then everything the work left is run. A file that the owner named is used as
the work left it.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from configparser import ConfigParser, Error
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, TypeAlias, cast

from msgspec import Struct, field

from remit.formats import parse_toml
from remit.language.files import read_toml
from remit.model.contract import (
    PARTLY_SETTINGS,
    RUNNER_MODULES,
    is_runner_setting,
    is_test,
    steered_folder,
)

Contents: TypeAlias = Mapping[str, bytes | None]  # None: the file does not exist
_DATA: Final = cast("Mapping[str, Mapping[str, str]]", read_toml("guards", "remit.verify"))
_ASSERTS, _CASES, _SKIPS = (re.compile(each, re.MULTILINE) for each in _DATA["counts"].values())
_REACHES: Final = {
    f".{ending}": re.compile("|".join(each), re.MULTILINE)
    for ending, each in _DATA["reaches"].items()
}
_INLINE_TESTS: Final = re.compile(r"^#\[cfg\(test\)\]", re.MULTILINE)  # Rust tests in source files
_ENDINGS: Final = {".mjs": ".js", ".cjs": ".js", ".ts": ".js", ".tsx": ".js", ".jsx": ".js"}


class GuardedTests(Struct):
    """Which judging files were changed, in words, and what is used instead."""

    notes: list[str] = field(default_factory=list)
    settings: dict[str, bytes | None] = field(default_factory=dict)  # restored in every run
    tests: dict[str, bytes | None] = field(default_factory=dict)  # restored in the first run
    refused: list[str] = field(default_factory=list)  # why no run could prove it
    changed: dict[str, str] = field(default_factory=dict)  # by name, the hash of the new content

    @property
    def as_before(self) -> Contents:
        return {**self.tests, **self.settings}

    @property
    def is_weaker(self) -> bool:
        """Whether a test has fewer cases or asserts, or more skips."""
        return any(" fewer" in each or " more" in each for each in self.notes)

    @property
    def sentence(self) -> str:
        if not self.notes:
            return ""
        return f"Changed by the work, and used as they were before: {'; '.join(self.notes)}."

    @property
    def settings_sentence(self) -> str:
        """The same of settings alone, for a tool that reads the tests as the work left them."""
        names = tuple(f"{name} (" for name in self.settings)
        return GuardedTests([each for each in self.notes if each.startswith(names)]).sentence

    def note_change(self, name: str, how: str, now: bytes | None) -> None:
        self.notes.append(f"{name} ({how})")
        self.changed[name] = content_digest(now)


def guard_tests(
    workspace: Path,
    base: Collection[str],
    original: Contents,
    *,
    may_change: Sequence[str] = (),
    also: Sequence[str] = (),
    intended: Mapping[str, str] | None = None,
) -> GuardedTests:
    """Sort changed files by how they judge the work.

    `base` holds all file names there, `original` the old content of each changed file. `may_change`
    are globs the owner named, `also` more judging files; `intended` are hashes of contents the
    owner confirmed.
    """
    guard = GuardedTests()
    for name, was in sorted(original.items()):
        now = _content(workspace / name)
        if _is_meant(name, now, may_change, intended or {}):
            continue
        if steers := "changed" if name in also else _steers(name, was, now, base):
            guard.note_change(name, steers, now)
            guard.settings[name] = was
        elif is_test(name):
            guard.tests[name] = was
            if was is not None:
                guard.note_change(name, "deleted" if now is None else _fewer(was, now), now)
        else:
            _guard_code(guard, name, was, now)
    return guard


def guard_tests_that_ran(
    guard: GuardedTests,
    workspace: Path,
    ran: Contents,
    *,
    may_change: Sequence[str],
    intended: Mapping[str, str],
) -> None:
    """Add the changed files that are tests by the project's settings only, not by their names.

    `ran` are the files whose tests ran at the base, with their old content if it was changed.
    """
    for name, was in sorted(ran.items()):
        now = _content(workspace / name)
        known = is_test(name) or name in guard.as_before
        if known or was is None or _is_meant(name, now, may_change, intended):
            continue
        text = _text(was)
        if _CASES.search(text) and "import.meta.vitest" not in text:  # those are inside the code
            guard.tests[name] = was
            guard.note_change(name, "deleted" if now is None else _fewer(was, now), now)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _is_meant(
    name: str, now: bytes | None, may_change: Sequence[str], intended: Mapping[str, str]
) -> bool:
    """Whether the owner named the file, or confirmed this content."""
    return any(fnmatch(name, glob) for glob in may_change) or intended.get(name) == content_digest(
        now
    )


def content_digest(content: bytes | None) -> str:
    return hashlib.sha256(content).hexdigest() if content is not None else "gone"


def _guard_code(guard: GuardedTests, name: str, was: bytes | None, now: bytes | None) -> None:
    """Keep the old tests inside a source file, and refuse code that detects its test runner."""
    inside = was is not None and name.endswith(".rs") and _INLINE_TESTS.search(_text(was))
    if inside and was is not None and now is not None:
        (_, old_tests), (code, new_tests) = _split(was), _split(now)
        if old_tests != new_tests:
            guard.tests[name] = code + old_tests
            guard.note_change(name, f"tests in it: {_fewer(old_tests, new_tests)}", now)
    if reach := _reaches(name, was, now):
        guard.refused.append(
            f"{name} now has `{reach}`, with which code can tell or change how it is "
            "tested; if that is right, name the file as an intended change"
        )


def _split(content: bytes) -> tuple[bytes, bytes]:
    found = _INLINE_TESTS.search(_text(content))
    at = len(_text(content)[: found.start()].encode()) if found else len(content)
    return content[:at], content[at:]


def _steers(name: str, was: bytes | None, now: bytes | None, base: Collection[str]) -> str:
    """Return how a file that controls runs was changed; empty if it does not matter."""
    last = name.rpartition("/")[2]
    if last in PARTLY_SETTINGS:
        return _part_changed(_PARTS[last], was, now)
    if was is None and _stands_in(name, base):
        return "new, and would stand in for a module that runs the tests"
    if not is_runner_setting(name):
        return ""
    if was is not None:
        return "deleted" if now is None else "changed"
    over = _steered_test(name, base)
    return f"new, and steers {over}" if over else ""


def _stands_in(name: str, base: Collection[str]) -> bool:
    """Whether a new top-level file would be imported instead of a runner or Python's own."""
    top, _, rest = name.removeprefix("src/").partition("/")
    if rest not in ("", "__init__.py") or not name.endswith((".py", ".so")) or is_test(name):
        return False
    module = top.partition(".")[0]
    known = any(each.startswith(f"{module}/") for each in base)
    runs = re.fullmatch(RUNNER_MODULES, module) is not None or module in sys.stdlib_module_names
    return runs and not known


def _steered_test(name: str, base: Iterable[str]) -> str:
    """Return an existing test that a new setting would affect."""
    folder = steered_folder(name)
    return next((t for t in base if is_test(t) and t.startswith(f"{folder}/" * bool(folder))), "")


def _reaches(name: str, was: bytes | None, now: bytes | None) -> str:
    """Return what in a file manipulates the test runner and was not there before."""
    ending = f".{name.rpartition('.')[2]}"
    wanted = _REACHES.get(_ENDINGS.get(ending, ending))
    if wanted is None or now is None:
        return ""
    if ending == ".rs":
        was, now = _split(was or b"")[0], _split(now)[0]
    before = {match[0] for match in wanted.finditer(_text(was))}
    new = (match[0] for match in wanted.finditer(_text(now)) if match[0] not in before)
    return " ".join(next(new, "").split())


def _fewer(was: bytes, now: bytes) -> str:
    before, after = _text(was), _text(now)
    counts = (
        (len(_CASES.findall(before)) - len(_CASES.findall(after)), "test", "fewer"),
        (len(_ASSERTS.findall(before)) - len(_ASSERTS.findall(after)), "assert", "fewer"),
        (len(_SKIPS.findall(after)) - len(_SKIPS.findall(before)), "skip", "more"),
    )
    parts = [f"{n} {what}{'s' * (n != 1)} {how}" for n, what, how in counts if n > 0]
    return ", ".join(parts) or "changed"


# Files of which only a part steers ----------------------------------------------------------------


def _part_changed(part: Callable[[str], object], was: bytes | None, now: bytes | None) -> str:
    if was is None and not part(_text(now)):
        return ""
    same = part(_text(was)) == part(_text(now))
    return "" if same else "what it says about checks changed"


def _pyproject(text: str) -> object:
    tools = ("pytest", "coverage", "mypy", "pyright", "ruff", "pylint", "tox", "nox", "ty")
    return _selected_keys(_toml(text, "tool"), tools)


def _cargo(text: str) -> object:
    whole = _toml(text)
    package = whole.get("package") if isinstance(whole, dict) else None
    switches = ("autotests", "autobins", "autoexamples", "build")
    parts = ("lib", "bin", "test", "bench", "example", "profile", "workspace", "lints", "patch")
    return _selected_keys(whole, parts), _selected_keys(package, switches)


def _package(text: str) -> object:
    try:
        whole = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    parts = ("scripts", "jest", "vitest", "eslintConfig", "mocha", "ava", "nyc", "c8", "babel")
    return _selected_keys(whole, (*parts, "imports", "workspaces"))


def read_ini(*texts: str) -> ConfigParser | None:
    """Return what INI files say together; None if one of them cannot be read."""
    parser = ConfigParser(strict=False, interpolation=None)
    try:
        for text in texts:
            parser.read_string(text)
    except Error:
        return None
    return parser


def _sections(text: str) -> object:
    parser = read_ini(text)
    if parser is None:
        return text
    wanted = re.compile(r"tool:|pytest|mypy|flake8|coverage|testenv|tox")
    return {name: dict(parser.items(name)) for name in parser.sections() if wanted.match(name)}


def _toml(text: str, table: str = "") -> object:
    try:
        whole = parse_toml(text)
    except ValueError:
        return {"": text}
    return whole.get(table) if table else whole


def _selected_keys(table: object, names: Iterable[str]) -> dict[str, object]:
    if not isinstance(table, dict):
        return {}
    return {name: table[name] for name in ("", *names) if name in table}


_PARTS: Final[Mapping[str, Callable[[str], object]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "setup.cfg": _sections,
    "tox.ini": _sections,
    "Cargo.toml": _cargo,
}


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
