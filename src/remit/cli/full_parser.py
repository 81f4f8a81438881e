"""The whole command line with cyclopts: help, completion scripts, and what is wrong with words.

A wrong command line is told in a sentence: what is wrong, and a command line that is right.
"""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from types import FunctionType
from typing import Annotated, Final, Literal, TypeAlias, cast, get_args, get_origin

from cyclopts import App, Group, Parameter
from cyclopts.argument import Argument, Token
from cyclopts.exceptions import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)
from cyclopts.validators import Number

from remit import __version__
from remit.cli import out
from remit.cli.codes import UsageError
from remit.cli.commands import (
    ABOUT,
    COMMANDS,
    HOUSE,
    LISTS,
    QUESTIONS,
    START,
    TASKS,
    Command,
    CommandGroup,
    Flag,
    load,
)
from remit.cli.out import AsJson, flag

_DEFAULT: Final = Parameter(show_default=False, negative=())


def call(argv: Sequence[str]) -> object:
    """Run what was typed, and return what the command returns; raises `UsageError`."""
    app, words = build(), _with_list_name(argv)
    try:
        done: object = app(
            words, exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        error.verbose = False
        raise UsageError(sentence_of(error, app)) from None
    return done


def _with_list_name(argv: Sequence[str]) -> list[str]:
    """Return the words; `ls` and `list` of a group become the one that it has."""
    words = [*argv]
    with suppress(KeyError, IndexError):
        group = load(words[0])
        if words[1] in LISTS and isinstance(group, CommandGroup):
            words[1] = group.find(words[1]) or words[1]
    return words


def build() -> App:
    """Register all commands without loading them."""
    app = App(
        name="remit",
        help=ABOUT,
        version=__version__,
        default_parameter=_DEFAULT,
        help_epilogue=START,
    )
    groups = {name: Group.create_ordered(name) for name in (TASKS, QUESTIONS, HOUSE)}
    for order, (group, names, _, help_text) in enumerate(COMMANDS):
        first = names if isinstance(names, str) else names[0]
        place = f"{__name__}:{first}"
        app.command(place, name=names, help=help_text, group=groups[group], sort_key=order)
    for option in ("--help", "--version"):
        app[option].group = (groups[HOUSE],)
    return app


def __getattr__(name: str) -> App | Command:
    """Let cyclopts import a command from here by its name, only when it needs it."""
    try:
        command = load(name)
    except KeyError:
        raise AttributeError(name) from None
    return _to_app(command) if isinstance(command, CommandGroup) else _with_parameters(command)


def _to_app(group: CommandGroup) -> App:
    app = App(name=group.name, help=group.help, default_parameter=_DEFAULT)
    for name in group.commands:
        app.command(_with_parameters(group.load(name)), name=name)
    if group.default_command is not None:
        app.default(_with_parameters(group.default_command))
    return app


def _with_parameters(command: Command | CommandGroup) -> Command:
    """Return the same function with flags that cyclopts knows."""
    if not isinstance(command, FunctionType):
        raise TypeError
    copy = FunctionType(
        command.__code__,
        command.__globals__,
        command.__name__,
        command.__defaults__,
        command.__closure__,
    )
    copy.__doc__, copy.__kwdefaults__ = command.__doc__, command.__kwdefaults__
    copy.__annotations__ = {name: _hint(hint) for name, hint in command.__annotations__.items()}
    return copy


def _hint(hint: object) -> object:
    if get_origin(hint) is not Annotated:
        return hint
    kind, *flags = get_args(hint)
    return Annotated[kind, *(_parameter(flag) for flag in flags)]


def _parameter(flag: Flag) -> Parameter:
    return Parameter(
        name=flag.names or None,
        help=flag.help or None,
        allow_leading_hyphen=flag.leading_hyphen,
        show=flag.shown,
        validator=None if flag.least is None else Number(gte=flag.least, lte=flag.most),
    )


def completion_script(
    shell: Annotated[Literal["bash", "zsh", "fish"], flag("Which shell.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Print a completion script; put it where your shell looks for such.

    In bash: remit completion bash > ~/.local/share/bash-completion/completions/remit
    """
    script = build().generate_completion(prog_name="remit", shell=shell)
    if json:
        out.emit({"shell": shell, "script": script})
    else:
        print(script)
    return 0


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
    "PATH": "notes.txt",
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
    "--port": "8080",
    "-p": "8080",
    "--score": "0.5",
    "--at": "2026-03-01T08:30:00Z",
    "--in": "2h30m",
    "--every": "weekday at 8:30",
    "--cron": "30 8 * * 1-5",
    "--tz": "Europe/Berlin",
    "--files": "src/shop.py",
    "--file": "report.pdf",
    "--save": "report.pdf",
    "--channel": "email",
    "--text": "Hello!",
    "--title": "Plants",
}
_EXAMPLES: Final = {
    ("answer",): "remit answer rev-01JZ 'Tomorrow at 8'",
    ("backup",): "remit backup --to backups",
    ("channels", "add"): "remit channels add telegram",
    ("channels", "on"): "remit channels on email",
    ("channels", "test"): "remit channels test email",
    ("contacts", "add"): "remit contacts add Anna --channel email=anna@example.org",
    ("contacts", "show"): "remit contacts show Anna",
    ("contacts", "remove"): "remit contacts remove Anna",
    ("contacts", "allow"): "remit contacts allow Anna email",
    ("contacts", "ask"): "remit contacts ask Anna email",
    ("contacts", "deny"): "remit contacts deny Anna email",
    ("edit",): "remit edit task-01JZ --title Plants",
    ("hooks", "add"): "remit hooks add news --text 'Read the news to me'",
    ("rehearse", "calendar"): "remit rehearse calendar week.ics",
    ("move",): "remit move --to postgresql://remit@db.example.org/remit",
    ("rehearse", "priority"): "remit rehearse priority task.json",
    ("rules", "check"): "remit rules check rules.yaml",
    ("tokens", "add"): "remit tokens add reader --scope read",
}
_KINDS: Final[dict[object, str]] = {int: "a whole number", float: "a number"}
_NUMBERS: Final[dict[object, str]] = {int: "5", float: "10"}
_ROOT_OPTIONS: Final = "--help and --version"


def sentence_of(error: CycloptsError, root: App) -> str:
    """Return what is wrong with a command line, and one that is right."""
    path = tuple(error.command_chain or ())
    app = _app_of(root, path)
    extra = error.unused_tokens or ()
    first = str(next(iter(extra), ""))
    if not path and first.startswith("-"):
        return f"`remit` has no option {first}; it has {_ROOT_OPTIONS}. Commands come first."
    if isinstance(error, UnknownCommandError) or (extra and _subcommands(app)):
        return _unknown_command(app, path, first)
    wrong, right, option = _problem(error, _command_line(path), app), example(app, path), ""
    if path not in _EXAMPLES or f" {_option_name(error)} " not in right:
        option = _option_of(error)
    return f"{wrong} For example: `{right}{option}`."


def _unknown_command(app: App, path: _Path, given: str) -> str:
    known = _subcommands(app)
    near = get_close_matches(given, known) or (known if path else [])
    hint = f"there is {', '.join(near)}" if near else "and none like it"
    wrong = f"There is no command `{_command_line((*path, given))}`; {hint}."
    return f"{wrong} `{_command_line((*path, '--help'))}` lists all."


def _option_of(error: CycloptsError) -> str:
    """Return the option that was wrong, with a value that would be right."""
    option = _option_name(error)
    if not option or error.argument is None or isinstance(error, RepeatArgumentError):
        return ""
    wanted = getattr(error, "target_type", None) or error.argument.hint
    if _is_switch(error):
        return f" {option}"
    choices = _choices(wanted)
    value = choices[0] if choices else _VALUES.get(option) or _NUMBERS.get(_plain(wanted), "…")
    return f" {option} {shlex.quote(value) if value != '…' else value}"


def _option_name(error: CycloptsError) -> str:
    """Return the option that was wrong, as it was typed."""
    token = getattr(error, "token", None) or _first_token(error)
    return getattr(error, "keyword", None) or (token.keyword if token else None) or ""


def _first_token(error: CycloptsError) -> Token | None:
    found = error.argument.tokens if error.argument is not None else ()
    return found[0] if found and isinstance(error, ValidationError) else None


def _is_switch(error: CycloptsError) -> bool:
    return error.argument is not None and error.argument.hint is bool


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
            option = error.keyword
            sentence = f"{option} needs a value." if option else f"`{command}` needs {name}."
        case CoercionError() if error.token is not None:
            sentence = _wrong_value(error, error.token, name)
        case ValidationError() if error.argument is not None:
            given = error.argument.tokens[0].value
            limits = _range(error.argument)
            sentence = f"{_option_name(error) or name} is {given}; it must be {limits}."
        case RepeatArgumentError():
            sentence = f"{error.token.keyword or name} is given more than once; give it once."
        case _:
            sentence = str(error).strip()
    return sentence


def _wrong_value(error: CoercionError, token: Token, name: str) -> str:
    if _is_switch(error):
        return f"{token.keyword} takes no value; it is on if it stands there."
    return f"{token.keyword or name} is {token.value!r}; it must be {_kind(error.target_type)}."


def _accepted(app: App) -> str:
    names = [each.name for each in _arguments(app) if _is_positional(each)]
    return f"{' and '.join(names)} and options" if names else "options only"


def _range(argument: Argument) -> str:
    """Return in words how large a number may be."""
    (limits,) = cast("tuple[Number]", argument.parameter.validator)
    kind = _KINDS[_plain(argument.hint)]
    if limits.lte is None:
        return f"{kind} of {limits.gte} or more"
    return f"{kind} from {limits.gte} to {limits.lte}"


def _plain(wanted: object) -> object:
    """Return a type without its None."""
    return next((each for each in get_args(wanted) if each is not type(None)), wanted)


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
