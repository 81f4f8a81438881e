"""The data files of the languages, one each, read once."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, cast

from remit.language.tokens import fold

LANGUAGES: Final = ("en", "de", "es")


@cache
def section(code: str, name: str) -> dict[str, list[str]]:
    """One table of one language's file."""
    text = files("remit.language").joinpath(f"{code}.toml").read_text(encoding="utf-8")
    return cast("dict[str, list[str]]", tomllib.loads(text)[name])


@cache
def words_in_all(name: str, key: str) -> frozenset[str]:
    """The single words of one list, of every language, as they are looked up."""
    return frozenset(fold(word) for code in LANGUAGES for word in section(code, name)[key])
