"""`remit`: registers the commands and handles their errors.

Each command is named here and loaded only when it is called, so that none pays for another.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError, Group, Parameter

from remit import __version__
from remit.cli import codes, out
from remit.errors import RemitError

_TASKS: Final = Group.create_ordered("Tasks")
_QUESTIONS: Final = Group.create_ordered("Questions to you")
_HOUSE: Final = Group.create_ordered("The house")

_COMMANDS: Final = (
    (_TASKS, "add", "add:add", "Entrust a task."),
    (_TASKS, "chat", "chat:chat", "Talk: hand over, ask, correct; results come back."),
    (_TASKS, "ls", "ls:ls", "List tasks, newest first."),
    (_TASKS, "show", "show:show", "Show one task whole."),
    (_TASKS, "log", "log:log", "What happened to a task, line by line; -f follows."),
    (_TASKS, "why", "why:why", "Why a task stands where it stands."),
    (_TASKS, "edit", "edit:edit", "Change a task that has not begun."),
    (_TASKS, "run", "task:run", "Start now what was planned for later."),
    (_TASKS, "retry", "task:retry", "Try an ended task again, as a new one."),
    (_TASKS, "pause", "task:pause", "Stop at the next boundary."),
    (_TASKS, "undo", "task:undo", "Call back what you have just approved."),
    (_TASKS, "resume", "task:resume", "Go on where it was."),
    (_TASKS, "cancel", "task:cancel", "End a task."),
    (_TASKS, "delete", "task:delete", "Hide an ended task; a live one is cancelled first."),
    (_TASKS, "vouch", "task:vouch", "Trust what an ended task's session remembers."),
    (_TASKS, "schedule", "schedule:app", "What comes back, and when; skip, move, pause, end."),
    (_QUESTIONS, ("inbox", "hitl"), "inbox:inbox", "What waits for you, one at a time."),
    (_QUESTIONS, "approve", "decide:approve", "Go on as shown, or with your own text."),
    (_QUESTIONS, "back", "decide:back", "Do it again, with a word on what is wrong."),
    (_QUESTIONS, "answer", "decide:answer", "Answer what was asked."),
    (_QUESTIONS, "decline", "decide:decline", "Stop the task."),
    (_QUESTIONS, "arrived", "decide:arrived", "The doubtful message got there."),
    (_QUESTIONS, "resend", "decide:resend", "Send the doubtful message again."),
    (_QUESTIONS, "drop", "decide:drop", "Leave the doubtful delivery out."),
    (_HOUSE, "up", "up:up", "Start Remit here, and keep it running."),
    (_HOUSE, "open", "open:open_", "Open the dashboard, signed in."),
    (_HOUSE, "doctor", "doctor:doctor", "Check every part, and say what to do."),
    (_HOUSE, "brain", "brain:app", "What thinks now; `use` changes it."),
    (_HOUSE, "channels", "channels:app", "The ways out; `test` sends a message to see it work."),
    (_HOUSE, "calendar", "calendar:app", "The calendars that work starts from."),
    (_HOUSE, "doors", "doors:app", "What comes in from others, and what became of it."),
    (_HOUSE, "hooks", "hooks:app", "What programs may call to start work."),
    (_HOUSE, "notices", "notices:app", "What you were told, and where; `test` tries a way."),
    (_HOUSE, "contacts", "contacts:app", "Who is written to, where, and whether it asks."),
    (_HOUSE, "rules", "rules:app", "What ranks tasks; `test` says what a change would do."),
    (_HOUSE, "reflect", "reflect:app", "What ended tasks teach; `now` looks, and proposes."),
    (_HOUSE, "recall", "recall:app", "Tasks like others; how their index stands."),
    (_HOUSE, "secrets", "secrets:app", "Keys and passwords, by name; no value is shown."),
    (_HOUSE, "tokens", "tokens:app", "The programs that may call, and what each may do."),
    (_HOUSE, "mcp", "mcp:mcp", "Remit for other agents, on stdin and stdout."),
    (_HOUSE, "rehearse", "rehearse:app", "What would happen; nothing is stored."),
    (_HOUSE, "export", "export:app", "What others read: builder-state.json of tasks."),
    (_HOUSE, "project", "project:app", "The projects that code is worked on; `add` sets one up."),
    (_HOUSE, "verify", "verify:verify", "Check the work in a folder against its contract."),
    (_HOUSE, "backup", "backup:backup", "Save the database, while Remit works."),
    (_HOUSE, "restore", "backup:restore", "Put a backup in place."),
    (_HOUSE, "audit", "audit:app", "Compare the store with its journal."),
    (_HOUSE, "completion", "completion:completion", "A completion script for your shell."),
)


def build() -> App:
    """Register all commands without loading them."""
    app = App(
        name="remit",
        help="Remit has the work done that you entrust to it, proves it, and sends it once.",
        version=__version__,
        default_parameter=Parameter(show_default=False, negative=()),
        help_epilogue='Start with `remit up`, then `remit add "…"` in another terminal.',
    )
    for order, (group, name, place, said) in enumerate(_COMMANDS):
        app.command(f"remit.cli.{place}", name=name, help=said, group=group, sort_key=order)
    for option in ("--help", "--version"):
        app[option].group = (_HOUSE,)
    return app


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Run what was typed and return the exit code. An error is a sentence, never a traceback."""
    try:
        done = build()(argv, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        out.say()
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


def _fail(error: Exception, *, as_json: bool) -> int:
    sentence, code, kind = _read(error)
    out.say(out.StyledText(sentence, "yellow" if code == codes.WAITS else "red"))
    if as_json:
        out.emit({"type": kind, "detail": out.clean(sentence), "exit": code})
    return code


def _read(error: Exception) -> tuple[str, int, str]:
    """Return the sentence, the code, and the problem's name."""
    if isinstance(error, RemitError):
        return str(error), codes.of_error(error), codes.problem_type(error)
    if isinstance(error, CycloptsError):
        error.verbose = False
        return str(error).strip(), codes.USAGE, "urn:remit:problem:usage"
    if isinstance(error, OSError) and error.filename:
        sentence = f"{error.filename}: {error.strerror}. Look at that path, or at REMIT_HOME."
        return sentence, codes.FAILED, "urn:remit:problem:failed"
    sentence = (
        f"Remit stumbled ({type(error).__name__}: {error}). That is a mistake in Remit; "
        "REMIT_DEBUG=1 shows where it happened."
    )
    return sentence, codes.FAILED, "urn:remit:problem:internal"


if __name__ == "__main__":
    main()
