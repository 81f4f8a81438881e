"""Classifies a failure by the last output of a specialist that failed. Pure."""

import re
from typing import Final

from remit.model.reply import AttemptOutcome

_MAX_READ_CHARACTERS: Final = 4_000  # characters, from the end
_OVERFLOW: Final = re.compile(
    r"context[ _-]?(?:length|window|limit|size)|(?:prompt|input|conversation) (?:is|was) too long"
    r"|maximum (?:context|number of tokens)|too many (?:input )?tokens|exceeds? .{0,40}tokens"
    r"|longer than .{0,60}can read",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(
    r"rate[ _-]?limit|too many requests|\b429\b|quota|usage limit|overloaded|\b529\b"
    r"|try again later|resource[ _]exhausted",
    re.IGNORECASE,
)


def sort(output: str) -> AttemptOutcome:
    """Return the class of a failure; unknown output is a crash.

    A prompt that is too long stays so, so it is checked first.
    """
    end = output[-_MAX_READ_CHARACTERS:]
    if _OVERFLOW.search(end):
        return AttemptOutcome.CONTEXT_OVERFLOW
    return AttemptOutcome.RATE_LIMIT if _LIMIT.search(end) else AttemptOutcome.CRASH
