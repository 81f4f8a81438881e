"""Detects how to check a project from the files in its repository."""

import json
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from typing import Final, TypeAlias, cast

from msgspec import Struct, convert
from msgspec.structs import replace

from remit.language.files import read_toml
from remit.verify.ground import Toolchain
from remit.verify.project_files import ProjectFiles
from remit.verify.runners import (
    RUNNERS,
    Argv,
    CheckCommand,
    MissingTool,
    detected_command,
    python_tests,
    runner_command,
    script_tests,
)

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
SEVERAL: Final = frozenset({"typecheck", "lint"})  # a project may use several programs for these
Found: TypeAlias = Mapping[str, CheckCommand | MissingTool]
_DATA: Final = read_toml("tools", "remit.verify")


class _CheckTool(Struct, frozen=True):
    """A program that checks work, and what in a repository says that it is used."""

    language: str
    activity: str
    argv: Argv
    tables: Argv = ()
    files: Argv = ()
    sections: Argv = ()


_TOOLS: Final = convert(_DATA["tools"], tuple[_CheckTool, ...])
_SCRIPTS: Final = convert(_DATA["scripts"], dict[str, Argv])


def detect(files: ProjectFiles, tools: Toolchain) -> Found:
    """Return the checks a repository's files mention.

    All installed type checkers and linters count; of the others the first found.
    """
    project = _Project(files, tools)
    every: dict[str, list[CheckCommand | MissingTool]] = {}
    for language, detector in _LANGUAGES.items():
        for activity, way in detector(project, language):
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

    def uses(self, tool: _CheckTool) -> bool:
        in_table = not self.pyproject.keys().isdisjoint(tool.tables)
        return in_table or self.files.in_root(*tool.files) or any(map(self._section, tool.sections))

    def _section(self, name: str) -> bool:
        """Whether an INI file has a section of this name."""
        parser = ConfigParser(strict=False, interpolation=None)
        try:
            parser.read_string(self.files.text("setup.cfg"))
            parser.read_string(self.files.text("tox.ini"))
        except Error:
            return False
        return parser.has_section(name)

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


def _tools(project: _Project, language: str, scripted: Collection[str] = ()) -> _Ways:
    """Yield the tools that a project uses; a script of its own comes first."""
    for tool in _TOOLS:
        if tool.language == language and tool.activity not in scripted and project.uses(tool):
            program, *words = tool.argv
            chosen = "files" in _table(project.pyproject.get(program))  # it knows them itself
            words = [each for each in words if each != "." or not chosen]
            yield tool.activity, detected_command(project.tools, program, *words)


def _python(project: _Project, language: str) -> _Ways:
    files = project.files
    named = project.has("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")
    if not (named or files.in_root("*.py")):
        return
    yield from _tools(project, language)
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


def _node(project: _Project, language: str) -> _Ways:
    if not project.package:
        return
    chosen = {
        activity: name
        for activity, names in _SCRIPTS.items()
        if (name := next((each for each in names if each in project.scripts), None))
    }
    for activity, name in chosen.items():
        yield activity, detected_command(project.tools, "npm", "run", "--silent", name)
    yield from _tools(project, language, chosen.keys() - {"e2e"})
    found = script_tests(str(project.scripts.get("test", "")), project.needs, project.tools)
    yield from (("unit-test", way) for way in (found,) if way)


def _with_runner(runner: str) -> Callable[[_Project, str], _Ways]:
    """Return the detector of a language with a runner of its own."""

    def detector(project: _Project, language: str) -> _Ways:
        found = list(_tools(project, language))
        yield from found
        if found:
            yield "unit-test", runner_command(RUNNERS[runner], project.tools)

    return detector


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


_LANGUAGES: Final[Mapping[str, Callable[[_Project, str], _Ways]]] = {
    "python": _python,
    "node": _node,
    "go": _with_runner("go"),
    "rust": _with_runner("cargo"),
}
