"""Which coding agents are installed, and the state of projects and specialists; runs nothing."""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, convert
from msgspec.structs import replace

from remit.language.files import read_toml
from remit.settings.projects import ProjectSettings, SpecialistKind, SpecialistSettings
from remit.specialist.abstract_sockets import can_hide
from remit.specialist.chain import NOBODY
from remit.system.process import find_program

OWN: Final = "brain"  # a specialist even if not listed


class SpecialistHealth(Struct, frozen=True):
    """`verdict` is ok, warn or fail; `place` is its location, `todo` says how to fix it."""

    name: str
    verdict: str
    said: str
    place: str
    todo: str = ""

    @property
    def whole(self) -> str:
        return (
            f"{self.name}: {self.place}, {self.said}" if self.place else f"{self.name}: {self.said}"
        )


def projects(
    known: Mapping[str, ProjectSettings],
    specialists: Mapping[str, SpecialistSettings],
    kinds: Callable[[ProjectSettings], Collection[str]],
    *,
    thinks: bool,
) -> Iterator[SpecialistHealth]:
    """Yield each project: whether its folder exists, is under git, and who works on it.

    `kinds` returns the kinds of work its rules know; `thinks`: whether there is a model.
    """
    for name, each in known.items():
        stand = _project(name, known, specialists, thinks=thinks)
        yield _check_chains(stand, each, kinds(each)) if stand.verdict == "ok" else stand


def specialists(
    known: Mapping[str, SpecialistSettings], path: str | None
) -> Iterator[SpecialistHealth]:
    """Yield each specialist: whether its program is found in the folders of `path`."""
    for name, each in known.items():
        yield _specialist(name, each, path)


def workers(
    name: str, projects: Mapping[str, ProjectSettings], known: Collection[str]
) -> tuple[str, ...]:
    """Return who works on a project: those it names, else those that no other project names.

    The brain belongs to no project alone.
    """
    mine = projects[name]
    if mine.specialists:
        return mine.specialists
    others = {one for key, each in projects.items() if key != name for one in _specialists_of(each)}
    own = {OWN, *_specialists_of(mine)}
    return tuple(each for each in known if each in own or each not in others)


def _specialists_of(project: ProjectSettings) -> list[str]:
    chained = (one for line in project.lines.values() for one in line)
    return list(dict.fromkeys((*project.specialists, *chained)))


def _project(
    name: str,
    projects: Mapping[str, ProjectSettings],
    known: Mapping[str, SpecialistSettings],
    *,
    thinks: bool,
) -> SpecialistHealth:
    project = projects[name]
    folder, table = Path(project.path).expanduser(), f"[projects.{name}] in settings.toml"
    place = str(folder)
    if not folder.is_dir():
        return SpecialistHealth(
            name, "fail", "the folder is not there", place, f"Fix path under {table}."
        )
    if not (folder / ".git").exists():
        todo = f"Run `git init` there and commit, or fix path under {table}."
        return SpecialistHealth(name, "fail", "the folder is no git repository", place, todo)
    missing = [each for each in _specialists_of(project) if each not in known and each != OWN]
    if missing:
        problem = f"nobody is called {', '.join(missing)}"
        todo = f"Name them as [specialists.{missing[0]}], or fix specialists under {table}."
        return SpecialistHealth(name, "fail", problem, place, todo)
    people = workers(name, projects, list(dict.fromkeys((*known, OWN))))
    needs_model = {OWN, *(one for one, each in known.items() if each.kind is SpecialistKind.BRAIN)}
    able = [each for each in people if thinks or each not in needs_model]
    if not able:
        return SpecialistHealth(name, "fail", "nobody can work on it", place, NOBODY)
    return SpecialistHealth(name, "ok", f"worked on by {', '.join(able)}", place)


def _check_chains(
    stand: SpecialistHealth, project: ProjectSettings, kinds: Collection[str]
) -> SpecialistHealth:
    """Report a chain for an unknown kind of work: it would never be used."""
    strange = [kind for kind in project.chains if kind not in kinds]
    if strange:
        table = f"[projects.{stand.name}.chains] in settings.toml"
        todo = f"Fix {table}; known: {', '.join(sorted(kinds))}."
        return replace(stand, verdict="fail", said=f"no work is called {strange[0]}", todo=todo)
    lines = (f"{kind} by {', '.join(names)}" for kind, names in project.lines.items())
    return replace(stand, said="; ".join((stand.said, *lines)))


def _specialist(name: str, specialist: SpecialistSettings, path: str | None) -> SpecialistHealth:
    if specialist.kind is SpecialistKind.BRAIN:
        return SpecialistHealth(name, "ok", "the brain of [brain]", "")
    program, kind = specialist.argv[0], _KINDS[specialist.kind]
    found = shutil.which(program, path=path)
    if found is None:
        todo = f"Install it, or fix argv under [specialists.{name}] in settings.toml."
        return SpecialistHealth(name, "fail", f"{Path(program).name} is not on PATH", "", todo)
    if specialist.sandbox and find_program("bwrap") is None:
        todo = f"Install bubblewrap, or say sandbox = false under [specialists.{name}]."
        return SpecialistHealth(name, "fail", "there is no sandbox to run it in", found, todo)
    state = f"{kind}, {specialist.time_limit} s for a try, {_around(specialist)}"
    return SpecialistHealth(name, "ok" if specialist.sandbox else "warn", state, found)


def _around(specialist: SpecialistSettings) -> str:
    """Return what limits it, in words."""
    if not specialist.sandbox:
        return "without a sandbox: it can read and write what you can"
    if not specialist.network:
        return "in a sandbox without network"
    bwrap = find_program("bwrap")
    hidden = bwrap is not None and can_hide(bwrap)
    sockets = "" if hidden else ", and abstract Unix sockets (Linux 6.12 could hide them)"
    return (
        "in a sandbox with network: it reaches what this machine does, every service that listens "
        f"on its loopback{sockets}"
    )


_KINDS: Final = {SpecialistKind.COMMAND: "a command", SpecialistKind.ACP: "an agent over ACP"}


class InstalledAgent(Struct, frozen=True):
    """An installed agent: its name, its protocol, and what it needs of the home."""

    name: str
    kind: str  # acp or command
    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def installed_agents(path: str | None) -> Iterator[InstalledAgent]:
    """Yield each agent found in the folders of `path`, in its best form."""
    found = set[str]()
    known = convert(read_toml("installed", __package__)["agents"], list[InstalledAgent])
    for agent in known:
        if agent.name not in found and shutil.which(agent.argv[0], path=path):
            found.add(agent.name)
            yield agent
