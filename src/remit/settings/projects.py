"""The projects of the settings: `[projects.NAME]`, where code is worked on and how it is checked.

[projects.shop]
path = "/data/shop"
specialists = ["claude", "brain"]           # who does the work, in this order
commands.lint = ["ruff", "check", "."]      # else what its files are seen to use
commands.e2e = ["npx", "playwright", "test"]
flaky = ["e2e"]                             # counts when it passes three times in a row

"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final, cast

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap, from_json

ACTIVITIES: Final = ("typecheck", "lint", "unit-test", "e2e", "build")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_WORDS: Final = 'a list of words such as ["ruff", "check", "."]; no shell reads it'
_LEAST_MEMORY: Final = 64  # MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    path: str
    specialists: tuple[str, ...] = ()
    commands: dict[str, Json] = field(default_factory=dict)  # each a list of words
    flaky: tuple[str, ...] = ()
    prompt_for_advisory: bool = False
    time_limit: int = 600  # seconds for one check
    memory: int = 2048  # MB for each process of a check

    @property
    def argvs(self) -> Mapping[str, tuple[str, ...]]:
        """The words of each command."""
        return {name: tuple(cast("list[str]", words)) for name, words in self.commands.items()}


def read(value: object, where: str) -> Mapping[str, Project]:
    """All projects of the settings; what is wrong is named with its place."""
    if not isinstance(value, Mapping):
        raise BadInput(f"projects in {where} must be a table of projects.", field="projects")
    return {
        str(name): _one(str(name), each, f"[projects.{name}] in {where}")
        for name, each in value.items()
    }


def _one(name: str, value: object, where: str) -> Project:
    if not _NAME.fullmatch(name):
        sentence = f"{where}: a name is of small letters, digits, - and _."
        raise BadInput(sentence, field=name)
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} must be a table with a path.", field=name)
    try:
        found = from_json(Project, cast("JsonMap", dict(value)))
    except BadInput as error:
        said = str(error).replace("Project.", "").replace("Project", "it", 1)
        known = ", ".join(each.name for each in fields(Project))
        hint = f" Known: {known}." if "has no field" in said else ""
        raise BadInput(f"{where}: {said}{hint}", field=name) from None
    for holds, sentence in _wrong(found):
        if holds:
            raise BadInput(f"{where}: {sentence}.", field=name)
    return found


def _wrong(found: Project) -> tuple[tuple[bool, str], ...]:
    known = ", ".join(ACTIVITIES)
    strange = [each for each in (*found.commands, *found.flaky) if each not in ACTIVITIES]
    wordless = [name for name, words in found.commands.items() if not _is_argv(words)]
    return (
        (not Path(found.path).expanduser().is_absolute(), "path must be a full path"),
        (bool(strange), f"{', '.join(strange)!r:.60} is no activity; known: {known}"),
        (bool(wordless), f"commands.{''.join(wordless[:1])} must be {_WORDS}"),
        (any(not each.strip() for each in found.specialists), "a specialist's name is not empty"),
        (found.time_limit < 1, "time_limit must be a whole number of seconds above 0"),
        (found.memory < _LEAST_MEMORY, f"memory must be at least {_LEAST_MEMORY} MB"),
    )


def _is_argv(words: Json) -> bool:
    if not isinstance(words, list) or not words:
        return False
    return all(isinstance(word, str) and word and "\0" not in word for word in words)
