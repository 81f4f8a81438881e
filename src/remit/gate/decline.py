"""Detects a reply that says nothing: it declines, or ends with nothing to report."""

import re
from typing import Final

from remit.gate import eye, pair
from remit.gate.eye import HoldReason, Objection, excerpt, fold, known_words, words

_ELEMENT: Final = re.compile(
    r"</?+(?:p|br|hr|div|span|b|i|u|s|em|strong|small|sub|sup|a|img|font|center|h[1-6]|ul|ol|li|dl"
    r"|dt|dd|table|thead|tbody|tr|td|th|pre|code|blockquote|html|body|head)\b[^<>]{0,400}+>",
    re.IGNORECASE,
)
_BLANK_ENTITY: Final = re.compile(
    r"&(?:nbsp|ensp|emsp|thinsp|zwj|zwnj|shy|lrm|rlm|#32|#160|#8203|#x20|#xa0|#x200b);",
    re.IGNORECASE,
)
_VISIBLE: Final = re.compile(r"[^\s*_~#>|+=`\[\]()\\-]")  # Markdown marks are no words

_MAX_BARE_CHARACTERS: Final = 400
_REPEATED: Final = re.compile(r"(?:none|n0ne){1,99}+\Z")
_BARE: Final = frozenset(map(fold, known_words("none")))
_NOT_WORD: Final = re.compile(r"[\W_]++")
_FIRST: Final = re.compile(
    r"\A[\W_]*+(?:\d{1,2}+[.)]\s)?+"
    r"(?:(?:final |the )?+(?:deliverable|message|answer|output|response|reply|result|status)"
    r"(?: is)?+[\s:=*_-]{1,8}+)?+"
    r"(none|n0ne|n/a|n\.a\.?+|null|nil)(?![^\W_])"
)
_CLOSING: Final = "*_~`\"')]}>»"
_GOES_ON: Final = frozenset(map(fold, known_words("after_none")))
_WORD: Final = re.compile(r"[ \t]{1,8}+([a-z']{1,20}+)")
_APART: Final = re.compile(r"\s{0,4}+[:;(\n]|\s{1,4}+-|-{1,3}+\s")


def emptiness(plain: str) -> Objection | None:
    """Object to a folded text that shows nothing."""
    if _VISIBLE.search(_bare(plain)):
        return None
    return Objection("The deliverable is empty: there is nothing in it to read.", HoldReason.EMPTY)


def objection(plain: str) -> Objection | None:
    """Object to a folded text that only says that there is none."""
    bare = _bare(plain)
    if _is_none(bare):
        sentence = f"The assistant wrote nothing to send: “{excerpt(plain)}”."
        return Objection(sentence, HoldReason.DECLINE)
    refusal = eye.refusal(words(bare))
    if refusal is None:
        return None
    sentence = f"The assistant refused, and said so in the text: “… {excerpt(refusal)} …”."
    return Objection(sentence, HoldReason.DECLINE)


def keyword(plain: str) -> Objection | None:
    """Object to the bare word, from any author: mostly it means "send nothing"."""
    if not _REPEATED.match(_letters_of(_bare(plain))):
        return None
    return Objection(f"“{excerpt(plain)}” is the word for sending nothing.", HoldReason.DECLINE)


def _bare(plain: str) -> str:
    """Return the text without what HTML hides."""
    first, *rest = plain.split("<!--")
    uncommented = first + "".join(piece.partition("-->")[2] for piece in rest)
    return _BLANK_ENTITY.sub(" ", _ELEMENT.sub("", uncommented))


def _letters_of(bare: str) -> str:
    """The letters of a short text, run together."""
    return _NOT_WORD.sub("", bare).lower() if len(bare) <= _MAX_BARE_CHARACTERS else ""


def _is_none(bare: str) -> bool:
    letters = _letters_of(bare)
    if letters in _BARE or _REPEATED.match(letters):
        return True
    found = _FIRST.match(bare.lower())
    return found is not None and _ends_there(bare, found[1], found.end())


def _ends_there(bare: str, word: str, end: int) -> bool:
    """Whether a text that begins with NONE, or a similar word, ends with it."""
    rest = bare[end : end + 64].lstrip(_CLOSING).lower()
    if not rest.strip():
        return True
    if word in ("null", "nil"):
        return bool(_APART.match(rest))
    if rest[0].isalnum():  # none's
        return False
    if rest[0] == "-" and rest[1:2].isalpha():  # none-the-less; but NONE-for want of data
        return bare[end - len(word) : end].isupper()
    following = _WORD.match(rest)
    return following is None or following[1] not in _GOES_ON


OPEN: Final = "<nothing-to-report>"
CLOSE: Final = "</nothing-to-report>"
_MAX_REASON_CHARACTERS: Final = 300


def read_silence(reply: str, most: int) -> str | None:
    """Return the reason that a reply gives for silence, in one line; None if it is no silence."""
    text = reply.rstrip()
    if len(text) > most or (text.count(OPEN), text.count(CLOSE)) != (1, 1):
        return None
    before, _, rest = text.partition(OPEN)
    reason, _, after = rest.partition(CLOSE)
    stands_apart = not before or before[-1].isspace()  # else it is quoted
    if after or not stands_apart or pair.misspelt(text, fold(text)) is not None:
        return None
    if pair.open_fence(before.split("\n")):
        return None
    return " ".join(reason.split())[:_MAX_REASON_CHARACTERS]
