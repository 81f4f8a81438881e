"""The words of three languages, and which of them a sentence is written in."""

from collections.abc import Sequence
from typing import Final

from remit.intake.lexicon.english import ENGLISH
from remit.intake.lexicon.german import GERMAN
from remit.intake.lexicon.shape import Language
from remit.intake.lexicon.spanish import SPANISH
from remit.language.phrases import words
from remit.language.tokens import Kind, Token, keys_of, tokenize

LANGUAGES: Final = (ENGLISH, GERMAN, SPANISH)

_KNOWN: Final = {each.code: each.known.union(each.slips) for each in LANGUAGES}

# Small words of languages Remit does not read, which share many others with those it does.
_FOREIGN: Final = words(
    """je tu nous vous est et le les des du au aux une pour avec dans sur pas qui demain moi
    rappelle envoie-moi rappelle-moi s'il c'est qu'est-ce j'ai quel quelle heures il lo gli che di
    per con sono domani ricordami alle mandami della nel questo perché você não para amanhã às uma
    os com lembre-me mim obrigado obrigada ik je het een niet met voor naar stuur herinner van dat
    mij och att det inte jag på imorgon ikke jeg og til mig przypomnij mi jutro że żeby się nie
    jest do w na z o bana bir ve saat için"""
)


def asks_for_work(text: str) -> bool:
    """Whether a text begins as a request does in any of the languages, perhaps with a "please"."""
    keys = keys_of(tokenize(text))
    for tongue in LANGUAGES:
        starts = [0]
        if lead := tongue.links.at(keys, 0):
            starts.append(lead[1])
        if any(each.at(keys, n) for each in (tongue.verbs, tongue.frames) for n in starts):
            return True
    return False


def language_of(tokens: Sequence[Token], fallback: Language | None = None) -> Language | None:
    """Say what a piece of text is written in; None when none of ours explains it best."""
    keys = [token.key for token in tokens if token.kind is Kind.WORD]
    votes = {language: _votes(keys, language) for language in LANGUAGES}
    best = max(LANGUAGES, key=lambda language: votes[language])
    foreign = sum(2 for key in keys if key in _FOREIGN and not _is_ours(key))
    if votes[best] == 0:
        return fallback if not foreign and _few_letters(keys) else None
    if fallback is not None and votes[fallback] == votes[best]:
        best = fallback
    return best if votes[best] > foreign else None


def _votes(keys: Sequence[str], language: Language) -> int:
    """Small words count double, words that no other language of ours has once more.

    A verb that asks, in front, counts twice more: "text bob im late" is not German for its "im".
    """
    asks = 2 if keys and keys[0] in language.verbs.firsts else 0
    return asks + sum(
        1 + (_meant(key, language) in language.common) + _is_only_in(key, language)
        for key in keys
        if _is_in(key, language)
    )


def _is_in(key: str, language: Language) -> bool:
    return key in _KNOWN[language.code]


def _meant(key: str, language: Language) -> str:
    return language.slips.get(key, key)


def _is_only_in(key: str, language: Language) -> bool:
    return not any(_is_in(key, other) for other in LANGUAGES if other is not language)


def _is_ours(key: str) -> bool:
    return any(key in language.common for language in LANGUAGES)


def _few_letters(keys: Sequence[str]) -> bool:
    """Whether nothing speaks against a language: no words, or words in Latin letters."""
    return all(key.isascii() for key in keys)
