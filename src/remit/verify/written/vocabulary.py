"""Compiles the checks' word lists into patterns: `words_*.toml`, one file per language.

A list is named by table and key, `figures.hedges`; a list missing here is looked up in
`remit.language`. words_en.toml explains the syntax of entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, cast

from remit.language.files import LANGUAGES, read_toml, section
from remit.language.tokens import fold_text

_SIGNS: Final = (
    (r"\ \~\ ", r"\s+(?:\w+\s+){0,4}"),
    (r"\#\ ", r"\d(?:[\d.,]*\d)? ?"),
    (r"\ \#", r" ?\d(?:[\d.,]*\d)?"),
    (r"\*", r"\w*"),
    (r"\^", r"\A"),
    (r"\(", "(?:"),
    (r"\)", ")"),
    (r"\|", "|"),
    (r"\ ", r"\s+"),
    ("'", "['’]"),
)
_NAME: Final = re.compile(r"(\w+)\.(\w+)(?::([^*(]+))?(.*)")


@cache
def pattern(*names: str, before: str = "", after: str = "", glued: bool = False) -> re.Pattern[str]:
    """Return the pattern of any entry of some lists, with its surroundings, for lower case.

    Capitals are looked at nowhere: a pattern that ignores case is five times as slow.
    """
    return re.compile(before + any_of(*names, glued=glued) + after, re.MULTILINE)


def lowered(text: str) -> str:
    """Return a text in lower case, letter for letter; as it is, if it would become longer."""
    low = text.lower()
    return low if len(low) == len(text) else text


@cache
def any_of(*names: str, glued: bool = False) -> str:
    """Return any entry of some lists as a whole word, as part of a pattern."""
    return any_word((entry for name in names for entry in word_list(name)), glued=glued)


def any_word(found: Iterable[str], *, glued: bool = False) -> str:
    """Return any of some entries, with and without accents; `glued`: it may follow anything."""
    spelled = {each for entry in found for each in (entry, fold_text(entry))}
    longest_first = sorted(spelled, key=lambda each: (-len(each), each))
    start = "" if glued else r"(?<!\w)"
    return rf"{start}(?:{'|'.join(map(_to_regex, longest_first))})(?!\w)"


@cache
def word_list(name: str) -> tuple[str, ...]:
    """Return one list in every language.

    `time.units:hour` are the words of one value, `requests.weekdays*` every entry with a star after
    it.
    """
    table, key, value, ending = _NAME.findall(name)[0]
    tables = (_words(code).get(table) or section(code, table) for code in LANGUAGES)
    return tuple(word + ending for each in tables for word in _with_value(each[key], value))


def _with_value(lines: Iterable[str], value: str) -> Iterator[str]:
    for line in lines:
        found, colon, names = line.rpartition(": ")
        if value in ("", found):
            yield from names.split("|") if colon else (line,)


@cache
def word_set(name: str) -> frozenset[str]:
    """Return the single words of one list, folded."""
    return frozenset(map(fold_text, word_list(name)))


@cache
def values(name: str) -> tuple[str, ...]:
    table, key = name.split(".")
    lines = (line for code in LANGUAGES for line in _words(code)[table][key])
    return tuple(dict.fromkeys(line.partition(": ")[0] for line in lines))


@cache
def _words(code: str) -> Mapping[str, Mapping[str, list[str]]]:
    read = read_toml(f"words_{code}", "remit.verify.written")
    return cast("Mapping[str, Mapping[str, list[str]]]", read)


def _to_regex(entry: str) -> str:
    escaped = re.escape(entry)
    for sign, meaning in _SIGNS:
        escaped = escaped.replace(sign, meaning)
    return escaped
