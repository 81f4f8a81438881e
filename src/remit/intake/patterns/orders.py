"""Parses the words around a text or work: a verb, people, channels, times, "please".

They may stand in any order, before or after the text; every other word is text or work. An order
with an unknown word is refused.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns import SpokenOrder
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import OrderVerb, SmallTalk, TextLead, VerbKind, order_words
from remit.language.time.phrase import corrected
from remit.language.tokens import TokenKind, is_sign

_FEW: Final = 8  # tokens of a correction
_LONGEST: Final = 40  # tokens of an order; what is longer is none


# Takes in what begins at a token, and says where it ends; None if this part does not begin there.
_Part: TypeAlias = Callable[[MessageWords, SpokenOrder, int], int | None]


def read_order(words: MessageWords, at: int, stop: int) -> SpokenOrder:
    """Read from a token as far as everything is part of an order."""
    found = words.orders.get((at, stop))
    if isinstance(found, SpokenOrder):
        return found
    words.orders[at, stop] = made = _read(words, at, stop)
    return made


def _read(words: MessageWords, at: int, stop: int) -> SpokenOrder:
    order = SpokenOrder(at, at)
    stop = min(stop, at + _LONGEST)
    while at < stop:
        after = _step(words, order, at, stop)
        if after is None:
            break
        at = order.end = min(after, stop)
    return _with_object(words, order)


def read_announcement(words: MessageWords, at: int, stop: int) -> SpokenOrder | None:
    """Read the words before a colon that say who gets a text.

    "A message for Rose:", "Rose gets this from me:"; "Rose should know: …" may only be a remark.
    """
    colon = next((n for n in range(at, stop) if words.keys[n] == ":"), stop)
    if colon + 1 >= stop or words.is_tight(colon + 1) or not words.announces_text(at, colon + 1):
        return None
    order, tells = SpokenOrder(at, at), False
    gets, noun = phrases_in_all("addressing", "gets"), order_words().messages
    while at < colon:
        after = _step(words, order, at, colon)
        hit = noun.at(words.keys, at) or gets.at(words.keys, at) if after is None else None
        tells = tells or (after is None and hit is None)
        if after is None and not hit and not words.is_small_word(at):
            return None
        at = order.end = after or (hit[1] if hit else at + 1)
    this = order.me or order.it is not None
    led = order.people and words.leads_to_person(order.people[0][0][0] - 1)
    if not (this or (led and not tells)) or not order.people or order.unnamed:
        return None
    return replace(order, me=False, it=None)


def _with_object(words: MessageWords, order: SpokenOrder) -> SpokenOrder:
    """Return the order with "them" as its object, if somebody else gets it: "send them to me"."""
    verb = order.verb
    if order.it or verb is None or not (verb.kind is VerbKind.SEND or verb.channel):
        return order
    if not (order.people or order.me):
        return order
    to = words.own_words("to")
    bare = [span for span in order.unnamed if words.keys[span[0] - 1] not in to]
    if bare:
        order.it = bare[0]
        order.unnamed = [span for span in order.unnamed if span not in bare]
    return order


def _step(words: MessageWords, order: SpokenOrder, at: int, stop: int) -> int | None:
    """Read what stands at a token, and return its end; None if it is no part of an order."""
    if order.reminds and _begins_content(words, at):
        return None
    for take in _PARTS.get(words.tokens[at].kind, ()):
        if (after := take(words, order, at)) is not None and after <= stop:
            return after
    return None


def _begins_content(words: MessageWords, at: int) -> bool:
    """Whether the content of a reminder begins here: "to email Grace"."""
    lead = order_words().leads.at(words.keys, at)
    timed = words.time_at(at) or (lead and words.time_at(lead[1]))  # "2moro", "for Friday"
    return lead is not None and lead[0] is TextLead.DOING and not timed


def _time(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    phrase = words.time_at(at)
    if phrase is None and order.reminds and not order.times:
        phrase = words.hour_at(at)
    named = words.named.get(at)
    if phrase is None or (named and named[1] >= phrase.end):
        return None
    order.times.append(phrase)
    return phrase.end


def _read_correction(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    """Read ", no wait, Thursday" after a time: it replaces that time."""
    known, start, found = order_words(), at, False
    if not order.times or words.tokens[at].kind is not TokenKind.MARK:
        return None
    while at < len(words.tokens) and at - start < _FEW:
        step = known.corrections.at(words.keys, at)
        no = known.talk.at(words.keys, at)
        if not (step or no or words.tokens[at].kind is TokenKind.MARK):
            break
        found = found or bool(step or no)
        at = step[1] if step else no[1] if no else at + 1
    phrase = words.time_at(at) if found else None
    if phrase is None:
        return None
    order.times[-1] = corrected(order.times[-1], phrase)
    order.corrected = (phrase.start, phrase.end)
    comma = words.keys[phrase.end : phrase.end + 1] == (",",)
    return phrase.end + comma


def _led_time(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    """Read "for Friday at 9" after "set a reminder"."""
    verb = order.verb
    if verb is None or order.times or not (order.reminds or verb.channel):
        return None
    lead = order_words().leads.at(words.keys, at)
    phrase = words.time_at(lead[1]) if lead else None
    if lead is None or phrase is None or not (order.reminds or phrase.is_exact):
        return None
    return _time(words, order, lead[1])


def _person(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    verb = words.verb_at(at)
    if order.reminds and order.times and order.me and at in words.named:
        return None  # "remind me thurs 4pm dentist"
    if not words.own_words("third").isdisjoint(words.keys[at : skip_to(words, at)]):
        return None  # "send it to his mother", "tell her Bob is late"
    for place in range(skip_to(words, at), at - 1, -1):
        if (named := words.named.get(place)) and not (verb and verb[1] > named[1]):
            if named[0] == (words.book.owner,):
                order.me = True
            elif place > at and words.is_name(named[1]):
                order.unnamed.append((place, named[1] + 1))  # Bob is no Bob Miller
                return named[1] + 1
            else:
                order.people.append(((place, named[1]), named[0]))
            return named[1]
    return None


def skip_to(words: MessageWords, at: int) -> int:
    """Return the place after "to", "and", "the", "my", where somebody may be named."""
    known, keys = order_words(), words.keys
    before = phrases_in_all("addressing", "before")
    for table in (known.links, known.to, before):
        if found := table.at(keys, at):
            at = found[1]
    while at < len(keys) and keys[at] in known.articles:
        at += 1
    return at


def _message(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    found = order_words().messages.at(words.keys, at)
    if found is None or (order.verb is None and not order.framed and not order.people):
        return None
    if not order.people and words.sends_at(at) and skip_to(words, found[1]) in words.named:
        return None  # "can you text Bob …"
    order.message = True
    for place in range(at, found[1]):
        if channel := words.channel_at(place):
            order.channels.append(((place, channel[1]), channel[0]))
    return found[1]


def _channel(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    known, keys = order_words(), words.keys
    if order.channels and (link := known.links.at(keys, at)):
        at = link[1]
    led = known.by.at(keys, at) or known.on.at(keys, at)
    start = led[1] if led else at
    while start < len(keys) and keys[start] in known.articles:
        start += 1
    found = words.channel_at(start) or known.elsewhere.at(keys, start)
    if found is None or (order.verb is None and start == at and not _is_bare(words, order, at)):
        return None
    noun = known.messages.at(keys, found[1])
    if not (led or noun) and words.is_plain_word(found[1]) and not _goes_on(words, found[1]):
        return None  # "the WhatsApp bug report"
    order.message = order.message or noun is not None
    order.channels.append(((start, found[1]), found[0]))
    mine = words.keys[start - 1] in words_in_all("words", "my") if start else False
    order.own_channel = order.own_channel or mine or found[0] == words.book.home
    return noun[1] if noun else found[1]


def _is_bare(words: MessageWords, order: SpokenOrder, at: int) -> bool:
    """Whether a channel alone may say how people are written to: "Anna, WhatsApp: …"."""
    return words.verb_at(at) is None and bool(order.people)


def _verb(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    found = words.verb_at(at)
    if found is None or found[0].kind in (VerbKind.WORK, VerbKind.DEED, VerbKind.STOP):
        return None
    if order.verb is not None:
        reminder = found[0].kind is VerbKind.REMIND and found[0].me and not order.people
        if not reminder or order.verb.kind not in (VerbKind.REMIND, VerbKind.SEND):
            return None
        order.verb = found[0]  # "send me a reminder"
        return found[1]
    order.verb, order.verb_at = found[0], at
    return found[1]


def _read_unnamed(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    if order.verb is None or order.reminds:
        return None
    start = skip_to(words, at)
    for place in range(at, start + 1):
        if found := order_words().them.at(words.keys, place):
            if (
                order_words().to.at(words.keys, found[1])
                and skip_to(words, found[1]) in words.named
            ):
                return None  # "text them to Anna": the results
            order.unnamed.append((place, found[1]))
            return found[1]
    role = start > at and words.keys[start : start + 1]
    if role and role[0] in order_words().roles:
        order.unnamed.append((at, start + 1))
        return start + 1
    return None


def _me(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    known = order_words()
    link = known.links.at(words.keys, at) if order.people else None
    found = known.me.at(words.keys, link[1] if link else at)
    if found is None:
        return None
    order.me = True
    return found[1]


def _it(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    begun = order.verb is not None or order.me or order.people
    if not begun or order.it is not None:
        return None
    known, keys = order_words(), words.keys
    found = known.results.at(keys, at)
    if found is None:
        return None
    end = found[1]
    if end < len(keys) and words.tokens[end].kind is TokenKind.WORD and not _goes_on(words, end):
        return None  # "the list of hotels" is more than the list
    order.it = (at, end)
    return end


def _goes_on(words: MessageWords, at: int) -> bool:
    """Whether some part of an order may begin at a token."""
    trial = SpokenOrder(at, at, OrderVerb(VerbKind.SEND))
    takes = (_time, _person, _channel, _read_unnamed, _me, _small)
    if any(take(words, trial, at) is not None for take in takes):
        return True
    return order_words().links.at(words.keys, at) is not None or words.verb_at(at) is not None


def _small(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    """Skip a word that means nothing by itself."""
    known, keys = order_words(), words.keys
    if frame := known.frames.at(keys, at):
        order.framed = True
        return frame[1]
    polite, talk = known.polite.at(keys, at), known.talk.at(keys, at)
    if talk and order.people and order.verb is not None and order.verb.kind is VerbKind.TELL:
        return None  # "tell Bob thanks": it is the text
    if polite:
        return polite[1]
    if talk and talk[0] is SmallTalk.THANKS:
        return talk[1]
    return _particle(words, order, at) or _mark(words, order, at)


def _particle(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    """Skip a word that belongs to the verb: "know" in "let Bob know"."""
    if order.verb is None:
        return None
    if found := order_words().particles.at(words.keys, at):
        order.message = order.message or order.verb.kind is VerbKind.SEND  # "gib Bescheid, dass"
        return found[1]
    last = order_words().particles_at_end.at(words.keys, at)
    return last[1] if last and not words.is_plain_word(last[1]) else None


def _mark(words: MessageWords, order: SpokenOrder, at: int) -> int | None:
    """Skip an emoji, or a comma before the verb or between people."""
    token = words.tokens[at]
    if token.kind is TokenKind.MARK and (is_sign(token.text) or token.text in "!¡¿()"):
        return at + 1
    if token.text not in (",", "-", "–", "—"):
        return None
    lists = bool(order.people) and skip_to(words, at + 1) in words.named
    early = order.verb is None and order.end > order.start
    when = order.reminds and not order.times and words.time_at(at + 1) is not None
    return at + 1 if early or lists or when else None


_WORD_PARTS: Final[tuple[_Part, ...]] = (
    *(_read_correction, _time, _led_time, _person, _message),
    *(_channel, _verb, _read_unnamed, _me, _it, _small),
)
_PARTS: Final[Mapping[TokenKind, tuple[_Part, ...]]] = {
    TokenKind.WORD: _WORD_PARTS,
    TokenKind.NUMBER: _WORD_PARTS,
    TokenKind.MARK: (_read_correction, _person, _channel, _read_unnamed, _me, _small),
}
