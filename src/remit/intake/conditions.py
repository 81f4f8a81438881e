"""Finds the limits that a message sets, outside the text to be sent."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from remit.contacts.people import ContactBook
from remit.intake import answers
from remit.intake.extraction import Draft, Extraction
from remit.intake.message_words import MessageWords, Span, message_words
from remit.intake.veto import find_veto
from remit.language.files import LANGUAGES, Phrases, section, words_in_all
from remit.language.time.resolve import Moment
from remit.language.time.which_day import TimeDoubt
from remit.language.time.words import time_words
from remit.language.tokens import TokenKind
from remit.model.plan import Clause, ClauseOutcome
from remit.model.veto import Condition, ConditionKind, VetoCue, VetoKind

_MAX_TIME_TOKENS: Final = 8
_MAX_TITLE: Final = 120  # characters
_PAUSES: Final = frozenset(",.;!?:")
_IN_WORDS: Final = (ConditionKind.ONLY_IF, ConditionKind.AFTER_OK)


@cache
def _leads(kind: ConditionKind) -> Phrases[bool]:
    every = (each for code in LANGUAGES for each in section(code, "conditions")[kind.value])
    return Phrases({"|".join(every): True})


def find_conditions(
    text: str, book: ContactBook, now: datetime, zone: ZoneInfo, texts: Sequence[Span] = ()
) -> tuple[Condition, ...]:
    """Return the limits of a message, in order; of two that overlap, the more exact one.

    What only one of its `texts` says is no limit: "call me if you are late".
    """
    message = message_words(text, book)
    cues = {cue.start for cue in find_veto(text, book, texts)}
    found: list[Condition] = []
    at = 0
    while at < len(message.tokens):
        hit = None if _is_typed(message, at) else next(_at(message, at, now, zone), None)
        start = message.tokens[at].start
        inside = any(first <= start < last for first, last in texts)
        if hit and start not in cues and (inside or hit[0].kind in _IN_WORDS):
            hit = None  # "ask Bob if he comes" sets no limit
        if hit is None:
            at += 1
            continue
        found.append(replace(hit[0], end=message.tokens[hit[1] - 1].end))
        at = hit[1]
    return tuple(found)


def without_limit_words(found: Extraction) -> Extraction:
    """Return the reading with the words of limits marked as such, not as work or left over."""
    spans = [(each.end - len(each.words), each.end) for each in found.conditions]
    now = {
        clause: replace(clause, became=ClauseOutcome.CONSTRAINT)
        if clause.became is ClauseOutcome.WORK and _is_within(clause, spans)
        else clause
        for clause in found.clauses
    }
    words = " ".join(each.words for each in found.conditions).casefold()
    other = [cue for cue in found.veto if cue.kind is not VetoKind.UNCOVERED]
    left = tuple(cue for cue in found.veto if cue in other or not _is_within(cue, spans))
    return replace(
        found,
        tasks=tuple(_without(draft, words, now) for draft in found.tasks),
        clauses=tuple(now.values()),
        veto=left if other else found.veto,
    )


def _is_within(part: Clause | VetoCue, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= part.start and part.end <= end for start, end in spans)


def _without(draft: Draft, limits: str, now: Mapping[Clause, Clause]) -> Draft:
    clauses = tuple(now[clause] for clause in draft.clauses)
    left = tuple(item for item in draft.work if item.description.strip().casefold() not in limits)
    texts = [each.content for each in draft.deliveries if each.content]
    title = draft.title
    if left != draft.work and title.strip().casefold() in limits and texts:
        title = " ".join(texts[0].split())[:_MAX_TITLE]
    needs = draft.needs_brain and (bool(left) or not texts)
    return replace(draft, work=left, title=title, clauses=clauses, needs_brain=needs)


def _is_typed(message: MessageWords, at: int) -> bool:
    token = message.tokens[at]
    return any(start <= token.start < end for start, end in message.typed_openings)


def _at(
    message: MessageWords, at: int, now: datetime, zone: ZoneInfo
) -> Iterator[tuple[Condition, int]]:
    """Return the limit that begins at a token, and its end; exact forms come first."""
    for kind in ConditionKind:
        lead = _leads(kind).at(message.keys, at)
        if lead is None:
            continue
        if made := _made(kind, message, at, lead[1], now, zone):
            yield made


def _made(
    kind: ConditionKind, message: MessageWords, at: int, after: int, now: datetime, zone: ZoneInfo
) -> tuple[Condition, int] | None:
    if kind is ConditionKind.NOT_BEFORE:
        return _not_before(message, at, after, now, zone)
    if kind is ConditionKind.NOT_ON:
        return _not_on(message, at, after, zone)
    if kind is ConditionKind.NOT_TO:
        return _not_to(message, at, after)
    end = _clause_end(message, after)
    return (Condition(kind, _words(message, at, end)), end) if end > after else None


def _not_before(
    message: MessageWords, at: int, after: int, now: datetime, zone: ZoneInfo
) -> tuple[Condition, int] | None:
    last = min(_clause_end(message, after), after + _MAX_TIME_TOKENS)
    for end in range(last, after, -1):
        words = _words(message, after, end)
        read = answers.when(words, "", now=now, zone=zone)
        if read and isinstance(read[0], TimeDoubt):
            day_alone = answers.lacks_only_the_hour(words)
            latest = read[0].options[-1] if read[0].options else "00:00" if day_alone else ""
            read = answers.when(latest, words, now=now, zone=zone)
        if read and len(read) == 1 and isinstance(read[0], Moment):
            kind = ConditionKind.NOT_BEFORE
            return Condition(kind, _words(message, at, end), at=read[0].at), end
    return None


def _not_on(
    message: MessageWords, at: int, after: int, zone: ZoneInfo
) -> tuple[Condition, int] | None:
    days: list[int] = []
    end = after
    while end < len(message.keys):
        if hit := read_days(message, end):
            days += hit[0]
            end = hit[1]
        elif days and message.keys[end] in words_in_all("addressing", "links") | {","}:
            end += 1
        else:
            break
    if not days:
        return None
    words = _words(message, at, end)
    return Condition(ConditionKind.NOT_ON, words, days=tuple(days), zone=zone.key), end


def read_days(message: MessageWords, at: int) -> tuple[tuple[int, ...], int] | None:
    for code in LANGUAGES:
        time = time_words(code)
        if one := time.weekdays.at(message.keys, at):
            return (one[0],), one[1]
        for table in (time.on_weekdays, time.weekend):
            if several := table.at(message.keys, at):
                return several[0], several[1]
    return None


def _not_to(message: MessageWords, at: int, after: int) -> tuple[Condition, int] | None:
    named = message.book.people.at(message.keys, after)
    if named is None:
        return None
    names = tuple(each.name for each in named[0] if each is not message.book.owner)
    words = _words(message, at, named[1])
    return (Condition(ConditionKind.NOT_TO, words, names=names), named[1]) if names else None


def _clause_end(message: MessageWords, at: int) -> int:
    """Return where a condition in words ends: at a comma, or where an order begins."""
    end = at
    while end < len(message.tokens):
        token = message.tokens[end]
        if (
            token.text in _PAUSES
            or token.kind in (TokenKind.LINE, TokenKind.QUOTE)
            or message.sends_at(end)
        ):
            break
        end += 1
    return end


def _words(message: MessageWords, start: int, end: int) -> str:
    return message.text[message.tokens[start].start : message.tokens[end - 1].end]
