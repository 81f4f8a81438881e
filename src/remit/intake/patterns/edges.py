"""Finds where the units of a message begin and end."""

from typing import Final

from remit.intake.message_words import MessageWords
from remit.intake.patterns import SpokenOrder
from remit.intake.patterns.orders import read_order, skip_to
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import TextLead, is_laughter, order_words
from remit.language.tokens import TokenKind, is_sign
from remit.model.veto import LED_KINDS

_LEADING_MARKS: Final = frozenset(",;:.!?¿¡-–—…)*•·")
_LONGEST_SUFFIX: Final = 24  # tokens
_SEPARATORS: Final = frozenset(",;:-–—.!…")


def behind_leads(words: MessageWords, at: int, stop: int) -> tuple[int, bool]:
    """Return the place after "and then please", "2)", "hi", where a unit has content."""
    known, keys = order_words(), words.keys
    also = False
    while at < stop:
        token = words.tokens[at]
        lead = known.links.at(keys, at) or known.polite.at(keys, at)
        step = lead[1] if lead else None
        heading = known.headings.at(keys, at + 1)  # "three things:"
        if heading and words.is_number(at) and keys[heading[1] : heading[1] + 1] == (":",):
            at = heading[1]
        elif (thanks := _thanks_end(words, at, stop)) is not None:
            at = thanks
        elif step is not None and not ((when := words.time_at(at)) and when.end > step):
            also = also or known.also.at(keys, at) is not None
            at = step
        elif token.text in _LEADING_MARKS or is_laughter(token.key):
            at += 1
        elif token.kind is TokenKind.NUMBER and keys[at + 1 : at + 2] == (")",):
            at, also = at + 2, True
        else:
            break
    return min(at, stop), also


def _thanks_end(words: MessageWords, at: int, stop: int) -> int | None:
    """Return the place after "thanks,", if something else follows."""
    found = order_words().talk.at(words.keys, at)
    if found is None or found[1] + 1 >= stop or words.keys[found[1]] != ",":
        return None
    return found[1] + 1


def behind_lead(words: MessageWords, at: int, stop: int) -> tuple[int, TextLead | None]:
    """Return the place after a comma and "that", where a text begins."""
    comma = at + 1 if words.keys[at : at + 1] == (",",) else at
    if comma < stop and (found := order_words().leads.at(words.keys, comma)):
        after = found[1] if words.keys[found[1] : found[1] + 1] != (",",) else found[1] + 1
        return min(after, stop), found[0]
    return comma, None


def split(words: MessageWords, at: int, stop: int, *, reminders_only: bool = False) -> int:
    """Return where another unit begins after "and", a comma or a dash: "… and send it to me"."""
    known, keys = order_words(), words.keys
    for n in range(at + 1, stop):
        tight = n + 1 < stop and words.tokens[n + 1].tight and words.tokens[n].text != "—"
        mark = words.tokens[n].text in _SEPARATORS and not tight
        if not (mark or known.links.at(keys, n)):
            continue
        begins, _ = behind_leads(words, n, stop)
        if mark and corrects_from(words, n, stop):
            return n
        if begins < stop and begins_limit(words, begins) and not reminders_only:
            return n
        denied = known.nots.at(keys, begins)
        if denied and words.sends_at(denied[1]) and not reminders_only:
            return n
        order = read_order(words, begins, stop)
        if order.verb is None:
            continue
        reminds = order.reminds and (order.verb.me or order.me)
        sends = order.sends and not reminders_only
        if reminds or sends:
            return n
    return stop


def corrects_from(words: MessageWords, at: int, stop: int) -> SpokenOrder | None:
    """Return the corrected time, channel or people, if the words say nothing else."""
    known, found = order_words(), False
    while at < stop:
        step = known.corrections.at(words.keys, at)
        small = known.talk.at(words.keys, at) or known.links.at(words.keys, at)
        if not (step or small or words.tokens[at].kind is TokenKind.MARK):
            break
        found = found or step is not None
        at = step[1] if step else small[1] if small else at + 1
    if not found:
        return None
    order = read_order(words, at, stop)
    if order.verb or order.end < without_marks(words, at, stop):
        return None
    return order if order.times or order.people or order.channels else None


def begins_limit(words: MessageWords, at: int) -> bool:
    tables = (phrases_in_all("conditions", kind.value) for kind in LED_KINDS)
    return any(table.at(words.keys, at) for table in tables)


def without_suffix(
    words: MessageWords,
    start: int,
    end: int,
    *,
    is_work: bool = False,
    is_object: bool = False,
    is_reminder: bool = False,
) -> tuple[tuple[int, int], SpokenOrder | None]:
    """Return the content without the people, the channel and the time after it."""
    if end <= start:
        return (start, end), None
    inside = start  # of a time that is part of what is said
    for at in range(max(start + is_work, end - _LONGEST_SUFFIX), end):
        if at < inside or is_sign(words.tokens[at].text):
            continue
        is_told = is_reminder and words.is_told_before(at)  # "that the meeting is at 5"
        if (is_work or is_object or is_told) and (phrase := words.time_at(at)):
            inside = phrase.end
        order = None if is_told else read_order(words, at, end)
        if order is None or order.end < end or order.verb is not None:
            continue
        named = bool(order.people or order.unnamed)
        due = is_work and any(words.is_deadline(phrase.start) for phrase in order.times)
        if due or (is_reminder and (named or thing_in(words, order) is not None)):
            continue  # it begins at once; "remind me to write to Bob", "… to send an email"
        if _is_suffix(words, order, is_work=is_work, is_object=is_object):
            last = at - 1 if order.times and words.is_deadline(at - 1) else at
            return (start, without_marks(words, start, last)), order
    return (start, end), None


def _is_suffix(words: MessageWords, order: SpokenOrder, *, is_work: bool, is_object: bool) -> bool:
    """Whether the last words say only when, to whom or how."""
    named = bool(order.people or order.unnamed)
    if (order.people and skip_to(words, order.start) == order.start) or (is_work and named):
        return False
    if order.only_small:
        return True
    exact = all(phrase.is_exact for phrase in order.times)
    is_named = named or order.me or bool(order.channels or order.times)
    if not is_work:
        return is_named and (exact or not is_object)
    strong = all(order_words().by.words & {words.keys[s - 1]} for (s, _), _ in order.channels)
    before = words.keys[order.start - 1] if order.start else ""
    event = before in words.own_words("events") and not any(each.every for each in order.times)
    topic = words.is_topic(before) or event
    return bool(order.channels or order.times) and strong and exact and not topic


def thing_in(words: MessageWords, order: SpokenOrder) -> int | None:
    """Return where a thing begins that is no way to send: "an email", unlike "email"."""
    articles = order_words().articles - words_in_all("words", "my")
    starts = (start - 1 for (start, _), _ in order.channels if start)
    return next((at for at in starts if words.keys[at] in articles), None)


def without_marks(words: MessageWords, start: int, end: int) -> int:
    while end > start and words.tokens[end - 1].text in _SEPARATORS | {"?"}:
        end -= 1
    return end


def without_links(words: MessageWords, start: int, end: int) -> int:
    """Return the end of a text without an "and" or a mark at its end."""
    last = without_marks(words, start, end)
    while last > start and order_words().links.at(words.keys, last - 1):
        last = without_marks(words, start, last - 1)
    return last


def with_marks(words: MessageWords, last: int, end: int) -> int:
    """Return a text with its end marks and signs, but without a comma before the next unit."""
    while last < end and (words.tokens[last].text in "!?.…" or is_sign(words.tokens[last].text)):
        last += 1
    return last
