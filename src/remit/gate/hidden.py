"""Finds characters that a reader cannot see, or that disguise a text.

Some belong to correct writing: joiners in Persian, Hindi and emoji, direction marks in Hebrew and
Arabic, variation selectors, soft hyphens within words, the tag characters of three flags. In any
other place they are held, and so is a text with more of them than writing needs, because they could
carry a hidden message.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from remit.gate import variation
from remit.gate.eye import HoldReason, Objection, excerpt, line

_SUSPECT: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; \r may be the first half of a line end
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\uffa0"
    "\u2800\ufe00-\ufe0f\ufeff\ufff0-\ufffc\ufdd0-\ufdef\ufffe\uffff"
    "\ud800-\udfff\ue000-\uf8ff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U0010ffff"
    "]"
)
_STACK: Final = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{5}")
_SPACE: Final = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_MAX_SPACE_KINDS: Final = 3  # kinds of special space in one text
_MAX_ZERO_WIDTH_PAIRS: Final = 2  # times that a zero-width character may stand twice in a row
_BRAILLE: Final = re.compile("[\u2801-\u28ff]")
_ARABIC: Final = re.compile("[\u0620-\u06ff\u0750-\u077f\u08a0-\u08c9]")
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u05d0-\u05f4\u0620-\u06d3\u06ee-\u08c7\ufb1d-\ufdcf\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001eeff]"
)
_ISOLATES: Final = re.compile("[\n\u2066-\u2069]")
_EMPTY_ISOLATE: Final = re.compile("[\u2066-\u2068][\u2066-\u2069]|\u2069\u2069")
_ENDS_ISOLATE: Final = "\u2069"
# Scripts in which a joiner changes how letters connect: Arabic and related, those of India and
# south-east Asia, Mongolian.
_JOINING: Final = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\ua840-\ua8ff\ua980-\uaadf"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_SPACELESS: Final = re.compile("[\u0e00-\u109f\u1780-\u17ff\u1950-\u1aaf\ua9e0-\uaadf]")
_MONGOLIAN: Final = re.compile("[\u1800-\u180a\u1810-\u18af]")
_ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d")
_MARKS: Final = frozenset("\u061c\u200e\u200f")
_SKIN: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_SLIP: Final = re.compile("\u200b\u200b|\u200c\u200c|\u200d\u200d")
_SOFT_HYPHEN: Final = "\xad"
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
    """Return where the first misplaced character is, if any."""
    index = _misplaced(text)
    if index is not None:
        return _objection_at(text, index)
    return _too_many(text)


def _misplaced(text: str) -> int | None:
    suspects = [found.start() for found in _SUSPECT.finditer(text)]
    if not suspects:
        return None
    directed = bool(_RIGHT_TO_LEFT.search(text))
    isolated = directed and _is_balanced(text) and not _EMPTY_ISOLATE.search(text)
    braille = bool(_BRAILLE.search(text))
    for index in suspects:
        char = text[index]
        if char == "\u2800":
            good = braille
        elif char in _MARKS:
            good = directed and _directs(text[index - 1 : index], text[index + 1 : index + 2])
        elif "\u2066" <= char <= _ENDS_ISOLATE:
            good = isolated
        else:
            good = _belongs(text, index)
        if not good:
            return index
    return None


def _too_many(text: str) -> Objection | None:
    """Object to characters that are fine once but could encode data in number."""
    stacked = _STACK.search(text)
    if stacked:
        return _hidden_objection(text, stacked.start(), "a pile of accents on one letter")
    selected = variation.overused(text)
    if selected is not None:
        return _hidden_objection(text, selected, "more hidden selectors than any text needs")
    kinds: set[str] = set()
    for found in _SPACE.finditer(text):
        kinds.add(found[0])
        if len(kinds) > _MAX_SPACE_KINDS:
            return _hidden_objection(
                text, found.start(), f"the {len(kinds)}th kind of special space"
            )
    slips = [found.start() for found in _SLIP.finditer(text)]
    if len(slips) > _MAX_ZERO_WIDTH_PAIRS:
        return _hidden_objection(text, slips[-1], "many doubled characters that cannot be seen")
    return None


def _belongs(text: str, index: int) -> bool:
    char, after = text[index], text[index + 1 : index + 2]
    if "\U000e0020" <= char <= "\U000e007f":
        return _in_flag(text, index)
    before = text[index - 1 : index]
    if variation.SELECTOR.match(char):
        return variation.belongs(before, char, after)
    if before in _ZERO_WIDTH and before == char:  # two in a row are a typing slip
        before = text[index - 2 : index - 1]
    if char == _SOFT_HYPHEN:
        return text[max(index - 2, 0) : index].isalpha() and text[index + 1 : index + 3].isalpha()
    rule = _RULES.get(char)
    return rule is not None and rule(before, after)


def _directs(before: str, after: str) -> bool:
    """Whether a direction mark has an effect: between two right-to-left letters it has none."""
    if before in _MARKS or before in _ZERO_WIDTH:
        return False
    return not (_RIGHT_TO_LEFT.match(before) and _RIGHT_TO_LEFT.match(after))


def _is_balanced(text: str) -> bool:
    """Whether each isolate ends in the line where it starts."""
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
    # An emoji may be newer than this Python and have no category.
    return (
        unicodedata.category(char) == "So"
        or char in _SKIN
        or char == "\u2194"
        or "\U0001f000" <= char <= "\U0001faff"
    )


def _line_end(before: str, after: str) -> bool:  # noqa: ARG001
    return after == "\n"


def _between_words(before: str, after: str) -> bool:
    return _meets(_SPACELESS, before, after)


def _between_joining(before: str, after: str) -> bool:
    return _meets(_JOINING, before, after)


def _meets(script: re.Pattern[str], before: str, after: str) -> bool:
    return before not in _ZERO_WIDTH and bool(script.match(before) or script.match(after))


def _joins(before: str, after: str) -> bool:
    if _ARABIC.match(before) and _ARABIC.match(after):  # they join without it
        return False
    if _JOINING.match(before):
        return True
    if not before or not after:
        return False
    return (before == _EMOJI_VARIANT or _is_emoji(before)) and _is_emoji(after)


def _mongolian(before: str, after: str) -> bool:  # noqa: ARG001
    return bool(_MONGOLIAN.match(before))


_RULES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "\r": _line_end,
    "\u200b": _between_words,
    "\u200c": _between_joining,
    "\u200d": _joins,
    **{chr(code): _mongolian for code in range(0x180B, 0x1810)},
}


def _objection_at(text: str, index: int) -> Objection:
    char = text[index]
    what = next((what for first, last, what in _CLASSES if first <= char <= last), None)
    if what is None:
        control = unicodedata.category(char) == "Cc"
        what = "a control character" if control else "a character that cannot be seen"
    return _hidden_objection(text, index, what)


def _hidden_objection(text: str, index: int, what: str) -> Objection:
    char = text[index]
    name = unicodedata.name(char, "")
    code = f"U+{ord(char):04X}" + (f", {name.lower()}" if name else "")
    before = excerpt(text[max(index - 16, 0) : index])
    after = f", after “{before}”" if before else ""
    return Objection(f"Line {line(text, index)} holds {what} ({code}){after}.", HoldReason.HIDDEN)
