"""What a wrong command line is told: what is wrong, and a command line that is right."""

import shlex
from difflib import get_close_matches
from typing import Final

from remit.cli.codes import UsageError
from remit.cli.command_line import (
    ROOT_OPTIONS,
    BoundCommand,
    CommandLineError,
    UnknownCommand,
    choices_of,
)
from remit.cli.commands import CommandGroup, load, names_of_commands

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
