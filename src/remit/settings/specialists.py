"""The specialists of the settings: `[specialists.NAME]`, who does code work.

[specialists.claude]
kind = "acp"                                # an agent over the Agent Client Protocol
argv = ["claude-agent-acp"]
capabilities = ["code", "web"]
env = ["ANTHROPIC_API_KEY"]                 # variables it is given besides PATH, HOME and LANG

[specialists.aider]
kind = "command"                            # any command; the prompt comes on stdin, or as a file
argv = ["aider", "--yes", "--message-file", "{prompt_file}"]

[specialists.brain]
kind = "brain"                              # the model of [brain], with the files of the folder
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final, cast

from remit.errors import BadInput
from remit.model.codec import JsonMap, from_json

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Kind(StrEnum):
    BRAIN = "brain"
    COMMAND = "command"
    ACP = "acp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Specialist:
    kind: Kind
    argv: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    time_limit: int = 1800  # seconds for one attempt


def read(value: object, where: str) -> Mapping[str, Specialist]:
    """All specialists of the settings; what is wrong is named with its place."""
    if not isinstance(value, Mapping):
        sentence = f"specialists in {where} must be a table of specialists."
        raise BadInput(sentence, field="specialists")
    return {
        str(name): _one(str(name), each, f"[specialists.{name}] in {where}")
        for name, each in value.items()
    }


def _one(name: str, value: object, where: str) -> Specialist:
    if not _NAME.fullmatch(name):
        raise BadInput(f"{where}: a name is of small letters, digits, - and _.", field=name)
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} must be a table with a kind.", field=name)
    try:
        found = from_json(Specialist, cast("JsonMap", dict(value)))
    except BadInput as error:
        said = str(error).replace("Specialist.", "").replace("Specialist", "it", 1)
        known = ", ".join(each.name for each in fields(Specialist))
        hint = f" Known: {known}." if "has no field" in said else ""
        raise BadInput(f"{where}: {said}{hint}", field=name) from None
    for holds, sentence in _wrong(found):
        if holds:
            raise BadInput(f"{where}: {sentence}.", field=name)
    return found


def _wrong(found: Specialist) -> tuple[tuple[bool, str], ...]:
    runs = found.kind is not Kind.BRAIN
    nameless = [name for name in found.env if not _VARIABLE.fullmatch(name)]
    return (
        (runs and not any(found.argv[:1]), 'argv must name a program, such as ["codex-acp"]'),
        (not runs and bool(found.argv), "a brain has no argv; its model is in [brain]"),
        (any("\0" in word for word in found.argv), "the words of argv may not hold a NUL"),
        (
            found.kind is Kind.ACP and any("{prompt_file}" in word for word in found.argv),
            "{prompt_file} is for commands; over acp the prompt needs no file",
        ),
        (bool(nameless), f"env has {', '.join(nameless)!r:.60}; it names variables, not values"),
        (any(not each.strip() for each in found.capabilities), "a capability is not empty"),
        (found.time_limit < 1, "time_limit must be a whole number above 0"),
    )
