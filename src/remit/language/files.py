"""Loads the data files of the languages, one each, once.

A list holds phrases: `"a nudge"`, several of one meaning as `"hi|hello"`. Where a phrase stands for
a value, the value comes first: `"0: monday|mon"`.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Final, TypeVar, cast

from remit.language.phrases import Phrases
from remit.language.tokens import fold

T = TypeVar("T")
LANGUAGES: Final = ("en", "de", "es")


@cache
def language_file(code: str) -> Mapping[str, Mapping[str, list[str]]]:
    """Everything that one language's file says."""
    return cast("Mapping[str, Mapping[str, list[str]]]", read_toml(code))


@cache
def read_toml(name: str, package: str = "remit.language") -> dict[str, list[str]]:
    """One data file of a package; it lies beside its modules."""
    import tomllib  # noqa: PLC0415 - only what reads words needs it

    text = (get_data(package, f"{name}.toml") or b"").decode()
    return cast("dict[str, list[str]]", tomllib.loads(text))


def section(code: str, name: str) -> Mapping[str, list[str]]:
    """One table of one language's file."""
    return language_file(code)[name]


@cache
def words_in_all(name: str, key: str) -> frozenset[str]:
    """The single words of one list, of every language, as they are looked up."""
    return frozenset(fold(word) for code in LANGUAGES for word in section(code, name)[key])


@cache
def phrases_in_all(name: str, key: str) -> Phrases[bool]:
    """The phrases of one list, of every language."""
    every = (each for code in LANGUAGES for each in section(code, name).get(key, ()))
    return Phrases(dict.fromkeys(every, True))


def with_values(lines: Iterable[str], value: Callable[[str], T]) -> Phrases[T]:
    """Phrases that stand for values: `"0: monday|mon"`."""
    pairs = (line.partition(": ") for line in lines)
    return Phrases({names: value(first) for first, _, names in pairs})
