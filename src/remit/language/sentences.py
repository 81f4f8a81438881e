"""What Remit says to the owner about a message, in the language of that message."""

from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from remit.language.detect import language_of
from remit.language.files import section
from remit.language.tokens import tokenize
from remit.model.veto import VetoCue, VetoKind, veto_sentence

DEFAULT_LANGUAGE: Final = "en"
_MOST_TOLD_BY: Final = 2_000  # characters that tell the language


def message_language(text: str) -> str:
    """Return the language for answers to a message; English if Remit does not read its own."""
    return language_of(tokenize(text[:_MOST_TOLD_BY])) or DEFAULT_LANGUAGE


@cache
def sentences(language: str) -> dict[str, str]:
    """Return the sentences of a card in a language."""
    kept = cast("dict[str, str | list[str]]", section(language, "card"))
    return {name: each for name, each in kept.items() if isinstance(each, str)}


def held_sentence(cues: Sequence[VetoCue], language: str) -> str:
    """Return why others get nothing without the owner's approval, in a language."""
    if language == DEFAULT_LANGUAGE:
        return veto_sentence(cues)
    say = sentences(language)
    kinds = {kind: f"veto_{kind.value}" for kind in VetoKind}
    own = {kind: say[name] for kind, name in kinds.items() if name in say}
    return veto_sentence(cues, own, say["veto_says"], say["and"])
