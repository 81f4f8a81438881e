"""Where one request runs into the next without a comma, as people type and dictate."""

from typing import Final

from remit.intake.grammar.heads import skip_leading, small_talk
from remit.intake.grammar.phrases import is_addressed, read_person, read_way
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.lexicon.shape import REMIND, Does, Talk
from remit.language.tokens import Kind

_LAST: Final = 5  # words at the end among which somebody is thanked
_IT: Final = ("lo", "la", "los", "las")  # within a word: "mándamelo"


def runs_on(said: Said, at: int, stop: int) -> int | None:
    """Find where a chunk goes on with something else; None where it is one."""
    begun, _ = skip_leading(said, at, stop)
    first = said.language.verbs.at(said.keys, begun)
    works = first is not None and first[0].does is Does.WORK
    asking = said.language.verbs.firsts
    for place in range(begun + 1, stop):
        verb = said.language.verbs.at(said.keys, place) if said.keys[place] in asking else None
        if verb is None or not said.is_word(place - 1):
            continue
        reminds = verb[0] == REMIND and (works or first is None)
        if reminds and _reminds_then(said, verb[1], stop):
            return place
        if works and verb[0].does is Does.SEND and _sends_it(said, place, verb[1], me=verb[0].me):
            return place
    return _thanks(said, begun + 1, stop)


def _reminds_then(said: Said, at: int, stop: int) -> bool:
    """Whether nothing but "me" and a time follows: "buy milk | remind me 6pm"."""
    me = said.language.me.at(said.keys, at)
    spoken = read_time(said, me[1]) if me and me[1] < stop else None
    return spoken is not None and all(t.kind is Kind.MARK for t in said.tokens[spoken.end : stop])


def _sends_it(said: Said, at: int, end: int, *, me: bool) -> bool:
    """Whether it is said to send what was made: "… near me | send it to Carlos"."""
    if me:
        return said.keys[at].endswith(_IT) and end == at + 1
    it = said.language.refers.at(said.keys, end)
    if it is None:
        return said.keys[at].endswith(_IT) and is_addressed(said, end)
    return is_addressed(said, it[1]) or read_person(said, it[1]) is not None


def _thanks(said: Said, at: int, stop: int) -> int | None:
    """Find thanks at the end, behind how or when something is sent: "on whatsapp | ok thanks"."""
    talk = said.language.talk.firsts
    if talk.isdisjoint(said.keys[max(at, stop - _LAST) : stop]):
        return None
    for place in range(max(at, stop - _LAST), stop):
        if small_talk(said, place, stop) is Talk.THANKS and _ends_phrase(said, at, place):
            return place
    return None


def _ends_phrase(said: Said, at: int, end: int) -> bool:
    for place in range(max(at - 1, end - _LAST), end):
        way, spoken = read_way(said, place), read_time(said, place)
        me = said.language.me.at(said.keys, place)
        ends = (way.end if way else 0, spoken.end if spoken else 0, me[1] if me else 0)
        if end in ends:
            return True
    return False
