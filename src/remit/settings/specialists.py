"""Specialist settings: `[specialists.NAME]`, who does code work.

[specialists.claude]
kind = "acp"                                # an agent over the Agent Client Protocol
argv = ["claude-agent-acp"]
env = ["ANTHROPIC_API_KEY"]                 # variables it is given besides PATH, HOME and LANG
network = true                              # its sandbox has none, unless you say so
writes = ["~/.claude", "~/.claude.json"]    # of your home; the rest is not there for it

[specialists.aider]
kind = "command"                            # any command; the prompt comes on stdin, or as a file
argv = ["aider", "--yes", "--message-file", "{prompt_file}"]
sandbox = false                             # then it can read and write what you can

[specialists.brain]
kind = "brain"                              # the model of [brain], with the files of the folder
"""

import re
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.settings.parts import SettingsTable

_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class SpecialistKind(StrEnum):
    BRAIN = "brain"
    COMMAND = "command"
    ACP = "acp"


class SpecialistSettings(Struct, frozen=True, kw_only=True):
    kind: SpecialistKind
    argv: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    time_limit: int = 1800  # seconds for one attempt
    sandbox: bool = True  # around a program; without one it can do whatever you can
    network: bool = False  # in the sandbox
    reads: tuple[str, ...] = ()  # what it may read besides the system and itself
    writes: tuple[str, ...] = ()  # what it may change besides its worktree

    @property
    def runs(self) -> bool:
        """Whether it is a program."""
        return self.kind is not SpecialistKind.BRAIN


def _wrong(found: SpecialistSettings) -> tuple[tuple[bool, str], ...]:
    nameless = [name for name in found.env if not _VARIABLE.fullmatch(name)]
    return (
        (found.runs and not any(found.argv[:1]), 'argv must name a program, such as ["codex-acp"]'),
        (not found.runs and bool(found.argv), "a brain has no argv; its model is in [brain]"),
        (any("\0" in word for word in found.argv), "the words of argv may not hold a NUL"),
        (
            found.kind is SpecialistKind.ACP
            and any("{prompt_file}" in word for word in found.argv),
            "{prompt_file} is for commands; over acp the prompt needs no file",
        ),
        (bool(nameless), f"env has {', '.join(nameless)!r:.60}; it names variables, not values"),
        (any(not each.strip() for each in found.capabilities), "a capability is not empty"),
        (found.time_limit < 1, "time_limit must be a whole number above 0"),
        *_resource_problems(found),
    )


def _resource_problems(found: SpecialistSettings) -> tuple[tuple[bool, str], ...]:
    """What is wrong with what it is lent of the machine."""
    lends = bool(found.reads or found.writes or found.network)
    places = [*found.reads, *found.writes]
    vague = [each for each in places if not _is_place(each)]
    whole = [each for each in places if each not in vague and _is_whole(each)]
    return (
        (
            not found.runs and lends,
            "a brain runs nothing; network, reads and writes are not for it",
        ),
        (
            not found.sandbox and lends,
            "without a sandbox it may do what you may; leave out network, reads and writes",
        ),
        (
            bool(vague),
            f"{''.join(vague[:1])!r:.60} is no place; name a full path, or one that begins with ~/",
        ),
        (bool(whole), f"{''.join(whole[:1])!r:.60} is all of your home; name what it needs of it"),
    )


def _is_place(text: str) -> bool:
    whole = text.startswith(("/", "~/"))
    return whole and "\0" not in text and ".." not in text.split("/")


def _is_whole(text: str) -> bool:
    return Path("~").expanduser().is_relative_to(Path(text).expanduser())


read = SettingsTable(SpecialistSettings, "specialists", "specialists", "a kind", _wrong).read
