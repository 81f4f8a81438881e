"""Words, sentences and lists of a text, as far as checks need them: English, German, Spanish."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all

_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_SENTENCE: Final = re.compile(
    r"(?<=[^\W\d_][^\W\d_][.!?…])[\"”»’)]*\s+(?=[^\W_a-zäöüñáéíóú]|[\"“«¿¡(])"
    r"|(?<=[\d%€$£)][.!?])\s+(?=[A-ZÄÖÜÁÉÍÓÚ¿¡])|\n+"
)
_MARKER: Final = re.compile(
    r"(?P<in>[ \t]*)(?:(?P<dot>[-*•–+])|(?P<number>\d{1,3})[.)])[ \t]+(?=\S)"
)
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_RULE: Final = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$")
_MARKS: Final = re.compile(r"[*_`#>~]+")

STOP: Final = words_in_all("requests", "stop")  # as they are looked up
ORDER_VERBS: Final = words_in_all("requests", "compose") | words_in_all("requests", "tell")
_ALL_ENDINGS: Final = """
    ungen aciones iciones mente ciones acion icion cion ungs tions ation tion ings ing ung ness
    ment idos idas ados adas ieren iert ied ies edly ed ern ens est ido ida ado ada ar er ir en em
    es as os et te e s n t a o y
"""
_ENDINGS: Final = _ALL_ENDINGS.split()
_LEAST_STEM: Final = 4


class ListEntry(Struct, frozen=True):
    """One entry of a list: how deep it stands, its number if it has one, and what it says."""

    depth: int
    number: int | None
    text: str


def fold(text: str) -> str:
    """The text in small letters without accents: `Öffnet` and `offnet` are one."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


def words(text: str) -> list[str]:
    """The words of a text, as they are written; numbers are none."""
    return _WORD.findall(text)


def stem(word: str) -> str:
    """What forms of a word have in common, roughly; both `opens` and `opening` give `open`."""
    bare = fold(word)
    if bare.startswith("ge") and bare.endswith(("t", "en")) and len(bare) > _LEAST_STEM + 3:
        bare = bare[2:]
    for ending in _ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= _LEAST_STEM:
            return bare[: -len(ending)]
    return bare


def says(stemmed: str, said: frozenset[str]) -> bool:
    """Whether a word stands among folded words in some form, or within a compound."""
    if stemmed in said:
        return True
    if len(stemmed) < _LEAST_STEM:
        return any(each in (stemmed + "s", stemmed + "e", stemmed + "es") for each in said)
    within = len(stemmed) > _LEAST_STEM
    return any(each.startswith(stemmed) or (within and stemmed in each) for each in said)


def plain(text: str) -> str:
    """The text without the marks of markdown."""
    return _MARKS.sub("", text)


def sentences(text: str) -> list[str]:
    """The sentences; the end of a line ends one, for lists and headings have no full stop."""
    return [bare for each in _SENTENCE.split(text) if (bare := each.strip(" \t|*-•"))]


def paragraphs(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"\n[ \t]*\n", text) if each.strip()]


def entries(text: str) -> list[ListEntry]:
    """Every entry of every list, in order."""
    return [
        ListEntry(
            len(found["in"].expandtabs(4)) // 2,
            int(found["number"]) if found["number"] else None,
            line[found.end() :].strip(),
        )
        for line in text.splitlines()
        if (found := _MARKER.match(line))
    ]


def rows(text: str) -> int:
    """How many rows the tables of a text have, without their heads."""
    lines = text.splitlines()
    count = 0
    for at, line in enumerate(lines):
        if at and _RULE.match(line) and "|" in lines[at - 1]:
            count += sum(1 for _ in _body(lines[at + 1 :]))
    return count


def has_table(text: str) -> bool:
    lines = text.splitlines()
    return any(at and _RULE.match(line) and "|" in lines[at - 1] for at, line in enumerate(lines))


def _body(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if "|" not in line or not (_ROW.match(line) or line.strip()):
            return
        yield line
