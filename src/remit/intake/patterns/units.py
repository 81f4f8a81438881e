"""Splits a message into units, each covered by one closed pattern.

A unit is a text, a reminder, work, or no task at all: small talk, a limit, a correction, a
prohibition. A part that no pattern covers is work for the owner, or becomes a question.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns import (
    SENTENCE_ENDS,
    MessageLine,
    MessageUnit,
    SpokenOrder,
    UnitKind,
    UnitSearch,
    merge_orders,
    message_lines,
    sentence_end,
)
from remit.intake.patterns.about_tasks import read_control
from remit.intake.patterns.edges import (
    begins_limit,
    behind_leads,
    corrects_from,
    split,
    without_marks,
    without_suffix,
)
from remit.intake.patterns.orders import read_order
from remit.intake.patterns.sending import (
    read_list,
    read_reminding,
    read_reminding_last,
    read_send,
    read_timed_note,
)
from remit.language.files import words_in_all
from remit.language.order_words import SmallTalk, VerbKind, is_laughter, order_words
from remit.language.tokens import TokenKind, is_sign

_FEW: Final = 6  # tokens of a sentence that only says thanks, or laughs
_SHORT: Final = 7  # words of a question that an answer in a conversation settles
_EARLY: Final = 4  # tokens among which "is" makes a sentence one that only tells something


def read_limit(place: UnitSearch) -> MessageUnit | None:
    """Read "but only if it rains", "until Christmas", after something else."""
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
    """Return where an order begins after a condition: "if it rains | email me"."""
    words = place.words
    for at in range(place.body + 2, place.stop):
        order = read_order(words, at, place.stop) if words.verb_at(at) else None
        if order and ((order.sends and order.reaches) or _reminds_owner(order)):
            return at
    return place.stop


def _reminds_owner(order: SpokenOrder) -> bool:
    return order.reminds and order.verb is not None and (order.verb.me or order.me)


def read_correction(place: UnitSearch) -> MessageUnit | None:
    """Read "no wait, make that Thursday": it replaces what was said before."""
    order = corrects_from(place.words, place.start, place.stop)
    if order is None:
        return None
    made = place.unit(UnitKind.CORRECT, place.stop, (place.body, place.stop), order)
    return replace(made, talk=SmallTalk.CONTROL)


def read_prohibition(place: UnitSearch) -> MessageUnit | None:
    """Read "don't text Anna …", "schick Bob nichts": it forbids, and asks for nothing.

    "Text Anna don't forget it" may forbid or be her text: it is read as a text, and asked about.
    """
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
    if behind and not _denies_order(words, behind[1], place.stop):
        behind = None
    refers = order.refers or it
    subjunctive = denied is not None and denied[1] - place.body > 1 and words.language == "es"
    if not (behind or subjunctive or (denied and order.verb and order.verb_at == denied[1])):
        return None
    end = split(words, max(order.end, place.body + 1), place.stop)
    end = _contrasted_work(words, order.end + 1, end)
    kind = UnitKind.CONTROL if refers and place.start == 0 else UnitKind.TALK
    made = place.unit(kind, end, (place.body, end), SpokenOrder(end, end))
    talk = SmallTalk.CONTROL if kind is UnitKind.CONTROL else SmallTalk.FORBIDDEN
    return replace(made, talk=talk, forbids=bool(refers))


def _contrasted_work(words: MessageWords, start: int, end: int) -> int:
    """Return where work begins behind a prohibition: "don't mail Bob, but find out …"."""
    contrasts = words_in_all("words", "but")
    for at in range(start, end):
        verb = words.verb_at(at)
        if verb and verb[0].kind is VerbKind.WORK and words.keys[at - 1] in contrasts:
            return at - 1
    return end


def _denies_order(words: MessageWords, at: int, stop: int) -> bool:
    """Whether a "not" behind an order ends it, or says what is not told: "nothing of it"."""
    lead = order_words().leads.at(words.keys, at)
    return at >= stop or not words.is_plain_word(at) or lead is not None


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
    talk = _talk_of(place)
    if talk is None:
        return None
    stop = _talk_end(place)
    whole = (place.body, stop)
    made = place.unit(UnitKind.TALK, stop, whole, SpokenOrder(place.body, place.body))
    return replace(made, talk=talk)


def _talk_end(place: UnitSearch) -> int:
    """Return where talk ends: at an order to send, to remind, or to do some work."""
    words, end = place.words, split(place.words, place.body, place.stop)
    for at in range(place.body + 1, end):
        verb = words.verb_at(at)
        if verb is None or at in words.people:
            continue
        reminds = _reminds_owner(read_order(words, at, end))
        if reminds or (verb[0].kind is VerbKind.WORK and words.begins_clause(at)):
            return at
    return end


def _talk_of(place: UnitSearch) -> SmallTalk | None:
    """Return the kind of talk of a sentence; None if it may ask for something.

    Only what is surely talk is taken for it: what is not ends as work, or in a question.
    """
    words, known, at = place.words, order_words(), place.body
    asks = known.asking.at(words.keys, at) and not words.verb_at(at)
    last = next(t for t in reversed(words.tokens[: place.stop]) if not is_sign(t.text))
    inside = range(place.start, place.stop)
    to_somebody = any(n in words.people and words.leads_to_person(n - 1) for n in inside[1:])
    if (to_somebody and last.text != "?") or words.announces_text(place.start, place.stop):
        return None
    if asks or (last.text == "?" and _is_question(place)):
        return SmallTalk.QUESTION if _is_for_remit(place) else None
    first = known.talk.at(words.keys, place.start) or known.talk.at(words.keys, at)
    rest = replace(place, body=min(first[1], place.stop)) if first else place
    if first and not _asks_for(rest) and place.stop - rest.body <= _FEW:
        return first[0]
    at = max(at, read_order(words, at, place.stop).end)
    wants = known.wants.at(words.keys, at) or known.frames.at(words.keys, at)
    begun = words.keys[at : min(place.stop, at + _EARLY)]
    tells = not words.own_words("finite").isdisjoint(begun)
    if not tells or words.verb_at(at) or wants:
        return None
    asked_for = _orders_inside(replace(place, stop=_talk_end(place)))
    return None if asked_for else SmallTalk.STATEMENT


def _is_question(place: UnitSearch) -> bool:
    auxiliary = order_words().auxiliary.at(place.words.keys, place.start)
    return auxiliary is not None or not _asks_for(place)


def _is_for_remit(place: UnitSearch) -> bool:
    """Whether a question is short, for Remit, or about somebody; any other is for research."""
    words, inside = place.words, range(place.body, place.stop)
    asking, listed = order_words().asking.at(words.keys, place.body), order_words().for_remit
    behind = inside[asking[1] - place.body :] if asking else inside  # "whats" is a channel, too
    plain = sum(words.is_plain_word(n) for n in inside)
    early = words.keys[place.body : min(place.stop, place.body + _EARLY)]
    if not words.own_words("impersonal").isdisjoint(early):
        return False
    return (
        not words.own_words("listening").isdisjoint(early)
        or plain <= _SHORT
        or (asking is None and order_words().auxiliary.at(words.keys, place.body) is None)
        or any(n in words.people or listed.at(words.keys, n) for n in inside)
        or any(map(words.is_channel, behind))
    )


def _orders_inside(place: UnitSearch) -> bool:
    """Whether a sentence may contain an order to send something to somebody."""
    words, inside = place.words, range(place.body, place.stop)
    orders = (read_order(words, n, place.stop) for n in inside)
    if any(order.sends and order.people for order in orders if order.verb):
        return True
    return bool(words.people) and any(
        words.sends_at(n) and words.tokens[n - 1].kind is TokenKind.MARK
        for n in inside[1:]
        if n not in words.people and not words.is_channel(n)
    )


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


def read_units(words: MessageWords) -> list[MessageUnit]:
    """Return all units of a message, in order."""
    units: list[MessageUnit] = []
    taken = 0  # a text below its line is no line of its own
    for line in message_lines(words):
        if line.start < taken:
            continue
        units += _line_units(words, line)
        taken = units[-1].end if units else taken
    return units


def _line_units(words: MessageWords, line: MessageLine) -> Iterator[MessageUnit]:
    if line.pasted or line.ticked:
        kind = UnitKind.PASTED if line.pasted else UnitKind.TALK
        yield MessageUnit(
            kind, line.start, line.end, (line.start, line.end), line, talk=SmallTalk.STATEMENT
        )
        return
    at = line.start
    while at < line.end:
        unit = _unit(words, at, line)
        yield unit
        at = max(unit.end, at + 1)


def _unit(words: MessageWords, at: int, line: MessageLine) -> MessageUnit:
    stop = sentence_end(words, at, line.end)
    body, also = behind_leads(words, at, stop)
    place = UnitSearch(words, at, body, stop, line, also)
    silent = all(
        token.kind is TokenKind.MARK or is_laughter(token.key) for token in words.tokens[body:stop]
    )
    if silent:
        talk = order_words().talk.at(words.keys, at)
        made = place.unit(UnitKind.TALK, stop, (at, stop), SpokenOrder(at, at))
        is_mark = stop == at + 1 and words.keys[at] in SENTENCE_ENDS
        return replace(made, talk=talk[0] if talk else SmallTalk.CHATTER, is_mark=is_mark)
    for read in _PATTERNS:
        if found := read(place):
            return found
    return _work(place)


def _work(place: UnitSearch) -> MessageUnit:
    """Read everything else as work, whose result the owner gets."""
    words = place.words
    at, order = _behind_time(place)
    end = split(words, at, place.stop)
    verb = words.verb_at(at)
    typed = _with_typed(words, at, end, place.line) if ":" in words.keys[at:end] else end
    body, suffix = (at, without_marks(words, at, typed)), None
    if typed == end:
        dated = verb is not None and verb[0].dated
        body, suffix = without_suffix(words, *body, is_work=True)
        if suffix and suffix.times and dated:
            body, suffix = (at, without_marks(words, at, end)), None
    whole, end = (merge_orders(order, suffix) if suffix else order), typed
    made = place.unit(UnitKind.WORK, max(end, place.start + 1), body, whole)
    made = replace(made, begins_with_verb=verb is not None)
    if whole.times and (_is_deed(place, body) or (order.times and _is_note(place, body))):
        return replace(made, kind=UnitKind.REMIND, text=words.slice(*body))
    return made


def _is_deed(place: UnitSearch, body: tuple[int, int]) -> bool:
    verb = place.words.verb_at(body[0])
    return verb is not None and verb[0].kind is VerbKind.DEED


def _is_note(place: UnitSearch, body: tuple[int, int]) -> bool:
    """Whether a few words behind a moment ask for nothing: "tomorrow at 7:15 gym"."""
    words, inside = place.words, range(*body)
    times = _behind_time(place)[1].times
    exact = all((phrase.clocks or phrase.ahead) and not phrase.every for phrase in times)
    asks = any(
        words.verb_at(n) or n in words.people or order_words().results.at(words.keys, n)
        for n in inside
    )
    return exact and 0 < len(inside) <= _FEW and not asks and body[1] >= place.stop - 1


def _behind_time(place: UnitSearch) -> tuple[int, SpokenOrder]:
    """Return where the work begins, after a time at the start."""
    words, at = place.words, place.body
    if frame := order_words().frames.at(words.keys, at):
        at, _ = behind_leads(words, frame[1], place.stop)
    times = []
    while at < place.stop and (phrase := words.time_at(at)):
        times.append(phrase)
        at, _ = behind_leads(words, phrase.end, place.stop)
    return (
        (at, SpokenOrder(place.body, at, times=times))
        if times
        else (place.body, SpokenOrder(at, at))
    )


def _with_typed(words: MessageWords, at: int, end: int, line: MessageLine) -> int:
    """Return the work with its subject after a colon, up to the end of the line, or below it."""
    colon = next((n for n in range(at, end) if words.keys[n] == ":"), end)
    tight = colon + 1 < len(words.tokens) and words.tokens[colon + 1].tight
    if tight:
        return end  # 9:30, https://
    if colon + 1 < line.end:
        return line.end
    return line.end if line.heads_list else max(line.below, line.end)


_PATTERNS: Final[tuple[Callable[[UnitSearch], MessageUnit | None], ...]] = (
    read_list,
    read_heading,
    read_prohibition,
    read_correction,
    read_limit,
    read_reminding,
    read_send,
    read_timed_note,
    read_retraction,
    read_reminding_last,
    read_control,
    read_talk,
)
