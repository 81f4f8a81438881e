"""How typed words become the arguments of a command, and what a wrong command line is told."""

import shlex
from collections.abc import Iterator, Sequence
from enum import Enum
from types import FunctionType, UnionType
from typing import Final, Literal, get_args, get_origin

from remit.cli.codes import UsageError
from remit.cli.commands import CommandGroup, Flag, load, names_of_commands

ROOT_OPTIONS: Final = ("--help", "-h", "--version")
_SWITCHES: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_VARIADIC: Final = 0x04  # inspect.CO_VARARGS, without the import of inspect


class UnknownCommand(Exception):
    """There is no command that is called so, or none in a group."""

    def __init__(self, given: str, group: str = "") -> None:
        super().__init__(given)
        self.group = group


class CommandLineError(Exception):
    """What is wrong with the words for a command, and the option that it is about, as typed."""

    def __init__(
        self, command: "BoundCommand", wrong: str, option: str = "", kind: object = None
    ) -> None:
        super().__init__(wrong)
        self.command = command
        self.option = option
        self.kind = kind


class BoundCommand:
    """A command, and the arguments that it is called with."""

    def __init__(self, path: tuple[str, ...], command: FunctionType) -> None:
        code = command.__code__
        named = code.co_posonlyargcount + code.co_kwonlyargcount
        self.path = path
        self.command = command
        self.positional: list[object] = []
        self.named: dict[str, object] = {}
        self.names = code.co_varnames[: code.co_posonlyargcount]
        self.needed = len(self.names) - len(command.__defaults__ or ())
        self.more = code.co_varnames[named] if code.co_flags & _VARIADIC else None
        self.spelled = {
            name: _spellings(name, command.__annotations__[name])
            for name in code.co_varnames[code.co_posonlyargcount : named]
        }
        self._options = {each: name for name, all_ in self.spelled.items() for each in all_}
        self.extra: list[str] = []

    @property
    def line(self) -> str:
        return " ".join(("remit", *self.path))

    @property
    def required_options(self) -> list[str]:
        """Return the options without a default."""
        defaults = self.command.__kwdefaults__ or {}
        return [spelled[0] for name, spelled in self.spelled.items() if name not in defaults]

    def bind(self, words: Sequence[str]) -> "BoundCommand":
        """Take all words as arguments; raises `CommandLineError`."""
        rest = iter(words)
        for word in rest:
            if word == "--":
                for each in rest:
                    self._add_positional(each)
            elif _is_option(word) and self._add_option(word, rest):
                continue
            else:
                self._add_positional(word)
        self._check_all_there()
        return self

    def kind_of(self, name: str) -> object:
        """Return the type of a parameter, without what is said about it and without None."""
        kind = get_args(self.command.__annotations__[name])[0]
        if isinstance(kind, UnionType):
            (kind,) = (each for each in kind.__args__ if each is not type(None))
        return kind

    def __call__(self) -> int:
        code: int = self.command(*self.positional, **self.named)
        return code

    def _add_positional(self, word: str) -> None:
        name = self._next_name()
        if name is None:
            self.extra.append(word)
        else:
            self.positional.append(self._value(name, self.kind_of(name), word, name.upper()))

    def _next_name(self) -> str | None:
        at = len(self.positional)
        return self.names[at] if at < len(self.names) else self.more

    def _add_option(self, word: str, rest: Iterator[str]) -> bool:
        """Take an option with its value; False if the word is an argument that begins so."""
        spelled, equals, value = word.partition("=")
        if spelled not in self._options and word[:2] in self._options:  # as in -n5, or -lf
            spelled, value = word[:2], word[2:].removeprefix("=")
            equals = value
            if self.kind_of(self._options[spelled]) is bool:
                self._add_named(spelled, True)
                return self._add_option(f"-{value}", rest)
        name = self._options.get(spelled)
        if name is None:
            following = self._next_name()
            if following and _flag(self.command.__annotations__[following]).leading_hyphen:
                return False
            known = ", ".join(each[0] for each in self.spelled.values())
            raise CommandLineError(self, f"`{self.line}` has no option {spelled}; it has {known}.")
        kind = self.kind_of(name)
        if kind is bool and not equals:
            self._add_named(spelled, True)
            return True
        if not equals and (value := next(rest, "--")) != "-" and _is_option(value):
            raise CommandLineError(self, f"{spelled} needs a value.", spelled, kind)
        several = get_origin(kind) in (tuple, list)
        inner = get_args(kind)[0] if several else kind
        self._add_named(spelled, self._value(name, inner, value, spelled))
        return True

    def _add_named(self, spelled: str, value: object) -> None:
        name = self._options[spelled]
        kind, before = get_origin(self.kind_of(name)), self.named.get(name)
        if kind is tuple:
            self.named[name] = (*before, value) if isinstance(before, tuple) else (value,)
        elif kind is list:
            self.named[name] = [*before, value] if isinstance(before, list) else [value]
        elif name in self.named:
            raise CommandLineError(self, f"{spelled} is given more than once; give it once.")
        else:
            self.named[name] = value

    def _value(self, name: str, kind: object, word: str, label: str) -> object:
        option = label if label.startswith("-") else ""
        flag = _flag(self.command.__annotations__[name])
        try:
            value = _convert(kind, word)
        except (ValueError, KeyError):
            if kind is bool:
                sentence = f"{label} takes no value; it is on if it stands there."
            else:
                sentence = f"{label} is {word!r}; it must be {_kind_text(kind)}."
            raise CommandLineError(self, sentence, option, kind) from None
        if isinstance(value, int | float) and not flag.allows(value):
            sentence = f"{label} is {word}; it must be {_kind_text(kind)} {flag.limits}."
            raise CommandLineError(self, sentence, option, kind)
        return value

    def _check_all_there(self) -> None:
        if self.extra:
            names = [*self.names, *([self.more] if self.more else [])]
            takes = " and ".join([*map(str.upper, names), "options"]) if names else "options only"
            raise CommandLineError(
                self, f"`{self.line}` takes {takes}; {' '.join(self.extra)} is too much."
            )
        missing = [name.upper() for name in self.names[len(self.positional) : self.needed]]
        given = {self.spelled[name][0] for name in self.named}
        missing += [each for each in self.required_options if each not in given]
        if missing:
            raise CommandLineError(self, f"`{self.line}` needs {missing[0]}.")


