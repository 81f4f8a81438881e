"""Checks variation selectors: invisible characters that choose a form of the one before them.

There are 260 of them, so one after each character could carry a hidden byte. A selector is accepted
only where Unicode defines it: after an emoji, after signs and letters with a second form, and after
an ideograph. For ideographs tens of thousands of forms are registered, so their number in one text
is limited as well.
"""

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import Final

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
