"""Finds words that hold a message back from everybody but the owner, whatever a reader says.

Only code decides this; neither the closed patterns nor a model can overrule it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.intake.extraction import Draft, Extraction, Question, QuestionTopic
from remit.intake.message_words import MessageWords, message_words
from remit.intake.patterns import SENTENCE_ENDS
from remit.intake.text_cues import ASIDE_OPENINGS, cues_said_to_remit
from remit.intake.word_lookup import Span
from remit.intake.work_cues import cues_outside_work
from remit.language.cues import find_cues
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import is_laughter, order_words
from remit.language.tokens import Token, TokenKind
from remit.model.contract import ClauseOutcome
from remit.model.delivery import Delivery
from remit.model.veto import VetoCue, VetoKind, veto_sentence

_FEW_WORDS: Final = 2
_FAR: Final = 6
_FEW_BEHIND_LAUGH: Final = 3
_STRUCK: Final = (
    r"(?<![\w~])(~{1,2})(?=[^\s~\d])[^~]*[^\s~]\1(?![\w~])|<(s|del|strike)>|(?:\S\u0336)+"
)
_MARKS: Final = (TokenKind.MARK, TokenKind.LINE)


def find_veto(text: str, book: ContactBook, texts: Sequence[Span] = ()) -> tuple[VetoCue, ...]:
    """Return the cues of a message, outside the owner's own texts to be sent.

    `texts` are where a reader found such texts and code agrees.
    """
    message = message_words(text, book)
    language = message.language
    codes = frozenset((language,) if language else ())
    cues = find_cues(
        message.tokens,
        codes,
        message.people,
        lambda: message.beside_people,
    )
    if ":" in message.keys:
        cues = (*cues, *_reporting_heads(message))
    if language == "de" and "," in message.keys:
        cues = (*cues, *_leading_conditions(message))
    cues = tuple(cue for cue in cues if not _lets_know(message, cue))
    cues = (*cues, *_late_retractions(message))
    cues = cues_outside_work(message, cues_said_to_remit(message, cues, texts))
    cues = (*cues, *_struck_out(text), *_scoffs(message))
    if language is not None or not _has_words(message.tokens, message.people):
        return cues
    return (*cues, VetoCue(VetoKind.LANGUAGE, text.strip()[:60], 0, len(text)))


def _reporting_heads(message: MessageWords) -> Iterator[VetoCue]:
    """Yield words before a colon that order nothing: what follows may be somebody else's."""
    start = 0
    for at, (token, key) in enumerate(zip(message.tokens, message.keys, strict=True)):
        if token.kind is TokenKind.LINE or key in SENTENCE_ENDS:
            start = at + 1
        elif key == ":" and _reports(message, start, at):
            head, end = message.tokens[start].start, message.tokens[at].end
            yield VetoCue(VetoKind.REPORTED, message.slice(start, at), head, end)


def _lets_know(message: MessageWords, cue: VetoCue) -> bool:
    """Whether a cue is the verb of an order that tells somebody: "lass Rose wissen"."""
    at = message.first_at(cue.start)
    behind = at + 1
    while behind in message.people:
        behind += 1
    particle = order_words().particles.at(message.keys, behind)
    return behind > at + 1 and message.sends_at(at) and particle is not None


def _late_retractions(message: MessageWords) -> Iterator[VetoCue]:
    """Yield a later sentence or aside that takes everything back: "Scrap that, …"."""
    retracts = phrases_in_all("talk", "retract")
    for at in range(1, len(message.tokens)):
        found = retracts.at(message.keys, at) if message.keys[at - 1] in ASIDE_OPENINGS else None
        if found and not message.is_plain_word(found[1]):
            start, end = message.tokens[at].start, message.tokens[found[1] - 1].end
            yield VetoCue(VetoKind.RETRACTION, message.slice(at, found[1]), start, end)


def _struck_out(text: str) -> Iterator[VetoCue]:
    """Yield what is crossed out, as chats and web pages write it: "~~text May …~~"."""
    if "~" in text or "<" in text or "\u0336" in text:
        for found in re.finditer(_STRUCK, text, re.IGNORECASE):
            yield VetoCue(VetoKind.RETRACTION, found.group()[:60], *found.span())


