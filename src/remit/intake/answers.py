"""Parses the owner's answer to a question about a request: a time, people, channels, a text.

An answer is understood whole or not at all: an unknown word may be the one that matters.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extraction import Question, channel_for, resolve
from remit.intake.message_words import MessageWords, message_words
from remit.language.files import LANGUAGES, phrases_in_all, words_in_all
from remit.language.order_words import language_of, order_words
from remit.language.time import DayPart, TimeText, time_words
from remit.language.time.clock_time import ClockTime
from remit.language.time.day import CalendarDate, DayOffset, End, NamedWeekday, UnclearEnd
from remit.language.time.phrase import TimePhrase, combine, read_time
from remit.language.time.resolve import TimeDoubt, When, day_of, resolve_time
from remit.language.time.zones import zone_of
from remit.language.tokens import TokenKind, fold, keys_of, tokenize

_LEADS: Final = ("", "at ", "um ", "a las ")  # "9:30" alone is a time once one was asked for
_MOST_TOKENS: Final = 60
_TELLING: Final = 3  # letters of a word that may name an option
_MOST_CHOOSING: Final = 4  # words of an answer that does no more than choose
_HOURS: Final = {
    DayPart.MORNING: range(4, 12),
    DayPart.AFTERNOON: range(12, 18),
    DayPart.EVENING: range(17, 24),
    DayPart.NIGHT: range(18, 24),
    DayPart.SMALL_HOURS: range(6),
}


class NamedRecipients(Struct, frozen=True):
    """People and channels, in the order they were named, and texts in quotation marks."""

    people: tuple[Contact, ...] = ()
    channels: tuple[ChannelName, ...] = ()
    texts: tuple[str, ...] = ()
    doubt: Question | None = None


def chosen_option(answer: str, options: Sequence[str]) -> str | None:
    """Return the one option that an answer names by some words: "den Baker", "then WhatsApp"."""
    if answer in options:
        return None
    answer_keys = {key for key in keys_of(tokenize(answer)) if len(key) >= _TELLING}
    found = [each for each in options if answer_keys & set(keys_of(tokenize(each)))]
    return found[0] if len(found) == 1 and len(answer.split()) <= _MOST_CHOOSING else None


def is_left_out(answer: str) -> bool:
    return _is(answer, "left_out")


def is_no(answer: str) -> bool:
    return _is(answer, "no", "talk") or is_left_out(answer)


def begins_with_no(answer: str) -> bool:
    """Whether an answer begins with a no and goes on: "no, not that one!"."""
    keys = keys_of(tokenize(answer))
    found = phrases_in_all("talk", "no").at(keys, 0)
    return found is not None and (found[1] == len(keys) or keys[found[1]] in (",", ".", "!", ";"))


def is_yes(answer: str) -> bool:
    return _is(answer, "yes")


def is_then(answer: str) -> bool:
    """Whether the answer says that it holds as it was said."""
    return _is(answer, "then")


def is_of_it(answer: str) -> bool:
    """Whether the answer says that the words only describe the thing."""
    return _is(answer, "of_it")


def _is(answer: str, what: str, section: str = "answers") -> bool:
    keys = [key for key in keys_of(tokenize(answer)) if any(c.isalnum() for c in key)]
    found = phrases_in_all(section, what).at(keys, 0)
    return found is not None and found[1] == len(keys)


# A time -------------------------------------------------------------------------------------------


def when(
    answer: str,
    text: str,
    *,
    now: datetime,
    zone: ZoneInfo,
    elsewhere: Sequence[str] = (),
    earlier: Sequence[str] = (),
) -> tuple[When, ...] | None:
    """Resolve the time of an answer, joined with what was said before; None if it has no time.

    `earlier` are previous answers to the same question that left it open, in order.
    """
    base = _with_halves(_first(text), elsewhere)
    for each in earlier:
        before = _whole_time(each, now.astimezone(zone).date(), recurs=False)
        base = _over(base, before) if base and before else before or base
    if is_then(answer):
        return resolve_time(base, text, now=now, zone=zone) if base else None
    spoken = _zone_alone(answer, base) or _whole_time(
        answer, now.astimezone(zone).date(), recurs=bool(base and base.every)
    )
    if spoken is None or spoken.vague:
        return None
    whole = _over(base, spoken) if base else spoken
    if whole.every and not (whole.until or spoken.every):
        whole = replace(whole, until=_end_in(elsewhere))
    return resolve_time(whole, answer, now=now, zone=zone)


def lacks_only_the_hour(text: str) -> bool:
    """Whether some words name a day but no time of day."""
    phrase = _first(text)
    return phrase is not None and not phrase.clocks and not phrase.vague


def _with_halves(base: TimePhrase | None, texts: Sequence[str]) -> TimePhrase | None:
    """Return the time in question with its other half: the "Friday" of "at 5 … on Friday"."""
    for text in texts if base else ():
        half = None if _end_in((text,)) else _first(text)
        base = (combine(base, half) or base) if base and half else base
    return base


def _end_in(texts: Sequence[str]) -> End | None:
    """Return how long a repetition lasts, if the words say only that; two ends are no answer."""
    lines = (replace(line, recurs=True) for text in texts for line in _texts(text))
    read = (read_time(line, 0) for line in lines if line.tokens)
    ends = {each.until for each in read if each and each.until and not each.every}
    return next(iter(ends)) if len(ends) == 1 else UnclearEnd() if ends else None


def _first(text: str) -> TimePhrase | None:
    """Return the time in the words that were asked about."""
    for line in _texts(text):
        spoken: TimePhrase | None = None
        at = 0
        while at < len(line.tokens):
            found = read_time(line, at)
            if found:
                spoken = (combine(spoken, found) or spoken) if spoken else found
            at = found.end if found else at + 1
        if spoken:
            return spoken
    return None


def _whole_time(answer: str, today: date, *, recurs: bool) -> TimePhrase | None:
    """Return a time that is the whole answer; if it `recurs`, it may be how long it lasts."""
    for lead in _LEADS:
        for line in _texts(lead + _without_for(answer)):
            if spoken := _all_time(replace(line, recurs=recurs), today):
                return spoken
    return None


def _without_for(answer: str) -> str:
    """Return a time without the "for" before it: "para hoy a las 19"."""
    first, _, rest = answer.partition(" ")
    return rest if fold(first) in words_in_all("time", "leads") else answer


def _all_time(line: TimeText, today: date) -> TimePhrase | None:
    spoken: TimePhrase | None = None
    at = 0
    while at < len(line.tokens):
        found = read_time(line, at)
        if found is None:
            link = line.words.and_.at(line.keys, at) or order_words().polite.at(line.keys, at)
            if line.tokens[at].kind is not TokenKind.MARK and link is None:
                return None
            at = link[1] if link else at + 1
            continue
        joined = _join_times(spoken, found, today) if spoken else found
        if joined is None:
            return None
        spoken, at = joined, found.end
    return spoken


def _join_times(one: TimePhrase, other: TimePhrase, today: date) -> TimePhrase | None:
    """Join two halves of a time; of "Friday 6 March" the date counts, if it is a Friday."""
    if isinstance(one.day, NamedWeekday) and isinstance(other.day, CalendarDate):
        day = day_of(other.day, today)
        if isinstance(day, TimeDoubt) or day.weekday() != one.day.day:
            return None
        one = replace(one, day=None)
    return combine(one, other)


def _over(base: TimePhrase, spoken: TimePhrase) -> TimePhrase:
    """Return the earlier time, with the parts that the answer names replaced."""
    often = spoken.every is not None and spoken.is_exact
    if spoken.now or spoken.ahead or (spoken.day and spoken.clocks) or often:
        return replace(spoken, zone=base.zone if spoken.zone is None else spoken.zone)
    on_dial = all(clock.dial for clock in spoken.clocks)
    return replace(
        spoken,
        every=spoken.every or base.every,
        day=spoken.day or base.day,
        clocks=spoken.clocks or _within(base.clocks, spoken),
        part=spoken.part or (base.part if on_dial else None),
        zone=spoken.zone or base.zone,
        zone_unclear=spoken.zone_unclear or (base.zone_unclear and not spoken.zone),
        until=spoken.until or base.until,
    )


def _within(clocks: tuple[ClockTime, ...], spoken: TimePhrase) -> tuple[ClockTime, ...]:
    """Return the times of day if they fit; three o'clock does not fit "Friday morning"."""
    named = spoken.day.part if isinstance(spoken.day, DayOffset) else None
    part = spoken.part or named
    if part is None or all(each.dial or each.hour in _HOURS[part] for each in clocks):
        return clocks
    return ()


