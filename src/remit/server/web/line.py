"""Edits the filter line: a tab or a menu changes one word and keeps the rest."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

_WORD: Final = re.compile(r'[^\s":]+:"[^"]*"|"[^"]*"|\S+')
_KEYED: Final = re.compile(r"([a-z-]+):(.+)")


def words(line: str) -> list[str]:
    """Its words; what stands in quotes is one."""
    return _WORD.findall(line)


def value(line: str, key: str) -> str:
    """What it says of a key, if it says so once; else nothing."""
    keyed = [kept for kept in map(_KEYED.fullmatch, words(line)) if kept and kept[1] == key]
    return keyed[0][2].strip('"') if len(keyed) == 1 else ""


def without(line: str, *keys: str, also: frozenset[str] = frozenset()) -> str:
    """The line without what it says of some keys, and without some words."""
    return " ".join(word for word in words(line) if not _is_of(word, keys) and word not in also)


def changed(line: str, said: Mapping[str, str]) -> str:
    """The line with other words for some keys; an empty one takes the key out."""
    rest = without(line, *said)
    new = [f"{key}:{_quoted(text)}" for key, text in said.items() if text]
    return " ".join(part for part in (*new, rest) if part)


def address(path: str, **said: str) -> str:
    """A place with what is to be seen there; what is empty is left out."""
    kept = {name: text for name, text in said.items() if text}
    return f"{path}?{urlencode(kept)}" if kept else path


def _is_of(word: str, keys: tuple[str, ...]) -> bool:
    kept = _KEYED.fullmatch(word)
    return kept is not None and kept[1] in keys


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text
