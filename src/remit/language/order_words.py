"""The words of requests in all languages together, because people mix them in one sentence.

They are data: the sections `[words]` and `[verbs]` of the language files.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar

from msgspec import Struct

from remit.language.files import LANGUAGES, Phrases, section, with_values
from remit.language.tokens import fold, keys_of, tokenize

T = TypeVar("T")


class VerbKind(StrEnum):
    """What a verb asks for."""

    SEND = "send"  # something goes to somebody: "send Bob the list"
    TELL = "tell"  # somebody and a text follow: "tell Bob I am late"
    REMIND = "remind"
    WORK = "work"
    DEED = "deed"  # of a person: no agent takes the bins out
    STOP = "stop"  # something that is under way


class OrderVerb(Struct, frozen=True):
    kind: VerbKind
    me: bool = False  # the owner is in the word, as in "mándame"
    channel: str | None = None  # the kind of channel in the word, as in "email Bob"
    needs_person: bool = False  # "text Bob" sends, "text mining" does not
    needs_channel: bool = False  # "post it on Slack" sends, "post the parcel" does not
    it: bool = False  # what was made is in the word, as in "mándaselo"
    dated: bool = False  # a time belongs to what is asked for: "book a table for eight"
    asks: bool = False  # what follows is never the text itself: "ask Bob whether …"


_LAUGH: Final = 4  # letters
_SEND, _TELL, _WORK = VerbKind.SEND, VerbKind.TELL, VerbKind.WORK
_VERBS: Final = {
    "send": OrderVerb(_SEND),
    "share": OrderVerb(_SEND),
    "send_me": OrderVerb(_SEND, me=True),
    "send_it": OrderVerb(_SEND, it=True),
    "send_it_me": OrderVerb(_SEND, me=True, it=True),
    "give": OrderVerb(_SEND, needs_person=True),
    "place": OrderVerb(_SEND, needs_channel=True),
    "tell": OrderVerb(_TELL, needs_person=True),
    "tell_me": OrderVerb(_TELL, me=True),
    "write": OrderVerb(_TELL, needs_person=True),
    "ask": OrderVerb(_TELL, needs_person=True, asks=True),
    "mail": OrderVerb(_TELL, needs_person=True, channel="email"),
    "mail_me": OrderVerb(_TELL, me=True, channel="email"),
    "whatsapp": OrderVerb(_TELL, needs_person=True, channel="whatsapp"),
    "remind": OrderVerb(VerbKind.REMIND),
    "remind_me": OrderVerb(VerbKind.REMIND, me=True),
    "remind_it_me": OrderVerb(VerbKind.REMIND, me=True, it=True),
    "deed": OrderVerb(VerbKind.DEED),
    "stop": OrderVerb(VerbKind.STOP),
    "book": OrderVerb(_WORK, dated=True),
    "work": OrderVerb(_WORK),
}


class TextLead(StrEnum):
    """How a text is introduced."""

    LETTER = "letter"  # "saying …": exactly
    STATEMENT = "statement"  # "that …"
    DOING = "doing"  # "to …"
    TOPIC = "topic"  # "about …"


class SmallTalk(StrEnum):
    """Kinds of talk that ask for no task."""

    GREETING = "greeting"
    THANKS = "thanks"
    CHATTER = "chatter"
    QUESTION = "question"
    STATEMENT = "statement"
    CONTROL = "control"
    TAKEN_BACK = "taken_back"  # "text Anna …. scratch that"
    FORBIDDEN = "forbidden"  # "don't text Anna"


class OrderWords(Struct, frozen=True, eq=False):
    """The words that requests consist of."""

    verbs: Phrases[OrderVerb]
    leads: Phrases[TextLead]
    talk: Phrases[SmallTalk]
    channels: Phrases[str]  # kinds of channels by what people call them
    elsewhere: Phrases[str]  # kinds that may not be set up
    links: Phrases[bool]  # "and", "then", "also": something else follows
    also: Phrases[bool]  # another task follows
    polite: Phrases[bool]
    frames: Phrases[bool]  # "can you": a request follows
    wants: Phrases[bool]  # "I need": what is wanted follows
    me: Phrases[bool]
    them: Phrases[bool]  # persons nobody named: "him", "the team"
    to: Phrases[bool]  # before a person
    by: Phrases[bool]  # before a channel, whatever the verb
    on: Phrases[bool]  # before a channel, only behind a verb that sends
    messages: Phrases[bool]  # "a message"
    results: Phrases[bool]  # "the list", "it": what the work before it made
    refers: Phrases[bool]  # "it" alone
    particles: Phrases[bool]  # "know", "Bescheid": belong to the verb
    particles_at_end: Phrases[bool]  # "weiter": do so at the end
    tongues: Phrases[bool]  # "in English": it is to be written anew
    headings: Phrases[bool]  # "things", behind a number: a list follows
    nots: Phrases[bool]  # "don't": what follows is not to be done
    corrections: Phrases[bool]  # "I mean": what follows stands instead of what was said
    retractions: Phrases[bool]  # "scratch that": what was said before is taken back
    lists: Phrases[bool]  # "shopping list": a note for the owner follows
    task_words: Phrases[bool]  # what "stop" must name to mean a task
    asking: Phrases[bool]  # begins a question
    auxiliary: Phrases[bool]  # begins one that ends in a question mark
    for_remit: Phrases[bool]  # a question with these is about the owner's own things
    articles: frozenset[str]
    roles: frozenset[str]  # "landlord": what people are, where nobody says who
    common: frozenset[str]  # small words


@cache
def order_words() -> OrderWords:
    """Return the words of all languages, read once."""
    return OrderWords(
        verbs=_by_meaning("verbs", _VERBS),
        leads=_by_meaning("words", {lead.value: lead for lead in TextLead}),
        talk=_by_meaning("words", {talk.value: talk for talk in SmallTalk}),
        channels=_kinds("channels"),
        elsewhere=_kinds("elsewhere", "addressing"),
        links=_all("and", "then", "also", "but"),
        also=_all("also"),
        polite=_all("polite"),
        results=_all("results", "refers"),
        articles=_single("articles", "my"),
        roles=_single("roles"),
        common=_single("common"),
        **{name: _all(name) for name in _ALONE},
    )


@cache
def words_of(code: str | None, name: str) -> frozenset[str]:
    """Return the single words of one list, of one language or of all."""
    codes = LANGUAGES if code is None else (code,)
    return frozenset(fold(word) for each in codes for word in section(each, "words")[name])


def is_laughter(key: str) -> bool:
    """Whether a word is laughter in any language: hahaha, jajaja, hehehe."""
    laughs = set(key[::2]) <= set("hj") and set(key[1::2]) <= set("aei")
    return len(key) >= _LAUGH and laughs


def asks_for_work(text: str) -> bool:
    """Whether a text begins like a request in one of the languages, perhaps with a "please"."""
    keys, known = keys_of(tokenize(text)), order_words()
    lead = known.polite.at(keys, 0) or known.links.at(keys, 0)
    starts = (0, lead[1]) if lead else (0,)
    return any(table.at(keys, n) for table in (known.verbs, known.frames) for n in starts)


_ALONE: Final = (
    *("frames", "wants", "me", "them", "to", "by", "on", "messages", "refers", "particles"),
    "particles_at_end",
    *(
        "tongues",
        "headings",
        "nots",
        "corrections",
        "retractions",
        "lists",
        "task_words",
        "asking",
        "auxiliary",
        "for_remit",
    ),
)


def _tables(name: str = "words") -> list[Mapping[str, list[str]]]:
    return [section(code, name) for code in LANGUAGES]


def _all(*names: str) -> Phrases[bool]:
    return Phrases({phrase: True for each in _tables() for name in names for phrase in each[name]})


def _kinds(name: str, table: str = "words") -> Phrases[str]:
    return with_values((line for each in _tables(table) for line in each[name]), str)


def _single(*names: str) -> frozenset[str]:
    return frozenset(fold(word) for each in _tables() for name in names for word in each[name])


def _by_meaning(table: str, meanings: Mapping[str, T]) -> Phrases[T]:
    return Phrases(
        {
            phrase: meaning
            for each in _tables(table)
            for name, meaning in meanings.items()
            for phrase in each.get(name, ())
        }
    )
