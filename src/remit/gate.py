"""Nothing leaves the house but what the brain put between the tags.

The gate finds the one deliverable of a reply, or says why there is none. When it is not sure, it
holds the task for its owner; it never guesses, never cuts, and never mends. It reads each
character a bounded number of times, whatever the input.
"""

import re
import unicodedata
from typing import Final

from remit.model.reply import Deliverable, Hold, Reply

OPEN: Final = "<deliverable>"
CLOSE: Final = "</deliverable>"
MOST_READ: Final = 256 * 1024
_KEPT: Final = frozenset("\n\t\u200c\u200d")  # line ends, tabs, and the joiners that emoji need
_BLANK: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0")  # letters by name, nothing to the eye
_DECLINES: Final = frozenset({"none", "n/a", "na", "null", "nil"})
_NONE: Final = re.compile(r"[\W_]*NONE(?![^\W_])")  # and then, perhaps, why
# Greek and Cyrillic letters that look like those of NONE.
_ALIKE: Final = str.maketrans("\u039d\u039f\u0395\u03bf\u041e\u0415\u043e\u0435", "NOEoOEoe")
_TAG: Final = re.compile(r"<[\s/]*deliverable")  # in any spelling, once it is made plain
_FENCES: Final = ("```", "~~~")
# Three flags are drawn with characters that could hide text anywhere else.
_FLAGS: Final = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_ECHO: Final = "[Your standalone message for the recipient goes here]"


def judge(reply: Reply, *, most: int) -> Deliverable | Hold:
    """Return what may be sent, or why nothing may."""
    text = reply.text
    if len(text) > MOST_READ:
        return Hold(f"The reply has {len(text)} characters; at most {MOST_READ} are read.")
    opened, closed = text.count(OPEN), text.count(CLOSE)
    if opened == closed == 0:
        return Hold(_without_tags(text))
    before, _, rest = text.partition(OPEN)
    inside, end, _ = rest.partition(CLOSE)
    if (opened, closed) != (1, 1) or not end:
        return Hold(
            f"The reply has {opened} opening and {closed} closing tags; "
            "exactly one pair, in order, is sent."
        )
    disguise = _disguise(before, inside)
    return judge_text(inside, most=most) if disguise is None else Hold(disguise)


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
    hidden = next(filter(_is_hidden, _without_flags(text)), None)
    if hidden is not None:
        return f"The deliverable holds a hidden character (U+{ord(hidden):04X})."
    if len(text) > most:
        return f"The deliverable has {len(text)} characters; the channel takes {most}."
    return None


def _without_tags(text: str) -> str:
    # A tag in another spelling is a sign that something was meant to be sent: say so.
    if _TAG.search(_plain(text).casefold()):
        return "The reply has deliverable tags in another spelling."
    return "The reply has no <deliverable> tags."


def _disguise(before: str, inside: str) -> str | None:
    if _is_quoted(before):
        return "The deliverable stands in code or in a comment, as an example would."
    if _TAG.search(_plain(inside).casefold()):
        return "The deliverable holds another tag of its kind, in another spelling."
    return None


def _is_quoted(before: str) -> bool:
    """Whether what follows stands in a code block, in inline code or in an HTML comment."""
    *lines, last = before.split("\n")
    fences = sum(line.lstrip().startswith(_FENCES) for line in lines)
    comment = before.rfind("<!--") > before.rfind("-->")
    return bool(fences % 2 or last.count("`") % 2) or comment


def _shows(char: str) -> bool:
    """Letters, digits, signs; a mark alone, a space or a filler is nothing to the eye."""
    return unicodedata.category(char)[0] in "LNPS" and char not in _BLANK


def _is_hidden(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "Cn":
        return not "\U0001f000" <= char <= "\U0001faff"  # an emoji younger than this Python
    return category in ("Cc", "Cf", "Cs", "Co") and char not in _KEPT


def _without_flags(text: str) -> str:
    """The text as it is looked through: what is harmless only in its place is left out."""
    for allowed in ("\r\n", *_FLAGS):
        text = text.replace(allowed, "\n")
    return text


def _declines(text: str) -> bool:
    word = _plain(text[:64]).translate(_ALIKE)
    return bool(_NONE.match(word)) or word.casefold().strip(" \t\n*_`'\".!()[]<>") in _DECLINES


def _plain(text: str) -> str:
    """Without disguise: one form of each letter, and nothing that cannot be seen."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")
