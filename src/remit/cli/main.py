"""`remit`: runs the command that was typed, and handles its errors; without one, lists them all."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from remit import __version__
from remit.cli import codes, command_line, out
from remit.cli.command_line import CommandLineError, UnknownCommand
from remit.cli.commands import ABOUT, APP, COMMANDS, QUESTIONS, START, TASKS
from remit.cli.out import Piece, StyledText
from remit.errors import RemitError

_DEFAULT_WIDTH: Final = 80
_LEAST_WIDTH: Final = 40
_OPTIONS: Final = (
    ("--help (-h)", "Display this message and exit."),
    ("--version", "Display application version."),
)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Run what was typed and return the exit code. An error is a sentence, never a traceback."""
    try:
        done = _call(argv)
    except KeyboardInterrupt:
        out.say()
        return codes.INTERRUPTED
    except EOFError:
        out.say()
        out.say("The input ended before all was asked. What was saved until then stays.")
        return codes.INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe. Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return codes.DONE
    except Exception as error:
        if os.environ.get("REMIT_DEBUG"):
            raise
        return _fail(error, as_json="--json" in argv)
    return done if isinstance(done, int) else codes.DONE


def _call(argv: Sequence[str]) -> object:
    if [*argv] == ["--version"]:
        out.line(__version__)
        return codes.DONE
    if not argv or [*argv] in (["--help"], ["-h"]):
        _show_front_page()
        return codes.DONE
    try:
        command = command_line.bind(argv)
    except (CommandLineError, UnknownCommand) as error:
        raise command_line.error_of(error) from None
    if command is None:
        from remit.cli import help as help_pages  # noqa: PLC0415 - slow to import

        help_pages.print_help(argv)
        return codes.DONE
    return command()


def _fail(error: Exception, *, as_json: bool) -> int:
    sentence, code, kind = _describe(error)
    out.say(out.StyledText(sentence, "yellow" if code == codes.WAITS else "red"))
    if as_json:
        out.emit({"type": kind, "detail": out.clean(sentence), "exit": code})
    return code


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def _describe(error: Exception) -> tuple[str, int, str]:
    """Return the sentence, the code, and the problem's name."""
    if isinstance(error, RemitError):
        return str(error), codes.of_error(error), codes.problem_type(error)
    if isinstance(error, OSError) and error.errno in _FULL:
        sentence = "The disk is full. Make room and try again; what was acknowledged is safe."
        return sentence, codes.FAILED, "urn:remit:problem:failed"
    if isinstance(error, OSError) and error.filename:
        sentence = f"{error.filename}: {error.strerror}. Look at that path, or at REMIT_HOME."
        return sentence, codes.FAILED, "urn:remit:problem:failed"
    sentence = (
        f"Remit stumbled ({type(error).__name__}: {error}). That is a mistake in Remit; "
        "REMIT_DEBUG=1 shows where it happened."
    )
    return sentence, codes.FAILED, "urn:remit:problem:internal"


def _show_front_page() -> None:
    """Print every command, drawn as the help of one command is, without its libraries."""
    wide = max(_LEAST_WIDTH, _width())
    out.line(StyledText("Usage: remit COMMAND", "bold"))
    for line in ("", *wrap(ABOUT, wide), ""):
        out.line(line)
    for section in (TASKS, QUESTIONS, APP):
        for pieces in _panel(section, wide):
            out.line(*pieces)
    for line in ("", *wrap(START.replace("`", ""), wide)):
        out.line(line)


def _panel(section: str, wide: int) -> Iterator[list[Piece]]:
    rows = [
        (_shown_names(names), help_text)
        for each, names, _, help_text in COMMANDS
        if each == section
    ]
    rows += _OPTIONS if section == APP else ()
    first = max(len(name) for name, _ in rows)
    room = wide - first - 6
    yield ["╭─ ", section, " ", "─" * (wide - len(section) - 5), "╮"]
    for name, help_text in rows:
        for number, text in enumerate(wrap(help_text.replace("`", ""), room)):
            left = StyledText(("" if number else name).ljust(first), "cyan")
            yield ["│ ", left, "  ", text.ljust(room), " │"]
    yield ["╰", "─" * (wide - 2), "╯"]


def _shown_names(names: str | tuple[str, ...]) -> str:
    if isinstance(names, str):
        return names
    first, *others = names
    return f"{first} ({', '.join(others)})"


def _width() -> int:
    """Return the columns of the terminal, or those that the environment tells a pipe."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else out.terminal_width() or _DEFAULT_WIDTH


if __name__ == "__main__":
    main()
