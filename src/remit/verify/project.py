"""How a project's work is checked: from the settings, else project.json, else detected.

    ways = read(place, given={"lint": (("make", "lint"),)}, environ=os.environ)
    ways.command_for("lint")         # CheckCommand(("make", "lint"), "the settings")

`project.json`, and everything that detection reads, come from the commit that the work began from,
if there is one, so the work cannot change how it is checked.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias, cast

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput
from remit.verify import ground, presets, project_files, repository
from remit.verify.ground import INSTALLED, Toolchain
from remit.verify.presets import ACTIVITIES
from remit.verify.runners import Argv, CheckCommand, MissingTool, reader_of
from remit.verify.sandbox import ReadOnlyFolder

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
    found: presets.Found
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
        return MissingTool(f'{why}; set commands.{activity} = ["program", "word"] for this project')

    def lacks(self, activity: str) -> str | None:
        """Return why an activity cannot be checked; None if it can, or if no program checks it."""
        way = self.command_for(activity) if activity in ACTIVITIES else None
        return way.why if isinstance(way, MissingTool) else None

    def is_idle(self, activity: str) -> bool:
        """Whether the project has no tool for an activity required of every change."""
        return activity in ALWAYS and activity not in self.found


def read(
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
    declared = parse(_file_at(place, base))
    tools = Toolchain(place, environ)
    found = dict(presets.detect(project_files.in_folder(workspace), tools)) if workspace else {}
    here = project_files.at_commit(place, base) if base else project_files.in_folder(place)
    found |= presets.detect(here, tools)
    for origin, commands in ((FILE, declared.commands), ("the settings", given or {})):
        found |= {name: _ways(every, origin) for name, every in commands.items()}
    own = ground.installed(place, INSTALLED)
    programs = _programs(found, tools)
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


def _programs(found: presets.Found, tools: Toolchain) -> list[Path]:
    """Return the programs that checks start, after `env NAME=value`."""
    used = (
        each for way in found.values() if isinstance(way, CheckCommand) for each in way.all_commands
    )
    starts = {next((w for w in c.argv if w != "env" and "=" not in w), c.argv[0]) for c in used}
    if any("node_modules" in each or Path(each).name == "npm" for each in starts):
        starts.add("node")  # such a program is started with node
    paths = (Path(each) if "/" in each else tools.find(each) for each in sorted(starts))
    return [path for path in paths if path]


def _ways(commands: Commands, origin: str) -> CheckCommand:
    first, *more = (CheckCommand(argv, origin, reader=reader_of(argv)) for argv in commands)
    return replace(first, also=tuple(more))


def parse(text: str) -> ProjectFile:
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
        held = repository.tree(place, base).get(FILE)
        content = repository.blob(place, held) if held else b""
    return content.decode("utf-8", "replace")[:_MAX_CHARACTERS]
