"""How a project's work is checked: from the settings, else project.json, else detected.

    ways = read(place, given={"lint": (("make", "lint"),)}, environ=os.environ)
    ways.command_for("lint")         # CheckCommand(("make", "lint"), "the settings")

`project.json`, and the files that tell which tools are used (tools.toml), come from the commit that
the work began from, if there is one, so the work cannot change how it is checked.
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, cast

from msgspec import Struct, convert, field
from msgspec.structs import replace

from remit.errors import BadInput
from remit.formats import parse_toml
from remit.language.files import read_toml
from remit.verify import project_files
from remit.verify.guarded import read_ini
from remit.verify.project_files import INSTALLED, ProjectFiles, Toolchain
from remit.verify.runners import (
    RUNNERS,
    Argv,
    CheckCommand,
    MissingTool,
    detected_command,
    files_outside,
    has_tests,
    is_python_test,
    nested_projects,
    python_tests,
    reader_of,
    runner_command,
    script_tests,
    uses_node_test,
)
from remit.verify.sandbox import ReadOnlyFolder

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
# A project may use several programs for these.
SEVERAL: Final = frozenset({"typecheck", "lint", "unit-test"})
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


def detect_checks(files: ProjectFiles, tools: Toolchain) -> Found:
    """Return the checks a repository's files mention.

    All installed type checkers, linters and runners of tests count; of the others the first found.
    """
    every: dict[str, list[CheckCommand | MissingTool]] = {}
    for language in _LANGUAGES:
        for activity, way in _of_language(files, tools, language):
            every.setdefault(activity, []).append(way)
    return {
        activity: _combine_commands(activity, found, files) for activity, found in every.items()
    }


def _of_language(files: ProjectFiles, tools: Toolchain, language: str) -> "_Ways":
    """Yield the checks of a language; without tests in the root, those of projects in folders."""
    found = list(_LANGUAGES[language](_Project(files, tools), language))
    yield from ((activity, replace(way, language=language)) for activity, way in found)
    if any(activity == "unit-test" for activity, _ in found):
        return
    for folder in nested_projects(files, language):
        project = _Project(files.below(folder), tools.within(folder))
        for activity, way in _LANGUAGES[language](project, language):
            yield activity, replace(way, language=language, folder=folder)


def _combine_commands(
    activity: str, found: Sequence[CheckCommand | MissingTool], files: ProjectFiles
) -> CheckCommand | MissingTool:
    if activity == "unit-test" and len({each.language for each in found}) > 1:
        # A runner for which there is no test is there for something else.
        found = [each for each in found if has_tests(files, each.language)] or found
    ways = [each for each in found if isinstance(each, CheckCommand)]
    if not ways:
        return found[0]
    if activity not in SEVERAL:
        return ways[0]
    lacks = tuple(each for each in found if isinstance(each, MissingTool))
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

    def sets_up_pytest(self) -> bool:
        return self._section("pytest") or self._section("tool:pytest")

    def _section(self, name: str) -> bool:
        """Whether an INI file has a section of this name."""
        parser = read_ini(self.files.text("setup.cfg"), self.files.text("tox.ini"))
        return parser is not None and parser.has_section(name)

    def _toml(self, name: str) -> Mapping[str, object]:
        try:
            return parse_toml(self.files.text(name))
        except ValueError:
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
    tested = _has_tests(project)
    if not (named or tested or files.in_root("*.py")):
        return
    yield from _tools(project, language)
    if tested:
        yield "unit-test", python_tests(files, project.tools, *_pytest_paths(project, "unit"))
    if files.any("tests/e2e/*.py", "e2e/*.py"):
        yield "e2e", python_tests(files, project.tools, *_pytest_paths(project, "e2e"))


def _has_tests(project: _Project) -> bool:
    """Whether pytest is set up, or a file that it would run lies in no project of its own."""
    settings = ("pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py")
    if "pytest" in project.pyproject or project.has(*settings) or project.sets_up_pytest():
        return True
    return any(map(is_python_test, files_outside(project.files, "python")))


def _pytest_paths(project: _Project, kind: str) -> Iterator[str]:
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
    script, own = str(project.scripts.get("test", "")), uses_node_test(project.files)
    found = script_tests(script, project.needs, project.tools, own=own)
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


Commands: TypeAlias = tuple[Argv, ...]  # commands of one activity
FILE: Final = "project.json"
ALWAYS: Final = frozenset({"typecheck", "lint"})  # asked of every change, tool or no tool
_MAX_CHARACTERS: Final = 1_000_000
_SHELL: Final = re.compile(r"[|&;<>`$(){}*?\n]")


class ProjectFile(Struct, frozen=True):
    """What project.json says."""

    commands: Mapping[str, Commands] = field(default_factory=dict)
    flaky: frozenset[str] = frozenset()
    prompt_for_advisory: bool = False


class ProjectCommands(Struct, frozen=True):
    place: Path  # the project's folder, also the path inside the sandbox
    found: Found
    flaky: frozenset[str] = frozenset()
    shown: tuple[ReadOnlyFolder, ...] = ()
    programs: tuple[Path, ...] = ()
    prompt_for_advisory: bool = False

    def command_for(self, activity: str) -> CheckCommand | MissingTool:
        """Return how an activity is checked, or why not and what to configure."""
        way = self.found.get(activity)
        if isinstance(way, CheckCommand):
            return way
        why = way.why if way else f"nothing in {self.place.name} says how to do {activity}"
        return MissingTool(with_advice(why, activity))

    def lacks(self, activity: str) -> str | None:
        """Return why an activity cannot be checked; None if it can, or if no program checks it."""
        way = self.command_for(activity) if activity in ACTIVITIES else None
        return way.why if isinstance(way, MissingTool) else None

    def is_idle(self, activity: str) -> bool:
        """Whether the project has no tool for an activity required of every change."""
        return activity in ALWAYS and activity not in self.found


def with_advice(why: str, activity: str) -> str:
    return f'{why}; set commands.{activity} = ["program", "word"] for this project'


def read_commands(
    place: Path,
    *,
    environ: Mapping[str, str],
    given: Mapping[str, Commands] | None = None,
    flaky: Sequence[str] = (),
    base: str | None = None,
    workspace: Path | None = None,
) -> ProjectCommands:
    """Read a project once; how to check it comes from `base`.

    Tools that the work installed in its `workspace` count only where the project has none.
    """
    place = place.resolve()
    declared = parse_project_file(_file_at(place, base))
    tools = Toolchain(place, environ)
    found = dict(detect_checks(project_files.in_folder(workspace), tools)) if workspace else {}
    here = project_files.at_commit(place, base) if base else project_files.in_folder(place)
    found |= detect_checks(here, tools)
    for origin, commands in ((FILE, declared.commands), ("the settings", given or {})):
        found |= {name: _ways(every, origin) for name, every in commands.items()}
    ways = [way for way in found.values() if isinstance(way, CheckCommand)]
    every = [each for way in ways for each in way.all_commands]
    folders = dict.fromkeys(each.folder for each in (CheckCommand((), ""), *every))
    own = tuple(
        one for each in folders for one in project_files.installed_folders(place / each, INSTALLED)
    )
    programs = _programs(every, tools)
    needed = [each for program in programs for each in tools.needed_folders(program)]
    inside = {each.place for each in own}
    shown = (*own, *(each for each in dict.fromkeys(needed) if each.place not in inside))
    return ProjectCommands(
        place,
        found,
        declared.flaky | frozenset(flaky),
        shown,
        tuple(dict.fromkeys(program.parent for program in programs)),
        declared.prompt_for_advisory,
    )


def _programs(used: Sequence[CheckCommand], tools: Toolchain) -> list[Path]:
    """Return the programs that checks start, after `env NAME=value`."""
    starts = {next((w for w in c.argv if w != "env" and "=" not in w), c.argv[0]) for c in used}
    if any("node_modules" in each or Path(each).name == "npm" for each in starts):
        starts.add("node")  # such a program is started with node
    paths = (Path(each) if "/" in each else tools.find(each) for each in sorted(starts))
    return [path for path in paths if path]


def _ways(commands: Commands, origin: str) -> CheckCommand:
    first, *more = (CheckCommand(argv, origin, reader=reader_of(argv)) for argv in commands)
    return replace(first, also=tuple(more))


def parse_project_file(text: str) -> ProjectFile:
    """Parse project.json; other keys are ignored."""
    if not text:
        return ProjectFile()
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{FILE} is not valid JSON: {error}.") from None
    if not isinstance(whole, dict):
        raise BadInput(f"{FILE} must hold an object.")
    prompts = whole.get("promptForAdvisory", False)
    if not isinstance(prompts, bool):
        raise BadInput(f"promptForAdvisory in {FILE} must be true or false, not {prompts!r:.60}.")
    commands = whole.get("commands", {})
    if not isinstance(commands, dict):
        raise BadInput(f"commands in {FILE} must be an object: activity to a list of words.")
    mine = {name: argv for name, argv in commands.items() if name in ACTIVITIES}
    flaky = whole.get("flaky", [])
    if not isinstance(flaky, list) or not all(isinstance(each, str) for each in flaky):
        raise BadInput(f"flaky in {FILE} must be a list of activities.")
    ways = {name: _commands(name, value) for name, value in mine.items()}
    return ProjectFile(ways, frozenset(flaky), prompts)


def _commands(name: str, value: object) -> Commands:
    """Parse one command, or a list of commands that are lists of arguments."""
    if isinstance(value, list) and value and all(isinstance(each, list) for each in value):
        return tuple(_argv(name, each) for each in cast("list[object]", value))
    return (_argv(name, value),)


def _argv(name: str, value: object) -> Argv:
    """Parse a list of arguments; a string is split if it needs no shell."""
    if isinstance(value, str) and value.strip() and not _SHELL.search(value):
        return tuple(shlex.split(value))
    words = cast("list[object]", value) if isinstance(value, list) else []
    if words and all(isinstance(word, str) and word and "\0" not in word for word in words):
        return tuple(cast("list[str]", words))
    raise BadInput(
        f"commands.{name} in {FILE} is {value!r:.60}; no shell reads it, "
        'so it must be a list of words: ["npm", "run", "lint"], or a list of such lists.'
    )


def _file_at(place: Path, base: str | None) -> str:
    if base is None:
        path = place / FILE
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    else:
        held = project_files.files_at_commit(place, base).get(FILE)
        content = project_files.read_blob(place, held) if held else b""
    return content.decode("utf-8", "replace")[:_MAX_CHARACTERS]
