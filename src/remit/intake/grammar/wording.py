"""A "tell Mum that …" as it can go out: the owner's words, to the letter or with the verb moved.

Nothing is put into words here. In German the verb goes from the end of its clause to its place in
a sentence ("dass ich da bin" is "ich bin da"); where that is not certain, nobody does it.
"""

from typing import Final

from remit.intake.grammar.phrases import words_of
from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.telling import (
    BEFORE,
    CLITICS,
    I_DO,
    IT_DOES,
    NOT_MINE,
    PREFIXES,
    THEY_DO,
    WE_DO,
    WISHES,
)
from remit.language.phrases import words
from remit.language.tokens import Kind, fold

_MOST_BEFORE: Final = 4  # words before the verb
_SHORT: Final = 3  # letters
_NEAR: Final = 6  # words within which the verb of a thing stands
_MINE: Final = ("é", "í")
_GERMAN_SUBJECTS: Final = {"ich": I_DO, "wir": WE_DO, "es": IT_DOES, "das": IT_DOES}
_THE: Final = words("el")
_ONE: Final = words("der die das mein meine unser unsere")


def tells_plainly(said: Said, start: int, end: int) -> bool:
    """Whether what follows "que" needs no other words for whoever reads it.

    It does not where the owner says it of himself, or of a thing.
    """
    keys = said.keys[start:end]
    if not WISHES.isdisjoint(keys) or any(_is_third(said, at) for at in range(start, end)):
        return False
    for at in range(start, min(end, start + _MOST_BEFORE + 1)):
        if is_own(said, at):
            return True
        if said.keys[at] not in BEFORE:
            break
    thing = said.keys[start] in said.language.articles and start + 1 < end
    if not thing or is_own(said, start + 1) or said.keys[start + 1] in CLITICS:
        return False
    return not said.language.finite.isdisjoint(keys[2:_NEAR])


def _is_third(said: Said, at: int) -> bool:
    """Whether a word speaks of whoever reads it; "él" does, "el" is an article."""
    article = said.keys[at] in said.language.articles and said.tokens[at].text.isascii()
    return said.keys[at] in said.language.third and not (article and said.keys[at] in _THE)


def is_own(said: Said, at: int) -> bool:
    """Whether a word is a verb of the first person: "llego", "salimos", "llegué"."""
    if not said.is_word(at):
        return False
    key, text = said.keys[at], said.tokens[at].text.lower()
    if key in said.language.of_myself:
        return True
    ends = text.endswith(_MINE) or key.endswith("mos")
    return ends and len(key) > _SHORT and key not in NOT_MINE


def reordered(said: Said, start: int, end: int) -> str | None:
    """A clause behind "dass" as a sentence of its own; None where its verb is not certain."""
    while end > start and said.tokens[end - 1].kind is Kind.MARK:
        end -= 1
    comma = next((at for at in range(start, end) if said.keys[at] == ","), end)
    subject = _subject(said, start, comma)
    last = comma - 1
    if subject is None or last < subject[1] or not said.is_word(last):
        return None
    after, verbs = subject[1], subject[0]
    verb = _split(said.tokens[last].text, verbs)
    if verb is None or not said.language.third.isdisjoint(said.keys[start:end]):
        return None
    middle = words_of(said, after, last) if last > after else ""
    parts = (words_of(said, start, after), verb[0], middle, verb[1])
    rest = words_of(said, comma, end) if comma < end else ""
    return " ".join(part for part in parts if part) + rest


def _subject(said: Said, start: int, end: int) -> tuple[frozenset[str], int] | None:
    """Who does it, and where his name ends: "ich", "das Essen"."""
    if start + 1 >= end:
        return None
    noun = said.tokens[start + 1]
    if said.keys[start] in _ONE and noun.kind is Kind.WORD and noun.capital:
        return IT_DOES | THEY_DO, start + 2
    verbs = _GERMAN_SUBJECTS.get(said.keys[start])
    return (verbs, start + 1) if verbs else None


def _split(verb: str, verbs: frozenset[str]) -> tuple[str, str] | None:
    """A verb and what parts from it at its place: "ankomme" is "komme … an"."""
    if fold(verb) in verbs:
        return verb, ""
    for prefix in PREFIXES:
        if verb.startswith(prefix) and fold(verb.removeprefix(prefix)) in verbs:
            return verb.removeprefix(prefix), prefix
    return None
