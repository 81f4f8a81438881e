"""Splits a message into units, each covered by one closed pattern: a text, a reminder, work.

A part that no pattern covers is work for the owner, or becomes a question.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from remit.intake.message_words import MessageWords
from remit.intake.patterns.asides import (
    read_control,
    read_correction,
    read_heading,
    read_limit,
    read_prohibition,
    read_retraction,
    read_talk,
)
from remit.intake.patterns.edges import behind_leads, split, without_marks, without_suffix
from remit.intake.patterns.lines import SENTENCE_ENDS, MessageLine, message_lines, sentence_end
from remit.intake.patterns.reminding import (
    read_list,
    read_reminding,
    read_reminding_last,
    read_timed_note,
)
from remit.intake.patterns.sending import read_send
from remit.intake.patterns.spoken_order import SpokenOrder, merged
from remit.intake.patterns.unit import MessageUnit, UnitKind, UnitSearch
from remit.language.order_words import SmallTalk, VerbKind, is_laughter, order_words
from remit.language.tokens import TokenKind


def read_units(words: MessageWords) -> list[MessageUnit]:
    """All units of a message, in their order."""
    units: list[MessageUnit] = []
    taken = 0  # a text below its line is no line of its own
    for line in message_lines(words):
        if line.start < taken:
            continue
        units += _line_units(words, line)
        taken = units[-1].end if units else taken
    return units


def _line_units(words: MessageWords, line: MessageLine) -> Iterator[MessageUnit]:
    if line.pasted or line.ticked:
        kind = UnitKind.PASTED if line.pasted else UnitKind.TALK
        yield MessageUnit(
            kind, line.start, line.end, (line.start, line.end), line, talk=SmallTalk.STATEMENT
        )
        return
    at = line.start
    while at < line.end:
        unit = _unit(words, at, line)
        yield unit
        at = max(unit.end, at + 1)


def _unit(words: MessageWords, at: int, line: MessageLine) -> MessageUnit:
    stop = sentence_end(words, at, line.end)
    body, also = behind_leads(words, at, stop)
    place = UnitSearch(words, at, body, stop, line, also)
    silent = all(
        token.kind is TokenKind.MARK or is_laughter(token.key) for token in words.tokens[body:stop]
    )
    if silent:
        talk = order_words().talk.at(words.keys, at)
        made = place.unit(UnitKind.TALK, stop, (at, stop), SpokenOrder(at, at))
        is_mark = stop == at + 1 and words.keys[at] in SENTENCE_ENDS
        return replace(made, talk=talk[0] if talk else SmallTalk.CHATTER, is_mark=is_mark)
    for read in _PATTERNS:
        if found := read(place):
            return found
    return _work(place)


def _work(place: UnitSearch) -> MessageUnit:
    """Whatever else is said: work, whose result the owner gets."""
    words = place.words
    at, order = _behind_time(place)
    end = split(words, at, place.stop)
    verb = words.verb_at(at)
    typed = _with_typed(words, at, end, place.line) if ":" in words.keys[at:end] else end
    body, suffix = (at, without_marks(words, at, typed)), None
    if typed == end:
        dated = verb is not None and verb[0].dated
        body, suffix = without_suffix(words, *body, is_work=True)
        if suffix and suffix.times and dated:
            body, suffix = (at, without_marks(words, at, end)), None
    whole, end = (merged(order, suffix) if suffix else order), typed
    made = place.unit(UnitKind.WORK, max(end, place.start + 1), body, whole)
    made = replace(made, begins_with_verb=verb is not None)
    if whole.times and verb is not None and verb[0].kind is VerbKind.DEED:
        return replace(made, kind=UnitKind.REMIND, text=words.slice(*body))
    return made


def _behind_time(place: UnitSearch) -> tuple[int, SpokenOrder]:
    """Where the work begins, behind a time that is said first."""
    words, at = place.words, place.body
    if frame := order_words().frames.at(words.keys, at):
        at, _ = behind_leads(words, frame[1], place.stop)
    times = []
    while at < place.stop and (phrase := words.time_at(at)):
        times.append(phrase)
        at, _ = behind_leads(words, phrase.end, place.stop)
    return (
        (at, SpokenOrder(place.body, at, times=times))
        if times
        else (place.body, SpokenOrder(at, at))
    )


def _with_typed(words: MessageWords, at: int, end: int, line: MessageLine) -> int:
    """Behind a colon stands what the work is about, up to the end of the line, or below it."""
    colon = next((n for n in range(at, end) if words.keys[n] == ":"), end)
    tight = colon + 1 < len(words.tokens) and words.tokens[colon + 1].tight
    if tight:
        return end  # 9:30, https://
    if colon + 1 < line.end:
        return line.end
    return line.end if line.heads_list else max(line.below, line.end)


_PATTERNS: Final[tuple[Callable[[UnitSearch], MessageUnit | None], ...]] = (
    read_list,
    read_heading,
    read_prohibition,
    read_correction,
    read_limit,
    read_reminding,
    read_send,
    read_timed_note,
    read_retraction,
    read_reminding_last,
    read_control,
    read_talk,
)