def _zone_alone(answer: str, base: TimePhrase | None) -> TimePhrase | None:
    """Return the earlier time, whose zone was unclear, with the zone that the answer names."""
    if base is None or not base.zone_unclear:
        return None
    named = zone_of(answer)
    if named is not None:
        return replace(base, zone=named, zone_unclear=False)
    try:
        zone = ZoneInfo(answer.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return replace(base, zone=zone.key, zone_unclear=False)


# People, channels, texts --------------------------------------------------------------------------


def find_recipients(answer: str, book: ContactBook) -> NamedRecipients | None:
    """Return the people and channels in an answer; None if it has an unknown word."""
    words = message_words(answer, book)
    if not 0 < len(words.raw) <= _MOST_TOKENS:
        return None
    made, at = NamedRecipients(), 0
    while at < len(words.tokens):
        person, way = (
            words.named.get(at),
            words.channel_at(at) or order_words().elsewhere.at(words.keys, at),
        )
        token = words.tokens[at]
        if person and (way is None or way[1] <= person[1]):
            made, at = (
                _add_recipient(made, _find_contact(words, person[0], at, person[1])),
                person[1],
            )
        elif me := order_words().me.at(words.keys, at):
            made, at = _add_recipient(made, book.owner), me[1]
        elif way:
            made, at = (
                _add_recipient(made, channel_for(way[0], words.slice(at, way[1]), book)),
                way[1],
            )
        elif token.kind is TokenKind.QUOTE:
            made, at = replace(made, texts=(*made.texts, token.text)), at + 1
        elif (
            token.kind is TokenKind.MARK
            or words.is_small_word(at)
            or words.keys[at] in _lead_words()
        ):
            at += 1
        else:
            return None
    return made


def _find_contact(
    words: MessageWords, people: tuple[Contact, ...], start: int, end: int
) -> Contact | Question:
    return resolve(words.slice(start, end), words.book) if len(people) > 1 else people[0]


@cache
def _lead_words() -> frozenset[str]:
    words = order_words()
    return words.to.words | words.by.words | words.on.words | words.articles


def _add_recipient(
    made: NamedRecipients, found: Contact | ChannelName | Question
) -> NamedRecipients:
    match found:
        case Contact():
            return replace(made, people=(*made.people, found))
        case ChannelName():
            return replace(made, channels=(*made.channels, found))
        case Question():
            return replace(made, doubt=made.doubt or found)


def quotes(answer: str) -> bool:
    """Whether an answer contains a quotation."""
    return any(token.kind is TokenKind.QUOTE for token in tokenize(answer))


def letter(answer: str) -> str | None:
    """Return the text of an answer that is one quotation and nothing else."""
    tokens = tokenize(answer)
    if len(tokens) == 1 and tokens[0].kind is TokenKind.QUOTE and tokens[0].clear:
        return tokens[0].text
    return None


def _texts(text: str) -> Iterator[TimeText]:
    """Return the answer in every language, the likeliest first: a few words do not tell which."""
    tokens = tokenize(text)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        return
    keys, likely = keys_of(tokens), language_of(tokens)
    for code in sorted(LANGUAGES, key=lambda code: code != likely):
        yield TimeText(tokens, keys, time_words(code))
