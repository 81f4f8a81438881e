"""The help of commands, and completion scripts, both by cyclopts."""

from collections.abc import Sequence
from contextlib import suppress
from types import FunctionType
from typing import Annotated, Final, Literal, get_args, get_origin

from cyclopts import App, Group, Parameter
from cyclopts.exceptions import CycloptsError
from cyclopts.validators import Number

from remit import __version__
from remit.cli import out
from remit.cli.codes import UsageError
from remit.cli.commands import (
    ABOUT,
    APP,
    COMMANDS,
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


def print_help(argv: Sequence[str]) -> None:
    """Print the help that was asked for."""
    words = [*argv]
    with suppress(KeyError, IndexError):
        group = load(words[0])
        if isinstance(group, CommandGroup):
            words[1] = group.find(words[1]) or words[1]
    try:
        build()(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise UsageError(str(error).strip()) from None


def build() -> App:
    """Register all commands without loading them."""
    app = App(
        name="remit",
        help=ABOUT,
        version=__version__,
        default_parameter=_DEFAULT,
        help_epilogue=START,
    )
    groups = {name: Group.create_ordered(name) for name in (TASKS, QUESTIONS, APP)}
    for order, (group, names, _, help_text) in enumerate(COMMANDS):
        first = names if isinstance(names, str) else names[0]
        place = f"{__name__}:{first}"
        app.command(place, name=names, help=help_text, group=groups[group], sort_key=order)
    for option in ("--help", "--version"):
        app[option].group = (groups[APP],)
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
