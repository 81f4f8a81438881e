"""`remit`: runs the command that was typed, and handles its errors."""

import os
import sys
from collections.abc import Sequence

from remit import __version__
from remit.cli import codes, commands, out
from remit.errors import RemitError


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
        from remit.cli import front_page  # noqa: PLC0415 - for this alone

        front_page.show()
        return codes.DONE
    try:
        command = commands.bind(argv)
    except commands.NotPlain:
        from remit.cli import full_parser  # noqa: PLC0415 - slow to import, and rarely needed

        return full_parser.call(argv)
    return command()


def _fail(error: Exception, *, as_json: bool) -> int:
    sentence, code, kind = _describe(error)
    out.say(out.StyledText(sentence, "yellow" if code == codes.WAITS else "red"))
    if as_json:
        out.emit({"type": kind, "detail": out.clean(sentence), "exit": code})
    return code


def _describe(error: Exception) -> tuple[str, int, str]:
    """Return the sentence, the code, and the problem's name."""
    if isinstance(error, RemitError):
        return str(error), codes.of_error(error), codes.problem_type(error)
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
