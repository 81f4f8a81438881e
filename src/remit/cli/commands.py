"""The commands: their names, their flags, and how plain words become their arguments.

A command is imported only when it is called. This parser understands what is typed without a
mistake. Help, mistakes and rare kinds of values are left to `remit.cli.full_parser`, whose import
takes longer than most commands do.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from importlib import import_module
from types import FunctionType, UnionType
from typing import Final, Literal, NoReturn, TypeAlias, TypeVar, get_args, get_origin

Command: TypeAlias = Callable[..., int]
FunctionT = TypeVar("FunctionT", bound=Command)

ABOUT: Final = "Remit has the work done that you entrust to it, proves it, and sends it once."
START: Final = 'Start with `remit up`, then `remit add "…"` in another terminal.'

TASKS: Final = "Tasks"
QUESTIONS: Final = "Questions to you"
HOUSE: Final = "The house"

# The section of the help; the name, or names; module and function; one sentence.
COMMANDS: Final[tuple[tuple[str, str | tuple[str, ...], str, str], ...]] = (
    (TASKS, "add", "add:add", "Entrust a task."),
    (TASKS, "chat", "chat:chat", "Talk: hand over, ask, correct; results come back."),
    (TASKS, "ls", "ls:ls", "List tasks, newest first."),
    (TASKS, "show", "show:show", "Show one task whole."),
    (TASKS, "files", "show:list_files", "The files of a task; --save copies one."),
    (TASKS, "log", "log:log", "What happened to a task, line by line; -f follows."),
    (TASKS, "why", "log:why", "Why a task stands where it stands."),
    (TASKS, "edit", "task:edit", "Change a task that has not begun."),
    (TASKS, "run", "task:run", "Start now what was planned for later."),
    (TASKS, "retry", "task:retry", "Try an ended task again, as a new one."),
    (TASKS, "pause", "task:pause", "Stop at the next boundary."),
    (TASKS, "undo", "task:undo", "Call back what you have just approved."),
    (TASKS, "resume", "task:resume", "Go on where it was."),
    (TASKS, "cancel", "task:cancel", "End a task."),
    (TASKS, "delete", "task:delete", "Hide an ended task; a live one is cancelled first."),
    (TASKS, "vouch", "task:vouch", "Trust what an ended task's session remembers."),
    (TASKS, "schedule", "schedule:app", "What comes back, and when; skip, move, pause, end."),
    (QUESTIONS, ("inbox", "hitl"), "decide:inbox", "What waits for you, one at a time."),
    (QUESTIONS, "approve", "decide:approve", "Go on as shown, or with your own text."),
    (QUESTIONS, "back", "decide:back", "Do it again, with a word on what is wrong."),
    (QUESTIONS, "answer", "decide:answer", "Answer what was asked."),
    (QUESTIONS, "decline", "decide:decline", "Stop the task."),
    (QUESTIONS, "arrived", "decide:arrived", "The doubtful message got there."),
    (QUESTIONS, "resend", "decide:resend", "Send the doubtful message again."),
    (QUESTIONS, "drop", "decide:drop", "Leave the doubtful delivery out."),
    (HOUSE, "up", "up:up", "Start Remit here, and keep it running."),
    (HOUSE, "setup", "setup:setup", "Set Remit up: it asks, writes and tests, step by step."),
    (HOUSE, "serve", "up:serve", "Answer for a store that several processes share."),
    (HOUSE, "worker", "up:worker", "Work for a store that several processes share."),
    (HOUSE, "open", "up:open_", "Open the dashboard, signed in."),
    (HOUSE, "service", "up:app", "Run Remit from login on, with systemd."),
    (HOUSE, "doctor", "doctor:doctor", "Check every part, and say what to do."),
    (HOUSE, "brain", "brain:app", "What thinks now; `use` changes it."),
    (HOUSE, "channels", "channels:app", "The ways out; `test` sends a message to see it work."),
    (HOUSE, "calendar", "calendar:app", "The calendars that work starts from."),
    (HOUSE, "doors", "doors:app", "What comes in from others, and what became of it."),
    (HOUSE, "hooks", "hooks:app", "What programs may call to start work."),
    (HOUSE, "notices", "notices:app", "What you were told, and where; `test` tries a way."),
    (HOUSE, "contacts", "contacts:app", "Who is written to, where, and whether it asks."),
    (HOUSE, "rules", "rules:app", "What ranks tasks; `test` says what a change would do."),
    (HOUSE, "reflect", "reflect:app", "What ended tasks teach; `now` looks, and proposes."),
    (HOUSE, "recall", "recall:app", "Tasks like others; how their index stands."),
    (HOUSE, "secrets", "tokens:secrets_app", "Keys and passwords, by name; no value is shown."),
    (HOUSE, "password", "tokens:password", "The password for signing in from elsewhere."),
    (HOUSE, "tokens", "tokens:app", "The programs that may call, and what each may do."),
    (HOUSE, "mcp", "mcp:mcp", "Remit for other agents, on stdin and stdout."),
    (HOUSE, "rehearse", "rehearse:app", "What would happen; nothing is stored."),
    (HOUSE, "export", "backup:export_app", "What others read: builder-state.json of tasks."),
    (HOUSE, "project", "project:app", "The projects that code is worked on; `add` sets one up."),
    (HOUSE, "verify", "verify:verify", "Check the work in a folder against its contract."),
    (HOUSE, "backup", "backup:backup", "Save the database, while Remit works."),
    (HOUSE, "restore", "backup:restore", "Put a backup in place."),
    (HOUSE, "move", "backup:move", "Move the store to a Postgres server."),
    (HOUSE, "audit", "backup:audit_app", "Compare the store with its journal."),
    (HOUSE, "completion", "full_parser:completion_script", "A completion script for your shell."),
)
LISTS: Final = ("ls", "list")  # one name in a group's help; both are understood
_VARIADIC: Final = 0x04  # inspect.CO_VARARGS, without the import of inspect


class Flag:
    """A flag or argument: its help, its names if not its own, and how large a number may be."""

    __slots__ = ("help", "leading_hyphen", "least", "most", "names", "shown")

    def __init__(
        self,
        text: str,
        *names: str,
        leading_hyphen: bool = False,
        shown: bool = True,
        least: float | None = None,
        most: float | None = None,
    ) -> None:
        self.help = text
        self.names = names
        self.leading_hyphen = leading_hyphen
        self.shown = shown
        self.least = least
        self.most = most


class CommandGroup:
    """Commands under one word: `remit hooks add`."""

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        self.help = text
        self.commands: dict[str, Command | str] = {}  # or the place to import it from
        self.default_command: Command | None = None

    def default(self, function: FunctionT) -> FunctionT:
        """Register what runs if no command of the group is named."""
        self.default_command = function
        return function

    def command(self, name: str | None = None) -> Callable[[FunctionT], FunctionT]:
        """Register a command, by default under the function's name."""

        def register(function: FunctionT) -> FunctionT:
            self.commands[name or function.__name__] = function
            return function

        return register

    def find(self, word: str) -> str | None:
        """Return the name of the command that is meant; a list may be called `ls` or `list`."""
        others = {word, *(LISTS if word in LISTS else ())}
        return next((name for name in self.commands if name in others), None)

    def load(self, name: str) -> "Command | CommandGroup":
        command = self.commands[name]
        return _load(command) if isinstance(command, str) else command


