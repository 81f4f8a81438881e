"""The words of requests in all languages together, and which language a text is in.

The words are data: the sections `[words]` and `[verbs]` of the language files. People mix languages
in one sentence.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Final, TypeVar

from msgspec import Struct, convert

from remit.language.files import (
    LANGUAGES,
    Phrases,
    language_file,
    phrase_keys,
    plain_phrases,
    read_toml,
    section,
    with_values,
    words_in_all,
)
from remit.language.time import time_words
from remit.language.tokens import Token, TokenKind, fold, keys_of, tokenize

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
    wakes: bool = False  # an early hour is meant, and a time belongs to it: "alarm tmrw 6.15"


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
    "wake_me": OrderVerb(VerbKind.REMIND, me=True, wakes=True),
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
    others: dict[str, object] = {
        "verbs": _by_meaning("verbs", _VERBS),
        "leads": _by_meaning("words", {lead.value: lead for lead in TextLead}),
        "talk": _by_meaning("words", {talk.value: talk for talk in SmallTalk}),
        "channels": _kinds("channels"),
        "elsewhere": _kinds("elsewhere", "addressing"),
        "links": _phrases_of("and", "then", "also", "but"),
        "results": _phrases_of("results", "refers"),
        "articles": _single("articles", "my"),
        "roles": _single("roles"),
        "common": _single("common"),
    }
    alone = (name for name in OrderWords.__struct_fields__ if name not in others)
    return OrderWords(**others, **{name: _phrases_of(name) for name in alone})  # type: ignore[arg-type]


@cache
def words_of(code: str | None, name: str) -> frozenset[str]:
    """Return the single words of one list, of one language or of all."""
    codes = LANGUAGES if code is None else (code,)
    return frozenset(fold(word) for each in codes for word in section(each, "words")[name])


@cache
def clause_openers(code: str | None) -> Phrases[bool]:
    """Return what begins a second clause in a text without marks, in one language or in all."""
    codes = LANGUAGES if code is None else (code,)
    return plain_phrases(
        *(each for own in codes for each in section(own, "words")["clause_openers"])
    )


@cache
def infinitive_endings(code: str | None) -> tuple[str, ...]:
    """Return how a verb ends that may follow the people it is about."""
    return tuple(words_of(code, "infinitives"))


def is_laughter(key: str) -> bool:
    """Whether a word is laughter in any language: hahaha, jajaja, hehehe, lol."""
    laughs = set(key[::2]) <= set("hj") and set(key[1::2]) <= set("aei")
    return (len(key) >= _LAUGH and laughs) or key in words_in_all("cues", "laughing")


def asks_for_work(text: str) -> bool:
    """Whether a text begins like a request in one of the languages, perhaps with a "please"."""
    keys, known = keys_of(tokenize(text)), order_words()
    lead = known.polite.at(keys, 0) or known.links.at(keys, 0)
    starts = (0, lead[1]) if lead else (0,)
    return any(table.at(keys, n) for table in (known.verbs, known.frames) for n in starts)


def _tables(name: str = "words") -> list[Mapping[str, list[str]]]:
    return [section(code, name) for code in LANGUAGES]


def _phrases_of(*names: str) -> Phrases[bool]:
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


_OWN_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzäöüßáéíóúñ'’-" + "0123456789_@./ªº")
_ASKS: Final = 2  # votes of a verb that asks, in front: "text bob im late" is not German


def language_of(tokens: Sequence[Token]) -> str | None:
    """Return the code of the language that fits a text best; None if Remit reads none of it."""
    words = [token for token in tokens if token.kind is TokenKind.WORD]
    keys = [token.key for token in words]
    votes = dict.fromkeys(LANGUAGES, 0)
    known, others = known_words(), _foreign()
    foreign = 0
    for word in words:
        # "à" is not the Spanish "a"; but a name may have any letter: "Søren".
        strange = not word.capital and not _OWN_LETTERS.issuperset(word.text)
        for code, vote in () if strange else known.get(word.key, ()):
            votes[code] += vote
        if strange or word.key in others:
            foreign += 2
    for code in LANGUAGES:
        if keys and keys[0] in time_words(code).orders:
            votes[code] += _ASKS
    best = max(LANGUAGES, key=lambda code: votes[code])
    return best if votes[best] > foreign else None


def languages_in(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the languages with words of their own in a text; all, if there are none."""
    keys = {token.key for token in tokens if token.kind is TokenKind.WORD}
    found = {votes[0][0] for key in keys if len(votes := known_words().get(key, ())) == 1}
    return tuple(code for code in LANGUAGES if code in found) or LANGUAGES


@cache
def known_words() -> dict[str, tuple[tuple[str, int], ...]]:
    """Return each folded word of the files with its votes by language.

    One vote, two if the word is small, and one more if no other language has it.
    """
    known = {code: _request_words(code) for code in LANGUAGES}
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for code, words in known.items():
        common = _common(code)
        for word in words:
            found[word] = (*found.get(word, ()), (code, 1 + (word in common)))
    return {
        word: votes if len(votes) > 1 else ((votes[0][0], votes[0][1] + 1),)
        for word, votes in found.items()
    }


@cache
def _request_words(code: str) -> frozenset[str]:
    """Return every word of a language's file that belongs to requests, but what names somebody."""
    file = language_file(code)
    lists = chain(file["words"].values(), file["verbs"].values())
    names = (each.split(": ")[-1] for each in chain.from_iterable(lists))
    return phrase_keys(names) - phrase_keys(file["words"]["kin"]) | time_words(code).known


@cache
def _common(code: str) -> frozenset[str]:
    return frozenset(map(fold, language_file(code)["words"]["common"]))


@cache
def _foreign() -> frozenset[str]:
    """Return small words of languages that Remit does not read but that resemble those it does."""
    ours = frozenset().union(*map(_common, LANGUAGES))
    return frozenset(map(fold, read_toml("foreign")["words"])) - ours


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One language. `called` are its names in every language of Remit, separated by blanks."""

    name: str
    called: str
    small_words: str = ""
    letters: str = ""  # a range, as a regular expression writes it
    least_share: float = 1.0  # of the letters of a text, so that it is in this language


@cache
def languages() -> Mapping[str, Language]:
    """Return every language by its code."""
    return convert(read_toml("languages"), dict[str, Language])


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language by its code."""
    return {code: each.name for code, each in languages().items()}
