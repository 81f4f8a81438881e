"""Finds characters that a reader cannot see, or that disguise a text.

Some belong to correct writing: joiners in Persian, Hindi and emoji, direction marks in Hebrew and
Arabic, variation selectors, soft hyphens within words, the tag characters of three flags. In any
other place they are held, and so is a text with more of them than writing needs, because they could
carry a hidden message.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, cast

from remit.gate.eye import HoldReason, Objection, excerpt, line
from remit.gate.hidden_choices import (
    EMOJI,
    LINKING,
    MAX_HIDDEN_BITS,
    MONGOLIAN_WITH_FORMS,
    SPACELESS,
    characters,
    first_choice,
    hidden_bits,
    may_part_words,
    spelling_bits,
)
from remit.language.files import read_toml

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
_KEYS: Final = frozenset("0123456789#*")
_SECOND_FORM: Final = re.compile(f"[{characters('second_form')}]")
_PUNCTUATION: Final = frozenset(
    "\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
)


def belongs(before: str, selector: str, after: str) -> bool:
    """Whether Unicode defines the form that a selector makes."""
    if not before:
        return False
    if selector in (_TEXT_FORM, _EMOJI_FORM):
        return bool(EMOJI.match(before)) or (before in _KEYS and after == _KEYCAP)
    number = ord(selector) - (0xE0100 if selector >= "\U000e0100" else 0xFE00)
    if selector >= "\U000e0100":
        most = _NAMES_WITH_MORE.get(before, _MAX_FORMS)
        return number < most and bool(_IDEOGRAPH.match(before))
    if before in _PUNCTUATION:
        return number <= 1
    return number < _old_forms()[before] or (number == 0 and bool(_SECOND_FORM.match(before)))


def find_overuse(text: str) -> int | None:
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
    "\U00016fe4\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U0010ffff"
    "]"
)
_STACK: Final = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{5}")
_SPACE: Final = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_MAX_SPACE_KINDS: Final = 3  # kinds of special space in one text
_MAX_ZERO_WIDTH_PAIRS: Final = 2  # times that a zero-width character may stand twice in a row
_BRAILLE: Final = re.compile("[\u2801-\u28ff]")
_RIGHT_TO_LEFT: Final = re.compile(f"[{characters('right_to_left')}]")
_ISOLATES: Final = re.compile("[\n\u2066-\u2069]")
_EMPTY_ISOLATE: Final = re.compile("[\u2066-\u2068][\u2066-\u2069]|\u2069\u2069")
_ENDS_ISOLATE: Final = "\u2069"
_JOINING: Final = re.compile(f"[{characters('joining')}]")
_SPACELESS: Final = re.compile(f"[{SPACELESS}]")
_MONGOLIAN: Final = re.compile("[\u1800-\u180a\u1810-\u18af]")
_LINKING: Final = re.compile(f"[{LINKING}]")
_LETTER_OF_LINKS: Final = re.compile(f"[{LINKING}\u0620-\u06d3\u08a0-\u08c9]")
_VIRAMA_CLASS: Final = 9  # Unicode's combining class of the signs that take a letter's vowel
_RA: Final = frozenset("\u09b0\u0cb0")  # with a joiner it keeps its form before the sign
_SEQUENCES: Final = cast(
    "list[tuple[str, str]]", read_toml("characters", "remit.gate")["joined_emoji"]
)
_ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d")
_MARKS: Final = frozenset("\u061c\u200e\u200f")
_SKIN: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_OPTIONAL: Final = re.compile(
    "[\xad\xa0\u061c\u1680\u180b-\u180f\u2000-\u200f\u202f\u205f\u3000\ufe0e\ufe0f]"
)
_SLIP: Final = re.compile("\u200b\u200b|\u200c\u200c|\u200d\u200d")
_SOFT_HYPHEN: Final = "\xad"
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
    index = _find_misplaced(text)
    if index is not None:
        return _objection_at(text, index)
    overuse = next(_too_many(text), None)
    return _hidden_objection(text, *overuse) if overuse else None


def _find_misplaced(text: str) -> int | None:
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


def _too_many(text: str) -> Iterator[tuple[int, str]]:
    """Yield where characters that are fine once could encode data in number."""
    stacked = _STACK.search(text)
    if stacked:
        yield stacked.start(), "a pile of accents on one letter"
    selected = find_overuse(text)
    if selected is not None:
        yield selected, "more hidden selectors than any text needs"
    kinds: dict[str, int] = {}
    for found in _SPACE.finditer(text):
        kinds.setdefault(found[0], found.start())
    if len(kinds) > _MAX_SPACE_KINDS:
        yield [*kinds.values()][_MAX_SPACE_KINDS], "one kind of special space too many"
    slips = [found.start() for found in _SLIP.finditer(text)]
    if len(slips) > _MAX_ZERO_WIDTH_PAIRS:
        yield slips[-1], "many doubled characters that cannot be seen"
    optional = _OPTIONAL.search(text)
    if optional and hidden_bits(text) > MAX_HIDDEN_BITS:
        yield optional.start(), "the first of many characters that could spell a message"
    if spelling_bits(text) > MAX_HIDDEN_BITS:
        yield (
            first_choice(text),
            "letters in two spellings that look the same, which could spell a message",
        )


def _belongs(text: str, index: int) -> bool:
    char, after = text[index], text[index + 1 : index + 2]
    if "\U000e0020" <= char <= "\U000e007f":
        return _in_flag(text, index)
    before = text[index - 1 : index]
    if SELECTOR.match(char):
        return belongs(before, char, after)
    if char == "\u200d" and _joins_emoji(text, index):
        return True
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


def _meets(script: re.Pattern[str], before: str, after: str) -> bool:
    return before not in _ZERO_WIDTH and bool(script.match(before) or script.match(after))


def _joins(before: str, after: str) -> bool:
    """Whether a joiner shows: behind a sign that takes the vowel, or where a link would end."""
    if not before:
        return False
    if unicodedata.combining(before) == _VIRAMA_CLASS:
        return True
    if before in _RA and after:
        return unicodedata.combining(after) == _VIRAMA_CLASS
    return bool(_LINKING.match(before)) and not _LETTER_OF_LINKS.match(after)


def _joins_emoji(text: str, index: int) -> bool:
    base = index - 1
    if text[base : base + 1] in _SKIN or text[base : base + 1] == _EMOJI_FORM:
        base -= 1
    left, right = text[max(base, 0) : base + 1], text[index + 1 : index + 2]
    return bool(left and right) and any(left in one and right in two for one, two in _SEQUENCES)


def _selects_form(least: str) -> Callable[[str, str], bool]:
    letters = re.compile(f"[{least}]")
    return lambda before, _: bool(letters.match(before))


_RULES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "\r": lambda _, after: after == "\n",
    "\u200b": lambda before, after: (
        _meets(_SPACELESS, before, after) and may_part_words(before, after)
    ),
    "\u200c": lambda before, after: _meets(_JOINING, before, after),
    "\u200d": _joins,
    "\u180b": _selects_form(MONGOLIAN_WITH_FORMS),
    "\u180c": _selects_form(MONGOLIAN_WITH_FORMS),
    "\u180d": _selects_form("\u1820\u1828\u182c\u182d\u1873\u1874\u1880\u1887"),
    "\u180e": lambda before, after: bool(_MONGOLIAN.match(before)) and after in tuple("ᠠᠡ"),
    "\u180f": _selects_form("\u1820\u182d\u1887"),
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