class NotPlain(Exception):
    """The full parser must read these words."""


class BoundCommand:
    """A command, and the arguments that it is called with."""

    def __init__(self, command: FunctionType) -> None:
        code = command.__code__
        named = code.co_posonlyargcount + code.co_kwonlyargcount
        self.command = command
        self.positional: list[object] = []
        self.named: dict[str, object] = {}
        self._names = code.co_varnames[: code.co_posonlyargcount]
        self._needed = len(self._names) - len(command.__defaults__ or ())
        self._more = code.co_varnames[named] if code.co_flags & _VARIADIC else None
        self._options = {
            spelled: name
            for name in code.co_varnames[code.co_posonlyargcount : named]
            for spelled in _spellings(name, command.__annotations__[name])
        }

    def bind(self, words: Sequence[str]) -> "BoundCommand":
        """Take all words as arguments; raises `NotPlain`."""
        rest = iter(words)
        for word in rest:
            if not word.startswith("-"):
                self._add_positional(word)
                continue
            spelled, equals, value = word.partition("=")
            name = self._options.get(spelled) or _give_up()
            if self._kind(name) is bool and not equals and name not in self.named:
                self.named[name] = True
            elif equals and spelled.startswith("--"):
                self._add_named(name, value)
            else:
                self._add_named(name, _no_option(next(rest, "-")))
        given = {*self.named, *(self.command.__kwdefaults__ or ())}
        if len(self.positional) < self._needed or not given.issuperset(self._options.values()):
            raise NotPlain
        return self

    def __call__(self) -> int:
        code: int = self.command(*self.positional, **self.named)
        return code

    def _add_positional(self, word: str) -> None:
        at = len(self.positional)
        name = self._names[at] if at < len(self._names) else self._more or _give_up()
        self.positional.append(self._value(name, self._kind(name), word))

    def _add_named(self, name: str, word: str) -> None:
        kind, before = self._kind(name), self.named.get(name, ())
        if get_origin(kind) is tuple and isinstance(before, tuple):
            self.named[name] = (*before, self._value(name, get_args(kind)[0], word))
        elif name in self.named:
            raise NotPlain
        else:
            self.named[name] = self._value(name, kind, word)

    def _value(self, name: str, kind: object, word: str) -> object:
        value, flag = _convert(kind, word), _flag(self.command.__annotations__[name])
        if isinstance(value, int | float):
            low = flag.least is not None and value < flag.least
            if low or (flag.most is not None and value > flag.most):
                raise NotPlain
        return value

    def _kind(self, name: str) -> object:
        """Return the type of a parameter, without what is said about it and without None."""
        kind = get_args(self.command.__annotations__[name])[0]
        if isinstance(kind, UnionType):
            (kind,) = (each for each in kind.__args__ if each is not type(None))
        return kind


