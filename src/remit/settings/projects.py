"""Where code is worked on and how it is checked: `[projects.NAME]`; by whom: `[specialists.NAME]`.

[projects.shop]
path = "/data/shop"
specialists = ["claude", "brain"]           # who does the work, in this order
chains.frontend = ["gemini", "claude"]      # who does work of one kind; the first that fits counts
commands.lint = ["ruff", "check", "."]      # else what its files are seen to use
commands.typecheck = [["mypy"], ["pyright"]]    # several: each has to pass
commands.e2e = ["npx", "playwright", "test"]
flaky = ["e2e"]                             # counts when it passes three times in a row

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
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, cast

from msgspec import Struct, field

from remit.model.codec import Json
from remit.settings.parts import NAME, SettingsTable

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
_WORDS: Final = (
    'a list of words such as ["ruff", "check", "."], or several such lists; no shell reads it'
)
_MIN_MEMORY_MB: Final = 64  # MB


class ProjectSettings(Struct, frozen=True, kw_only=True):
    path: str
    specialists: tuple[str, ...] = ()
    chains: dict[str, Json] = field(default_factory=dict)  # each a list of specialists
    commands: dict[str, Json] = field(default_factory=dict)  # one command each, or several
    flaky: tuple[str, ...] = ()
    prompt_for_advisory: bool = False
    time_limit: int = 600  # seconds for one check
    memory: int = 2048  # MB for each process of a check

    @property
    def argvs(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """The commands of each activity, as arguments."""
        return {
            name: tuple(tuple(cast("list[str]", each)) for each in _command_list(command))
            for name, command in self.commands.items()
        }

    @property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """Who does work of a kind, by kind."""
        return {kind: tuple(cast("list[str]", names)) for kind, names in self.chains.items()}


def _wrong(found: ProjectSettings) -> tuple[tuple[bool, str], ...]:
    known = ", ".join(ACTIVITIES)
    strange = [each for each in (*found.commands, *found.flaky) if each not in ACTIVITIES]
    wordless = [name for name, words in found.commands.items() if not _are_commands(words)]
    unnamed = [kind for kind, names in found.chains.items() if not _is_argv(names)]
    odd = [kind for kind in found.chains if not re.fullmatch(NAME, kind)]
    return (
        (not Path(found.path).expanduser().is_absolute(), "path must be a full path"),
        (bool(strange), f"{', '.join(strange)!r:.60} is no activity; known: {known}"),
        (bool(wordless), f"commands.{''.join(wordless[:1])} must be {_WORDS}"),
        (bool(odd), f"chains has {''.join(odd[:1])!r:.60}; a kind is a word such as frontend"),
        (bool(unnamed), f'chains.{"".join(unnamed[:1])} must be a list such as ["claude"]'),
        (any(not each.strip() for each in found.specialists), "a specialist's name is not empty"),
        (found.time_limit < 1, "time_limit must be a whole number of seconds above 0"),
        (found.memory < _MIN_MEMORY_MB, f"memory must be at least {_MIN_MEMORY_MB} MB"),
    )


def _command_list(content: Json) -> list[Json]:
    """The commands in a setting: it is one, or a list of several."""
    several = (
        isinstance(content, list) and content and all(isinstance(each, list) for each in content)
    )
    return cast("list[Json]", content) if several else [content]


def _are_commands(content: Json) -> bool:
    return all(map(_is_argv, _command_list(content)))


def _is_argv(words: Json) -> bool:
    if not isinstance(words, list) or not words:
        return False
    return all(isinstance(word, str) and word and "\0" not in word for word in words)


read = SettingsTable(ProjectSettings, "projects", "projects", "a path", _wrong).read


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


def _specialist_problems(found: SpecialistSettings) -> tuple[tuple[bool, str], ...]:
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


read_specialists = SettingsTable(
    SpecialistSettings, "specialists", "specialists", "a kind", _specialist_problems
).read
