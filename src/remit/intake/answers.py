"""What the owner answered to a question about his request: a time, people, channels, a text.

An answer is read whole, or not at all: a word that nobody understands may be the one that matters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from remit.intake.days import Doubt, day_of
from remit.intake.grammar.dates import Date, Offset, Weekday
from remit.intake.grammar.endings import read_ending
from remit.intake.grammar.ends import End, Unclear
from remit.intake.grammar.hours import Clock
from remit.intake.grammar.phrases import read_person, read_way_name, words_of
from remit.intake.grammar.places import zone_of
from remit.intake.grammar.sentences import Said, sentences
from remit.intake.grammar.spoken import Spoken, combine, read_time
from remit.intake.lexicon import LANGUAGES
from remit.intake.lexicon.shape import Language, Part
from remit.intake.recipients import Book, Channel, Contact, Question, channel_for
from remit.intake.times import When, reckon
from remit.language.files import LANGUAGES as TONGUES
from remit.language.files import section
from remit.language.phrases import some
from remit.language.tokens import Kind, keys_of, tokenize

_LEADS: Final = ("", "at ", "um ", "a las ")  # "9:30" alone is a time once one was asked for
_MOST_TOKENS: Final = 60
_TELLING: Final = 3  # letters of a word that may name an option
_MOST_CHOOSING: Final = 4  # words of an answer that does no more than choose
_HOURS: Final = {
    Part.MORNING: range(4, 12),
    Part.AFTERNOON: range(12, 18),
    Part.EVENING: range(17, 24),
    Part.NIGHT: range(18, 24),
    Part.SMALL_HOURS: range(6),
}

_LEFT_OUT: Final = some(
    "leave it out|leave that out|leave this out|leave out|skip it|skip that|skip|drop it|drop that",
    "forget it|forget that|never mind|nevermind|omit it|not needed|ignore it",
    "weglassen|lass es weg|lass das weg|lass weg|lass es|vergiss es|auslassen|egal|nicht nötig",
    "déjalo|dejalo|dejarlo|déjala|omítelo|omitelo|omitir|olvídalo|olvidalo|quítalo|no hace falta",
)
_YES: Final = some(
    "yes|yes please|yep|yeah|ok|okay|sure|right|correct|ja|ja bitte|genau|sí|si|claro"
)
_NO: Final = some(*(phrase for code in TONGUES for phrase in section(code, "talk")["no"]))
_THEN: Final = some(
    "when to do it|when to remind|do it then|remind me then|then|it is to go out|send it there",
    "dann|dann tun|dann erinnern|es soll raus|entonces|cuando hacerlo|envíalo",
)
_OF_IT: Final = some(
    "when it takes place|it takes place then|it is about that|about that|about it|it's about that",
    "dann findet es statt|es geht darum|darum geht es|es sobre eso|es cuando ocurre",
)


@dataclass(frozen=True, slots=True)
class Named:
    """People and channels, in the order they were named, and texts in quotation marks."""

    people: tuple[Contact, ...] = ()
    channels: tuple[Channel, ...] = ()
    texts: tuple[str, ...] = ()
    doubt: Question | None = None


def chosen_option(answer: str, options: Sequence[str]) -> str | None:
    """The one option that an answer names by some of its words: "den Baker", "then WhatsApp"."""
    if answer in options:
        return None
    said = {key for key in keys_of(tokenize(answer)) if len(key) >= _TELLING}
    found = [each for each in options if said & set(keys_of(tokenize(each)))]
    return found[0] if len(found) == 1 and len(answer.split()) <= _MOST_CHOOSING else None


def is_left_out(answer: str) -> bool:
    return _is(answer, "left out")


def is_no(answer: str) -> bool:
    return _is(answer, "no") or is_left_out(answer)


def begins_with_no(answer: str) -> bool:
    """Whether an answer refuses first, and then says something: "no, not that one!"."""
    keys = keys_of(tokenize(answer))
    found = _NO.at(keys, 0)
    return found is not None and (found[1] == len(keys) or keys[found[1]] in (",", ".", "!", ";"))


def is_yes(answer: str) -> bool:
    return _is(answer, "yes")


def is_then(answer: str) -> bool:
    """Whether what was asked about holds as it was said."""
    return _is(answer, "then")


def is_of_it(answer: str) -> bool:
    """Whether what was asked about only describes the thing."""
    return _is(answer, "of it")


def _is(answer: str, what: str) -> bool:
    keys = [key for key in keys_of(tokenize(answer)) if any(c.isalnum() for c in key)]
    phrases = {"left out": _LEFT_OUT, "yes": _YES, "no": _NO, "then": _THEN, "of it": _OF_IT}[what]
    found = phrases.at(keys, 0)
    return found is not None and found[1] == len(keys)


# A time -------------------------------------------------------------------------------------------


def when(  # noqa: PLR0913 - words, what was said around them, and where and when that was
    answer: str,
    said: str,
    *,
    now: datetime,
    zone: ZoneInfo,
    book: Book,
    elsewhere: Sequence[str] = (),
    earlier: Sequence[str] = (),
) -> tuple[When, ...] | None:
    """Reckon an answer, with what was said before where it only adds to that; None: no time.

    `earlier` are answers to the same question that left it open, in their order.
    """
    base = _with_halves(_first(said, book), elsewhere, book)
    for each in earlier:
        before = _whole(each, book, now.astimezone(zone).date(), recurs=False)
        base = _over(base, before) if base and before else before or base
    if is_then(answer):
        return reckon(base, said, now=now, zone=zone) if base else None
    spoken = _zone_alone(answer, base) or _whole(
        answer, book, now.astimezone(zone).date(), recurs=bool(base and base.every)
    )
    if spoken is None or spoken.vague:
        return None
    whole = _over(base, spoken) if base else spoken
    if whole.every and not (whole.until or spoken.every):
        whole = replace(whole, until=_end_in(elsewhere, book))
    return reckon(whole, answer, now=now, zone=zone)


def lacks_only_the_hour(said: str, others: Sequence[str], book: Book) -> bool:
    """Whether some words name a day and no time of it, and others around them name none either."""
    spoken = _first(said, book)
    around = [each for each in (_first(other, book) for other in others) if each]
    named = spoken is not None and not spoken.clocks and not spoken.vague
    return named and not any(each.clocks for each in around)


def _with_halves(base: Spoken | None, texts: Sequence[str], book: Book) -> Spoken | None:
    """A time that was asked about, with its other half: the "Friday" of "at 5 … on Friday"."""
    for text in texts if base else ():
        half = None if _end_in((text,), book) else _first(text, book)
        base = (combine(base, half) or base) if base and half else base
    return base


def _end_in(texts: Sequence[str], book: Book) -> End | None:
    """How long a habit lasts, by words that say nothing else; two such ends are no answer."""
    lines = (replace(line, recurs=True) for text in texts for line in _said(text, book))
    read = (read_ending(line) or read_time(line, 0) for line in lines if line.tokens)
    ends = {each.until for each in read if each and each.until and not each.every}
    return next(iter(ends)) if len(ends) == 1 else Unclear() if ends else None


def _first(said: str, book: Book) -> Spoken | None:
    """The time in the words that were asked about."""
    for line in _said(said, book):
        spoken: Spoken | None = None
        at = 0
        while at < len(line.tokens):
            found = read_time(line, at)
            if found:
                spoken = (combine(spoken, found) or spoken) if spoken else found
            at = found.end if found else at + 1
        if spoken:
            return spoken
    return None


def _whole(answer: str, book: Book, today: date, *, recurs: bool) -> Spoken | None:
    """A time that is all the answer says; of what `recurs` it may be how long it lasts."""
    for lead in _LEADS:
        for line in _said(lead + answer, book):
            if spoken := _all_time(replace(line, recurs=recurs), today):
                return spoken
    return None


def _all_time(line: Said, today: date) -> Spoken | None:
    spoken: Spoken | None = None
    at = 0
    while at < len(line.tokens):
        found = read_time(line, at)
        if found is None:
            link = line.language.links.at(line.keys, at)
            if line.tokens[at].kind is not Kind.MARK and link is None:
                return None
            at = link[1] if link else at + 1
            continue
        joined = _joined(spoken, found, today) if spoken else found
        if joined is None:
            return None
        spoken, at = joined, found.end
    return spoken


def _joined(one: Spoken, other: Spoken, today: date) -> Spoken | None:
    """Two halves of a time; of "Friday 6 March" the date counts, if it is a Friday."""
    if isinstance(one.day, Weekday) and isinstance(other.day, Date):
        day = day_of(other.day, today)
        if isinstance(day, Doubt) or day.weekday() != one.day.day:
            return None
        one = replace(one, day=None)
    return combine(one, other)


def _over(base: Spoken, spoken: Spoken) -> Spoken:
    """What was said before, with what the answer says laid over it."""
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


def _within(clocks: tuple[Clock, ...], spoken: Spoken) -> tuple[Clock, ...]:
    """The times of day that are kept: three o'clock is none of "Friday morning"."""
    named = spoken.day.part if isinstance(spoken.day, Offset) else None
    part = spoken.part or named
    if part is None or all(each.dial or each.hour in _HOURS[part] for each in clocks):
        return clocks
    return ()


