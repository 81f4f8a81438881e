"""Detects how to check a project from the files in its repository."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

from remit.verify.ground import Toolchain
from remit.verify.project_files import ProjectFiles
from remit.verify.runners import (
    Argv,
    CheckCommand,
    MissingTool,
    program_tests,
    python_tests,
    script_tests,
)

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
SEVERAL: Final = frozenset({"typecheck", "lint"})  # a project may use several programs for these
Found: TypeAlias = Mapping[str, CheckCommand | MissingTool]


def detect(files: ProjectFiles, tools: Toolchain) -> Found:
    """Return the checks a repository's files mention.

    All installed type checkers and linters count; of the others the first found.
    """
    seen = _Seen(files, tools)
    every: dict[str, list[CheckCommand | MissingTool]] = {}
    for detector in (_python, _node, _go, _rust):
        for activity, way in detector(seen):
            every.setdefault(activity, []).append(way)
    return {activity: _together(activity, found) for activity, found in every.items()}


def _together(
    activity: str, found: Sequence[CheckCommand | MissingTool]
) -> CheckCommand | MissingTool:
    ways = [each for each in found if isinstance(each, CheckCommand)]
    if not ways:
        return found[0]
    if activity not in SEVERAL:
        return ways[0]
    lacks = tuple(each.why for each in found if isinstance(each, MissingTool))
    return replace(ways[0], also=tuple(ways[1:]), lacks=lacks)


class _Seen:
    """A repository, read once."""

    def __init__(self, files: ProjectFiles, tools: Toolchain) -> None:
        self.files = files
        self.tools = tools
        self.has = files.has
        self.pyproject = _table(self._toml("pyproject.toml").get("tool"))
        self.package = _table(self._json("package.json"))
        self.scripts = _table(self.package.get("scripts"))
        self.needs = {
            **_table(self.package.get("dependencies")),
            **_table(self.package.get("devDependencies")),
        }

    def section(self, name: str) -> bool:
        """Whether an INI file has a section of this name."""
        parser = ConfigParser(strict=False, interpolation=None)
        try:
            parser.read_string(self.files.text("setup.cfg"))
            parser.read_string(self.files.text("tox.ini"))
        except Error:
            return False
        return parser.has_section(name)

    def way(self, program: str, *words: str) -> CheckCommand | MissingTool:
        found = self.tools.find(program)
        if found is None:
            return MissingTool(f"the project uses {program}, which is not installed")
        return CheckCommand((str(found), *words), program, detected=True)

    def _toml(self, name: str) -> Mapping[str, object]:
        try:
            return tomllib.loads(self.files.text(name))
        except (ValueError, RecursionError):
            return {}

    def _json(self, name: str) -> object:
        try:
            return json.loads(self.files.text(name) or "{}")
        except (ValueError, RecursionError):
            return {}


_Ways: TypeAlias = Iterator[tuple[str, CheckCommand | MissingTool]]


def _python(seen: _Seen) -> _Ways:
    files = seen.files
    named = seen.has("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")
    if not (named or files.in_root("*.py")):
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
    if _has_tests(seen):
        yield "unit-test", python_tests(files, seen.tools, *_where(seen, "unit"))
    if files.any("tests/e2e/*.py", "e2e/*.py"):
        yield "e2e", python_tests(files, seen.tools, *_where(seen, "e2e"))


def _has_tests(seen: _Seen) -> bool:
    said = "pytest" in seen.pyproject or seen.has("pytest.ini", "pytest.toml", "conftest.py")
    globs = ("tests/*test_*.py", "tests/*_test.py", "test/*test_*.py", "*/tests/*test_*.py")
    return said or seen.files.in_root("test_*.py", "*_test.py") or seen.files.any(*globs)


def _where(seen: _Seen, kind: str) -> Iterator[str]:
    """Yield pytest arguments: end-to-end tests have their own folder and are no unit tests."""
    for folder in ("tests/e2e", "e2e"):
        if seen.files.any(f"{folder}/*.py"):
            yield folder if kind == "e2e" else f"--ignore={folder}"


def _node(seen: _Seen) -> _Ways:
    if not seen.package:
        return
    scripted = set[str]()
    for activity, names in _SCRIPTS.items():
        name = next((each for each in names if each in seen.scripts), None)
        if name is not None:
            scripted.add(activity)
            yield activity, seen.way("npm", "run", "--silent", name)
    if seen.has("tsconfig.json") and "typecheck" not in scripted:
        yield "typecheck", seen.way("tsc", "--noEmit")
    if seen.files.in_root("eslint.config.*", ".eslintrc*") and "lint" not in scripted:
        yield "lint", seen.way("eslint", ".")
    if seen.files.in_root("playwright.config.*"):
        yield "e2e", seen.way("playwright", "test", "--reporter=line", "--grep={regex}")
    found = script_tests(str(seen.scripts.get("test", "")), seen.needs, seen.tools)
    yield from (("unit-test", way) for way in (found,) if way)


def _go(seen: _Seen) -> _Ways:
    if not seen.has("go.mod"):
        return
    yield "typecheck", seen.way("go", "build", "-o", "/dev/null", "./...")
    yield "lint", seen.way("go", "vet", "./...")
    yield "unit-test", program_tests("go", seen.tools)
    yield "build", seen.way("go", "build", "./...")


def _rust(seen: _Seen) -> _Ways:
    if not seen.has("Cargo.toml"):
        return
    yield "typecheck", seen.way("cargo", "check", "--offline", "--quiet")
    yield "lint", seen.way("cargo", "clippy", "--offline", "--quiet", "--", "-Dwarnings")
    yield "unit-test", program_tests("cargo", seen.tools)
    yield "build", seen.way("cargo", "build", "--offline", "--quiet")


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_SCRIPTS: Final[Mapping[str, Argv]] = {
    "typecheck": ("typecheck", "type-check", "types"),
    "lint": ("lint",),
    "e2e": ("e2e", "test:e2e"),
    "build": ("build",),
}
