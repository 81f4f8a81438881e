"""The whole command line with cyclopts: help, completion scripts, and what is wrong with words."""

from collections.abc import Sequence
from types import FunctionType
from typing import Annotated, Final, get_args, get_origin

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.validators import Number

from remit import __version__
from remit.cli import usage_error
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

_DEFAULT: Final = Parameter(show_default=False, negative=())


def call(argv: Sequence[str]) -> object:
    """Run what was typed, and return what the command returns; raises `UsageError`."""
    app = build()
    try:
        done: object = app(
            argv, exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        error.verbose = False
        raise UsageError(usage_error.sentence_of(error, app)) from None
    return done


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
        command = _with_parameters(group.load(name))
        app.command(command, name=name)
        for alias in LISTS if name in LISTS else ():
            if group.find(alias) == name != alias:
                app.command(command, name=alias, show=False)
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
