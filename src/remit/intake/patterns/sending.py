"""Reads texts and things for somebody, and reminders and lists for the owner."""

from typing import Final

from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns import MessageUnit, SpokenOrder, UnitKind, UnitSearch, merge_orders
from remit.intake.patterns.edges import (
    begins_limit,
    behind_lead,
    split,
    thing_in,
    with_marks,
    without_links,
    without_marks,
    without_suffix,
)
from remit.intake.patterns.orders import read_announcement, read_order, skip_to
from remit.language.order_words import TextLead, VerbKind, order_words
from remit.language.time.phrase import combine
from remit.language.tokens import TokenKind

_ADDRESS: Final = TokenKind.ADDRESS


def read_send(place: UnitSearch) -> MessageUnit | None:
    """Read orders such as "text Anna on WhatsApp tomorrow at 9: …"."""
    words = place.words
    order = read_order(words, place.body, place.stop)
    order = _with_pronoun(place, order)
    order = _with_stranger(place, order) if order.verb and not order.reaches else order
    stranger = any(span not in _unnamed_words(words, order) for span in order.unnamed)
    if _is_text_for_unknown(place, order):
        return replace(quoted_text(place, order, order.end), stranger=True)
    if not order.sends:
        return None if order.verb else _announced_text(place, order)
    text = _text(place, order)
    if text is not None:
        return replace(text, stranger=stranger)
    found = _object(place, order)
    return replace(found, stranger=stranger) if found else None


def _is_text_for_unknown(place: UnitSearch, order: SpokenOrder) -> bool:
    """Whether an unknown name follows a text in quotation marks: "text "hi" to Zed"."""
    words, verb = place.words, order.verb
    if verb is None or verb.kind not in (VerbKind.SEND, VerbKind.TELL) or order.reaches:
        return False
    if order.end >= place.stop or words.tokens[order.end].kind is not TokenKind.QUOTE:
        return False
    rest = read_order(words, order.end + 1, place.line.end)
    return bool(_with_unknown_behind(words, rest, place.line.end).unnamed)


def _announced_text(place: UnitSearch, order: SpokenOrder) -> MessageUnit | None:
    """Return a text for people that no verb orders to send: "to Anna, by mail: …".

    What only names a time or an address, speaks of somebody, or orders something is no such text.
    """
    words = place.words
    colon = words.keys[order.end : order.end + 1] == (":",)
    if not (colon and order.people and _is_addressed(words, order)):
        found = read_announcement(words, place.body, place.stop)
        if found is None:
            return None
        order = found
    made = typed_text(place, order, order.end + 1)
    inside = range(*made.body)
    definite = words.own_words("articles") - words.own_words("one") - words.own_words("my")
    time = words.time_at(made.body[0])
    if (
        words.keys[place.body] in definite  # "the mail to Grace: delete it"
        or not words.own_words("third").isdisjoint(words.keys[n] for n in inside)
        or (time is not None and time.end >= made.body[1])
        or [words.tokens[n].kind for n in inside] == [TokenKind.ADDRESS]
        or any(
            words.sends_at(n) and n not in words.people for n in inside if words.begins_clause(n)
        )
    ):
        return None
    return made


def _is_addressed(words: MessageWords, order: SpokenOrder) -> bool:
    """Whether people are written to without a verb: "to Anna, by mail: …"."""
    first = order.people[0][0][0]
    return bool(order.channels) or skip_to(words, order.start) == first > order.start


def _with_pronoun(place: UnitSearch, order: SpokenOrder) -> SpokenOrder:
    """Return a Spanish order that names nobody but "her" in its verb: "dile que …"."""
    words = place.words
    if not order.verb or order.reaches or not words.ends_with_them(order.verb_at):
        return order
    has_lead = order_words().leads.at(words.keys, order.end) is not None
    return replace(order, unnamed=[(order.verb_at, order.verb_at + 1)]) if has_lead else order


def _unnamed_words(words: MessageWords, order: SpokenOrder) -> list[tuple[int, int]]:
    known = order_words()
    return [
        span
        for span in order.unnamed
        if known.them.at(words.keys, span[0]) or span[0] == order.verb_at
    ]