def load(name: str) -> Command | CommandGroup:
    """Import a command by its name; raises `KeyError`."""
    return _load(_PLACES[name])


def bind(words: Sequence[str]) -> BoundCommand:
    """Return the command that plain words name, with its arguments; raises `NotPlain`."""
    if not words or words[0] not in _PLACES:
        raise NotPlain
    command, rest = load(words[0]), words[1:]
    if isinstance(command, CommandGroup):
        if rest and (name := command.find(rest[0])) is not None:
            command, rest = command.load(name), rest[1:]
        elif command.default_command is not None:
            command = command.default_command
    if not isinstance(command, FunctionType):
        raise NotPlain
    return BoundCommand(command).bind(rest)


def _load(place: str) -> Command | CommandGroup:
    module, _, attribute = place.partition(":")
    found: Command | CommandGroup = getattr(import_module(f"remit.cli.{module}"), attribute)
    return found


def _spellings(name: str, hint: object) -> Sequence[str]:
    return _flag(hint).names or (f"--{name.strip('_').replace('_', '-')}",)


def _flag(hint: object) -> Flag:
    flag: Flag = get_args(hint)[1]
    return flag


def _convert(kind: object, word: str) -> object:
    if kind is str or (get_origin(kind) is Literal and word in get_args(kind)):
        return word
    if kind is int and word.isascii() and word.isdecimal():
        return int(word)
    if kind is float and word.isascii() and word.replace(".", "", 1).isdecimal():
        return float(word)
    if isinstance(kind, type) and issubclass(kind, Enum):
        by_name = {each.name.lower().replace("_", "-"): each for each in kind}
        return by_name.get(word) or _give_up()
    raise NotPlain


def _no_option(word: str) -> str:
    return _give_up() if word.startswith("-") else word


def _give_up() -> NoReturn:
    raise NotPlain


_PLACES: Final = {
    name: place
    for _, names, place, _ in COMMANDS
    for name in ([names] if isinstance(names, str) else names)
}
