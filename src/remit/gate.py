"""Nothing leaves the house but what the brain put between the tags.

The gate finds the one deliverable of a reply, or says why there is none. When it is not sure, it
holds the task for its owner; it never guesses, never cuts, and never mends. It reads each
character a bounded number of times, whatever the input.
"""

import unicodedata
from typing import Final

from remit.model.reply import Deliverable, Hold, Reply

OPEN: Final = "<deliverable>"
CLOSE: Final = "</deliverable>"
MOST_READ: Final = 256 * 1024
_KEPT: Final = frozenset("\n\t\u200c\u200d")  # line ends, tabs, and the joiners that emoji need
_BLANK: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0")  # letters by name, nothing to the eye
_DECLINES: Final = frozenset({"none", "n/a", "na", "null", "nil"})
_ECHO: Final = "[Your standalone message for the recipient goes here]"


def judge(reply: Reply, *, most: int) -> Deliverable | Hold:
    """Return what may be sent, or why nothing may."""
    text = reply.text
    if len(text) > MOST_READ:
        return Hold(f"The reply has {len(text)} characters; at most {MOST_READ} are read.")
    opened, closed = text.count(OPEN), text.count(CLOSE)
    if opened == closed == 0:
        return Hold(_without_tags(text))
    start = text.find(OPEN) + len(OPEN)
    end = text.find(CLOSE)
    if (opened, closed) != (1, 1) or end < start:
        return Hold(
            f"The reply has {opened} opening and {closed} closing tags; "
            "exactly one pair, in order, is sent."
        )
    if text.count("```", 0, start) % 2:
        return Hold("The deliverable stands inside a code block, as an example would.")
    return judge_text(text[start:end], most=most)


def judge_text(text: str, *, most: int) -> Deliverable | Hold:
    """Judge a text that is to be sent, whoever wrote it."""
    text = text.strip()
    objection = _objection(text, most)
    return Deliverable(text) if objection is None else Hold(objection)


def _objection(text: str, most: int) -> str | None:
    if not any(_shows(char) for char in text):
        return "The deliverable is empty."
    if _declines(text) or text == _ECHO:
        return "The brain declined to write a deliverable."
    hidden = next((char for char in text if char not in _KEPT and _is_hidden(char)), None)
    if hidden is not None:
        return f"The deliverable holds a hidden character (U+{ord(hidden):04X})."
    if len(text) > most:
        return f"The deliverable has {len(text)} characters; the channel takes {most}."
    return None


def _without_tags(text: str) -> str:
    # A tag in another spelling is a sign that something was meant to be sent: say so.
    if "deliverable>" in unicodedata.normalize("NFKC", text).casefold().replace(" ", ""):
        return "The reply has deliverable tags in another spelling."
    return "The reply has no <deliverable> tags."


def _shows(char: str) -> bool:
    return unicodedata.category(char)[0] not in "CZ" and char not in _BLANK


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")


def _declines(text: str) -> bool:
    plain = unicodedata.normalize("NFKC", text[:64])
    word = "".join(c for c in plain if unicodedata.category(c) != "Cf").casefold()
    return word.strip(" \t\n*_`'\".!()[]<>") in _DECLINES
