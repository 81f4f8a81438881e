"""What Remit says to the owner about a message, in the language of that message."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, cast

from remit.language.detect import language_of
from remit.language.files import read_toml, section
from remit.language.tokens import tokenize
from remit.model.veto import VetoCue, VetoKind, veto_sentence

DEFAULT_LANGUAGE: Final = "en"
TRANSLATED: Final = ("de", "es")
_PLACE: Final = re.compile(r"\{\d\}")
_MOST_TOLD_BY: Final = 2_000  # characters that tell the language


@lru_cache(maxsize=256)
def message_language(text: str) -> str:
    """Return the language for answers to a message; English if Remit does not read its own."""
    return language_of(tokenize(text[:_MOST_TOLD_BY])) or DEFAULT_LANGUAGE


@cache
def sentences(language: str) -> dict[str, str]:
    """Return the sentences of a card in a language."""
    kept = cast("dict[str, str | list[str]]", section(language, "card"))
    return {name: each for name, each in kept.items() if isinstance(each, str)}


def in_language(sentence: str, language: str) -> str:
    """Return a sentence of Remit in another language; in English, if it is not known there."""
    for pattern, translation in _translations(language):
        found = pattern.fullmatch(sentence)
        if found is not None:
            return translation.format(*(in_language(each, language) for each in found.groups()))
    return sentence


@cache
def _translations(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return English sentences as patterns, with their translations."""
    if language == DEFAULT_LANGUAGE:
        return []
    known = cast("dict[str, str | dict[str, str]]", read_toml(f"sentences_{language}"))
    return [(_pattern(english), said) for english, said in known.items() if isinstance(said, str)]


@cache
def page_sentences(language: str) -> dict[str, str]:
    """Return the sentences of the pages in another language, by their English form."""
    if language == DEFAULT_LANGUAGE:
        return {}
    return cast("dict[str, dict[str, str]]", read_toml(f"sentences_{language}"))["pages"]


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, _PLACE.split(sentence))), re.DOTALL)


def held_sentence(cues: Sequence[VetoCue], language: str) -> str:
    """Return why others get nothing without the owner's approval, in a language."""
    if language == DEFAULT_LANGUAGE:
        return veto_sentence(cues)
    say = sentences(language)
    kinds = {kind: f"veto_{kind.value}" for kind in VetoKind}
    own = {kind: say[name] for kind, name in kinds.items() if name in say}
    return veto_sentence(cues, own, say["veto_says"], say["and"])
