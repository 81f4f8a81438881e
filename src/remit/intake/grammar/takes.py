"""What a correction counts for, and what it takes back: a time, a person, or a channel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from remit.intake.grammar.dates import Weekday
from remit.intake.grammar.phrases import read_person, read_way
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import Spoken, growing, read_time
from remit.intake.grammar.turned import Turn
from remit.intake.lexicon.shape import Link
from remit.intake.recipients import About
from remit.language.tokens import Kind

_SLOTS: Final = ("every", "day", "clocks", "part", "zone", "until")
_ALONE: Final = ("ahead", "now", "vague")  # nothing of these is kept beside something new
_MARKS: Final = frozenset(",.…;:-–—(")
_MOST_NAMES: Final = 2

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """The new words from `start` to `end`, and the old ones they replace, in their sentence."""

    start: int
    end: int
    stop: int  # where the new phrase ends with all that belongs to it
    said: Said  # of the old words
    old: tuple[Span, ...]
    about: About
    unclear: str | None = None  # the question, where it may replace several things


def find_old(said: Said, before: Said | None, turn: Turn) -> Found | None:
    """Find what a turn takes back: in its sentence, or in the one before if it begins one."""
    places = [(said, turn.start)]
    if before is not None and turn.start <= _first_word(said):
        places = [(before, len(before.tokens))]
    for where, stop in places:
        if turn.near and _denied(where, stop):
            return None
        for find in (_time, _person, _way):
            if found := find(said, where, stop, turn):
                return found
    return None


def _first_word(said: Said) -> int:
    return next((at for at in range(len(said.tokens)) if said.is_word(at)), 0)


def _denied(said: Said, stop: int) -> bool:
    """Whether a no was said before: "not on Tuesday, rather on Thursday" corrects nothing."""
    return any(said.language.nots.at(said.keys, at) for at in range(stop))


def _is_near(said: Said, end: int, stop: int) -> bool:
    """Whether nothing but marks stands between a phrase and a turn."""
    return all(key in _MARKS for key in said.keys[end:stop])


def _ends(said: Said, at: int) -> bool:
    """Whether nothing but marks follows."""
    return all(token.kind is Kind.MARK for token in said.tokens[at:])


# Times --------------------------------------------------------------------------------------------


def _time(said: Said, where: Said, stop: int, turn: Turn) -> Found | None:
    new = read_time(said, turn.end)
    if new is None or new.end <= turn.end:
        return None
    old = [each for each in _times(where, stop) if _slots(each) or _is_alone(each)]
    if turn.near and not (turn.late and _ends(said, new.end)):
        old = [each for each in old[-1:] if _is_near(where, each.end, stop)]
    if not old:
        return None
    shared = [each for each in old if _replaced(where, each, new)]
    last = shared[-1] if shared else old[-1]
    gone = _replaced(where, last, new)
    start, end = _weekday(said, new) if gone and _is_habit(last, new) else (new.start, new.end)
    many = len(shared) > 1 and (where is not said or not _is_near(where, last.end, stop))
    question = None
    if many or not gone:
        question = "Which time is corrected? Say when it is to be, in full."
        gone = ((last.start, last.end),)
    return Found(start, end, new.end, where, gone, About.TIME, question)


def _times(said: Said, stop: int) -> Iterator[Spoken]:
    at = said.marks
    while at < stop:
        spoken = read_time(said, at)
        if spoken and spoken.end <= stop:
            yield spoken
        at = spoken.end if spoken else at + 1


def _slots(spoken: Spoken) -> set[str]:
    return {slot for slot in _SLOTS if getattr(spoken, slot)}


def _is_alone(spoken: Spoken) -> bool:
    return any(getattr(spoken, slot) for slot in _ALONE)


def _is_habit(old: Spoken, new: Spoken) -> bool:
    """Whether a day is named for one that comes back: "every Tuesday, I mean Thursday"."""
    return old.every is not None and new.every is None and isinstance(new.day, Weekday)


def _replaced(said: Said, old: Spoken, new: Spoken) -> tuple[Span, ...]:
    """The words of an old time that a new one takes the place of.

    The hour of "Tuesday at 9" stays when only the day is said anew.
    """
    if _is_alone(old) or _is_alone(new):
        return ((old.start, old.end),)
    if _is_habit(old, new) and old.every and _slots(new) == {"day"}:
        day = _weekday(said, old)
        return (day,) if old.every.weekdays and day[1] > day[0] else ()
    shared = _slots(old) & _slots(new)
    gone: list[Span] = []
    last = Spoken(old.start, old.start)
    for each in growing(said, old.start):
        changed = {slot for slot in _SLOTS if getattr(each, slot) != getattr(last, slot)}
        if changed & shared:
            gone.append((last.end, each.end))
        last = each
    return tuple(gone)


def _weekday(said: Said, spoken: Spoken) -> Span:
    """The name of the one day in a phrase; nothing if there are several."""
    days = [
        (at, found[1])
        for at in range(spoken.start, spoken.end)
        if (found := said.time.weekdays.at(said.keys, at))
    ]
    return days[0] if len(days) == 1 else (spoken.start, spoken.start)


# Persons ------------------------------------------------------------------------------------------


def _person(said: Said, where: Said, stop: int, turn: Turn) -> Found | None:
    led = said.language.to.at(said.keys, turn.end)
    start = led[1] if led else turn.end
    end = _name(said, start)
    if end is None:
        return None
    old = list(_people(where, stop))
    if turn.near:
        old = [each for each in old if _is_near(where, each[1], stop)]
    if not old:
        return None
    question = None
    if len(old) > 1 and _are_joined(where, old[-2], old[-1]):
        question = "Who is to get it, then? Name one person."
    return Found(start, end, end, where, (old[-1],), About.RECIPIENT, question)


def _people(said: Said, stop: int) -> Iterator[Span]:
    at = said.marks
    while at < stop:
        led = said.language.to.at(said.keys, at)
        start = led[1] if led else at
        end = _name(said, start) if start < stop else None
        first = start == said.marks  # the first word of a sentence has a capital anyway
        if end is not None and end <= stop and not (first and not read_person(said, start)):
            yield start, end
            at = end
        else:
            at += 1


def _name(said: Said, at: int) -> int | None:
    """Where somebody's name ends: one of the book, or a word with a capital that is no other."""
    if at >= len(said.tokens):
        return None
    if person := read_person(said, at):
        return person.end
    end = at
    while end < len(said.tokens) and end - at < _MOST_NAMES and _is_name(said, end):
        end += 1
    return end if end > at else None


def _is_name(said: Said, at: int) -> bool:
    token = said.tokens[at]
    named = token.kind is Kind.WORD and token.capital and token.key not in said.language.known
    return named and not (said.language.nouns_are_capital and at and _has_article(said, at))


def _has_article(said: Said, at: int) -> bool:
    return said.keys[at - 1] in said.language.articles


def _are_joined(said: Said, one: Span, other: Span) -> bool:
    """Whether two people were named in one breath: "to Bob and to Alice"."""
    between: Sequence[int] = range(one[1], other[0])
    links = [said.language.links.at(said.keys, at) for at in between]
    return any(link and link[0] is Link.AND for link in links) and len(between) <= _MOST_NAMES


# Channels -----------------------------------------------------------------------------------------


def _way(said: Said, where: Said, stop: int, turn: Turn) -> Found | None:
    new = read_way(said, turn.end)
    if new is None:
        return None
    found = ((at, way.end) for at in range(where.marks, stop) if (way := read_way(where, at)))
    old = [each for each in found if each[1] <= stop]
    if turn.near:
        old = [each for each in old if _is_near(where, each[1], stop)]
    if not old:
        return None
    return Found(turn.end, new.end, new.end, where, (old[-1],), About.CHANNEL)
