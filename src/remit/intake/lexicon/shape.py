"""What a language must tell the grammar: its words, sorted by what they do in a request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Final, TypeVar

from remit.language.phrases import Phrases

T = TypeVar("T")
_LAUGH: Final = 4  # letters


def laughs(key: str) -> bool:
    """Whether a word is laughter in any language: hahaha, jajaja, hehehe."""
    return len(key) >= _LAUGH and set(key[::2]) <= set("hj") and set(key[1::2]) <= set("aei")


class Does(StrEnum):
    """What a verb asks for."""

    WORK = "work"
    SEND = "send"
    REMIND = "remind"
    STOP = "stop"  # something that is under way


class Needs(StrEnum):
    """What must stand with a verb before it is believed to send: "text Bob", not "text mining"."""

    NOTHING = "nothing"
    PERSON = "person"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Verb:
    does: Does
    needs: Needs = Needs.NOTHING
    me: bool = False  # the owner is in the word, as in "mándame"
    tells: bool = False  # a person and a message follow: "tell Bob that …"
    asks: bool = False  # what follows is never the message itself: "ask Bob whether …"
    channel: str | None = None  # the kind of channel in the word, as in "email Bob"
    composes: bool = False  # it may also be written and not sent: "write Bob an email"
    shares: bool = False  # whom it goes to stands behind "with": "share it with Bob"
    dated: bool = False  # a time belongs to what is asked for: "book a table for eight"


WORK = Verb(Does.WORK)
BOOK = Verb(Does.WORK, dated=True)
SEND = Verb(Does.SEND)
SHARE = Verb(Does.SEND, shares=True)
SEND_ME = Verb(Does.SEND, me=True)
GIVE = Verb(Does.SEND, needs=Needs.PERSON)
PLACE = Verb(Does.SEND, needs=Needs.CHANNEL)
TELL = Verb(Does.SEND, needs=Needs.PERSON, tells=True)
TELL_ME = Verb(Does.SEND, me=True, tells=True)
WRITE = Verb(Does.SEND, needs=Needs.PERSON, tells=True, composes=True)
ASK = Verb(Does.SEND, needs=Needs.PERSON, tells=True, asks=True)
REMIND = Verb(Does.REMIND, tells=True)
REMIND_ME = Verb(Does.REMIND, me=True, tells=True)
STOP = Verb(Does.STOP)
MAIL = Verb(Does.SEND, needs=Needs.PERSON, tells=True, channel="email")
MAIL_ME = Verb(Does.SEND, me=True, tells=True, channel="email")
WHATSAPP = Verb(Does.SEND, needs=Needs.PERSON, tells=True, channel="whatsapp")


class Link(StrEnum):
    """How one thing said follows another."""

    AND = "and"
    THEN = "then"
    ALSO = "also"
    BUT = "but"
    POLITE = "polite"
    TOO = "too"  # belongs to what was said before it: "as well"


class Told(StrEnum):
    """How a message is led in."""

    LETTER = "letter"  # "saying …": to the letter
    STATEMENT = "statement"  # "that …"
    DOING = "doing"  # "to …"
    TOPIC = "topic"  # "about …"
    BARE = "bare"  # with no word at all: "tell Bob I am late"


class Talk(StrEnum):
    """What asks for no task."""

    GREETING = "greeting"
    THANKS = "thanks"
    CHATTER = "chatter"
    QUESTION = "question"
    STATEMENT = "statement"
    CONTROL = "control"


class Part(StrEnum):
    """A part of the day: it says which half of the dial is meant, and no moment by itself."""

    MORNING = "morning"
    AFTERNOON = "afternoon"
    EVENING = "evening"
    NIGHT = "night"
    SMALL_HOURS = "small hours"


class Unit(StrEnum):
    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Which(StrEnum):
    """Which Friday: the coming one, or the one people do not agree on."""

    COMING = "coming"
    NEXT = "next"
    NEXT_WEEK = "next week"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeWords:
    """How a language says when."""

    numbers: Phrases[int]
    spans: Phrases[float]  # "an", "half a", "anderthalb": how many of a unit
    and_half: Phrases[float]  # "and a half", after the number or the unit
    units: Phrases[Unit]
    quarter_hours: Phrases[int]  # units of their own, in minutes: "Viertelstunde"
    ordinals: Phrases[int]
    ordinal_ends: Phrases[bool]  # "st", "nd", "º"
    weekdays: Phrases[int]
    on_weekdays: Phrases[tuple[int, ...]]  # every week by themselves: "mondays", "werktags"
    months: Phrases[int]
    days: Phrases[tuple[int, Part | None]]
    parts: Phrases[Part]
    named: Phrases[tuple[int, int]]  # "noon"
    at: Phrases[bool]
    on: Phrases[bool]
    which: Phrases[Which]
    which_after: Phrases[Which]  # "que viene"
    next_week: Phrases[bool]  # around the name of a day
    of: Phrases[bool]
    the_day: Phrases[bool]  # "the", "el día": before the number of a day
    inside: Phrases[bool]  # "in", "dentro de"
    roughly: Phrases[bool]  # between "in" and how much: "exactly", "about"
    from_now: Phrases[bool]
    every: Phrases[bool]
    other: Phrases[int]  # "every other": every second
    each_month: Phrases[bool]  # "of every month"
    the_month: Phrases[bool]  # "of the month": of every one only after "every"
    adverbs: Phrases[Unit]  # "daily"
    weekend: Phrases[tuple[int, ...]]  # after "every": "weekday", "weekend"
    every_part: Phrases[Part]  # after "every" alone: "mañana", "Morgen"
    from_: Phrases[bool]
    through: Phrases[bool]  # Monday to Friday
    half_before: Phrases[int]  # minutes said before the hour: "half past", "halb"
    past: Phrases[int]  # ten past three: +1; ten to three: -1
    half_after: Phrases[int]  # minutes said after the hour: "y media"
    plus: Phrases[int]  # las tres y diez: +1; las tres menos diez: -1
    oclock: Phrases[bool]
    am_pm: Phrases[int]  # what to add to an hour on the dial
    hour_marks: Phrases[bool]  # 15h30, 15 Uhr 30
    now: Phrases[bool]
    vague: Phrases[bool]
    deadline: Phrases[bool]
    after: Phrases[bool]
    about: Phrases[bool]  # words that make a time part of a topic: "for tomorrow"
    zone_ends: Phrases[bool]  # "time", after a city
    zone_starts: Phrases[bool]  # "hora de", before a city
    until: Phrases[bool]
    month_end: Phrases[bool]  # "the end of", before the name of a month
    ends: Phrases[int]  # 0: of this month, 12: of this year
    lasting: Phrases[bool]  # "for the next", before how long a habit lasts
    long: Phrases[bool]  # "lang", behind it
    times: Phrases[bool]  # "times", after how many
    digital_is_24: bool  # whether 4:30 is written for the morning alone
    bare_day: bool  # whether a number without an ending may be a day: "el 15"
    day_first: bool | None  # whether 3/4 is the third of April; None: nobody knows
    starts: frozenset[str] = field(init=False, default=frozenset())  # words a time may begin with

    def __post_init__(self) -> None:
        firsts = frozenset[str]().union(*(phrases.firsts for phrases in _all_phrases(self)))
        object.__setattr__(self, "starts", firsts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """How a language asks, sends, quotes, limits and refuses."""

    code: str
    time: TimeWords
    common: frozenset[str]  # small words: they tell the language and end a group of nouns
    links: Phrases[Link]
    frames: Phrases[bool]  # "can you", "I want you to": a request follows
    wants: Phrases[bool]  # "I need": a request follows, unless it is the owner's own doing
    wants_not: Phrases[bool]  # "to", after "I need"
    ability: Phrases[bool]  # after "can you": asks whether one can
    talk: Phrases[Talk]
    corrections: Phrases[bool]  # "I meant": changes what was asked for before
    rather: Phrases[bool]  # "lieber": does so where no more than a time follows
    not_corrections: Phrases[bool]  # "to", after "I meant"
    asking: Phrases[bool]  # "what": starts a question
    auxiliary: Phrases[bool]  # "did": starts one that ends in a question mark
    stating: Phrases[bool]
    was: frozenset[str]  # behind the first word they tell: "work was exhausting"
    musts: Phrases[bool]  # "needs to be": asks, though it sounds like telling
    verbs: Phrases[Verb]
    final_verbs: Phrases[Verb]  # at the end of what they govern
    task_words: Phrases[bool]  # what "stop" and "cancel" must name to mean a task of ours
    me: Phrases[bool]
    them: Phrases[bool]  # persons nobody named: "him", "us"
    to: Phrases[bool]
    told: Phrases[Told]
    said_plainly: frozenset[Told]  # which of them may go to somebody else as they stand
    of_myself: frozenset[str]  # "llego": what is told by the owner of the owner may too
    doing: Phrases[bool]  # "para", which leads in a deed where one of these endings follows
    deed_ends: tuple[str, ...]
    slips: Mapping[str, str]  # words as they are typed in haste, and as they are meant
    guessed_verbs: frozenset[str]  # verbs found even when misspelt
    guessed_times: frozenset[str]  # names of days found even when misspelt
    also_tell: frozenset[str]  # verbs that may tell as well as ask: "si Bob manda"
    subjects: frozenset[str]  # "I", "we're": a statement starts with them
    finite: frozenset[str]  # "is", "will": a statement holds one
    third: frozenset[str]  # words that no message to that person would hold: "he", "his"
    not_told: frozenset[str]  # what may not follow "to" for it to lead in a message
    particles: Phrases[bool]  # "know", "Bescheid": belong to the verb
    messages: Phrases[bool]  # "message", "note"
    reminders: Phrases[bool]  # "a reminder"
    with_: Phrases[bool]
    results: Phrases[bool]  # "the list": what the work before it made
    refers: Phrases[bool]  # "it"
    by: Phrases[bool]  # strong: "via", whatever the verb
    on: Phrases[bool]  # weak: "on", only for what sends
    articles: frozenset[str]
    one: frozenset[str]  # "a", "an": a message of that kind is meant
    my: frozenset[str]
    roles: frozenset[str]  # "landlord": what people are, where nobody says who
    nots: Phrases[bool]
    not_nots: Phrases[bool]  # "don't forget to": asks for it all the more
    limits: Phrases[bool]  # a number must follow
    limit_starts: Phrases[bool]  # "in", before them
    lengths: Phrases[bool]  # "words": what a text is measured in
    without: Phrases[bool]
    none_of: Phrases[bool]  # "no", at the start of a clause
    conditions: Phrases[bool]  # "if": at the start of a clause, or where something is sent
    only_if: Phrases[bool]  # conditions wherever they stand
    relatives: frozenset[str]  # "who", "that": what follows describes
    tongues: Phrases[bool]  # "in Spanish"
    formats: Phrases[bool]  # "as a table"
    manners: Phrases[bool]  # "keep it", at the start of a clause
    events: frozenset[str]  # "meeting": a time after it is its own
    channels: Phrases[str]  # kinds by what people call them
    nouns_are_capital: bool
    strong_is_enough: bool  # "per Mail Fotos": what follows "per Mail" does not change it
    known: frozenset[str] = field(init=False, default=frozenset())  # every word of it all
    opens: frozenset[str] = field(init=False, default=frozenset())  # words that start a phrase

    def __post_init__(self) -> None:
        every = (phrases.words for phrases in _all_phrases(self, self.time))
        object.__setattr__(self, "known", self.common.union(*every))
        starts = (phrases.firsts for phrases in self._openers())
        object.__setattr__(self, "opens", self.common.union(self.time.starts, *starts))

    def _openers(self) -> "Iterable[Phrases[object]]":
        """Phrases at which whatever was said before has ended."""
        idle = (
            *(self.talk, self.asking, self.auxiliary, self.results, self.channels, self.messages),
            *(self.corrections, self.rather, self.not_corrections, self.doing),
        )
        return (phrases for phrases in _all_phrases(self) if phrases not in idle)


def _all_phrases(*holders: Language | TimeWords) -> Iterable[Phrases[object]]:
    for holder in holders:
        for each in fields(holder):
            value = getattr(holder, each.name)
            if isinstance(value, Phrases):
                yield value