def _zone_alone(answer: str, base: Spoken | None) -> Spoken | None:
    """The zone of a time that had a doubtful one."""
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


def named(answer: str, book: Book) -> Named | None:
    """Whom and which channels an answer names; None if there is a word that nobody understands."""
    found = [each for line in _said(answer, book) if (each := _named(line))]
    return max(found, key=lambda each: len(each.people) + len(each.channels), default=None)


def _named(line: Said) -> Named | None:
    made, at = Named(), 0
    while at < len(line.tokens):
        person, way = read_person(line, at), read_way_name(line, at)
        token = line.tokens[at]
        if person and (way is None or way[1] <= person.end):
            made, at = _with(made, person.who), person.end
        elif way:
            said = words_of(line, at, way[1])
            made, at = _with(made, channel_for(way[0], said, line.book)), way[1]
        elif token.kind is Kind.QUOTE:
            made, at = replace(made, texts=(*made.texts, token.text)), at + 1
        elif token.kind is Kind.MARK or _is_small(token.key, line.language):
            at += 1
        else:
            return None
    return made


def _with(made: Named, found: Contact | Channel | Question) -> Named:
    match found:
        case Contact():
            return replace(made, people=(*made.people, found))
        case Channel():
            return replace(made, channels=(*made.channels, found))
        case Question():
            return replace(made, doubt=made.doubt or found)


def _is_small(key: str, language: Language) -> bool:
    leads = language.to.words | language.by.words | language.on.words | language.links.words
    return key in language.common or key in leads


def quotes(answer: str) -> bool:
    """Whether a text in quotation marks is part of it."""
    return any(token.kind is Kind.QUOTE for token in tokenize(answer))


def letter(answer: str) -> str | None:
    """The text of an answer that is one quotation and nothing else."""
    tokens = tokenize(answer)
    if len(tokens) == 1 and tokens[0].kind is Kind.QUOTE and tokens[0].clear:
        return tokens[0].text
    return None


def _said(text: str, book: Book) -> Iterator[Said]:
    """The answer in every language of ours, the likeliest first: few words do not tell which."""
    tokens = tokenize(text)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        return
    lines = sentences(tokens, book)
    tongues = [line.tongue for line in lines if line.tongue]
    for language in dict.fromkeys((*tongues, *LANGUAGES)):
        yield Said(tokens, keys_of(tokens), language, book)
