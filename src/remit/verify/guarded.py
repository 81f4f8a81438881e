"""Files that decide whether work is good: they are judged by, not changed by, whoever did the work.

Tests that were there before, what steers them, and the settings of the tools are compared with the
commit that the work began from. What was changed is told, and the check is run with the file as it
was, and then with what the work left, for that is what is taken over. New tests are welcome. Who
was asked to change tests is told nothing and may.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from configparser import ConfigParser, Error
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from remit.verify import repository

_TESTS: Final = (
    *("test_*.py", "*_test.py", "*_test.go", "*.test.*", "*.spec.*", "*.snap"),
    *("*Test.java", "*_spec.rb", "*_test.rs"),
)
_TEST_FOLDERS: Final = frozenset({"tests", "test", "__tests__", "__snapshots__", "e2e"})
# Whole files that steer a run.
_STEERS: Final = (
    *("conftest.py", "pytest.ini", ".coveragerc", "noxfile.py", "mypy.ini", ".mypy.ini"),
    *("ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "pyrightconfig.json", "tsconfig*.json"),
    *("eslint.config.*", ".eslintrc*", ".eslintignore", "jest.config.*", "vitest.config.*"),
    *("playwright.config.*", "Makefile", "sitecustomize.py", "usercustomize.py", "project.json"),
)
_ASSERTS: Final = re.compile(
    r"^\s*assert\b|\bexpect\(|\.assert\w*\(|\bt\.(?:Error|Fatal)|assert\w*!\(", re.MULTILINE
)
_CASES: Final = re.compile(
    r"^\s*(?:async )?def test_|\b(?:it|test)\(|^func Test|#\[test\]", re.MULTILINE
)
_SKIPS: Final = re.compile(
    r"\bskip(?:if)?\b|\bxfail\b|\bxit\(|\bt\.Skip|#\[ignore\]", re.IGNORECASE
)
_Part: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Guard:
    """What was changed that decides, in words, and the files that are used in its place."""

    told: tuple[str, ...] = ()
    instead: Mapping[str, bytes | None] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        if not self.told:
            return ""
        return f"Changed by the work, and used as they were before: {'; '.join(self.told)}."


def compare(
    workspace: Path, base: str, *, may_change: Sequence[str] = (), also: Sequence[str] = ()
) -> Guard:
    """See what of the files that decide is no longer as it was at `base`.

    `may_change` has the globs of files that the task asks to change, `also` more that decide.
    """
    before = repository.tree(workspace, base)
    touched = repository.changed(workspace, before)
    told: list[str] = []
    instead: dict[str, bytes | None] = {}
    for name in touched:
        if any(fnmatch(name, glob) for glob in may_change):
            continue
        was = repository.blob(workspace, before[name]) if name in before else None
        now = _read(workspace / name)
        how = _how(name, was, now, before) if name not in also else "changed"
        if how:
            told.append(f"{name} ({how})")
            instead[name] = was
    return Guard(tuple(told), instead)


def decides(name: str) -> bool:
    """Whether a file, by its name alone, decides."""
    return is_test(name) or steers(name)


def is_test(name: str) -> bool:
    path = PurePosixPath(name)
    in_folder = not _TEST_FOLDERS.isdisjoint(path.parts[:-1])
    return in_folder or any(fnmatch(path.name, glob) for glob in _TESTS)


def steers(name: str) -> bool:
    return any(fnmatch(PurePosixPath(name).name, glob) for glob in _STEERS)


def _how(name: str, was: bytes | None, now: bytes | None, before: Iterable[str]) -> str:
    """How a file that decides was changed; nothing if it does not decide."""
    part = _PARTS.get(PurePosixPath(name).name)
    if part is not None:
        return _part_changed(part, was, now)
    if was is None:
        # A new file steers only what lies beside and below it.
        over = _covers(name, before) if steers(name) else ""
        return f"new, and steers {over}" if over else ""
    if not decides(name):
        return ""
    return "deleted" if now is None else _fewer(was, now)


def _covers(name: str, before: Iterable[str]) -> str:
    folder = PurePosixPath(name).parent
    tests = (each for each in before if is_test(each))
    return next((each for each in tests if PurePosixPath(each).is_relative_to(folder)), "")


def _part_changed(part: _Part, was: bytes | None, now: bytes | None) -> str:
    if was is None and not part(_text(now)):
        return ""
    same = part(_text(was)) == part(_text(now))
    return "" if same else "what it says about checks changed"


def _fewer(was: bytes, now: bytes) -> str:
    before, after = _text(was), _text(now)
    counts = (
        (len(_CASES.findall(before)) - len(_CASES.findall(after)), "test", "fewer"),
        (len(_ASSERTS.findall(before)) - len(_ASSERTS.findall(after)), "assert", "fewer"),
        (len(_SKIPS.findall(after)) - len(_SKIPS.findall(before)), "skip", "more"),
    )
    said = [f"{n} {what}{'s' * (n != 1)} {how}" for n, what, how in counts if n > 0]
    return ", ".join(said) or "changed"


def _pyproject(text: str) -> object:
    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    kept = ("pytest", "coverage", "mypy", "pyright", "ruff", "pylint", "tox", "nox")
    return {name: tool[name] for name in kept if name in tool} if isinstance(tool, dict) else {}


def _package(text: str) -> object:
    try:
        whole = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    kept = ("scripts", "jest", "vitest", "eslintConfig", "mocha", "ava")
    return {name: whole[name] for name in kept if name in whole} if isinstance(whole, dict) else {}


def _sections(text: str) -> object:
    parser = ConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(text)
    except Error:
        return text
    kept = (
        each
        for each in parser.sections()
        if re.match(r"tool:|pytest|mypy|flake8|coverage|testenv", each)
    )
    return {name: dict(parser.items(name)) for name in kept}


# Files of which only a part decides; the rest may change with the work.
_PARTS: Final[Mapping[str, _Part]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "setup.cfg": _sections,
    "tox.ini": _sections,
}


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
