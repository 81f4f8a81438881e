"""Finds characters that a reader cannot see, or that disguise a text.

Some belong to correct writing: joiners in Persian, Hindi and emoji, direction marks in Hebrew and
Arabic, variation selectors, soft hyphens within words, the tag characters of three flags. In any
other place they are held, and so is a text with more of them than writing needs, because they could
carry a hidden message.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from remit.gate.eye import HoldReason, Objection, excerpt, line

SELECTOR: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_TEXT_FORM: Final = "\ufe0e"
_EMOJI_FORM: Final = "\ufe0f"
_KEYCAP: Final = "\u20e3"
_MAX_FORMS: Final = 16  # of an ideograph; a few names have more
_NAMES_WITH_MORE: Final = {"\u9089": 32, "\u908a": 32}  # the two of Watanabe
_MAX_IDEOGRAPHS: Final = 24  # with a selector, in one text
_MAX_KINDS: Final = 6  # of selectors behind ideographs, in one text
_MAX_CHANGES: Final = 8  # times that a character stands in another form than where it stood before

_IDEOGRAPH: Final = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_VARIED: Final = re.compile(
    "([\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])([\ufe00-\ufe02\U000e0100-\U000e01ef]?+)"
    "|(.)([\ufe00-\ufe0f])"
)
_EMOJI: Final = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615"
    "\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653"
    "\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1"
    "\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3\u26d4\u26e9"
    "\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d"
    "\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797"
    "\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_KEYS: Final = frozenset("0123456789#*")
# Signs and letters with one other form: mathematics, slashed zero, Burmese, Phags-pa, Manichaean.
_SECOND_FORM: Final = re.compile(
    "[0\uff10\u2229\u222a\u2268\u2269\u2272\u2273\u228a\u228b\u2293-\u2295\u2297\u229c\u22da\u22db"
    "\u2a3c\u2a3d\u2a9d\u2a9e\u2aac\u2aad\u2acb\u2acc\u1000\u1002\u1004\u1010\u1011\u1015\u1019\u101a"
    "\u101c\u101d\u1022\u1031\u1075\u1078\u107a\u1080\uaa60-\uaa66\uaa6b\uaa6c\uaa6f\uaa7a\ua856\ua85c"
    "\ua85e-\ua860\ua868\U00010ac5\U00010ac6\U00010ad6\U00010ad7\U00010ae1]"
)
_PUNCTUATION: Final = frozenset(
    "\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
)


def belongs(before: str, selector: str, after: str) -> bool:
    """Whether Unicode defines the form that a selector makes."""
    if not before:
        return False
    if selector in (_TEXT_FORM, _EMOJI_FORM):
        return bool(_EMOJI.match(before)) or (before in _KEYS and after == _KEYCAP)
    number = ord(selector) - (0xE0100 if selector >= "\U000e0100" else 0xFE00)
    if selector >= "\U000e0100":
        most = _NAMES_WITH_MORE.get(before, _MAX_FORMS)
        return number < most and bool(_IDEOGRAPH.match(before))
    if before in _PUNCTUATION:
        return number <= 1
    return number < _old_forms()[before] or (number == 0 and bool(_SECOND_FORM.match(before)))


def overused(text: str) -> int | None:
    """Return where a text uses more selectors than writing needs; None if it does not."""
    if not SELECTOR.search(text):
        return None
    forms: dict[str, str] = {}
    kinds: set[str] = set()
    count = changes = 0
    for found in _VARIED.finditer(text):
        base, form = found[1] or found[3], found[2] or found[4] or ""
        if found[2]:
            count += 1
            kinds.add(form)
        changes += forms.setdefault(base, form) != form
        forms[base] = form
        if count > _MAX_IDEOGRAPHS or len(kinds) > _MAX_KINDS or changes > _MAX_CHANGES:
            return found.end() - 1
    return None


@cache
def _old_forms() -> Counter[str]:
    """Return how many forms of an ideograph have their own character in old standards."""
    codes = (*range(0xF900, 0xFADA), *range(0x2F800, 0x2FA1E))
    bases = (unicodedata.decomposition(chr(code)) for code in codes)
    return Counter(chr(int(base, 16)) for base in bases if base and " " not in base)


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
    selected = overused(text)
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
    if SELECTOR.match(char):
        return belongs(before, char, after)
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


_RULES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "\r": lambda _, after: after == "\n",
    "\u200b": lambda before, after: _meets(_SPACELESS, before, after),
    "\u200c": lambda before, after: _meets(_JOINING, before, after),
    "\u200d": _joins,
    **dict.fromkeys(map(chr, range(0x180B, 0x1810)), lambda b, _: bool(_MONGOLIAN.match(b))),
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
