"""The languages that can be asked for and detected: names, small words, special letters."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct, convert

from remit.language.files import read_toml


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One language. `called` are its names in every language of Remit, with blanks between."""

    name: str
    called: str
    small_words: str = ""
    letters: str = ""  # a range, as a regular expression writes it
    least_share: float = 1.0  # of the letters of a text, so that it is in this language


@cache
def languages() -> Mapping[str, Language]:
    """Every language by its code."""
    return convert(read_toml("languages"), dict[str, Language])


@cache
def language_names() -> Mapping[str, str]:
    """The English name of each language by its code."""
    return {code: each.name for code, each in languages().items()}
