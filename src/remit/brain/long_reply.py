"""Makes a reply that was cut off or refused impossible to send.

Such a reply is no deliverable, even if it has complete tags. Its tags are broken and its first line
says why. It is stored and shown; without tags every gate holds it.
"""

import re
from typing import Final

from msgspec.structs import replace

from remit.model.reply import Reply

MAX_ANSWER_CHARS: Final = 1_000_000  # of one answer; the gate reads a quarter of it at most
KEPT_CHARS: Final = 100_000  # kept of a longer answer
TOO_LONG: Final = (
    f"it is longer than {MAX_ANSWER_CHARS:,} characters, so only its beginning was kept."
)
_TAG: Final = re.compile(r"<(?=\s*/?\s*deliverable)|(?<=deliverable)(\s*)>", re.IGNORECASE)


def hold(text: str, why: str) -> str:
    """Return the same text with its tags broken and a reason on top."""
    return f"[Held: {why}]\n\n{_TAG.sub(_defused, text)}".rstrip()


def bounded(reply: Reply) -> Reply:
    """Return the reply; of one that is too long only the beginning, which is never sent."""
    if len(reply.text) <= MAX_ANSWER_CHARS:
        return reply
    return replace(too_long(reply.text), usage=reply.usage)


def too_long(text: str) -> Reply:
    """Return what is kept of an answer that did not end; its calls are not run."""
    return Reply(hold(text[:KEPT_CHARS], TOO_LONG), flaw=f"The answer is not whole: {TOO_LONG}")


def _defused(found: re.Match[str]) -> str:
    return "⟨" if found[0] == "<" else f"{found[1]}⟩"
