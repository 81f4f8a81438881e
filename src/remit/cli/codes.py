"""Exit codes: one function for errors, one for the status of a task."""

from typing import Final

from remit.errors import BadInput, Conflict, HomeLocked, NotFound, RemitError, Unreachable
from remit.model.status import Status

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
WAITS: Final = 4  # waits for a person
CONFLICT: Final = 5  # already decided, or not possible now
UNREACHABLE: Final = 6
LOCKED: Final = 75  # another Remit holds the directory
TIMEOUT: Final = 124
INTERRUPTED: Final = 130

# The same word is in the type of the server's problems.
_WORDS: Final = {
    FAILED: "failed",
    USAGE: "bad-input",
    NOT_FOUND: "not-found",
    WAITS: "waits",
    CONFLICT: "conflict",
    UNREACHABLE: "unreachable",
    LOCKED: "locked",
    TIMEOUT: "timeout",
    INTERRUPTED: "interrupted",
}


class OwnerMustAnswer(RemitError):
    """The owner must answer."""


class UsageError(RemitError):
    """The words that were typed are no command."""


class TimedOut(RemitError):
    """Nothing failed; it only took longer than the caller would wait."""


class ServerRefusal(RemitError):
    """The running Remit's answer, with its exit code."""

    def __init__(self, sentence: str, code: int, kind: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.kind = kind


def of_error(error: RemitError) -> int:
    """Return the exit code that says who must act."""
    if isinstance(error, ServerRefusal):
        return error.code
    found = (code for kind, code in _BY_KIND.items() if isinstance(error, kind))
    return next(found, FAILED)


def of_status(status: Status) -> int:
    """Return the exit code of a command that waited for a task."""
    return _BY_STATUS.get(status, FAILED)


def problem_type(error: RemitError) -> str:
    if isinstance(error, UsageError):
        return "urn:remit:problem:usage"
    kind = error.kind if isinstance(error, ServerRefusal) else _WORDS[of_error(error)]
    return f"urn:remit:problem:{kind}"


_BY_KIND: Final[dict[type[RemitError], int]] = {
    BadInput: USAGE,
    NotFound: NOT_FOUND,
    OwnerMustAnswer: WAITS,
    Conflict: CONFLICT,
    Unreachable: UNREACHABLE,
    HomeLocked: LOCKED,
    TimedOut: TIMEOUT,
    UsageError: USAGE,
}
_BY_STATUS: Final = {
    Status.COMPLETED: DONE,
    Status.NEW: WAITS,  # a question about the request is open
    Status.NEEDS_REVIEW: WAITS,
    Status.PAUSED: WAITS,
}
