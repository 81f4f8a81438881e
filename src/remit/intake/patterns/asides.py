"""Parts of a message that are no task: small talk, limits, corrections, prohibitions."""

from typing import Final

from msgspec.structs import replace

from remit.intake.patterns.edges import begins_limit, corrects_from, split, without_marks
from remit.intake.patterns.orders import read_order
from remit.intake.patterns.spoken_order import SpokenOrder
from remit.intake.patterns.unit import MessageUnit, UnitKind, UnitSearch
from remit.language.order_words import SmallTalk, VerbKind, order_words
from remit.language.tokens import TokenKind

_FEW: Final = 6  # tokens of a sentence that only says thanks, or laughs
_EARLY: Final = 4  # tokens among which "is" makes a sentence one that only tells something


def read_limit(place: UnitSearch) -> MessageUnit | None:
    """Read "but only if it rains", "until Christmas", behind something else."""
    words = place.words
    phrase = words.time_at(place.body)
    ends = phrase if phrase and phrase.until and not phrase.every else None
    if ends and without_marks(words, place.body, place.stop) <= ends.end:
        order = SpokenOrder(place.body, ends.end, times=[ends])
        return place.unit(UnitKind.LIMIT, place.stop, (place.body, place.body), order)
    if place.start and words.names_end(place.body, place.body + 2) and not _asks_for(place):
        whole = (place.body, place.stop)
        return place.unit(UnitKind.LIMIT, place.stop, whole, SpokenOrder(0, 0))
    if not begins_limit(words, place.body):
        return None
    end = min(split(words, place.body, place.stop), _order_start(place))
    if end >= place.stop and place.start == 0:
        return None
    return place.unit(UnitKind.LIMIT, end, (place.body, end), SpokenOrder(0, 0))


def _order_start(place: UnitSearch) -> int:
    """Where an order begins behind a condition: "if it rains | email me"."""
    words = place.words
    for at in range(place.body + 2, place.stop):
        verb = words.verb_at(at)
        if verb is None or verb[0].kind in (VerbKind.WORK, VerbKind.DEED, VerbKind.STOP):
            continue
        order = read_order(words, at, place.stop)
        if (order.sends and order.reaches) or (order.reminds and order.verb and order.verb.me):
            return at
    return place.stop


def read_correction(place: UnitSearch) -> MessageUnit | None:
    """Read "no wait, make that Thursday": it stands instead of what was said before."""
    order = corrects_from(place.words, place.start, place.stop)
    if order is None:
        return None
    made = place.unit(UnitKind.CORRECT, place.stop, (place.body, place.stop), order)
    return replace(made, talk=SmallTalk.CONTROL)


def read_prohibition(place: UnitSearch) -> MessageUnit | None:
    """Read "don't text Anna …", "schick Bob nichts": it forbids, and asks for nothing."""
    words, known = place.words, order_words()
    denied = known.nots.at(words.keys, place.body)
    verb = words.verb_at(place.body)
    if verb is not None and verb[0].kind is VerbKind.REMIND and denied:
        return None  # "don't let me forget"
    order = read_order(words, denied[1] if denied else place.body, place.stop)
    it = known.refers.at(words.keys, order.end) if order.sends else None
    named = order.people or order.unnamed or order.refers or it
    after = it[1] if it else order.end
    behind = known.nots.at(words.keys, after) if order.sends and named else None
    refers = order.refers or it
    subjunctive = denied is not None and denied[1] - place.body > 1 and words.language == "es"
    if not (behind or subjunctive or (denied and order.verb and order.verb_at == denied[1])):
        return None
    end = split(words, max(order.end, place.body + 1), place.stop)
    kind = UnitKind.CONTROL if refers and place.start == 0 else UnitKind.TALK
    made = place.unit(kind, end, (place.body, end), SpokenOrder(end, end))
    talk = SmallTalk.CONTROL if kind is UnitKind.CONTROL else SmallTalk.FORBIDDEN
    return replace(made, talk=talk, forbids=bool(refers))


