"""Characters that a reader cannot see, or that make a text look like another.

Some of them belong to good writing, in their place: joiners in Persian, in Hindi and in emoji,
direction marks in Hebrew and Arabic, variation selectors after what they vary, soft hyphens within
words, the tag characters of three flags. Out of their place they are held.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from remit.gate.objection import Objection, Why, line, shown

_SUSPECT: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; of a line end, \r may be the first half
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\uffa0"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff"
    "\ud800-\udfff\ue000-\uf8ff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    "]"
)
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u05d0-\u05f4\u0620-\u06d3\u06ee-\u08c7\ufb1d-\ufdcf\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001eeff]"
)
_ISOLATES: Final = re.compile("[\n\u2066-\u2069]")
_ENDS_ISOLATE: Final = "\u2069"
# Scripts in which a joiner changes how letters meet: Arabic and its kin, those of India and
# south-east Asia, Mongolian.
_JOINING: Final = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\ua840-\ua8ff\ua980-\uaadf"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_SPACELESS: Final = re.compile("[\u0e00-\u109f\u1780-\u17ff\u1950-\u1aaf\ua9e0-\uaadf]")
_MONGOLIAN: Final = re.compile("[\u1800-\u180a\u1810-\u18af]")
_IDEOGRAPH: Final = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d")
_VARIED_SIGNS: Final = frozenset("0123456789#*\u203c\u2049\u2139\u2194\u3030")
_VARIED_MARKS: Final = frozenset("0\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f")
_SKIN: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_EMOJI_VARIANT: Final = "\ufe0f"
_BLACK_FLAG: Final = "\U0001f3f4"
_FLAGS: Final = tuple(
    _BLACK_FLAG + "".join(chr(0xE0000 + ord(char)) for char in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)

_CLASSES: Final = (
    ("\ud800", "\udfff", "half of a character"),
    ("\u202a", "\u202e", "a character that turns the direction of the writing"),
    ("\u2066", "\u2069", "a character that turns the direction of the writing"),
    ("\ue000", "\uf8ff", "a character that looks different in every font"),
    ("\ufe00", "\ufe0f", "a hidden selector that belongs to no sign"),
    ("\U000e0100", "\U000e01ef", "a hidden selector that belongs to no sign"),
    ("\U000e0000", "\U000e007f", "a hidden tag character"),
    ("\U000f0000", "\U0010ffff", "a character that looks different in every font"),
)


def objection(text: str) -> Objection | None:
    """Say where the first character stands that should not be there, if there is one."""
    suspects = [found.start() for found in _SUSPECT.finditer(text)]
    if not suspects:
        return None
    directed = bool(_RIGHT_TO_LEFT.search(text))
    isolated = directed and _is_balanced(text)
    for index in suspects:
        if not _belongs(text, index, directed=directed, isolated=isolated):
            return _found(text, index)
    return None


def _belongs(text: str, index: int, *, directed: bool, isolated: bool) -> bool:
    char = text[index]
    if char in "\u061c\u200e\u200f":
        return directed
    if "\u2066" <= char <= _ENDS_ISOLATE:
        return isolated
    if "\U000e0020" <= char <= "\U000e007f":
        return _in_flag(text, index)
    rule = _RULES.get(char)
    if rule is None:
        rule = _ideographic if "\U000e0100" <= char <= "\U000e01ef" else _never
    before = text[index - 1 : index]
    if before in _ZERO_WIDTH:  # two in a row are a slip of the hand, three are not
        before = text[index - 2 : index - 1]
    return rule(before, text[index + 1 : index + 2])


def _is_balanced(text: str) -> bool:
    """Whether each isolate ends in the line in which it starts."""
    depth = 0
    for found in _ISOLATES.finditer(text):
        if found[0] == "\n":
            if depth:
                return False
        else:
            depth += -1 if found[0] == _ENDS_ISOLATE else 1
            if depth < 0:
                return False
    return depth == 0


def _in_flag(text: str, index: int) -> bool:
    start = text.rfind(_BLACK_FLAG, max(index - 6, 0), index)
    return start >= 0 and text.startswith(_FLAGS, start)


def _is_emoji(char: str) -> bool:
    # An emoji may be younger than this Python and without a category.
    return (
        unicodedata.category(char) == "So"
        or char in _SKIN
        or char == "\u2194"
        or "\U0001f000" <= char <= "\U0001faff"
    )


def _never(before: str, after: str) -> bool:  # noqa: ARG001 - as all rules
    return False


def _line_end(before: str, after: str) -> bool:  # noqa: ARG001
    return after == "\n"


def _within_word(before: str, after: str) -> bool:
    return before.isalpha() and after.isalpha()


def _between_words(before: str, after: str) -> bool:
    return _meets(_SPACELESS, before, after)


def _between_joining(before: str, after: str) -> bool:
    return _meets(_JOINING, before, after)


def _meets(script: re.Pattern[str], before: str, after: str) -> bool:
    return before not in _ZERO_WIDTH and bool(script.match(before) or script.match(after))


def _joins(before: str, after: str) -> bool:
    if _JOINING.match(before):
        return True
    if not before or not after:
        return False
    return (before == _EMOJI_VARIANT or _is_emoji(before)) and _is_emoji(after)


def _mongolian(before: str, after: str) -> bool:  # noqa: ARG001
    return bool(_MONGOLIAN.match(before))


def _shaped(before: str, after: str) -> bool:  # noqa: ARG001
    return before != "" and (
        before in _VARIED_MARKS or unicodedata.category(before) in ("Lo", "So", "Sm")
    )


def _pictured(before: str, after: str) -> bool:  # noqa: ARG001
    return before != "" and (before in _VARIED_SIGNS or _is_emoji(before) or _is_maths(before))


def _is_maths(char: str) -> bool:
    return unicodedata.category(char) == "Sm"


def _ideographic(before: str, after: str) -> bool:  # noqa: ARG001
    return bool(_IDEOGRAPH.match(before))


_RULES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "\r": _line_end,
    "\xad": _within_word,
    "\u200b": _between_words,
    "\u200c": _between_joining,
    "\u200d": _joins,
    "\ufe0e": _pictured,
    _EMOJI_VARIANT: _pictured,
    **{chr(code): _shaped for code in range(0xFE00, 0xFE0E)},
    **{chr(code): _mongolian for code in range(0x180B, 0x1810)},
}


def _found(text: str, index: int) -> Objection:
    char = text[index]
    what = next((what for first, last, what in _CLASSES if first <= char <= last), None)
    if what is None:
        control = unicodedata.category(char) == "Cc"
        what = "a control character" if control else "a character that cannot be seen"
    name = unicodedata.name(char, "")
    code = f"U+{ord(char):04X}" + (f", {name.lower()}" if name else "")
    before = shown(text[max(index - 16, 0) : index])
    after = f", after “{before}”" if before else ""
    return Objection(f"Line {line(text, index)} holds {what} ({code}){after}.", Why.HIDDEN)