def _scoffs(message: MessageWords) -> Iterator[VetoCue]:
    """Yield a scoff at the end of a message, even inside a text: "… lol as if", "… haha dream on".

    Few words behind a laugh need not be known, unless they speak to the reader of the text.
    """
    words = [n for n, token in enumerate(message.tokens) if token.kind not in _MARKS]
    while words and _laughs(message, words[-1]):
        words.pop()
    if not words:
        return
    keys, end = [message.keys[n] for n in words], words[-1] + 1
    found = (n for n in range(max(1, len(words) - _FAR), len(words)) if _is_scoff(keys, n))
    start = next((words[n] for n in found if n < len(words) - 1 or words[n - 1] < end - 2), end)
    laugh = next((n for n in range(end - 1, 0, -1) if _laughs(message, n)), end)
    tail = [n for n in words if n > laugh]
    reader = any(phrases_in_all("addressing", "listeners").at(message.keys, n) for n in tail)
    if 0 < len(tail) <= _FEW_BEHIND_LAUGH and not reader:
        start = min(start, laugh)
    if start < end:
        span = message.tokens[start].start, message.tokens[end - 1].end
        yield VetoCue(VetoKind.RETRACTION, message.slice(start, end), *span)


def _is_scoff(keys: Sequence[str], at: int) -> bool:
    found = phrases_in_all("cues", "scoffs").at(keys, at)
    return found is not None and found[1] == len(keys)


def _laughs(message: MessageWords, at: int) -> bool:
    """Whether a laugh is at a token: "haha", "lol", "jajaja", ":D", a laughing face."""
    token = message.tokens[at]
    smiley = token.tight and token.key in ("d", "p") and message.keys[at - 1] in (":", ";")
    return smiley or is_laughter(token.key)


def _leading_conditions(message: MessageWords) -> Iterator[VetoCue]:
    """Yield German conditions that begin with a verb: "Wird der Flug gestrichen, …"."""
    start = 0
    for at, (token, key) in enumerate(zip(message.tokens, message.keys, strict=True)):
        if token.kind is TokenKind.LINE or key in SENTENCE_ENDS:
            start = at + 1
        elif key == "," and message.is_verb_first(start, at):
            head, end = message.tokens[start].start, message.tokens[at].end
            yield VetoCue(VetoKind.CONDITION, message.slice(start, at), head, end)


def _reports(message: MessageWords, start: int, colon: int) -> bool:
    rest = range(colon + 1, len(message.tokens))
    if not rest or message.tokens[colon + 1].tight or not any(map(message.sends_at, rest)):
        return False
    head = [n for n in range(start, colon) if message.tokens[n].kind is TokenKind.WORD]
    headings = words_in_all("words", "headings")
    return not all(map(message.is_small_word, head)) and not any(
        n in message.people
        or (message.verb_at(n) and not message.is_work_verb(n))  # "translate: tell Bob …"
        or message.time_at(n)
        or message.is_number(n)
        or message.keys[n] in headings
        for n in head
    )


def held_back(found: Extraction, text: str, book: ContactBook) -> Extraction:
    """Return the reading, with a question before each held task that would reach others.

    A task with another open question is confirmed when it is sent.
    """
    cues = (*find_veto(text, book, found.texts), *found.veto, *_not_understood(found))
    found = replace(found, veto=cues)
    if not found.veto:
        return found
    asked = tuple(
        Question(
            QuestionTopic.CONFIRM,
            _sentence(found, draft),
            ("yes", "no"),
            _held_clause(found, draft),
        )
        for draft in found.tasks
        if reaches_others(draft.deliveries) and not found.questions_about(draft)
    )
    return replace(found, questions=(*found.questions, *asked))


def _not_understood(found: Extraction) -> Iterator[VetoCue]:
    """Yield what is asked about beside a text to others: it may change the text's meaning."""
    free = (each for each in found.tasks if not found.questions_about(each))
    if not any(reaches_others(each.deliveries) for each in free):
        return
    for question in found.questions:
        clause = found.clauses[question.clause]
        if question.about in (QuestionTopic.RECIPIENT, QuestionTopic.CONTENT, QuestionTopic.TASK):
            yield VetoCue(VetoKind.UNCOVERED, clause.text[:60], clause.start, clause.end)


def reaches_others(deliveries: Iterable[Delivery]) -> bool:
    return any(each.recipient is not None for each in deliveries)


def _held_clause(found: Extraction, draft: Draft) -> int:
    """Return the clause of a task that sends, or its first."""
    own = [n for n, clause in enumerate(found.clauses) if clause in draft.clauses]
    sends = [n for n in own if found.clauses[n].became is ClauseOutcome.DELIVERY]
    return (sends or own)[0]


def _sentence(found: Extraction, draft: Draft) -> str:
    names = dict.fromkeys(each.recipient for each in draft.deliveries if each.recipient)
    return f"{veto_sentence(found.veto)} Is it meant to go to {' and '.join(names)}?"


def _has_words(tokens: Sequence[Token], people: frozenset[int]) -> bool:
    plain = [
        n for n, token in enumerate(tokens) if token.kind is TokenKind.WORD and n not in people
    ]
    return len(plain) >= _FEW_WORDS