def read_control(place: UnitSearch) -> MessageUnit | None:
    """Read "cancel the reminder", "stop it": it is about a task that there is."""
    words, known = place.words, order_words()
    verb = words.verb_at(place.body)
    if verb is None or verb[0].kind is not VerbKind.STOP:
        return None
    at = verb[1]
    inside = range(at, place.stop)
    named = any(known.task_words.at(words.keys, n) for n in inside)
    alone = all(words.tokens[n].kind is TokenKind.MARK for n in inside)
    refers = known.refers.at(words.keys, at)
    if not (named or alone or (refers and refers[1] >= place.stop - 1)):
        return None
    made = place.unit(UnitKind.CONTROL, place.stop, (place.body, place.stop), SpokenOrder(at, at))
    return replace(made, talk=SmallTalk.CONTROL)


def read_retraction(place: UnitSearch) -> MessageUnit | None:
    """Read "scratch that", which takes back what was said before."""
    words = place.words
    found = order_words().retractions.at(words.keys, place.body)
    if found is None or (words.is_plain_word(found[1]) and not words.is_small_word(found[1])):
        return None
    end = split(words, found[1], place.stop) if found[1] < place.stop else place.stop
    made = place.unit(UnitKind.RETRACT, end, (place.body, end), SpokenOrder(end, end))
    return replace(made, talk=SmallTalk.CONTROL)


def read_talk(place: UnitSearch) -> MessageUnit | None:
    stop = split(place.words, place.body, place.stop)
    talk = _talk_of(place, stop)
    if talk is None:
        return None
    whole = (place.body, stop)
    made = place.unit(UnitKind.TALK, stop, whole, SpokenOrder(place.body, place.body))
    return replace(made, talk=talk)


def _talk_of(place: UnitSearch, stop: int) -> SmallTalk | None:
    """The sort of a sentence that asks for nothing; None if it may ask for something."""
    words, known, at = place.words, order_words(), place.body
    asks = known.asking.at(words.keys, at) and not words.verb_at(at)
    if asks or (words.keys[place.stop - 1] == "?" and _is_question(place)):
        return SmallTalk.QUESTION
    first = known.talk.at(words.keys, place.start) or known.talk.at(words.keys, at)
    rest = replace(place, body=min(first[1], place.stop)) if first else place
    if first and not _asks_for(rest) and place.stop - rest.body <= _FEW:
        return first[0]
    at = max(at, read_order(words, at, place.stop).end)
    wants = known.wants.at(words.keys, at) or known.frames.at(words.keys, at)
    begun = words.keys[at : min(place.stop, at + _EARLY)]
    tells = not words.own_words("finite").isdisjoint(begun)
    asked_for = words.verb_at(at) or wants or _orders_inside(replace(place, stop=stop))
    return SmallTalk.STATEMENT if tells and not asked_for else None


def _is_question(place: UnitSearch) -> bool:
    auxiliary = order_words().auxiliary.at(place.words.keys, place.start)
    return auxiliary is not None or not _asks_for(place)


def _orders_inside(place: UnitSearch) -> bool:
    """Whether something inside a sentence may be an order to send something to somebody."""
    words = place.words
    orders = (read_order(words, n, place.stop) for n in range(place.body, place.stop))
    return any(order.sends and order.people for order in orders if order.verb)


def _asks_for(place: UnitSearch) -> bool:
    """Whether a verb asks for something, or a time is named."""
    words = place.words
    inside = range(place.body, place.stop)
    return any(words.verb_at(n) is not None or words.time_at(n) is not None for n in inside)


def read_heading(place: UnitSearch) -> MessageUnit | None:
    """Read "to do for the party:" above a list: it asks for nothing by itself."""
    line = place.line
    whole = place.start == line.start and place.stop >= line.end
    if not (line.heads_list or line.heading) or not whole or _asks_for(place):
        return None
    body = (place.body, place.stop)
    made = place.unit(UnitKind.TALK, place.stop, body, SpokenOrder(place.body, place.body))
    return replace(made, talk=SmallTalk.STATEMENT)
