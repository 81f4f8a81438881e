"""Reads a message without a model.

What a closed pattern covers runs, and so does work that reaches only the owner. Work that may be
meant for others, because a verb sends or some words hold it back, is asked about instead.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.intake.closed_shape import outside_shape
from remit.intake.extract import extract, without_address
from remit.intake.extraction import Draft, Extraction, Question, QuestionTopic
from remit.intake.message_words import MessageWords, message_words
from remit.intake.patterns.orders import read_order
from remit.intake.veto import find_veto, reaches_others
from remit.intake.word_lookup import Span
from remit.intake.work_cues import work_areas
from remit.language.files import phrases_in_all
from remit.language.order_words import order_words
from remit.language.tokens import TokenKind, keys_of, tokenize
from remit.model.contract import Clause, ClauseOutcome
from remit.model.veto import VetoCue, VetoKind

_FEW: Final = 4  # words
_BREAKS: Final = (": ", ". ", "; ", "! ", "? ", "...", " - ", "--")
_PAUSES: Final = (*_BREAKS, *",\n…–—(<#*")


def read_plainly(text: str, *, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
    """Read a message with the closed patterns only."""
    found = extract(text, now=now, zone=zone, book=book)
    message = message_words(text, book)
    if all(people == (book.owner,) for people, _ in message.named.values()):
        return found
    asked = [_question(found, draft, message) for draft in found.tasks]
    questions = tuple(each for each in asked if each is not None)
    return replace(
        found,
        questions=(*found.questions, *questions),
        veto=(*found.veto, *doubts_of(found, text, book)),
        texts=texts_to_others(found, message),
    )


def texts_to_others(found: Extraction, message: MessageWords) -> tuple[Span, ...]:
    """Return where the owner's texts to others stand.

    One without marks that has an order to send in it may end there: "… que no hay pan y envíaselo".
    """
    spans = (span for each in dict.fromkeys(_texts(found)) for span in message.places(each))
    return tuple(s for s in spans if message.is_marked_text(s) or not _sends_inside(message, s))


def _sends_inside(message: MessageWords, span: Span) -> bool:
    return any(map(message.sends_at, range(message.first_at(span[0]), message.first_at(span[1]))))


def doubts_of(found: Extraction, text: str, book: ContactBook) -> tuple[VetoCue, ...]:
    """Return what makes it uncertain that a text is to go to somebody."""
    message = message_words(text, book)
    return (
        *_work_before_text(found, message),
        *_uncovered_words(found, message),
        *_unclear(found, message),
        *_words_of_composition(found, message),
        *_outside_shape(found, message),
    )


class PlainReader:
    """Reads with the closed patterns only; no model is asked."""

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        return read_plainly(text, now=now, zone=zone, book=book)


def _question(found: Extraction, draft: Draft, message: MessageWords) -> Question | None:
    """Ask whether work is meant for somebody else, if the words suggest it."""
    settled = draft.stays or reaches_others(draft.deliveries) or not draft.work
    if settled or found.questions_about(draft):
        return None
    own = [n for n, clause in enumerate(found.clauses) if clause in draft.clauses]
    spans = [(found.clauses[n].start, found.clauses[n].end) for n in own]
    inside = [
        n
        for n, token in enumerate(message.tokens)
        if any(start <= token.start < end for start, end in spans) and not message.is_work_text(n)
    ]
    named = [message.slice(n, message.named[n][1]) for n in inside if n in message.named]
    if not named or not (
        any(map(message.sends_at, inside))
        or message.announces_text(inside[0], inside[-1] + 1)
        or find_veto(message.text, message.book)
    ):
        return None
    who = " and ".join(dict.fromkeys(named))
    sentence = f"Is something to be sent to {who}? Say what, in quotation marks, or say what to do."
    return Question(QuestionTopic.TASK, sentence, clause=own[0])


def _work_before_text(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """Yield work or reminders before a text to others that may be part of it."""
    sends = [d.clauses[0] for d in found.tasks if reaches_others(d.deliveries) and d.clauses]
    for draft in found.tasks:
        if reaches_others(draft.deliveries) or not draft.clauses:
            continue
        alone = bool(draft.work) and not draft.deliveries
        first, last = draft.clauses[0], draft.clauses[-1]
        near = message.line_at(first.start) in {message.line_at(each.start) for each in sends}
        joined = any(message.is_one_sentence(last.end, each.start) for each in sends)
        if (alone and near) or (not draft.work and joined):
            yield VetoCue(VetoKind.UNCOVERED, first.text, first.start, first.end)


def _words_of_composition(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """Yield words after an order to send that describe what to write and that no pattern covers.

    "Ask Bob whether …" and "write to Bob in English …" say what to write, and are no doubt; a time
    between the order and the words changes nothing.
    """
    for draft in found.tasks:
        if not draft.work or not reaches_others(draft.deliveries):
            continue
        untimed = (each for each in draft.clauses if each.became is not ClauseOutcome.TIME)
        for sends, what in pairwise(untimed):
            behind = (sends.became, what.became) == (ClauseOutcome.DELIVERY, ClauseOutcome.WORK)
            is_known = _says_what(message, sends, what) or _is_result(message, what)
            if behind and not is_known:
                yield VetoCue(VetoKind.UNCOVERED, what.text, what.start, what.end)


def _is_result(message: MessageWords, what: Clause) -> bool:
    """Whether a few words name something that the work before them made: "the best two"."""
    first, end = message.first_at(what.start), message.first_at(what.end)
    works = (message.span_of(area.first)[0] for area in work_areas(message))
    if not any(message.is_one_sentence(start, what.start) for start in works):
        return False
    definite = message.own_words("articles") - message.own_words("one")
    return message.keys[first] in definite and end - first <= _FEW


def _says_what(message: MessageWords, sends: Clause, what: Clause) -> bool:
    """Whether an order to send says what is written: a language, a question, or "it"."""
    first, start = message.first_at(what.start), message.first_at(sends.start)
    order = read_order(message, start, first)
    asks = order.verb is not None and order.verb.asks
    return asks or order.refers or order_words().tongues.at(message.keys, first) is not None


def _uncovered_words(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """Yield words beside a text to others that no pattern covers: they may change its meaning."""
    texts = [span for each in _texts(found) for span in message.places(each)]
    if not texts:
        return
    others = (draft for draft in found.tasks if not reaches_others(draft.deliveries))
    own = [(clause.start, clause.end) for draft in others for clause in draft.clauses]
    times = [(c.start, c.end) for c in found.clauses if c.became is ClauseOutcome.TIME]
    for at, token in enumerate(message.tokens):
        inside = any(
            start < token.end and token.start < end for start, end in (*texts, *own, *times)
        )
        if not inside and not message.is_order_word(at) and not message.is_small_word(at):
            yield VetoCue(VetoKind.UNCOVERED, token.text, token.start, token.end)


def _unclear(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    """Yield texts whose edges are uncertain: no clear marks, and a pause or an order inside.

    "Let Bob have this: I'm late" has the order to send it before the colon.
    """
    if any(reaches_others(draft.deliveries) for draft in found.tasks):
        doubtful = (each for each in message.raw if each.kind is TokenKind.QUOTE and not each.clear)
        yield from (VetoCue(VetoKind.TEXT, q.text[:60], q.start, q.end) for q in doubtful)
    for text in _texts(found):
        spans = list(message.places(text))
        marked = any(message.is_marked_text(span) for span in spans)
        inside = [n for n, t in enumerate(message.tokens) if _within(t.start, spans)]
        more = any(message.goes_on_with_order(n) for n in inside)
        if not marked and (more or any(mark in _without_courtesy(text) for mark in _PAUSES)):
            start, end = spans[0] if spans else (0, 0)
            yield VetoCue(VetoKind.TEXT, text[:60], start, end)


def _outside_shape(found: Extraction, message: MessageWords) -> Iterator[VetoCue]:
    if not any(reaches_others(draft.deliveries) for draft in found.tasks):
        return
    texts = [span for each in dict.fromkeys(_texts(found)) for span in message.places(each)]
    others = [
        (clause.start, clause.end)
        for draft in found.tasks
        for clause in draft.clauses
        if clause.became is ClauseOutcome.WORK or not reaches_others(draft.deliveries)
    ]
    words = message_words(without_address(message.text, message.book), message.book)
    yield from outside_shape(words, texts, others)


def _without_courtesy(text: str) -> str:
    """Return a text without thanks or the like behind its last comma: "…, sorry"."""
    rest, comma, last = text.rstrip(" .!?").rpartition(",")
    keys = keys_of(tokenize(last))
    courteous = phrases_in_all("addressing", "courtesy").at(keys, 0)
    return rest if comma and courteous and courteous[1] == len(keys) else text


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _texts(found: Extraction) -> list[str]:
    """Return the owner's own texts to others."""
    sends = (each for draft in found.tasks for each in draft.deliveries)
    return [each.content for each in sends if each.recipient and each.content]
