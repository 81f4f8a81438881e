"""Folds a text to how it looks: one form of each letter, nothing invisible.

Folding is for comparison only; the text that is sent is never folded. Each character is folded
alone, so the time is linear (normalising a whole text sorts long runs of accents). Line ends stay,
so line numbers match the original.
"""

import re
import unicodedata
from typing import Final

# Letters by category, but blank to the eye.
BLANK: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0\U0001d159")

# Characters of other scripts that look like a Latin letter or one of our signs.
_ALIKE: Final = {
    "A": "0391 0410 13aa a4ee",
    "a": "0251 03b1 0430",
    "B": "0392 0412 13f4 a4d0",
    "b": "0432 042c 044c 0184 13cf",
    "C": "03f9 0421 13df a4da 2ca4",
    "c": "03f2 0441 2ca5",
    "D": "13a0 15de a4d3",
    "d": "0501 13e7 146f",
    "E": "0395 0415 13ac a4f0 2d39",
    "e": "03b5 0435 0454 04bd 212e",
    "G": "050c 13c0 a4d6",
    "g": "0261 0581",
    "H": "0397 041d 13bb a4e7",
    "h": "043d 04bb 0570",
    "I": "0399 0406 04c0 2c92 2d4f a4f2",
    "i": "0131 0269 03b9 0456 a647 13a5",
    "J": "037f 0408 13ab a4d9",
    "j": "03f3 0458",
    "K": "039a 041a 13e6 a4d7 2c94",
    "k": "03ba 043a",
    "L": "053c 13de a4e1 2cd0",
    "l": "04cf 01c0 05c0",
    "M": "039c 03fa 041c 13b7 a4df",
    "m": "043c",
    "N": "039d 0418 2c9a a4e0",
    "n": "03b7 0438 043f 0578 057c",
    "O": "039f 041e 0555 2c9e 2d54 a4f3 25cb 25ef 2b55",
    "o": "03bf 043e 0585 05e1 10ff 0d20 2c9f",
    "P": "03a1 0420 13e2 a4d1",
    "p": "03c1 0440 2ca3",
    "Q": "051a",
    "q": "051b 0563",
    "R": "13a1 13d2 a4e3",
    "r": "0433 2c85",
    "S": "0405 054f 13d5 13da a4e2",
    "s": "0455",
    "T": "03a4 0422 13a2 a4d4 2ca6",
    "t": "03c4 0442",
    "U": "054d a4f4",
    "u": "03c5 057d",
    "V": "0474 13d9 a4e6 2d38 0667 06f7",
    "v": "03bd 0475 2228",
    "W": "051c 13b3 13d4 a4ea",
    "w": "0461 03c9 051d",
    "X": "03a7 0425 a4eb 2cac",
    "x": "03c7 0445",
    "Y": "03a5 0423 04ae 13a9 a4ec",
    "y": "03b3 0443 04af",
    "Z": "0396 13c3 a4dc",
    "<": "02c2 1438 2039 2329 25c1 276e 2770 27e8 3008",
    ">": "02c3 1433 203a 232a 25b7 276f 2771 27e9 3009",
    "/": "2044 2215 2571 29f8 3033",
    "|": "2223 23d0 2502",
    "_": "2581",
    "-": "2010 2011 2012 2013 2014 2015 2212 2e3a 2e3b",
    "'": "02bc 2018 2019 201a 2032",
    '"': "201c 201d 201e 2033",
}
_LOOKS: Final = {
    chr(int(code, 16)): plain for plain, codes in _ALIKE.items() for code in codes.split()
}
# Latin letters that are not a base plus an accent: their names say which they are.
_LATIN: Final = re.compile(
    "[\xaa-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\U0001f110-\U0001f18f]"
)
_LETTER: Final = re.compile(
    r"(?:NEGATIVE (?:CIRCLED|SQUARED) )?+LATIN (?:(CAPITAL|SMALL) LETTER|LETTER SMALL CAPITAL) "
    r"([A-Z])(?: WITH [A-Z ]{1,60}+)?+\Z"
)
_NOT_WORD: Final = re.compile(r"[\W_]++")


class _Table(dict[int, str]):
    """Folds a character when it is first met; each text has its own table."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


def fold(text: str) -> str:
    """Return the text as it looks, in the letters it resembles; case is kept.

    A part of a folded text is the folded part of the text.
    """
    return text.translate(_Table())


def words(folded: str) -> str:
    """Return the words of a folded text in lower case, with one space around each."""
    plain = folded.lower().replace("'", "")
    return f" {_NOT_WORD.sub(' ', plain).strip()} "


def _folded(char: str) -> str:
    if char in "\n\t\r" or " " <= char <= "~":
        return char
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Mn", "Me") or char in BLANK:
        return ""
    if category[0] == "Z":
        return " "
    return _alike(char)


def _alike(char: str) -> str:
    if char in _LOOKS:
        return _LOOKS[char]
    parts = unicodedata.normalize("NFKD", char)
    plain = "".join(_LOOKS.get(part, part) for part in parts if not unicodedata.combining(part))
    if plain and plain.isascii():
        return plain
    named = _LATIN.match(char) and _LETTER.match(unicodedata.name(char, ""))
    if not named:
        return char
    return named[2].lower() if named[1] == "SMALL" else named[2]
