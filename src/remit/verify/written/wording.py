"""What every check of a text uses: its words, sentences and lists, and the patterns of word lists.

The lists are in `words_*.toml`, one file per language. One is named by table and key,
`figures.hedges`; a list missing there is looked up in `remit.language`. words_en.toml explains the
syntax of entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, TypeAlias, cast

from msgspec import Struct

from remit.language.files import LANGUAGES, read_toml, section, words_in_all
from remit.language.tokens import fold, fold_text
from remit.model.contract import NOT_DECIDED, UNPROVEN, Result
from remit.model.task import Task

MAX_CHARACTERS: Final = 100_000  # of a text that is looked up or compared

Judged: TypeAlias = tuple[Result, str | None]  # with the reason, or a remark
PASSED: Final[Judged] = (Result.PASS, None)


def fail(why: str) -> Judged:
    return Result.FAIL, why


def undecided(why: str) -> Judged:
    return Result.SKIPPED, NOT_DECIDED + why


def owner_words(task: Task) -> list[str]:
    """Return the owner's words. Notes of failed checks quote invented figures and do not count."""
    request = task.request.text if task.request else ""
    notes = (each for each in task.notes if not each.startswith(UNPROVEN))
    return list(dict.fromkeys((request, task.instructions, task.title, *notes)))


_ENTRY_SIGNS: Final = (
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
_LIST_NAME: Final = re.compile(r"(\w+)\.(\w+)(?::([^*(]+))?(.*)")


@cache
def pattern(*names: str, before: str = "", after: str = "", glued: bool = False) -> re.Pattern[str]:
    """Return the pattern of any entry of some lists, with its surroundings, for lower case.

    Capitals are looked at nowhere: a pattern that ignores case is five times as slow.
    """
    return re.compile(before + any_of(*names, glued=glued) + after, re.MULTILINE)


def lower(text: str) -> str:
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
    table, key, value, ending = _LIST_NAME.findall(name)[0]
    tables = (_word_file(code).get(table) or section(code, table) for code in LANGUAGES)
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
    lines = (line for code in LANGUAGES for line in _word_file(code)[table][key])
    return tuple(dict.fromkeys(line.partition(": ")[0] for line in lines))


@cache
def _word_file(code: str) -> Mapping[str, Mapping[str, list[str]]]:
    read = read_toml(f"words_{code}", "remit.verify.written")
    return cast("Mapping[str, Mapping[str, list[str]]]", read)


def _to_regex(entry: str) -> str:
    escaped = re.escape(entry)
    for sign, meaning in _ENTRY_SIGNS:
        escaped = escaped.replace(sign, meaning)
    return escaped


_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
SENTENCE_END: Final = re.compile(
    r"(?<=[^\W\d_][^\W\d_][.!?…])[\"”»’)]*\s+(?=[^\W_a-zäöüñáéíóú]|[\"“«¿¡(])"
    r"|(?<=[\d%€$£)][.!?])\s+(?=[A-ZÄÖÜÁÉÍÓÚ¿¡])|\n+"
)
_MARKER: Final = re.compile(
    r"(?P<in>[ \t]*)(?:(?P<dot>[-*•–+])|(?P<number>\d{1,3})[.)])[ \t]+(?=\S)"
)
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_RULE: Final = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$")
_MARKS: Final = re.compile(r"[*_`#>~]+")

STOP: Final = words_in_all("requests", "stop")  # folded
ORDER_VERBS: Final = words_in_all("requests", "compose") | words_in_all("requests", "tell")
_MIN_STEM_LETTERS: Final = 4


class ListEntry(Struct, frozen=True):
    """One list entry: its depth, its number if any, and its text."""

    depth: int
    number: int | None
    text: str


def words(text: str) -> list[str]:
    """Return the words of a text as written, without numbers."""
    return _WORD.findall(text)


@lru_cache(maxsize=32)  # a check looks at the same few texts again and again
def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text, as they are looked up."""
    return tuple(fold(each) for each in words(text))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the rough stem of a word; both `opens` and `opening` give `open`."""
    bare = fold(word)
    for prefix, ending in _around():
        if bare.startswith(prefix) and bare.endswith(ending) and len(bare) > _MIN_STEM_LETTERS + 3:
            bare = bare[len(prefix) :]
            break
    for ending in _endings():
        if bare.endswith(ending) and len(bare) - len(ending) >= _MIN_STEM_LETTERS:
            return bare[: -len(ending)]
    return bare


@cache
def _endings() -> list[str]:
    return sorted(word_set("endings.all"), key=len, reverse=True)


@cache
def _around() -> list[tuple[str, str]]:
    """Return the prefixes and suffixes of past forms."""
    pairs = (each.partition("-") for each in word_set("endings.around"))
    return [(prefix, ending) for prefix, _, ending in pairs]


def mentions(stemmed: str, known: frozenset[str]) -> bool:
    """Whether a word is among folded words in some form, or within a compound."""
    if stemmed in known:
        return True
    if len(stemmed) < _MIN_STEM_LETTERS:
        return any(stemmed + ending in known for ending in word_set("endings.plural"))
    within = len(stemmed) > _MIN_STEM_LETTERS
    return any(each.startswith(stemmed) or (within and stemmed in each) for each in known)


def without_marks(text: str) -> str:
    """Return the text without Markdown marks."""
    return _MARKS.sub("", text)


@lru_cache(maxsize=32)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences; a line end ends one, because lists have no full stop."""
    return tuple(bare for each in SENTENCE_END.split(text) if (bare := each.strip(" \t|*-•")))


def paragraphs(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"\n[ \t]*\n", text) if each.strip()]


@lru_cache(maxsize=32)
def entries(text: str) -> tuple[ListEntry, ...]:
    """Return every entry of every list, in order."""
    return tuple(
        ListEntry(
            len(found["in"].expandtabs(4)) // 2,
            int(found["number"]) if found["number"] else None,
            line[found.end() :].strip(),
        )
        for line in text.splitlines()
        if (found := _MARKER.match(line))
    )


def rows(text: str) -> int:
    """Return how many rows the tables of a text have, without headers."""
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
