"""Edits the filter line: a tab or a menu changes one word and keeps the rest."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

_WORD: Final = re.compile(r'[^\s":]+:"[^"]*"|"[^"]*"|\S+')
_KEYED: Final = re.compile(r"([a-z-]+):(.+)")


def words(line: str) -> list[str]:
    """Return its words; a quoted part is one word."""
    return _WORD.findall(line)


def value(line: str, key: str) -> str:
    """Return the value of a key, if it occurs once; else empty."""
    keyed = [kept for kept in map(_KEYED.fullmatch, words(line)) if kept and kept[1] == key]
    return keyed[0][2].strip('"') if len(keyed) == 1 else ""


def without(line: str, *keys: str, also: frozenset[str] = frozenset()) -> str:
    """Return the line without some keys and some words."""
    return " ".join(word for word in words(line) if not _is_of(word, keys) and word not in also)


def changed(line: str, values: Mapping[str, str]) -> str:
    """Return the line with new values for some keys; an empty one removes the key."""
    rest = without(line, *values)
    new = [f"{key}:{_quoted(text)}" for key, text in values.items() if text]
    return " ".join(part for part in (*new, rest) if part)


def address(path: str, **sentence: str) -> str:
    """Return an address with its parameters; empty ones are left out."""
    kept = {name: text for name, text in sentence.items() if text}
    return f"{path}?{urlencode(kept)}" if kept else path


def _is_of(word: str, keys: tuple[str, ...]) -> bool:
    kept = _KEYED.fullmatch(word)
    return kept is not None and kept[1] in keys


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text
