"""A sentence that says nothing but how long the habit before it goes on: "Until Christmas."."""

from typing import Final

from remit.intake.grammar.dates import read_day
from remit.intake.grammar.ends import End, Times, Unclear, read_end
from remit.intake.grammar.hours import read_number
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spans import Ahead, read_amounts, whole_days
from remit.intake.grammar.spoken import Spoken
from remit.intake.lexicon.endings import ENDINGS, Endings
from remit.language.tokens import Kind

_LONGEST: Final = 9  # words that may say when to stop, though nobody can reckon it

Found = tuple[End, int]


def read_ending(said: Said) -> Spoken | None:
    """Read a sentence that only ends something; an end that nobody can reckon is unclear."""
    start = _after_links(said, said.marks)
    words = ENDINGS[said.language.code]
    for found, needed in _readings(said, words, start):
        behind = words.behind.at(said.keys, found[1])
        end = behind[1] if behind else found[1]
        if (behind or not needed) and _after_links(said, end) >= len(said.tokens):
            return Spoken(start, end, until=found[0])
    led = words.after.at(said.keys, start) or said.time.until.at(said.keys, start)
    strict = led is not None and not words.needed.at(said.keys, start)
    last = len(said.tokens)
    while last > start and said.tokens[last - 1].kind is Kind.MARK:
        last -= 1
    return Spoken(start, last, until=Unclear()) if strict and last - start <= _LONGEST else None


def _readings(said: Said, words: Endings, at: int) -> list[tuple[Found, bool]]:
    """What a sentence may say, with whether a word must stand behind it."""
    made: list[tuple[Found | None, bool]] = []
    if after := words.after.at(said.keys, at):
        made.append((_amount(said, after[1]), words.needed.at(said.keys, at) is not None))
    if on := words.on.at(said.keys, at):
        needed = words.needed.at(said.keys, at) is not None
        made += [(read_day(said, on[1]), needed), (_end(said, on[1]), needed)]
    going = words.going.at(said.keys, at)
    made += [(_end(said, going[1] if going else at), False)]
    return [(found, needed) for found, needed in made if found]


def _amount(said: Said, at: int) -> Found | None:
    """Read how long, how often, or up to which day: "two weeks", "ten times", "Friday"."""
    number = read_number(said, at)
    many = said.time.times.at(said.keys, number[1]) if number else None
    if number and many and number[0] > 0:
        return Times(number[0]), many[1]
    amounts, end = read_amounts(said, at)
    if amounts and whole_days(Ahead(amounts)):
        return Ahead(amounts), end
    return read_day(said, at)


def _end(said: Said, at: int) -> Found | None:
    found = read_end(said, at)
    return (found[0], found[1]) if found else None


def _after_links(said: Said, at: int) -> int:
    while at < len(said.tokens):
        link = said.language.links.at(said.keys, at)
        if link is None and said.tokens[at].kind is not Kind.MARK:
            break
        at = link[1] if link else at + 1
    return at
