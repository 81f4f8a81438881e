"""Reminders and lists, which go back to the owner in the owner's words."""

from msgspec.structs import replace

from remit.intake.patterns.edges import begins_limit, behind_lead, split, without_marks
from remit.intake.patterns.orders import read_order
from remit.intake.patterns.sending import quoted_text, read_reminder, typed_text
from remit.intake.patterns.spoken_order import SpokenOrder, merged
from remit.intake.patterns.unit import MessageUnit, UnitKind, UnitSearch
from remit.language.order_words import VerbKind, order_words
from remit.language.tokens import TokenKind


def read_reminding(place: UnitSearch) -> MessageUnit | None:
    """Read "remind me tomorrow at 9 to …", "in 20 minutes: …", "… , remind me at 6"."""
    words = place.words
    order = read_order(words, place.body, place.stop)
    if not order.reminds or order.sends:
        return None
    if order.verb and not (order.verb.me or order.me) and words.is_name(order.end):
        return None
    at, _ = behind_lead(words, order.end, place.stop)
    if words.keys[at : at + 1] == (":",):
        return _typed_reminder(place, order, at + 1)
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
        last = read_order(words, at, place.stop) if words.may_remind(at) else None
        if last is None or not last.reminds or last.people or last.end < last_word:
            continue
        start, _ = behind_lead(words, order.end, at)
        body = (start, without_marks(words, start, at))
        whole = replace(merged(last, order), start=order.start)
        made = place.unit(UnitKind.REMIND, place.stop, body, whole)
        return replace(made, text=words.slice(*body) or None)
    return None


def _typed_reminder(place: UnitSearch, order: SpokenOrder, at: int) -> MessageUnit:
    """What stands behind a colon; "… . Remind me" behind it is no part of the text."""
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
    if verb is not None and verb[0].kind not in (VerbKind.WORK, VerbKind.DEED):
        return None
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
