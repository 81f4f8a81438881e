"""Decides whether words that no mark shows to be a text are one, up to their end.

A model may take words for a text that are said to Remit, or that only tell of a message. The words
of a cue need not be known for that: the place of a part and the words around the verb tell it.
"""

from remit.intake.message_words import PAUSES, MessageWords
from remit.intake.word_lookup import Span
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import order_words
from remit.language.tokens import TokenKind, fold


def may_be_no_text(message: MessageWords, text: str, person: str) -> bool:
    """Whether words without marks are perhaps no text for a person, or not to their end."""
    spans = tuple(message.places(text))
    return not any(map(message.is_marked_text, spans)) and any(
        _may_end_earlier(message, span) or _is_told_about(message, span, person) for span in spans
    )


def _may_end_earlier(message: MessageWords, span: Span) -> bool:
    """Whether a later part of a text may be said to Remit.

    That is a sentence or an aside that does not speak to the reader, or a part that speaks of
    somebody.
    """
    inside = [n for n, t in enumerate(message.tokens) if span[0] <= t.start < span[1]]
    marks = [n for n in inside[:-1] if _ends_part(message, n)]
    ends = [*marks[1:], inside[-1] + 1] if marks else []
    return any(_is_aside(message, mark, end) for mark, end in zip(marks, ends, strict=True))


def _ends_part(message: MessageWords, at: int) -> bool:
    token = message.tokens[at]
    pause = token.text in PAUSES and not message.is_tight(at + 1)
    return pause or token.kind is TokenKind.LINE


def _is_aside(message: MessageWords, mark: int, end: int) -> bool:
    part = range(mark + 1, end)
    keys = message.keys[mark + 1 : end]
    plain = [n for n in part if message.is_plain_word(n)]
    third = not words_in_all("words", "third").isdisjoint(keys)
    if message.tokens[mark].text in ",;:" or not plain:
        return third
    reader = not words_in_all("addressing", "listeners").isdisjoint(keys)
    return third or not (reader or message.keys[mark] == "?")


def _is_told_about(message: MessageWords, span: Span, person: str) -> bool:
    """Whether the words around the verb that sends a text order nothing.

    "So I text Bob …", "have Jonas tell May …", "trying to tell Mark …" only tell of it.
    """
    first = message.first_at(span[0])
    lead, spans = range(message.sentence_start(first), first), tuple(message.places(person))
    verb = next((n for n in lead if _orders_at(message, n)), None)
    if verb is None:  # "whoever loses must write Rose …": the verb is no part of her text
        late = any(_orders_at(message, n) for n in range(first, min(first + 2, len(message.keys))))
        others = (n for n in lead if n in message.people)
        return late or any(not message.is_within(message.span_of(n), spans) for n in others)
    persons = words_in_all("addressing", "speakers") | words_in_all("words", "subjects")
    own = persons - words_in_all("addressing", "listeners") - words_in_all("words", "third")
    if verb + 1 < first and message.keys[verb + 1] in own & words_in_all("words", "subjects"):
        return True  # "schicke ich Grace …"
    left = _before_order(message, verb)
    named = {n for n in left if message.is_within(message.span_of(n), spans)}
    named |= {n for n in left if message.keys[n] == fold(message.book.assistant)}
    return any(
        n not in named
        and (
            n in message.people
            or (n == left[-1] == verb - 1 and message.keys[n] in persons)
            or not (message.is_small_word(n) or message.is_order_word(n))
        )
        for n in left
    )


def _before_order(message: MessageWords, verb: int) -> list[int]:
    """Return the words of a clause before its verb that no request begins with."""
    known, harmless = order_words(), phrases_in_all("cues", "harmless")
    tables = (known.frames, known.polite, known.wants, known.links, known.talk, harmless)
    start = next((n for n in range(verb, 0, -1) if _begins_here(message, n)), 0)
    taken: set[int] = set()
    for n in range(message.sentence_start(verb), verb):
        hits = [hit[1] for table in tables if (hit := table.at(message.keys, n))]
        time = message.time_at(n)
        taken.update(range(n, max([*hits, time.end if time else 0, n])))
    return [n for n in range(start, verb) if n not in taken and message.is_plain_word(n)]


def _begins_here(message: MessageWords, at: int) -> bool:
    before = message.tokens[at - 1]
    if before.kind is TokenKind.NUMBER:
        return _orders_at(message, at)  # "2 tell Bob …"
    return before.kind is not TokenKind.WORD or before.key in words_in_all("addressing", "links")


def _orders_at(message: MessageWords, at: int) -> bool:
    """Whether a verb that sends is at a token, and no noun: "on WhatsApp", "an email"."""
    known = order_words()
    led = at > 0 and message.keys[at - 1] in known.by.words | known.on.words | known.articles
    return (
        message.sends_at(at) and at not in message.people and not (led and message.is_channel(at))
    )
