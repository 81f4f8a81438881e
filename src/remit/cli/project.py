"""`remit project`: set up a project from what its own files say, and list projects."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Struct

from remit import settings as app_settings
from remit.cli import codes, out, remit_client
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, flag
from remit.cli.verify import verify
from remit.errors import BadInput, Conflict
from remit.model.codec import JsonMap
from remit.settings import Settings, sections
from remit.settings.parts import NAME
from remit.specialist import specialist_health
from remit.specialist.specialist_health import InstalledAgent
from remit.verify import project, project_files, proposals
from remit.verify.project import ACTIVITIES, SEVERAL
from remit.verify.project_files import Toolchain
from remit.verify.proposals import Proposal
from remit.verify.runners import CheckCommand, MissingTool

_NAME: Final = re.compile(r"[^a-z0-9]+")

app = CommandGroup("project")


class _Plan(Struct, frozen=True):
    """What would be written for a project."""

    name: str
    place: Path
    detected: Mapping[str, str]  # the detected check of each activity
    commands: Sequence[Proposal]
    agents: Sequence[InstalledAgent]
    missing: Sequence[Proposal] = ()  # commands whose program is not installed


@app.default
@app.command("ls")
def ls(*, json: AsJson = False) -> int:
    """List the projects and the specialists who work on them."""
    known = app_settings.load().projects
    listed: JsonMap = {
        "projects": [
            {"name": name, "path": each.path, "specialists": [*each.specialists]}
            for name, each in known.items()
        ]
    }
    lines = [
        f"{name}: {each.path}, worked on by {', '.join(each.specialists) or 'anyone'}"
        for name, each in known.items()
    ]
    empty = [] if known else ["No project is set up. `remit project add FOLDER` sets one up."]
    return out.print_result(json, listed, *empty, data="\n".join(lines))


@app.command()
def add(
    folder: Annotated[Path, flag("The project's folder, a git repository.")] = Path(),
    /,
    *,
    name: Annotated[str, flag("A name for it; default: the folder's name.", "--name")] = "",
    yes: Annotated[bool, flag("Accept all proposals without asking.", "--yes")] = False,
    unchecked: Annotated[bool, flag("Do not run the checks.", "--unchecked")] = False,
    json: AsJson = False,
) -> int:
    """Set up a project: show what was found, ask once, store it, run the checks."""
    settings = app_settings.load()
    place = folder.resolve()
    _check_folder(folder, place)
    called = name or _NAME.sub("-", place.name.lower()).strip("-")
    if not re.fullmatch(NAME, called):
        raise BadInput(
            f"{called!r:.60} cannot be the name of a project; give it a --name of small letters, "
            "digits, - and _, such as shop.",
            field="name",
        )
    plan = _plan(settings, place, called)
    _tell(plan)
    chosen = plan if yes or _agrees("Write this down?") else _Plan(plan.name, place, {}, (), ())
    remit_client.furnish(settings)
    path = settings.home / "settings.toml"
    sections.set_values(path, _tables(chosen, settings))
    out.line(f'{plan.name} is set up in {path}. `remit add "…" --project {plan.name}` uses it.')
    if json:
        out.emit({"name": plan.name, "path": str(place)})
    if unchecked:
        return codes.DONE
    out.say("The checks are run once, on the project as it is.")
    return verify(workspace=place, json=json)


def _check_folder(folder: Path, place: Path) -> None:
    if not place.is_dir():
        raise BadInput(f"There is no folder {folder}; name one that holds a project.")
    top = next((each for each in (place, *place.parents) if (each / ".git").exists()), None)
    if top is None:
        raise BadInput(
            f"{place} is not under git, and a project has to be: its work is compared with the "
            "last commit. `git init` there and commit what it has, then add it."
        )
    if top != place:
        raise BadInput(f"{place} lies in the git repository {top}; add that folder.")


def _plan(settings: Settings, place: Path, name: str) -> _Plan:
    if name in settings.projects:
        raise Conflict(f"There is a project {name} already; give this one another --name.")
    ways = project.read_commands(place, environ=os.environ)
    found = {activity: ways.command_for(activity) for activity in ACTIVITIES}
    detected = {
        each: ", ".join(one.origin for one in way.all_commands)
        for each, way in found.items()
        if isinstance(way, CheckCommand)
    }
    tools = Toolchain(place, os.environ)
    every = proposals.propose(project_files.in_folder(place))
    named = [each for each in every if tools.find(each.argv[0])]
    commands = [each for activity in ACTIVITIES for each in _new(found[activity], activity, named)]
    missing = [each for each in every if each not in named and each.tool]
    agents = list(specialist_health.installed_agents(os.environ.get("PATH")))
    return _Plan(name, place, detected, commands, agents, missing)


def _new(
    way: CheckCommand | MissingTool, activity: str, named: Sequence[Proposal]
) -> Sequence[Proposal]:
    """Return what a project's files name for an activity, beyond what is detected.

    A setting replaces what is detected, so it includes that, too.
    """
    ours = [each for each in named if each.activity == activity]
    if isinstance(way, MissingTool):
        return proposals.choose(ours, ())[: None if activity in SEVERAL else 1]
    if activity not in SEVERAL:
        return ()
    seen = [
        Proposal(activity, (Path(w.argv[0]).name, *w.argv[1:]), "its files")
        for w in way.all_commands
    ]
    new = proposals.choose(ours, {each.tool or each.argv[0] for each in seen})
    return (*seen, *new) if new else ()


def _tell(plan: _Plan) -> None:
    for activity in ACTIVITIES:
        own = [each for each in plan.commands if each.activity == activity]
        for each in own:
            out.line(f"{activity}: {' '.join(each.argv)}, proposed from {each.source}")
        if not own:
            seen = plan.detected.get(activity)
            out.line(f"{activity}: {f'{seen}, as its files say' if seen else 'nothing says how'}")
    for each in plan.missing:
        out.line(f"{each.activity}: {each.argv[0]}, named in {each.source}, is not installed")
    for agent in plan.agents:
        how = "over ACP" if agent.kind == "acp" else "as a command"
        out.line(f"{agent.name}: installed, would work on it {how}, with the network")
    if not plan.agents:
        out.line("No coding agent is installed; the model of [brain] would work on it.")


def _agrees(question: str) -> bool:
    if not sys.stdin.isatty():
        out.say("Nobody is there to ask; only the folder is written down. --yes takes it all.")
        return False
    return out.agrees(question)


def _tables(plan: _Plan, settings: Settings) -> Mapping[str, Mapping[str, object]]:
    """What is written down of a project, and of agents that are new."""
    project: dict[str, object] = {"path": str(plan.place)}
    if plan.agents:
        project["specialists"] = [each.name for each in plan.agents]
    commands: dict[str, object] = {}
    for activity in dict.fromkeys(each.activity for each in plan.commands):
        every = [list(each.argv) for each in plan.commands if each.activity == activity]
        commands[activity] = every if every[1:] else every[0]
    if commands:
        project["commands"] = commands
    tables: dict[str, Mapping[str, object]] = {f"projects.{plan.name}": project}
    for agent in (each for each in plan.agents if each.name not in settings.specialists):
        table = {"env": list(agent.env), "writes": list(agent.writes)}
        given = {key: value for key, value in table.items() if value}
        tables[f"specialists.{agent.name}"] = {
            "kind": agent.kind,
            "network": True,
            "argv": list(agent.argv),
            **given,
        }
    return tables
