"""Strict readers of file formats. Pure, below all rooms.

Here: TOML of files that others write, read within limits. Its parser needs cubic time for a key of
many parts, and recursion for nested values.
"""

import re
import tomllib
from typing import Final

MAX_TOML_CHARACTERS: Final = 1_000_000
MAX_TOML_KEY_PARTS: Final = 32
_PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY: Final = re.compile(
    rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_TOML_KEY_PARTS}}}"
)


def parse_toml(text: str) -> dict[str, object]:
    """Return the values of a TOML text; a `TOMLDecodeError` says what is wrong with it."""
    if len(text) > MAX_TOML_CHARACTERS:
        raise tomllib.TOMLDecodeError(f"it has more than {MAX_TOML_CHARACTERS:,} characters")
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"line {line} has a key of over {MAX_TOML_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("its values are nested too deep") from None