def _with_stranger(place: UnitSearch, order: SpokenOrder) -> SpokenOrder:
    """Return an order whose verb needs a person, with the unknown word after it as one."""
    words, at = place.words, skip_to(place.words, order.end)
    if at >= place.stop or not _may_name(words, order, at):
        return order
    end = at + 1
    while end < place.stop and words.is_name(end):
        end += 1
    particle = order_words().particles.at(words.keys, end)  # "know" in "let Bob know"
    rest = read_order(words, particle[1] if particle else end, place.stop)
    whole = replace(merge_orders(order, rest), unnamed=[(at, end)], end=rest.end)
    return replace(whole, message=order.message or rest.message)


def _may_name(words: MessageWords, order: SpokenOrder, at: int) -> bool:
    """Whether a word after a verb may name somebody."""
    if order.verb is not None and order.verb.kind is VerbKind.SEND:
        return at == order.end and words.is_name(at)
    token = words.tokens[at]
    known = words.is_known_word(at) and not (token.capital and at > 0)
    named = token.kind is TokenKind.ADDRESS or (token.kind is TokenKind.WORD and not known)
    return named and (at == order.end or words.keys[order.end] in words.own_words("to"))


def _text(place: UnitSearch, order: SpokenOrder) -> MessageUnit | None:
    """Return the unit, if the owner's own text follows the order."""
    words = place.words
    at, lead = behind_lead(words, order.end, place.stop)
    if at < place.stop and words.keys[at] == ":":
        typed = typed_text(place, order, at + 1)
        return replace(typed, kind=UnitKind.COMPOSE, text=None) if order.refers else typed
    if at < place.stop and words.tokens[at].kind is TokenKind.QUOTE:
        return quoted_text(place, order, at)
    if order.to_me and order.times and lead in (TextLead.DOING, TextLead.STATEMENT):
        return read_reminder(place, order, at)
    if at >= place.stop or not _tells(order, lead) or _is_thing(place, order, at, lead):
        return None
    end = split(words, at, place.stop, reminders_only=True)
    last = without_marks(words, at, end)
    made = place.unit(UnitKind.SEND, end, (at, last), order)
    return replace(made, text=words.slice(at, with_marks(words, last, end)))


def _tells(order: SpokenOrder, lead: TextLead | None) -> bool:
    """Whether words without any mark are sent to somebody as they are."""
    verb = order.verb
    tells = verb is None or verb.kind is VerbKind.TELL or lead is TextLead.STATEMENT
    tells = tells or order.message or order.reminds
    asks = verb is not None and verb.asks
    doing = lead is TextLead.DOING and not order.reminds
    if not tells or asks or doing or lead is TextLead.TOPIC:
        return False
    return order.reaches and not order.refers and not (order.message and lead is None)


def _is_thing(place: UnitSearch, order: SpokenOrder, at: int, lead: TextLead | None) -> bool:
    """Whether something must be written first: "a poem", "his jacket …"."""
    words, known = place.words, order_words()
    inside = frozenset(words.keys[at : place.stop])
    if known.tongues.at(words.keys, at) or not inside.isdisjoint(words.own_words("third")):
        return True
    if lead is not None:
        return False
    tells = not inside.isdisjoint(words.own_words("finite"))
    counted = words.keys[at] in words.own_words("articles") or words.is_number(at)
    article = counted and not tells
    thing = words.keys[at] in words.own_words("one") or article
    return order.to_me or thing or bool(known.links.at(words.keys, at))


def typed_text(place: UnitSearch, order: SpokenOrder, at: int) -> MessageUnit:
    """Return the text after a colon, up to the end of the line, or below it."""
    words, end = place.words, place.line.end
    if at >= end:
        end = place.line.below
    while at < end and words.tokens[at].kind is TokenKind.LINE:
        at += 1
    if at < end and words.tokens[at].kind is TokenKind.QUOTE:
        return quoted_text(place, order, at)
    made = place.unit(UnitKind.SEND, end, (at, end), order)
    return replace(made, text=words.slice(at, end).strip() or None, marked=True)


def quoted_text(place: UnitSearch, order: SpokenOrder, at: int) -> MessageUnit:
    """Return a text in quotation marks; people, a channel and a time may follow it."""
    words = place.words
    rest = _with_unknown_behind(words, read_order(words, at + 1, place.line.end), place.line.end)
    whole = merge_orders(order, rest) if rest.verb is None or order.verb is None else order
    end = rest.end if whole is not order else at + 1
    made = place.unit(UnitKind.SEND, end, (at, at + 1), whole)
    return replace(made, text=words.tokens[at].text, marked=True)


