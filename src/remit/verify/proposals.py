"""Finds how a project checks itself: CI, scripts, task runners, notes for agents.

The result is proposed to the owner and never run unasked: each command is a list of arguments with
its source file. No shell is used, so a line that needs one is left out.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from posixpath import basename
from typing import Final, cast

from msgspec import Struct

from remit.language.files import read_toml
from remit.verify.project_files import ProjectFiles
from remit.verify.runners import Argv

_MAX_LENGTH: Final = 300  # characters of a command
_SHELL: Final = re.compile(r"[|&;<>`$(){}*?\\]")
_DATA: Final = cast(
    "Mapping[str, Mapping[str, list[str]]]", read_toml("tools", "remit.verify")["proposals"]
)
_PROGRAMS: Final = _DATA["programs"]  # by activity; the first known word decides
_TARGETS: Final = _DATA["targets"]
_RUNNERS, _FORMATTERS, _LOOKS_ONLY, _REPAIRS = map(frozenset, _DATA["words"].values())


class Proposal(Struct, frozen=True):
    """A command that a project uses for an activity, and its source file."""

    activity: str
    argv: Argv
    source: str

    @property
    def tool(self) -> str:
        """The checking program with its subcommand; empty for a make target and the like."""
        words = [basename(word) for word in self.argv]
        known = {each for programs in _PROGRAMS.values() for each in programs}
        at = next((n for n, word in enumerate(words[:4]) if word in known), None)
        if at is None:
            return ""
        return "ruff format" if words[at : at + 2] == ["ruff", "format"] else words[at]


def choose(named: Sequence[Proposal], has: Collection[str]) -> tuple[Proposal, ...]:
    """Return each tool of one activity once, if it is not in `has`.

    A make target or the like is used only if there is no tool.
    """
    first: dict[str, Proposal] = {}
    for each in named:
        if each.tool:
            first.setdefault(each.tool, each)
    new = tuple(each for tool, each in first.items() if tool not in has)
    return new or (() if has else tuple(named[:1]))


def propose(files: ProjectFiles) -> tuple[Proposal, ...]:
    """Return every command that the project's files name, each once; the closest first."""
    found: dict[tuple[str, Argv], Proposal] = {}
    for source, line in _lines(files):
        argv = _argv(line)
        activity = activity_of(argv)
        if activity and argv and not _rewrites(argv):
            found.setdefault((activity, argv), Proposal(activity, argv, source))
    return tuple(found.values())


def _rewrites(argv: Argv) -> bool:
    """Whether a command rewrites files instead of checking, so that it would always pass."""
    words = {basename(word) for word in argv}
    formats = not _FORMATTERS.isdisjoint(words) and _LOOKS_ONLY.isdisjoint(argv)
    return formats or not _REPAIRS.isdisjoint(argv)


def activity_of(argv: Argv) -> str | None:
    """Return what a command checks; None if it is no check."""
    words = [basename(word) for word in argv]
    if words[:1] and words[0] in _RUNNERS:
        for activity, targets in _TARGETS.items():
            if any(word in targets for word in words[1:3]):
                return activity
    if words[:1] in (["go"], ["cargo"]) and len(words) > 1:
        verbs = {"test": "unit-test", "vet": "lint", "clippy": "lint", "build": "build"}
        return verbs.get(words[1], "typecheck" if words[1] == "check" else None)
    for word in words[:4]:
        for activity, programs in _PROGRAMS.items():
            if word in programs:
                return activity
    return None


def _argv(line: str) -> Argv:
    """Return the arguments of a line; empty if it needs a shell."""
    text = re.sub(r"^(?:[-@]+|\$ )\s*", "", line.strip())
    if not text or len(text) > _MAX_LENGTH or _SHELL.search(text):
        return ()
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        return ()
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return tuple(words)


def _lines(files: ProjectFiles) -> Iterator[tuple[str, str]]:
    """Yield lines that may be commands, each with its file."""
    names = sorted(files.names)
    for name in names:
        if name.startswith(".github/workflows/") and name.endswith((".yml", ".yaml")):
            yield from ((name, each) for each in _workflow(files.text(name)))
    for name in names:
        if name.startswith("scripts/") and basename(name) in ("test", "tests", "check", "lint"):
            yield from ((name, each) for each in files.text(name).splitlines())
    yield from _sessions(files)
    for name in ("Makefile", "GNUmakefile", "justfile", ".justfile"):
        starter = "just" if "just" in name else "make"
        yield from ((name, each) for each in _targets(files.text(name), starter))
    yield from (("package.json", each) for each in _scripts(files.text("package.json")))
    for name in ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"):
        yield from ((name, each) for each in _fenced_lines(files.text(name)))


def _sessions(files: ProjectFiles) -> Iterator[tuple[str, str]]:
    """Yield what tox and nox run."""
    for block in re.findall(
        r"^commands\s*=(.*(?:\n[ \t]+.*)*)", files.text("tox.ini"), re.MULTILINE
    ):
        lines = block.splitlines()
        yield from (("tox.ini", re.sub(r"\s*\{posargs[^}]*\}", "", line)) for line in lines)
    for block in re.findall(r"session\.run\(([^()]*)\)", files.text("noxfile.py")):
        yield "noxfile.py", shlex.join(re.findall(r"[\"']([^\"']*)[\"']", block))


def _workflow(text: str) -> Iterator[str]:
    """Yield what the steps of a workflow run: after `run:`, or in the block below."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = re.match(r"(\s*)(?:- )?run:\s*(.*)$", line)
        if not found:
            continue
        if found[2].rstrip() not in ("|", "|-", ">", ">-"):
            yield found[2].strip("'\" ")
            continue
        for below in lines[at + 1 :]:
            if below.strip() and len(below) - len(below.lstrip()) <= len(found[1]):
                break
            yield below


_KNOWN_TARGETS: Final = frozenset(name for names in _TARGETS.values() for name in names)


def _targets(text: str, starter: str) -> Iterator[str]:
    for name in re.findall(r"^([\w-]+)(?: [^:=\n]*)?:(?!=)", text, re.MULTILINE):
        if name in _KNOWN_TARGETS:
            yield f"{starter} {name}"


def _scripts(text: str) -> Iterator[str]:
    block = re.search(r'"scripts"\s*:\s*\{([^}]*)\}', text)
    for name in re.findall(r'"([\w:-]+)"\s*:\s*"', block[1] if block else ""):
        if name in _KNOWN_TARGETS:
            yield f"npm run {name}"


def _fenced_lines(text: str) -> Iterator[str]:
    for block in re.findall(
        r"^```(?:sh|bash|shell|console)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    ):
        yield from block.splitlines()