def bind(words: Sequence[str]) -> BoundCommand | None:
    """Return the command that is typed, with its arguments; None if help is asked for.

    Raises `UnknownCommand` or `CommandLineError`.
    """
    if not words or words[0] in ROOT_OPTIONS:
        return None
    bound, rest = _find(words)
    asks = words[: words.index("--")] if "--" in words else words
    if bound is None or not set(ROOT_OPTIONS).isdisjoint(asks):
        return None
    return bound.bind(rest)


def _find(words: Sequence[str]) -> tuple[BoundCommand | None, Sequence[str]]:
    """Return the command that the first words name, None for help about it, and the rest."""
    if words[0] not in names_of_commands():
        raise UnknownCommand(words[0])
    command, rest = load(words[0]), words[1:]
    path: tuple[str, ...] = (words[0],)
    if isinstance(command, CommandGroup):
        if rest and (name := command.find(rest[0])) is not None:
            command, path, rest = command.load(name), (*path, name), rest[1:]
        elif command.default_command is None and rest and not _is_option(rest[0]):
            raise UnknownCommand(rest[0], words[0])
        else:
            command = command.default_command or command
    found = BoundCommand(path, command) if isinstance(command, FunctionType) else None
    return found, rest


def _spellings(name: str, hint: object) -> Sequence[str]:
    return _flag(hint).names or (f"--{name.strip('_').replace('_', '-')}",)


def _flag(hint: object) -> Flag:
    flag: Flag = get_args(hint)[1]
    return flag


def _is_option(word: str) -> bool:
    """Whether a word is one by its look; a number below zero is none."""
    return word.startswith("-") and not word[1:].replace(".", "", 1).isdigit()


def _convert(kind: object, word: str) -> object:
    """Return a word as a value; raises `ValueError` or `KeyError`."""
    if get_origin(kind) is Literal and word not in get_args(kind):
        raise ValueError(word)
    if kind is bool:
        return _SWITCHES[word.lower()]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[word.upper().replace("-", "_")]
    return kind(word) if isinstance(kind, type) else word


def choices_of(kind: object) -> list[str]:
    """Return the words that a value may be, if they are few."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(each.value) for each in kind]
    if get_origin(kind) is Literal:
        return [str(each) for each in get_args(kind)]
    return [choice for each in get_args(kind) for choice in choices_of(each)]


def _kind_text(kind: object) -> str:
    if choices := choices_of(kind):
        return f"one of {', '.join(choices)}"
    return "a whole number" if kind is int else "a number"


# What is wrong, and what would be right -----------------------------------------------------------

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
_NUMBERS: Final[dict[object, str]] = {int: "5", float: "10"}


def error_of(error: CommandLineError | UnknownCommand) -> UsageError:
    """Return the mistake as a sentence, with what would be right."""
    if isinstance(error, UnknownCommand):
        return UsageError(_unknown_command(str(error), error.group))
    command, option = error.command, error.option
    if command.extra and command.path[1:] == () and isinstance(load(command.path[0]), CommandGroup):
        return UsageError(_unknown_command(command.extra[0], command.path[0]))
    right = example(command)
    if command.path in _EXAMPLES and f" {option} " in right:
        option = ""
    return UsageError(f"{error} For example: `{right}{_with_value(option, error.kind)}`.")


def _unknown_command(given: str, called: str) -> str:
    if given.startswith("-"):
        options = " and ".join(each for each in ROOT_OPTIONS if each.startswith("--"))
        return f"`remit` has no option {given}; it has {options}. Commands come first."
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes alone

    group = load(called) if called else None
    known = [*group.commands] if isinstance(group, CommandGroup) else names_of_commands()
    near = get_close_matches(given, known) or (known if group else [])
    hint = f"there is {', '.join(near)}" if near else "and none like it"
    above = f"remit {called}".strip()
    return f"There is no command `{above} {given}`; {hint}. `{above} --help` lists all."


def example(command: BoundCommand) -> str:
    """Return a command line that this command accepts."""
    if command.path in _EXAMPLES:
        return _EXAMPLES[command.path]
    names = [*command.names, *([command.more] if command.more else [])]
    words = [value for name in names if (value := _VALUES.get(name.upper(), ""))]
    for option in command.required_options:
        words += [option, _VALUES.get(option, "")]
    return shlex.join(("remit", *command.path, *words))


def _with_value(option: str, kind: object) -> str:
    """Return the option that was wrong, with a value that would be right."""
    if not option or kind is bool:
        return f" {option}" if option else ""
    choices = choices_of(kind)
    value = choices[0] if choices else _VALUES.get(option) or _NUMBERS.get(kind, "")
    return f" {option} {shlex.quote(value) if value else '…'}"
