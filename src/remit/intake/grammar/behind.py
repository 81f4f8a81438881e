"""Somebody whom the book does not know, named beside the thing that is sent: he must be asked for.

"Send the photos to grandma", "schick die Liste den Kollegen", "manda el informe al departamento".
Taken for a part of the thing, they would be forgotten in silence.
"""

from typing import Final

from remit.intake.grammar.phrases import (
    Person,
    is_addressed,
    nobody,
    read_limit,
    read_person,
    read_stranger,
    read_way,
)
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.language.phrases import words
from remit.language.tokens import Kind

_OF: Final = words("de del of der des von")
_MOST: Final = 4  # words that say who it is
_DATIVE: Final = words("dem meinem unserem deinem seinem ihrem")
_DATIVES: Final = words("den meinen unseren deinen seinen ihren allen")
_MINE: Final = words("meiner unserer")
_SORTS: Final = words("team leuten gästen eltern freunden kunden mitarbeitern vorstand verein")
_LONG_NAME: Final = 5  # words
_WOMEN: Final = words("oma mutter schwester tochter tante frau familie gruppe firma schule")


def read_behind(said: Said, at: int, stop: int) -> Person | None:
    """Read whom a thing goes to that was named before: a stranger, or a sort of people."""
    return _led(said, at, stop) or read_dative(said, at, stop)


def _led(said: Said, at: int, stop: int) -> Person | None:
    """Read "to accounting", "al departamento de ventas": nothing else can stand there."""
    led = said.language.to.at(said.keys, at)
    if led is None or led[1] >= stop or not said.is_word(led[1]):
        return None
    start, language = led[1], said.language
    if said.keys[start] in language.common or language.verbs.at(said.keys, start):
        return None
    if read_time(said, start) or read_way(said, at) or read_limit(said, at, stop):
        return None
    end = _end(said, start + 1, stop)
    return Person(end, nobody(said, start, end))


def _end(said: Said, at: int, stop: int) -> int:
    """Step over what describes them: "departamento de ventas", "sales team"."""
    begun = at
    while at < stop and said.is_word(at) and at - begun < _MOST:
        of = said.keys[at] in _OF and at + 1 < stop and said.is_word(at + 1)
        if not of and (said.keys[at] in said.language.opens or read_way(said, at)):
            break
        at += 2 if of else 1
    return min(at, stop)


def read_shared(said: Said, at: int) -> Person | None:
    """Read whom something is shared with: "share the list with the team"."""
    led = said.language.with_.at(said.keys, at)
    if led is None or led[1] >= len(said.tokens):
        return None
    known = read_person(said, led[1]) or read_stranger(said, led[1])
    if known or not said.is_word(led[1]):
        return known
    end = _end(said, led[1] + 1, len(said.tokens))
    return Person(end, nobody(said, led[1], end))


def read_dative(said: Said, at: int, stop: int) -> Person | None:
    """Read whom by the case alone, as German does: "die Liste | den Kollegen"."""
    if not said.language.nouns_are_capital or not 0 < at < stop - 1:
        return None
    before, noun = said.tokens[at - 1], said.tokens[at + 1]
    people = noun.key in said.language.roles or noun.key in _SORTS  # in haste all is small
    refers = said.language.refers.at(said.keys, at - 1) is not None
    named = before.kind is Kind.WORD and (before.capital or refers or people)
    if not named or not (noun.kind is Kind.WORD and (noun.capital or people)):
        return None
    if not (_is_dative(said, at) or (refers and said.keys[at] == "der")):
        return None
    end = at + 2
    if end < stop and said.is_word(end) and said.keys[end] not in said.language.opens:
        return None
    return Person(end, nobody(said, at, end))


def _is_dative(said: Said, at: int) -> bool:
    """Whether an article says to whom; "die Liste der Gäste" is a list of guests."""
    article, noun = said.keys[at], said.keys[at + 1]
    if article in _DATIVE:
        return True
    if article in _DATIVES:
        return noun.endswith(("n", "s"))
    woman = noun in _WOMEN or (noun in said.language.roles and noun.endswith("in"))
    return article in _MINE or (article == "der" and woman)


# Right behind the verb ----------------------------------------------------------------------------


def read_role(said: Said, at: int, stop: int) -> Person | None:
    """Read somebody told by what they are to the owner: "send my boss and Bob the file"."""
    end = at + 2
    if not said.is_word(at + 1) or said.keys[at + 1] not in said.language.roles:
        return None
    if any(is_addressed(said, place) for place in range(end, stop)):
        return None  # "send my doctor notes to Bob"
    ends = end >= len(said.tokens) or not said.is_word(end) or said.keys[end] in said.language.opens
    mine = said.keys[at] in said.language.my
    return Person(end, nobody(said, at, end)) if mine or ends else None


def read_relative(said: Said, at: int) -> Person | None:
    """Read somebody who is told by another's name: "send Bob's wife the file"."""
    for end in range(at + 2, min(at + _LONG_NAME, len(said.tokens))):
        if not said.is_word(end - 1):
            return None
        if names_thing(said, end):
            return Person(end, nobody(said, at, end))
    return None


def names_thing(said: Said, at: int) -> bool:
    """Whether what is to be sent begins here: a text, or a thing with its article."""
    token = said.tokens[at] if at < len(said.tokens) else None
    return token is not None and (token.kind is Kind.QUOTE or token.key in said.language.articles)
