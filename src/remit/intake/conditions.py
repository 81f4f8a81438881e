"""Finds the limits that a message sets, outside the text to be sent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.intake import answers
from remit.intake.extraction import Draft, Extraction, connectives_between
from remit.intake.message_words import MessageWords, message_words
from remit.intake.veto import find_veto, reaches_others
from remit.intake.word_lookup import Span
from remit.language.files import LANGUAGES, phrases_in_all, words_in_all
from remit.language.time import time_words
from remit.language.time.resolve import Moment, TimeDoubt
from remit.language.tokens import TokenKind, tokenize
from remit.model.contract import Clause, ClauseOutcome
from remit.model.veto import LED_KINDS, Condition, ConditionKind, VetoCue, VetoKind

_MAX_TIME_TOKENS: Final = 8
_MAX_TITLE: Final = 120  # characters
_PAUSES: Final = frozenset(",.;!?:")
_IN_WORDS: Final = (ConditionKind.ONLY_IF, ConditionKind.AFTER_OK)


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
        hit = next(_limit_at(message, at, now, zone), None)
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


def apply_limits(found: Extraction, conditions: tuple[Condition, ...]) -> Extraction:
    """Return the reading with its limits: nothing runs before a named time."""
    own = [(each.end - len(each.words), each.end) for each in found.conditions]
    others = [each for each in conditions if not any(a < each.end <= b for a, b in own)]
    conditions = (*found.conditions, *others)
    if conditions:
        found = _without_limit_words(replace(found, conditions=conditions))
    return replace(found, tasks=tuple(_no_earlier(each, found) for each in found.tasks))


def conditions_of(found: Extraction, draft: Draft) -> tuple[Condition, ...]:
    """Return the limits of one task: those among its own words, or next to them."""
    return tuple(each for each in found.conditions if _owner_of(found, each) == draft.clauses)


def _owner_of(found: Extraction, condition: Condition) -> tuple[Clause, ...]:
    """Return the clauses of the task that a limit is about: the last that begins before its end."""
    begun = [
        draft
        for draft in found.tasks
        if draft.clauses and min(clause.start for clause in draft.clauses) < condition.end
    ]
    return (begun[-1] if begun else found.tasks[0]).clauses


def _no_earlier(draft: Draft, found: Extraction) -> Draft:
    limits = [each.at for each in conditions_of(found, draft) if each.at]
    earliest, at = max(limits, default=None), draft.scheduled_for
    if earliest is None or draft.recurrence or (at is not None and at >= earliest):
        return draft
    return replace(draft, scheduled_for=earliest, scheduled=True)


def _without_limit_words(found: Extraction) -> Extraction:
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
        tasks=tuple(_without_limits(draft, words, now) for draft in found.tasks),
        clauses=tuple(now.values()),
        veto=left if other else found.veto,
    )


def _is_within(part: Clause | VetoCue, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= part.start and part.end <= end for start, end in spans)


def _without_limits(draft: Draft, limits: str, now: Mapping[Clause, Clause]) -> Draft:
    clauses = tuple(now[clause] for clause in draft.clauses)
    left = tuple(item for item in draft.work if item.description.strip().casefold() not in limits)
    texts = [each.content for each in draft.deliveries if each.content]
    title = draft.title
    if left != draft.work and title.strip().casefold() in limits and texts:
        title = " ".join(texts[0].split())[:_MAX_TITLE]
    needs = draft.needs_brain and (bool(left) or not texts)
    return replace(draft, work=left, title=title, clauses=clauses, needs_brain=needs)


def _limit_at(
    message: MessageWords, at: int, now: datetime, zone: ZoneInfo
) -> Iterator[tuple[Condition, int]]:
    """Return the limit that begins at a token, and its end; exact forms come first."""
    for kind in LED_KINDS:
        lead = phrases_in_all("conditions", kind.value).at(message.keys, at)
        if lead is None:
            continue
        if made := _read_limit(kind, message, at, lead[1], now, zone):
            yield made


def _read_limit(
    kind: ConditionKind, message: MessageWords, at: int, after: int, now: datetime, zone: ZoneInfo
) -> tuple[Condition, int] | None:
    if kind is ConditionKind.NOT_BEFORE:
        return _not_before(message, at, after, now, zone)
    if kind is ConditionKind.NOT_ON:
        return _not_on(message, at, after, zone)
    if kind is ConditionKind.NOT_TO:
        return _not_to(message, at, after)
    end = _clause_end(message, after)
    return (Condition(kind, message.slice(at, end)), end) if end > after else None


def _not_before(
    message: MessageWords, at: int, after: int, now: datetime, zone: ZoneInfo
) -> tuple[Condition, int] | None:
    last = min(_clause_end(message, after), after + _MAX_TIME_TOKENS)
    for end in range(last, after, -1):
        words = message.slice(after, end)
        read = answers.when(words, "", now=now, zone=zone)
        if read and isinstance(read[0], TimeDoubt):
            day_alone = answers.lacks_only_the_hour(words)
            latest = read[0].options[-1] if read[0].options else "00:00" if day_alone else ""
            read = answers.when(latest, words, now=now, zone=zone)
        if read and len(read) == 1 and isinstance(read[0], Moment):
            kind = ConditionKind.NOT_BEFORE
            return Condition(kind, message.slice(at, end), at=read[0].at), end
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
    words = message.slice(at, end)
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
    words = message.slice(at, named[1])
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


def find_quiet(text: str, book: ContactBook) -> Condition | None:
    """Return the words that ask for silence, outside quotations; None if there are none.

    Words that also order something to be sent are not taken for that.
    """
    message = message_words(text, book)
    words = _WordsWithoutCommas(message)
    ends = ((at, words.quiet_end(at)) for at in range(len(words.keys)))
    found = [(words.places[at], end) for at, end in ends if end]
    if not found or any(start >= found[0][1] for start, _ in found):
        return None
    start, end = found[0]
    return Condition(ConditionKind.QUIET, message.slice(start, end), message.tokens[end - 1].end)


class _WordsWithoutCommas:
    """The words of a message without commas: "sag nur Bescheid, wenn …"."""

    def __init__(self, message: MessageWords) -> None:
        self.message = message
        self.places = [n for n, key in enumerate(message.keys) if key != ","]
        self.keys = tuple(message.keys[n] for n in self.places)

    def quiet_end(self, at: int) -> int | None:
        """Return the token behind the words at a place that ask for silence."""
        leads, changes, unchanged, silent = (
            phrases_in_all("quiet", name) for name in ("leads", "changes", "unchanged", "silent")
        )
        if whole := changes.at(self.keys, at):
            end = self.places[whole[1] - 1] + 1
            return end if _clause_end(self.message, end) == end else None
        if lead := leads.at(self.keys, at):
            return self._clause_end(self.places[lead[1] - 1] + 1)
        for one, other in ((unchanged, silent), (silent, unchanged)):
            first = one.at(self.keys, at)
            if first and (second := other.at(self.keys, first[1])):
                return self.places[second[1] - 1] + 1
        return None

    def _clause_end(self, first: int) -> int | None:
        """Return where a clause ends, at a mark that is not inside a number; None if it sends."""
        message, end = self.message, first
        while end < len(message.tokens) and message.tokens[end].kind is not TokenKind.LINE:
            if message.tokens[end].text in _PAUSES and not message.is_tight(end + 1):
                break
            end += 1
        return None if end == first or any(map(message.sends_at, range(first, end))) else end


def without_quiet(text: str, quiet: Condition) -> str:
    """Return the message with blanks in place of the words, so that all else keeps its place."""
    begin = quiet.end - len(quiet.words)
    for token in reversed(tokenize(text[:begin])):
        if token.text not in (",", ";") and token.key not in words_in_all("quiet", "joins"):
            break
        begin = token.start
    return text[:begin] + " " * (quiet.end - begin) + text[quiet.end :]


def read_with_quiet(text: str, book: ContactBook, read: Callable[[str], Extraction]) -> Extraction:
    """Read a message; the words that ask for silence are left out for it."""
    quiet = find_quiet(text, book)
    done = with_quiet(read(without_quiet(text, quiet)), quiet, text) if quiet else None
    return done or read(text)


def with_quiet(found: Extraction, quiet: Condition, text: str) -> Extraction | None:
    """Return the reading of the rest with the words as a limit; None if it reaches others."""
    if not found.tasks or any(reaches_others(draft.deliveries) for draft in found.tasks):
        return None
    if any(question.waits for question in found.questions):
        return None
    start = quiet.end - len(quiet.words)
    clause = Clause(quiet.words, start, quiet.end, ClauseOutcome.CONSTRAINT)
    before = [n for n, d in enumerate(found.tasks) if d.clauses and d.clauses[0].start < start]
    owner = before[-1] if before else 0
    drafts = list(found.tasks)
    drafts[owner] = replace(drafts[owner], clauses=_insert_clause(drafts[owner].clauses, clause))
    clauses = _insert_clause(found.clauses, clause)
    moved = tuple(
        replace(each, clause=clauses.index(found.clauses[each.clause])) for each in found.questions
    )
    return replace(
        found,
        tasks=tuple(drafts),
        clauses=clauses,
        questions=moved,
        connectives=connectives_between(clauses, len(text)),
        conditions=(*found.conditions, quiet),
    )


def _insert_clause(clauses: tuple[Clause, ...], more: Clause) -> tuple[Clause, ...]:
    return tuple(sorted((*clauses, more), key=lambda each: each.start))
