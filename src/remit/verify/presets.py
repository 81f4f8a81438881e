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
    detected_command,
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
    project = _Project(files, tools)
    every: dict[str, list[CheckCommand | MissingTool]] = {}
    for detector in (_python, _node, _go, _rust):
        for activity, way in detector(project):
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


class _Project:
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
        return detected_command(self.tools, program, *words)

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


def _python(project: _Project) -> _Ways:
    files = project.files
    named = project.has("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")
    if not (named or files.in_root("*.py")):
        return
    if (
        "mypy" in project.pyproject
        or project.has("mypy.ini", ".mypy.ini")
        or project.section("mypy")
    ):
        named = "files" in _table(project.pyproject.get("mypy"))
        yield "typecheck", project.way("mypy", "--cache-dir=/dev/null", *(() if named else (".",)))
    if "pyright" in project.pyproject or project.has("pyrightconfig.json"):
        yield "typecheck", project.way("pyright")
    if "ruff" in project.pyproject or project.has("ruff.toml", ".ruff.toml"):
        words = ("check", "--no-fix", "--no-cache", "--output-format=concise", ".")
        yield "lint", project.way("ruff", *words)
    if project.has(".flake8") or project.section("flake8"):
        yield "lint", project.way("flake8")
    if _has_tests(project):
        yield "unit-test", python_tests(files, project.tools, *_where(project, "unit"))
    if files.any("tests/e2e/*.py", "e2e/*.py"):
        yield "e2e", python_tests(files, project.tools, *_where(project, "e2e"))


def _has_tests(project: _Project) -> bool:
    configured = "pytest" in project.pyproject or project.has(
        "pytest.ini", "pytest.toml", "conftest.py"
    )
    globs = ("tests/*test_*.py", "tests/*_test.py", "test/*test_*.py", "*/tests/*test_*.py")
    return (
        configured or project.files.in_root("test_*.py", "*_test.py") or project.files.any(*globs)
    )


def _where(project: _Project, kind: str) -> Iterator[str]:
    """Yield pytest arguments: end-to-end tests have their own folder and are no unit tests."""
    for folder in ("tests/e2e", "e2e"):
        if project.files.any(f"{folder}/*.py"):
            yield folder if kind == "e2e" else f"--ignore={folder}"


def _node(project: _Project) -> _Ways:
    if not project.package:
        return
    scripted = set[str]()
    for activity, names in _SCRIPTS.items():
        name = next((each for each in names if each in project.scripts), None)
        if name is not None:
            scripted.add(activity)
            yield activity, project.way("npm", "run", "--silent", name)
    if project.has("tsconfig.json") and "typecheck" not in scripted:
        yield "typecheck", project.way("tsc", "--noEmit")
    if project.files.in_root("eslint.config.*", ".eslintrc*") and "lint" not in scripted:
        yield "lint", project.way("eslint", ".")
    if project.files.in_root("playwright.config.*"):
        yield "e2e", project.way("playwright", "test", "--reporter=line", "--grep={regex}")
    found = script_tests(str(project.scripts.get("test", "")), project.needs, project.tools)
    yield from (("unit-test", way) for way in (found,) if way)


def _go(project: _Project) -> _Ways:
    if not project.has("go.mod"):
        return
    yield "typecheck", project.way("go", "build", "-o", "/dev/null", "./...")
    yield "lint", project.way("go", "vet", "./...")
    yield "unit-test", program_tests("go", project.tools)
    yield "build", project.way("go", "build", "./...")


def _rust(project: _Project) -> _Ways:
    if not project.has("Cargo.toml"):
        return
    yield "typecheck", project.way("cargo", "check", "--offline", "--quiet")
    yield "lint", project.way("cargo", "clippy", "--offline", "--quiet", "--", "-Dwarnings")
    yield "unit-test", program_tests("cargo", project.tools)
    yield "build", project.way("cargo", "build", "--offline", "--quiet")


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_SCRIPTS: Final[Mapping[str, Argv]] = {
    "typecheck": ("typecheck", "type-check", "types"),
    "lint": ("lint",),
    "e2e": ("e2e", "test:e2e"),
    "build": ("build",),
}
