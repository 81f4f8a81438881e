"""Classifies how a message is worded, to notice what the owner removes again and again.

Only kinds are returned, never words of the text, so it does not matter who wrote it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

GREETING: Final = "greeting"
CLOSING: Final = "closing"
BULLETS: Final = "bullets"
EMOJI: Final = "emoji"
EXCLAMATION: Final = "exclamation"
HEADINGS: Final = "headings"

_MAX_CHARACTERS: Final = 100_000  # characters that are looked at
_SHORT: Final = 8  # words of a line that greets or closes
_LAST: Final = 3  # lines among which a closing stands
_GREETS: Final = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings"
    r"|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:morgen|tag|abend)|servus|moin"
    r"|hola|estimad[oa]s?|querid[oa]s?|buen(?:os|as) (?:d[ií]as|tardes|noches))\b",
    re.IGNORECASE,
)
_CLOSES: Final = re.compile(
    r"(?:(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|best|cheers|sincerely|yours"
    r"|thanks|thank you|many thanks|all the best|let me know"
    r"|mit freundlichen gr[üu](?:ß|ss)en|(?:viele|liebe|beste|herzliche) gr[üu](?:ß|ss)e"
    r"|vielen dank|danke|bis (?:bald|dann)|lg|mfg"
    r"|(?:un )?saludos?|(?:muchas )?gracias|atentamente|un abrazo|hasta (?:pronto|luego))\b",
    re.IGNORECASE,
)
_BULLET: Final = re.compile(r"(?m)^[ \t]*(?:[-*•‣]|\d{1,2}[.)])[ \t]+\S")
_HEADING: Final = re.compile(r"(?m)^#{1,6} \S")
_EMOJI: Final = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_WORD: Final = re.compile(r"\w+(?:['’-]\w+)*")


def kinds(text: str) -> tuple[str, ...]:
    """What stands in a text, in a fixed order."""
    shown = text[:_MAX_CHARACTERS]
    return tuple(name for name, there in _KINDS.items() if there(shown))


def count(text: str) -> int:
    return len(_WORD.findall(text[:_MAX_CHARACTERS]))


def _greets(text: str) -> bool:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _GREETS.match(first) is not None and (
        count(first) <= _SHORT or first.partition(",")[0].count(" ") < _SHORT // 2
    )


def _closes(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[1:][-_LAST:]  # a single line is the message itself, no closing
    return any(_CLOSES.match(line) and count(line) <= _SHORT for line in last)


_KINDS: Final[Mapping[str, Callable[[str], bool]]] = {
    GREETING: _greets,
    CLOSING: _closes,
    BULLETS: lambda text: len(_BULLET.findall(text)) > 1,
    HEADINGS: lambda text: _HEADING.search(text) is not None,
    EMOJI: lambda text: _EMOJI.search(text) is not None,
    EXCLAMATION: lambda text: "!" in text,
}
