"""Small numbers as words, in every language that has a file."""

from collections.abc import Iterator, Mapping
from typing import Final

from remit.language.files import LANGUAGES, section
from remit.language.tokens import fold

_CARDINALS: Final = range(21)
_TENS: Final = range(30, 101, 10)


def cardinals(code: str) -> dict[str, int]:
    """Zero to a hundred in one language, as they are written: `fünf` with its accent."""
    table = section(code, "numbers")
    rows = (
        *zip(_CARDINALS, table["cardinals"], strict=True),
        *zip(_TENS, table["tens"], strict=True),
    )
    return {name: value for value, names in rows for name in names.split("|")}


def _others(code: str) -> Iterator[tuple[str, int]]:
    pairs = (each.split("=") for each in section(code, "numbers")["others"])
    yield from ((name, int(value)) for name, value in pairs)


CARDINALS: Final[Mapping[str, int]] = {
    name: value for code in LANGUAGES for name, value in cardinals(code).items()
}
# As they are looked up, with `first`, `both` and `dozen`.
NUMBER_WORDS: Final[Mapping[str, int]] = {
    fold(name): value
    for name, value in (*CARDINALS.items(), *(pair for code in LANGUAGES for pair in _others(code)))
}