def _with_unknown_behind(words: MessageWords, order: SpokenOrder, stop: int) -> SpokenOrder:
    """Return what follows a text with an unknown name in it: "to Zed tomorrow at 9"."""
    at = order.end
    named = order.people or order.unnamed or order.me or order.verb
    if named or at >= stop or not order_words().to.at(words.keys, at):
        return order
    start = skip_to(words, at)
    if not words.own_words("one").isdisjoint(words.keys[at:start]):
        return order  # "to a file"
    end = start + (words.tokens[start : start + 1] != () and words.tokens[start].kind is _ADDRESS)
    while end < stop and words.is_plain_word(end) and not _goes_on_at(words, end):
        end += 1
    start = start if end > start else start - 1  # "to her"
    if start <= at:
        return order
    rest = read_order(words, end, stop)
    return replace(merge_orders(order, rest), unnamed=[(start, end)], end=rest.end)


def _goes_on_at(words: MessageWords, at: int) -> bool:
    """Whether something else than a name begins at a word: a time, a verb, "on WhatsApp"."""
    known = order_words()
    lead = known.by.at(words.keys, at) or known.on.at(words.keys, at)
    link = known.links.at(words.keys, at)
    return bool(lead or link or words.time_at(at) or words.verb_at(at))


def _object(place: UnitSearch, order: SpokenOrder) -> MessageUnit | None:
    """Return what is sent if it must be made first, or was made before: "send it to Anna"."""
    words = place.words
    end = split(words, order.end - 1, place.stop)
    thing = (order.end, without_marks(words, order.end, end))
    if thing[1] > thing[0]:
        is_tell = order.verb is not None and order.verb.kind is VerbKind.TELL
        about = is_tell and order_words().leads.at(words.keys, thing[0]) is not None
        rest, suffix = without_suffix(words, *thing, is_object=True)
        if suffix and not (about and suffix.times):  # "tell Bob about the match at 9"
            order, thing = merge_orders(order, suffix), rest
    if not order.reaches:
        order, thing = _with_unknown(words, order, thing)
    result = order_words().results.at(words.keys, thing[0]) if order.it is None else None
    if result and result[1] == thing[1] > thing[0]:
        order, thing = replace(order, it=thing), (thing[1], thing[1])
    kind = UnitKind.COMPOSE if thing[1] > thing[0] else UnitKind.DELIVER
    if kind is UnitKind.COMPOSE and order.it is not None:
        thing = (order.it[0], thing[1])
    made = place.unit(kind, end, thing, order)
    refers = order.it and order_words().refers.at(words.keys, order.it[0])
    it = order.it
    new = it is not None and words.keys[it[0]] in words.own_words("one")
    return replace(made, names_thing=it is not None and not refers, makes_thing=new)


def _with_unknown(
    words: MessageWords, order: SpokenOrder, thing: tuple[int, int]
) -> tuple[SpokenOrder, tuple[int, int]]:
    """Return the order with an unknown recipient, and what is sent without those words."""
    target = _target(words, order, thing)
    order = replace(order, unnamed=[target])
    if target[0] > thing[0] and target[1] == thing[1]:
        return order, (thing[0], _before_lead(words, target[0]))
    return order, (target[1], thing[1]) if target[0] == thing[0] else thing


def _before_lead(words: MessageWords, start: int) -> int:
    """Return the place before the "to the" that leads to somebody."""
    first = start
    while first and skip_to(words, first - 1) == start:
        first -= 1
    return first


def _target(words: MessageWords, order: SpokenOrder, thing: tuple[int, int]) -> tuple[int, int]:
    """Return the words that may say who gets it: "to Zed"; else the verb."""
    if words.is_name(order.end):
        return (order.end, order.end + 1)
    for at in range(*thing):
        if order_words().to.at(words.keys, at) and at + 1 < thing[1]:
            return (skip_to(words, at), thing[1])
    return (order.verb_at, order.verb_at + 1)


def read_reminder(place: UnitSearch, order: SpokenOrder, at: int) -> MessageUnit:
    words, end = place.words, split(place.words, at, place.stop)
    if order.verb is not None and order.verb.it:
        return place.unit(UnitKind.REMIND, place.stop, (at, at), order)
    whole_body = (at, without_marks(words, at, end))
    body, suffix = without_suffix(words, *whole_body, is_reminder=True)
    if suffix and order.times and suffix.times and not _go_together(order, suffix):
        body, suffix = whole_body, None  # "at 4pm remind me to call Bob at 6pm"
    whole = merge_orders(order, suffix) if suffix else order
    made = place.unit(UnitKind.REMIND, end, body, whole)
    call = words.slice(order.verb_at, words.verb_end(order.verb_at)) if order.wakes else None
    return replace(made, text=words.slice(*body) or call)


