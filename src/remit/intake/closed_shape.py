"""Says what in a message lies outside the one shape that may reach others without a question.

The shape is a verb that sends, the people who get it, and one text. Everybody else who is named
beside the text may be spoken to or spoken of; and a text without marks has only one clause, because
a second one may be said to Remit: "text Jonas I'm home after I'm home".
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from remit.intake.message_words import PAUSES, MessageWords, linking_words
from remit.intake.patterns import SpokenOrder
from remit.intake.patterns.orders import read_order
from remit.intake.word_lookup import Span
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import clause_openers, infinitive_endings, order_words
from remit.language.tokens import TokenKind, fold
from remit.model.veto import VetoCue, VetoKind

_LONG: Final = 6  # words of a text without marks, besides articles
_NEAR: Final = 3  # words at the beginning of a text
_SHORT: Final = 2  # digits
_GAP: Final = r"_{2,}|\bX{2,}\b|\[[^\]\d]*\]|<[^<>\d]+>"
_TAKING_BACK: Final = ("scoffs", VetoKind.RETRACTION.value)  # lists of words at an end
_CROSSES: Final = r"x{2,}"


def outside_shape(
    message: MessageWords, texts: Sequence[Span], others: Sequence[Span]
) -> Iterator[VetoCue]:
    """Yield who is named beside the recipients, and where a second clause begins in a text.

    `texts` go to others; `others` are the places of everything else that is asked for.
    """
    yield from _people_beside(message, texts, others)
    yield from _orders_behind_colon(message, texts)
    for span in texts:
        yield from _gaps(message, span)
        if not message.is_marked_text(span):
            yield from _unclear_opening(message, span)
            yield from _unclear_end(message, span)
            yield from _unclear_last(message, span)
            yield from _uncommon_words(message, span)


def _people_beside(
    message: MessageWords, texts: Sequence[Span], others: Sequence[Span]
) -> Iterator[VetoCue]:
    taken = (*texts, *others)
    outside = [n for n in range(len(message.keys)) if not _is_inside(message, n, taken)]
    orders = {n: _order_at(message, n) for n in outside if n not in message.people}
    verbs = [n for n, order in orders.items() if order and not _only_names_channel(message, order)]
    if not verbs:
        return
    behind = {n for order in orders.values() if order for n in _people_of(order)}
    named = [n for n in outside if n in message.people]
    behind |= {n for n in named if n > verbs[0] and _is_led_to(message, n)}
    before = [n for n in named if n not in behind]
    again = {message.keys[n] for n in behind}
    if before == [0] and _is_assistant(message, 0) and message.keys[0] in again:
        return  # "Nina, tell Nina …"
    names = message.named
    for at, (_, end) in names.items():
        if at in named and end in names:
            yield _cue(message, at, names[end][1])
    if behind or not _precede(message, before, verbs):
        yield from (_cue(message, n, n + 1) for n in before)
    for n in outside:
        if message.keys[n] in words_in_all("addressing", "or") and {n - 1, n + 1} <= set(named):
            yield _cue(message, n - 1, n + 2)


def _is_assistant(message: MessageWords, at: int) -> bool:
    return message.keys[at] == fold(message.book.assistant)


def _orders_behind_colon(message: MessageWords, texts: Sequence[Span]) -> Iterator[VetoCue]:
    """Yield words that ask for something, with a colon and an order to send behind it.

    What follows may be what is to be noted: "write this down: tell Bob …".
    """
    for at in range(1, len(message.keys) - 1):
        if message.keys[at] != ":" or message.is_tight(at + 1):
            continue
        start = message.sentence_start(at)
        head = [n for n in range(start, at) if message.verb_at(n) and n not in message.people]
        sends = any(
            message.sends_at(n) and n not in message.people
            for n in range(at + 1, _line_end(message, at))
            if not _is_inside(message, n, texts)
        )
        named = any(n in message.people or message.time_at(n) for n in range(start, at))
        if head and sends and not named:
            yield _cue(message, start, at, VetoKind.REPORTED)


def _is_inside(message: MessageWords, at: int, spans: Sequence[Span]) -> bool:
    return any(start <= message.tokens[at].start < end for start, end in spans)


def _gaps(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield what stands for words that are still to come: "___", "at XX", "[name]"."""
    for found in re.finditer(_GAP, message.text[slice(*span)]):
        start, end = span[0] + found.start(), span[0] + found.end()
        yield VetoCue(VetoKind.TEXT, found.group().strip()[:60], start, end)
    for n in range(message.first_at(span[0]) + 1, message.first_at(span[1])):
        crosses = re.fullmatch(_CROSSES, message.keys[n])
        if crosses and message.keys[n - 1] in message.own_words("gap_leads"):
            yield _cue(message, n, n + 1, VetoKind.TEXT)


