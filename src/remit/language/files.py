"""Loads the data file of each language once: phrases with their values, and number words.

A list holds phrases: `"a nudge"`, several of one meaning as `"hi|hello"`. Where a phrase stands for
a value, the value comes first: `"0: monday|mon"`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from remit.language.tokens import fold, fold_text, keys_of, tokenize

if TYPE_CHECKING:
    from importlib.machinery import SourceFileLoader

T = TypeVar("T")
_PLAIN: Final = r"(?:[^\W\d_]+(?:['-][^\W\d_]+)*(?: |$))+"


class Phrases(Generic[T]):
    """Words and phrases with their values; the longest match wins."""

    __slots__ = ("_starting_with", "firsts", "words")

    def __init__(self, table: Mapping[str, T]) -> None:
        by_first: dict[str, list[tuple[int, tuple[str, ...], T]]] = {}
        for names, meaning in table.items():
            for name in names.split("|"):
                if keys := phrase_of(name):
                    by_first.setdefault(keys[0], []).append((len(keys), keys, meaning))
        for group in by_first.values():
            group.sort(key=lambda entry: -entry[0])
        self._starting_with = by_first.get
        self.firsts = frozenset(by_first)
        self.words = frozenset(
            key for group in by_first.values() for _, keys, _ in group for key in keys
        )

    def at(self, keys: Sequence[str], place: int) -> tuple[T, int] | None:
        """Return the value of the longest phrase at a place, and where it ends."""
        try:
            group = self._starting_with(keys[place])
        except IndexError:
            return None
        if group is not None:
            for size, phrase, meaning in group:
                if size == 1 or tuple(keys[place : place + size]) == phrase:
                    return meaning, place + size
        return None


def phrase_keys(names: Iterable[str]) -> frozenset[str]:
    """Return every word of some phrases, folded."""
    return frozenset(key for each in names for name in each.split("|") for key in phrase_of(name))


def phrase_of(name: str) -> tuple[str, ...]:
    """Return a phrase as folded tokens; one of plain words is split without the tokenizer."""
    if name.isascii() and name.replace(" ", "").isalpha():
        return tuple(name.casefold().split())
    if re.fullmatch(_PLAIN, name):
        return tuple(fold_text(name).split())
    return keys_of(tokenize(name))


def plain_phrases(*names: str) -> Phrases[bool]:
    """Return phrases without values."""
    return Phrases({"|".join(names): True})


LANGUAGES: Final = ("en", "de", "es")


@cache
def language_file(code: str) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the whole file of a language."""
    return cast("Mapping[str, Mapping[str, list[str]]]", read_toml(code))


def read_toml(name: str, package: str = "remit.language") -> dict[str, list[str]]:
    """Return one data file of a package; it lies beside its modules, and is read once."""
    return _data_file(name, package)


@cache
def _data_file(name: str, package: str) -> dict[str, list[str]]:
    module = import_module(package)
    loader = cast("SourceFileLoader", module.__loader__)
    text = loader.get_data(f"{module.__path__[0]}/{name}.toml").decode()
    found = parse_word_lists(text)
    if found is None:
        import tomllib  # noqa: PLC0415 - reading word lists with it takes ten times as long

        found = tomllib.loads(text)
    return cast("dict[str, list[str]]", found)


# A head of a table; a name with a string, a list of strings, or a truth; a comment; nothing.
_LINE: Final = r"""\[(\w+)\][ ]*(?:\#[^\n]*)?
      | ([\w-]+|"[^"\\\n]*"|'[^'\n]*')[ ]=[ ]
        (\[(?:[\s,]|"[^"\\\n]*"|\#[^\n]*)*\]|"[^"\\\n]*"|true|false)[ ]*(?:\#[^\n]*)?
      | \#[^\n]*
      | [ ]*
    """
_COMMENT: Final = r'("[^"\\\n]*")|#[^\n]*'
_STRING: Final = r'"([^"\\]*)"'


def parse_word_lists(text: str) -> dict[str, object] | None:
    """Return a TOML file of tables with strings and lists of strings; None if it has more."""
    root: dict[str, object] = {}
    table = root
    at = 0
    pattern = re.compile(_LINE, re.VERBOSE)
    while at < len(text):
        line = pattern.match(text, at)
        if line is None or text[line.end() : line.end() + 1] not in ("", "\n"):
            return None
        at = line.end() + 1
        head, name, value = line.groups()
        if head:
            root[head] = table = {}
        elif name:
            table[name[1:-1] if name[0] in "\"'" else name] = _value(value)
    return root


def _value(text: str) -> bool | str | list[str]:
    if text in ("true", "false"):
        return text == "true"
    if "#" in text:
        text = re.sub(_COMMENT, r"\1", text)
    strings = re.findall(_STRING, text)
    return strings if text[0] == "[" else strings[0]


def section(code: str, name: str) -> Mapping[str, list[str]]:
    """Return one table of a language's file."""
    return language_file(code)[name]


@cache
def words_in_all(name: str, key: str) -> frozenset[str]:
    """Return the single words of one list, in every language, folded."""
    return frozenset(fold(word) for code in LANGUAGES for word in section(code, name)[key])


@cache
def phrases_in_all(name: str, key: str) -> Phrases[bool]:
    """Return the phrases of one list, in every language."""
    every = (each for code in LANGUAGES for each in section(code, name).get(key, ()))
    return Phrases(dict.fromkeys(every, True))


def with_values(lines: Iterable[str], value: Callable[[str], T]) -> Phrases[T]:
    """Return phrases with their values: `"0: monday|mon"`."""
    pairs = (line.partition(": ") for line in lines)
    return Phrases({names: value(first) for first, _, names in pairs})


_CARDINALS: Final = range(21)
_TENS: Final = range(30, 101, 10)


def cardinals(code: str) -> dict[str, int]:
    """Return the words for zero to a hundred in one language, with accents: `fünf`."""
    table = section(code, "numbers")
    rows = (
        *zip(_CARDINALS, table["cardinals"], strict=True),
        *zip(_TENS, table["tens"], strict=True),
    )
    return {name: value for value, names in rows for name in names.split("|")}


def _other_numbers(code: str) -> Iterator[tuple[str, int]]:
    pairs = (each.split("=") for each in section(code, "numbers")["others"])
    yield from ((name, int(value)) for name, value in pairs)


@cache
def cardinals_in_all() -> Mapping[str, int]:
    """Return the words for zero to a hundred, in every language."""
    return {name: value for code in LANGUAGES for name, value in cardinals(code).items()}


@cache
def number_words() -> Mapping[str, int]:
    """Return the same as they are looked up, with `first`, `both` and `dozen`."""
    others = (pair for code in LANGUAGES for pair in _other_numbers(code))
    return {fold(name): value for name, value in (*cardinals_in_all().items(), *others)}