def _go_together(one: SpokenOrder, other: SpokenOrder) -> bool:
    """Whether two times are halves of one: "tomorrow", and "at 9"."""
    return combine(one.times[0], other.times[0]) is not None


def read_reminding(place: UnitSearch) -> MessageUnit | None:
    """Read "remind me tomorrow at 9 to …", "in 20 minutes: …", "… , remind me at 6"."""
    words = place.words
    order = read_order(words, place.body, place.stop)
    if not order.reminds or order.sends:
        return None
    stranger = order.verb and not (order.verb.me or order.me) and words.is_name(order.end)
    bare = not order.times and order.wakes and order.verb_at == order.end - 1
    if stranger or bare:  # "alarm systems for flats"
        return None
    at, _ = behind_lead(words, order.end, place.stop)
    if words.keys[at : at + 1] == (":",):
        return _typed_reminder(place, order, at + 1)
    if at < place.stop and (thing := thing_in(words, order)) is not None:
        order = read_order(words, place.body, thing)  # "remind me at 3 an email must be sent"
        at, _ = behind_lead(words, order.end, place.stop)
    if at < place.stop and words.tokens[at].kind is TokenKind.QUOTE:
        return replace(quoted_text(place, order, at), kind=UnitKind.REMIND)
    return read_reminder(place, order, at)


def read_reminding_last(place: UnitSearch) -> MessageUnit | None:
    """Read "morgen um 9 an die Tabletten erinnern", "call mum 4pm reminder"."""
    words = place.words
    order = read_order(words, place.body, place.stop)
    last_word = without_marks(words, place.body, place.stop)
    verb = words.verb_at(order.end)
    works = verb is not None and verb[0].kind is VerbKind.WORK
    if order.verb or order.people or works or begins_limit(words, place.body):
        return None
    for at in range(order.end + 1, last_word):
        last = read_order(words, at, place.stop)
        if not last.reminds or last.people or last.end < last_word:
            continue
        start, _ = behind_lead(words, order.end, at)
        body = (start, without_links(words, start, at))
        rest, suffix = without_suffix(words, *body, is_reminder=True)
        if suffix and last.times and suffix.times and _go_together(suffix, last):
            body, last = rest, merge_orders(last, suffix)  # "ring Bob tomorrow and remind me at 8"
        whole = replace(merge_orders(last, order), start=order.start)
        made = place.unit(UnitKind.REMIND, place.stop, body, whole)
        return replace(made, text=words.slice(*body) or None)
    return None


def _typed_reminder(place: UnitSearch, order: SpokenOrder, at: int) -> MessageUnit:
    """Return the text after a colon; "… . Remind me" after it is no part of it."""
    words, typed = place.words, typed_text(place, order, at)
    end = split(words, typed.body[0], typed.end, reminders_only=True)
    body = (typed.body[0], end)
    text = words.slice(*body) if end < typed.end else typed.text
    return replace(typed, kind=UnitKind.REMIND, end=end, body=body, text=text)


def read_timed_note(place: UnitSearch) -> MessageUnit | None:
    """Read "every Monday at 9: water the plants"."""
    words = place.words
    order = read_order(words, place.body, place.stop)
    colon = words.keys[order.end : order.end + 1] == (":",)
    only_time = order.times and not (order.verb or order.people or order.channels or order.me)
    if not colon or not only_time:
        return None
    at = order.end + 1
    verb = words.verb_at(at)
    found = _typed_reminder(place, order, at)
    works = verb is not None and verb[0].kind is VerbKind.WORK
    return replace(found, kind=UnitKind.WORK, text=None) if works else found


def read_list(place: UnitSearch) -> MessageUnit | None:
    """Read "shopping list: milk, eggs"."""
    words, at = place.words, place.body
    found = order_words().lists.at(words.keys, at)
    if found is None and (verb := words.verb_at(at)):
        found = order_words().lists.at(words.keys, verb[1])
    if found is None or words.keys[found[1] : found[1] + 1] != (":",):
        return None
    made = typed_text(place, SpokenOrder(at, found[1]), found[1] + 1)
    return replace(made, kind=UnitKind.NOTE) if made.text else None
