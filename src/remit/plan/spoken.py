"""Small numbers and language names as words in English, German and Spanish."""

from collections.abc import Mapping
from typing import Final

from remit.language.languages import languages
from remit.language.numbers import CARDINALS

# Names of languages in lower case: code and name.
LANGUAGES: Final[Mapping[str, tuple[str, str]]] = {
    word: (code, each.name) for code, each in languages().items() for word in each.called.split()
}
_MAX_SPOKEN_NUMBER: Final = 20  # "hundred" and its like are rarely meant to the last
_SAID: Final = {name: value for name, value in CARDINALS.items() if 0 < value <= _MAX_SPOKEN_NUMBER}
NUMBER: Final = r"\d{1,5}|" + "|".join(sorted(_SAID, key=len, reverse=True))


def number(said: str) -> int:
    """Return the number that NUMBER matched."""
    return int(said) if said.isdecimal() else _SAID[said.casefold()]
