"""The commands: their names, and what is said of their flags.

A command is imported only when it is called.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, TypeVar

Command: TypeAlias = Callable[..., int]
FunctionT = TypeVar("FunctionT", bound=Command)

ABOUT: Final = "Remit does the work you give it, checks the result, and sends it once."
START: Final = 'Start with `remit up`, then `remit add "…"` in another terminal.'

TASKS: Final = "Tasks"
QUESTIONS: Final = "Questions to you"
APP: Final = "Remit itself"

# The section of the help; the name, or names; module and function; one sentence.
COMMANDS: Final[tuple[tuple[str, str | tuple[str, ...], str, str], ...]] = (
    (TASKS, "add", "add:add", "Add a task, in your own words."),
    (TASKS, "chat", "chat:chat", "Talk with Remit: give it work, ask, correct; results come back."),
    (TASKS, "ls", "ls:ls", "List tasks, newest first."),
    (TASKS, "show", "show:show", "Show everything about a task."),
    (TASKS, "files", "show:list_files", "List the files of a task; --save copies one."),
    (TASKS, "log", "log:log", "Show what happened to a task, line by line; -f follows."),
    (TASKS, "why", "log:why", "Explain the status and priority of a task."),
    (TASKS, "edit", "task:edit", "Change a task that has not begun."),
    (TASKS, "run", "task:run", "Start a planned task now."),
    (TASKS, "retry", "task:retry", "Try an ended task again, as a new one."),
    (TASKS, "pause", "task:pause", "Pause a task between two steps."),
    (TASKS, "undo", "task:undo", "Take back an approval, a decline or a delete."),
    (TASKS, "resume", "task:resume", "Continue a paused task."),
    (TASKS, "cancel", "task:cancel", "End a task."),
    (TASKS, "delete", "task:delete", "Hide an ended task; a live one is cancelled first."),
    (TASKS, "vouch", "task:vouch", "Trust what the session of an ended task has read so far."),
    (TASKS, "schedule", "schedule:app", "List repeating tasks; skip, move, pause or end them."),
    (
        QUESTIONS,
        ("inbox", "hitl"),
        "decide:inbox",
        "Decide what waits for you, one question at a time.",
    ),
    (QUESTIONS, "approve", "decide:approve", "Approve a text as shown, or send your own instead."),
    (QUESTIONS, "back", "decide:back", "Have it done again, and say what is wrong."),
    (QUESTIONS, "answer", "decide:answer", "Answer a question."),
    (QUESTIONS, "decline", "decide:decline", "Say no: the task stops and nothing is sent."),
    (QUESTIONS, "arrived", "decide:arrived", "Confirm that a doubtful message arrived."),
    (QUESTIONS, "resend", "decide:resend", "Send a doubtful message again."),
    (QUESTIONS, "drop", "decide:drop", "Give a doubtful delivery up."),
    (APP, "up", "up:up", "Start Remit and keep it running."),
    (APP, "setup", "setup:setup", "Set Remit up, step by step; each step is tested."),
    (APP, "serve", "up:serve", "Serve API and pages for a store that several processes share."),
    (APP, "worker", "up:worker", "Work on the tasks of a store that several processes share."),
    (APP, "open", "up:open_", "Open the dashboard in your browser, signed in."),
    (APP, "service", "up:service_app", "Run Remit from login on, with systemd."),
    (APP, "doctor", "doctor:doctor", "Check every part, and say what to do."),
    (APP, "brain", "brain:app", "Show which language model is used; `use` changes it."),
    (APP, "channels", "channels:app", "List the channels that send messages; `test` tries one."),
    (APP, "calendar", "calendar:app", "List the calendars whose events start work."),
    (APP, "doors", "doors:app", "List what came in from others, and what it became."),
    (APP, "hooks", "hooks:app", "List the webhooks that programs call to start work."),
    (APP, "notices", "notices:app", "List the notices sent to you; `test` sends one."),
    (APP, "contacts", "contacts:app", "List your contacts and who may be written to unasked."),
    (APP, "rules", "rules:app", "List the priority rules; `test` tries a change."),
    (APP, "reflect", "reflect:app", "Learn from ended tasks; `now` proposes lessons."),
    (APP, "recall", "recall:app", "Find similar tasks; show the state of their index."),
    (APP, "secrets", "tokens:secrets_app", "List keys and passwords by name; no value is shown."),
    (APP, "password", "tokens:password", "Set the password for signing in from elsewhere."),
    (APP, "tokens", "tokens:app", "List the programs with access, and what each may do."),
    (APP, "mcp", "mcp:mcp", "Serve MCP to other agents, on stdin and stdout."),
    (APP, "rehearse", "rehearse:app", "Show what would happen; nothing is stored."),
    (
        APP,
        "export",
        "backup:export_app",
        "Export tasks as builder-state.json for other programs.",
    ),
    (APP, "project", "project:app", "List the projects for code work; `add` sets one up."),
    (APP, "verify", "verify:verify", "Check the work in a folder against its contract."),
    (APP, "backup", "backup:backup", "Save the database while Remit runs."),
    (APP, "restore", "backup:restore", "Restore a backup."),
    (APP, "move", "backup:move", "Move the store to a Postgres server."),
    (APP, "audit", "backup:audit_app", "Check the store against its journal."),
    (
        APP,
        "completion",
        "help:completion_script",
        "Print a completion script for your shell.",
    ),
)
LISTS: Final = ("ls", "list")  # one name in a group's help; both are understood


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

    @property
    def limits(self) -> str:
        return (
            f"of {self.least} or more" if self.most is None else f"from {self.least} to {self.most}"
        )

    def allows(self, number: float) -> bool:
        least, most = (number if each is None else each for each in (self.least, self.most))
        return least <= number <= most


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


def names_of_commands() -> list[str]:
    return [*_PLACES]


def load(name: str) -> Command | CommandGroup:
    """Import a command by its name; raises `KeyError`."""
    return _load(_PLACES[name])


def _load(place: str) -> Command | CommandGroup:
    module, _, attribute = place.partition(":")
    found: Command | CommandGroup = getattr(import_module(f"remit.cli.{module}"), attribute)
    return found


_PLACES: Final = {
    name: place
    for _, names, place, _ in COMMANDS
    for name in ([names] if isinstance(names, str) else names)
}