def _unclear_opening(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield words that may be no beginning of a text: "or Will …", "not Bob …", "will be …"."""
    first, end = message.first_at(span[0]), message.first_at(span[1])
    near = [n for n in range(first, min(first + _NEAR, end)) if n in message.people]
    if (
        near
        and not _is_led(message, span)
        and all(_is_lead(message, n) for n in range(first, near[0]))
    ):
        yield _cue(message, first, near[0] + 1)
    before = message.tokens[first - 1] if first else None
    modal = before is not None and before.key in message.own_words("modals") and not before.capital
    if (
        modal
        and first - 1 in message.people
        and message.keys[first] not in message.own_words("text_starts")
    ):
        yield _cue(message, first - 1, first + 1)
    wish = message.keys[first] in message.own_words("wishes")
    sentence = not message.own_words("finite").isdisjoint(message.keys[first:end])
    if wish and (sentence or _ends_with_time(message, first, end)):
        yield _cue(message, first, end, VetoKind.TEXT)
    no_start = linking_words() | words_in_all("addressing", "or") | message.own_words("empty")
    if message.keys[first] in no_start:
        yield _cue(message, first, first + 1)


def _ends_with_time(message: MessageWords, first: int, end: int) -> bool:
    """Whether a text may end before a time: "happy birthday on the 3rd"."""
    times = (message.time_at(n) for n in range(first, end))
    return any(time is not None and time.end >= end for time in times)


def _is_lead(message: MessageWords, at: int) -> bool:
    denies = message.keys[at] in words_in_all("cues", VetoKind.DENIAL.value)
    return denies or message.is_small_word(at)


def _is_short_number(message: MessageWords, at: int) -> bool:
    """Whether a token is a number of one or two digits with a gap before it."""
    token = message.tokens[at]
    return token.kind is TokenKind.NUMBER and len(token.text) <= _SHORT and not token.tight


def _order_at(message: MessageWords, at: int) -> SpokenOrder | None:
    return read_order(message, at, _line_end(message, at)) if message.sends_at(at) else None


def _only_names_channel(message: MessageWords, order: SpokenOrder) -> bool:
    """Whether "WhatsApp" or "mail" is no verb: "Jonas by mail: …"."""
    return message.is_channel(order.start) and not order.people


def _is_led_to(message: MessageWords, at: int) -> bool:
    """Whether "to" stands before somebody: "send the number to Mark"."""
    while at in message.people or (at > 0 and message.keys[at] in linking_words()):
        at -= 1
    return at >= 0 and message.leads_to_person(at)


def _line_end(message: MessageWords, at: int) -> int:
    lines = (n for n in range(at, len(message.keys)) if message.tokens[n].kind is TokenKind.LINE)
    return next(lines, len(message.keys))


def _people_of(order: SpokenOrder) -> Iterator[int]:
    for start, end in (span for span, _ in order.people):
        yield from range(start, end)


def _precede(message: MessageWords, people: Sequence[int], verbs: Sequence[int]) -> bool:
    """Whether people stand together before a verb that may follow them: "Anna schreiben"."""
    if not people:
        return True
    between = range(people[0], people[-1])
    together = all(n in people or message.keys[n] in linking_words() for n in between)
    return together and any(_may_follow(message, n) for n in verbs if n > people[-1])


def _may_follow(message: MessageWords, at: int) -> bool:
    """Whether a verb is an infinitive or has its object in it: "schreiben", "mándaselo"."""
    verb = message.verb_at(at)
    endings = infinitive_endings(message.language)
    return verb is not None and (verb[0].it or message.keys[verb[1] - 1].endswith(endings))


def _unclear_end(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield where a text may have ended: a clause is long, or another one begins."""
    first, end = message.first_at(span[0]), message.first_at(span[1])
    longest = max(_clauses(message, first, end), key=len)
    if len(longest) > _LONG and not _ends_with_verb(message, span, end):
        yield _cue(message, longest[_LONG], end, VetoKind.TEXT)
    yield from _hesitations(message, span)
    yield from _later_clauses(message, span)


def _is_led(message: MessageWords, span: Span) -> bool:
    """Whether a word such as "that" or "to" shows where a text begins."""
    first = message.first_at(span[0])
    leads = (order_words().leads.at(message.keys, n) for n in range(max(0, first - 2), first))
    return message.is_led_in(span) or any(lead is not None and lead[1] == first for lead in leads)


def _uncommon_words(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield the first word that is not an everyday one, if not even a "that" marks the text."""
    at, end = message.first_at(span[0]), message.first_at(span[1])
    everyday = message.own_words("everyday")
    by_habit = message.keys[at - 1] in message.own_words("leads_by_habit")  # "dile que …"
    closed = _is_led(message, span) and (not by_habit or _ends_with_verb(message, span, end))
    while at < end and not closed:
        time = message.time_at(at)
        known = time or message.keys[at] in everyday or message.is_small_word(at)
        either = message.keys[at] in words_in_all("addressing", "or")
        if either or not (known or message.is_number(at) or not message.is_plain_word(at)):
            yield _cue(message, at, end, VetoKind.TEXT)
            return
        at = max(at + 1, time.end if time else 0)


def _clauses(message: MessageWords, first: int, end: int) -> list[list[int]]:
    """Return the words of a text without articles and times, in two halves if "and" joins them."""
    articles, openers = order_words().articles, clause_openers(message.language)
    main = _begins_condition(message, first)
    halves: list[list[int]] = [[]]
    at = first
    while at < end:
        joins = message.keys[at] in linking_words() or (main and openers.at(message.keys, at))
        if joins and at > first and len(halves) == 1:
            halves.append([])
        if time := message.time_at(at):
            at = max(at + 1, time.end)
            continue
        if message.is_plain_word(at) and message.keys[at] not in articles:
            halves[-1].append(at)
        at += 1
    return halves


def _begins_condition(message: MessageWords, at: int) -> bool:
    """Whether a text begins with "if": its main clause follows."""
    return phrases_in_all("cues", "condition").at(message.keys, at) is not None


def _hesitations(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield where a text is interrupted, corrected, repeated, or speaks to somebody else."""
    first, end = message.first_at(span[0]), message.first_at(span[1])
    led = _is_led(message, span)
    for n in range(first + 1, end):
        if n in message.people:
            interrupts = not led or n + 1 >= end
        else:
            two = n + 1 < end and _are_two(message, n)
            interrupts = two or _interrupts(message, n, end) or _repeats(message, first, n)
        if interrupts:
            yield _cue(message, n, n + 1, VetoKind.TEXT)


def _interrupts(message: MessageWords, at: int, end: int) -> bool:
    """Whether a word corrects or takes back what stands before it; "…, sorry" does not."""
    keys = message.keys
    if keys[at] in message.own_words("interjections"):
        return True
    courteous = phrases_in_all("addressing", "courtesy").at(keys, at)
    harmless = phrases_in_all("cues", "harmless")
    is_part = any(
        (hit := harmless.at(keys, n)) and hit[1] > at for n in range(max(0, at - _NEAR), at + 1)
    )
    corrected = order_words().corrections.at(keys, at)
    plainly = corrected is None or keys[at - 1] in PAUSES  # "…, sorry", but not "… bar gym sorry"
    if is_part or (courteous and courteous[1] >= end and plainly):
        return False
    taken_back = (phrases_in_all("cues", name).at(keys, at) for name in _TAKING_BACK)
    return corrected is not None or any(
        hit and (hit[1] == end or end - 1 == hit[1] > at + 1) for hit in taken_back
    )


def _unclear_last(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    """Yield the last word, if it may ask Remit something or is no end of a German clause."""
    first, end = message.first_at(span[0]), message.first_at(span[1])
    inside = [n for n in range(first, end) if message.is_plain_word(n)]
    last = inside[-1] if inside else first
    tag = message.keys[last] in message.own_words("tags")
    if last > first and (tag or _goes_on_behind_verb(message, first, last)):
        yield _cue(message, last, last + 1, VetoKind.TEXT)
    past, about = phrases_in_all("addressing", "past"), message.is_topic
    is_past = any((hit := past.at(message.keys, n)) and hit[1] == end for n in range(first, end))
    if is_past and not any(about(message.keys[n]) for n in range(first, end)):
        yield _cue(message, last, last + 1, VetoKind.TEXT)
    if "?" in message.keys[last : end + 1] and not _asks(message, first):
        yield _cue(message, last, last + 1, VetoKind.TEXT)
    for at in _second_clock(message, first, end):
        yield _cue(message, at, end, VetoKind.TEXT)


def _asks(message: MessageWords, first: int) -> bool:
    """Whether a text begins like a question, or the order before it does: "can you tell …?"."""
    known, start = order_words(), message.sentence_start(first)
    tables = (known.asking, known.auxiliary, known.frames)
    return any(table.at(message.keys, at) for table in tables for at in (first, start))


def _goes_on_behind_verb(message: MessageWords, first: int, last: int) -> bool:
    """Whether a German clause with "dass" does not end with its verb."""
    endings = infinitive_endings(message.language)
    clause = message.keys[first - 1] in message.own_words("verb_last")
    is_verb = message.keys[last] in message.own_words("finite")
    return clause and not (is_verb or message.keys[last].endswith((*endings, "t", "e", "b")))


def _second_clock(message: MessageWords, first: int, end: int) -> Iterator[int]:
    """Yield where the second time of day in a text stands: "at 5, 6 I mean"."""
    at, found = first, 0
    while at < end:
        time = message.time_at(at)
        found += time is not None and bool(time.clocks)
        if time is not None and time.clocks and found > 1:
            yield at
            return
        at = max(at + 1, time.end if time else 0)


def _repeats(message: MessageWords, first: int, at: int) -> bool:
    """Whether a word that means something, or an article, stands in a text twice."""
    key = message.keys[at]
    place = key in message.own_words("places") and message.time_at(at) is None
    means = message.is_plain_word(at) and not message.is_small_word(at)
    definite = message.own_words("definite")
    bare = key in definite and not message.is_small_word(at - 1)  # "the bus the train"
    before = definite if bare else {key}
    return (means or place or bare) and not before.isdisjoint(message.keys[first:at])


def _ends_with_verb(message: MessageWords, span: Span, end: int) -> bool:
    """Whether a German clause with its verb at the end says all of it: "dass ich kommen kann"."""
    lead = message.keys[message.first_at(span[0]) - 1]
    is_clause = lead in message.own_words("verb_last")
    return is_clause and message.keys[end - 1] in message.own_words("finite")


def _are_two(message: MessageWords, at: int) -> bool:
    """Whether two numbers or two days stand side by side, of which one may be a correction."""
    if _is_short_number(message, at) and _is_short_number(message, at + 1):
        return True
    time = message.time_at(at)
    behind = message.time_at(time.end) if time and time.day else None
    return behind is not None and behind.day is not None


def _later_clauses(message: MessageWords, span: Span) -> Iterator[VetoCue]:
    openers, joins = clause_openers(message.language), message.own_words("clause_joins")
    first, end = message.first_at(span[0]), message.first_at(span[1])
    main = _begins_condition(message, first)
    for at in range(first + 1, end):
        found = openers.at(message.keys, at)
        if found is None or found[1] >= end or message.keys[at - 1] in joins:
            continue
        behind = message.time_at(found[1]) or message.is_number(found[1])
        timed = message.time_at(at) or (behind and found[1] == at + 1)  # "after 5"
        if main and not timed:
            main = False  # "… that unless the train is late I'll be there"
        elif not timed:
            yield _cue(message, at, found[1], VetoKind.TEXT)
            return


def _cue(
    message: MessageWords, start: int, end: int, kind: VetoKind = VetoKind.RECIPIENT
) -> VetoCue:
    first, last = message.tokens[start], message.tokens[end - 1]
    return VetoCue(kind, message.slice(start, end), first.start, last.end)
