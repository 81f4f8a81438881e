"""How the work of a project is checked, seen from what lies in its repository.

Each way is a list of words for one activity. `{report}` is where the run leaves its report,
`{pattern}` what the criterion names, as one word; `{regex}` the same for tools that would read it
as an expression. A word with a pattern in it is left out where there is none.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, cast

from remit.verify.toolchain import Toolchain

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
Argv: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """How one activity is checked, and who says so."""

    argv: Argv
    origin: str
    detected: bool = False  # its origin is the tool itself
    names: bool = False  # the pattern must be a name, for the tool reads more into it


@dataclass(frozen=True, slots=True)
class Lacking:
    """The project speaks of a tool that is not installed."""

    why: str


Found: TypeAlias = Mapping[str, Way | Lacking]


def detect(root: Path, tools: Toolchain) -> Found:
    """The ways that the files of a repository speak of; the first that is found for each counts."""
    seen = _Seen(root, tools)
    found: dict[str, Way | Lacking] = {}
    for detector in (_python, _node, _go, _rust):
        for activity, way in detector(seen):
            known = found.get(activity)
            if known is None or (isinstance(known, Lacking) and isinstance(way, Way)):
                found[activity] = way
    return found


class _Seen:
    """A repository, read once."""

    def __init__(self, root: Path, tools: Toolchain) -> None:
        self.root = root
        self.tools = tools
        self.pyproject = _table(self._toml("pyproject.toml").get("tool"))
        self.package = _table(self._json("package.json"))
        self.scripts = _table(self.package.get("scripts"))
        self.needs = {
            **_table(self.package.get("dependencies")),
            **_table(self.package.get("devDependencies")),
        }

    def has(self, *names: str) -> bool:
        return any((self.root / name).is_file() for name in names)

    def any(self, *globs: str) -> bool:
        return any(next(self.root.glob(each), None) for each in globs)

    def section(self, name: str) -> bool:
        """Whether an old-style file has a section of this name."""
        parser = ConfigParser(strict=False, interpolation=None)
        try:
            parser.read((self.root / "setup.cfg", self.root / "tox.ini"), encoding="utf-8")
        except (Error, UnicodeDecodeError):
            return False
        return parser.has_section(name)

    def way(self, program: str, *words: str) -> Way | Lacking:
        found = self.tools.find(program)
        if found is None:
            return Lacking(f"the project uses {program}, which is not installed")
        return Way((str(found), *words), program, detected=True)

    def _toml(self, name: str) -> Mapping[str, object]:
        try:
            return tomllib.loads((self.root / name).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}

    def _json(self, name: str) -> object:
        try:
            return json.loads((self.root / name).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}


_Ways: TypeAlias = Iterator[tuple[str, Way | Lacking]]


def _python(seen: _Seen) -> _Ways:
    if not (seen.has("pyproject.toml", "setup.py", "setup.cfg", "tox.ini") or seen.any("*.py")):
        return
    if "mypy" in seen.pyproject or seen.has("mypy.ini", ".mypy.ini") or seen.section("mypy"):
        named = "files" in _table(seen.pyproject.get("mypy"))
        yield "typecheck", seen.way("mypy", "--cache-dir=/dev/null", *(() if named else (".",)))
    if "pyright" in seen.pyproject or seen.has("pyrightconfig.json"):
        yield "typecheck", seen.way("pyright")
    if "ruff" in seen.pyproject or seen.has("ruff.toml", ".ruff.toml"):
        words = ("check", "--no-fix", "--no-cache", "--output-format=concise", ".")
        yield "lint", seen.way("ruff", *words)
    if seen.has(".flake8") or seen.section("flake8"):
        yield "lint", seen.way("flake8")
    if _has_pytest(seen):
        yield "unit-test", _pytest(seen, *_where(seen, "unit"))
    if seen.any("tests/e2e/*.py", "e2e/*.py"):
        yield "e2e", _pytest(seen, *_where(seen, "e2e"))


def _has_pytest(seen: _Seen) -> bool:
    said = "pytest" in seen.pyproject or seen.has("pytest.ini", "conftest.py")
    return said or seen.any(
        "test_*.py", "tests/**/test_*.py", "tests/**/*_test.py", "test/test_*.py"
    )


def _where(seen: _Seen, kind: str) -> Iterator[str]:
    """End-to-end tests have a folder of their own, and are no unit tests."""
    for folder in ("tests/e2e", "e2e"):
        if seen.any(f"{folder}/*.py"):
            yield folder if kind == "e2e" else f"--ignore={folder}"


def _pytest(seen: _Seen, *words: str) -> Way | Lacking:
    common = ("-q", "-p", "no:cacheprovider", "--junitxml={report}", "-k{pattern}", *words)
    found = seen.tools.find("pytest")
    if found is None:
        return Lacking("the project has tests for pytest, which is not installed")
    python = found.with_name("python")
    # As a module it finds what lies in the workspace without being installed.
    start = (str(python), "-m", "pytest") if python.is_file() else (str(found),)
    return Way((*start, *common), "pytest", detected=True, names=True)


def _node(seen: _Seen) -> _Ways:
    if not seen.package:
        return
    for activity, names in _SCRIPTS.items():
        for name in names:
            if name in seen.scripts and activity != "unit-test":
                yield activity, seen.way("npm", "run", "--silent", name)
    if seen.has("tsconfig.json"):
        yield "typecheck", seen.way("tsc", "--noEmit")
    if seen.any("eslint.config.*", ".eslintrc*"):
        yield "lint", seen.way("eslint", ".")
    if seen.any("playwright.config.*"):
        yield "e2e", seen.way("playwright", "test", "--reporter=line", "--grep={regex}")
    yield from _node_tests(seen)


def _node_tests(seen: _Seen) -> _Ways:
    script = str(seen.scripts.get("test", ""))
    if "vitest" in seen.needs or "vitest" in script:
        words = ("run", "--reporter=junit", "--outputFile={report}", "--testNamePattern={regex}")
        yield "unit-test", seen.way("vitest", *words)
    elif "jest" in seen.needs or "jest" in script:
        words = ("--ci", "--json", "--outputFile={report}", "--testNamePattern={regex}")
        yield "unit-test", seen.way("jest", *words)
    elif script.startswith("node --test"):
        junit = ("--test-reporter=junit", "--test-reporter-destination={report}")
        yield "unit-test", seen.way("node", "--test", *junit, "--test-name-pattern={regex}")
    elif script:
        yield "unit-test", seen.way("npm", "run", "--silent", "test")


def _go(seen: _Seen) -> _Ways:
    if not seen.has("go.mod"):
        return
    yield "typecheck", seen.way("go", "build", "-o", "/dev/null", "./...")
    yield "lint", seen.way("go", "vet", "./...")
    yield "unit-test", seen.way("go", "test", "-json", "-count=1", "-run={regex}", "./...")
    yield "build", seen.way("go", "build", "./...")


def _rust(seen: _Seen) -> _Ways:
    if not seen.has("Cargo.toml"):
        return
    yield "typecheck", seen.way("cargo", "check", "--offline", "--quiet")
    yield "lint", seen.way("cargo", "clippy", "--offline", "--quiet", "--", "-Dwarnings")
    yield "unit-test", seen.way("cargo", "test", "--offline", "{pattern}")
    yield "build", seen.way("cargo", "build", "--offline", "--quiet")


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_SCRIPTS: Final[Mapping[str, Argv]] = {
    "typecheck": ("typecheck", "type-check", "types"),
    "lint": ("lint",),
    "unit-test": ("test",),
    "e2e": ("e2e", "test:e2e"),
    "build": ("build",),
}
