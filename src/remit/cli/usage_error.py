"""A wrong command line, told in a sentence: what is wrong, and a command line that is right."""

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Final, Literal, TypeAlias, get_args, get_origin

from cyclopts import App
from cyclopts.argument import Argument
from cyclopts.exceptions import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

_Path: TypeAlias = tuple[str, ...]
# What a command is called with, by the name of the argument; or by its command, where that differs.
_VALUES: Final = {
    "TEXT": "Water the plants",
    "ID": "task-01JZ",
    "IDS": "task-01JZ",
    "TASK": "task-01JZ",
    "SERIES_ID": "ser-01JZ",
    "CONVERSATION": "conv-01JZ",
    "COUNT": "5",
    "WORDS": "every Monday at 8",
    "PAGE": "inbox",
    "KIND": "local",
    "URL": "https://example.org/dav/",
    "WAY": "push",
    "CHANNEL": "email",
    "CHANGE": "3",
    "FILE": "backup.db",
    "LIKE": "water the plants",
    "TYPED": "",
    "FOLDER": ".",
    "DESCRIPTION": "Fix the login",
    "SHELL": "bash",
    "NAME": "news",
    "--to": "2026-03-01T08:30",
    "--slot": "2026-03-01T08:30:00Z",
    "--message": "Shorter, please",
}
_EXAMPLES: Final = {
    ("answer",): "remit answer rev-01JZ 'Tomorrow at 8'",
    ("channels", "on"): "remit channels on email",
    ("channels", "test"): "remit channels test email",
    ("contacts", "add"): "remit contacts add Anna --channel email=anna@example.org",
    ("contacts", "show"): "remit contacts show Anna",
    ("contacts", "remove"): "remit contacts remove Anna",
    ("contacts", "allow"): "remit contacts allow Anna email",
    ("contacts", "ask"): "remit contacts ask Anna email",
    ("contacts", "deny"): "remit contacts deny Anna email",
    ("hooks", "add"): "remit hooks add news --text 'Read the news to me'",
    ("rehearse", "calendar"): "remit rehearse calendar week.ics",
    ("rehearse", "priority"): "remit rehearse priority 'Pay the rent today'",
    ("rules", "check"): "remit rules check rules.yaml",
    ("tokens", "add"): "remit tokens add reader --scope read",
}
_KINDS: Final[dict[object, str]] = {int: "a whole number", float: "a number"}
_NUMBERS: Final[dict[object, str]] = {int: "5", float: "10"}


def sentence_of(error: CycloptsError, root: App) -> str:
    """Return what is wrong with a command line, and one that is right."""
    path = tuple(error.command_chain or ())
    app = _app_of(root, path)
    extra = error.unused_tokens or ()
    if isinstance(error, UnknownCommandError) or (extra and _subcommands(app)):
        return _unknown_command(app, path, str(extra[0]) if extra else "")
    wrong = _problem(error, _command_line(path), app)
    return f"{wrong} For example: `{example(app, path)}{_option_of(error)}`."


def _unknown_command(app: App, path: _Path, given: str) -> str:
    known = _subcommands(app)
    near = get_close_matches(given, known) or (known if path else [])
    hint = f"there is {', '.join(near)}" if near else "and none like it"
    wrong = f"There is no command `{_command_line((*path, given))}`; {hint}."
    return f"{wrong} `{_command_line((*path, '--help'))}` lists all."


def _option_of(error: CycloptsError) -> str:
    """Return the option that was wrong, with a value that would be right."""
    token = getattr(error, "token", None)
    option = getattr(error, "keyword", None) or (token.keyword if token else None)
    if not option or error.argument is None or isinstance(error, RepeatArgumentError):
        return ""
    wanted = getattr(error, "target_type", None) or error.argument.hint
    choices = _choices(wanted)
    value = choices[0] if choices else _NUMBERS.get(wanted, _VALUES.get(option, "…"))
    return f" {option} {shlex.quote(value) if value != '…' else value}"


def example(app: App, path: _Path) -> str:
    """Return a command line that this command accepts."""
    if path in _EXAMPLES:
        return _EXAMPLES[path]
    words = list[str]()
    for each in _arguments(app):
        value = _VALUES.get(each.name, "")
        if _is_positional(each) and value:
            words.append(value)
        elif each.required:
            words += [each.name, value]
    return shlex.join(("remit", *path, *words))


def _problem(error: CycloptsError, command: str, app: App) -> str:
    name = error.argument.name if error.argument is not None else ""
    match error:
        case UnusedCliTokensError():
            extra = _quoted(error.unused_tokens or ())
            sentence = f"`{command}` takes {_accepted(app)}; {extra} is too much."
        case UnknownOptionError():
            options = [each.name for each in _arguments(app) if not _is_positional(each)]
            given = error.token.keyword or error.token.value
            sentence = f"`{command}` has no option {given}; it has {', '.join(options)}."
        case MissingArgumentError():
            sentence = f"`{command}` needs {name}."
            if error.keyword:
                sentence = f"{error.keyword} needs a value."
        case CoercionError() if error.token is not None:
            kind = _kind(error.target_type)
            sentence = f"{error.token.keyword or name} is {error.token.value!r}; it must be {kind}."
        case RepeatArgumentError():
            sentence = f"{error.token.keyword or name} is given more than once; give it once."
        case _:
            sentence = str(error).strip()
    return sentence


def _accepted(app: App) -> str:
    names = [each.name for each in _arguments(app) if _is_positional(each)]
    return f"{' and '.join(names)} and options" if names else "options only"


def _kind(wanted: object) -> str:
    if choices := _choices(wanted):
        return f"one of {', '.join(choices)}"
    return _KINDS.get(wanted, "something else")


def _choices(wanted: object) -> list[str]:
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return [str(each.value) for each in wanted]
    inside = get_args(wanted)
    if get_origin(wanted) is Literal:
        return [str(each) for each in inside]
    return [choice for each in inside for choice in _choices(each)]


def _subcommands(app: App) -> list[str]:
    return [each for each in app if not each.startswith("-")]


def _app_of(root: App, path: _Path) -> App:
    for name in path:
        root = root[name]
    return root


def _arguments(app: App) -> list[Argument]:
    return list(app.assemble_argument_collection()) if app.default_command else []


def _is_positional(argument: Argument) -> bool:
    return not argument.name.startswith("-")


def _command_line(path: _Path) -> str:
    return " ".join(("remit", *path))


def _quoted(tokens: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, tokens))
