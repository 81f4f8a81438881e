"""Where an unquoted text begins that is to be sent, or to be reminded of, and how it is led in."""

from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.heads import Head, skip_leading
from remit.intake.grammar.phrases import is_addressed, read_person, read_stranger, read_way
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.lexicon.shape import Does, Told, Verb
from remit.language.tokens import Kind

_STATEMENT: Final = 8  # words within which a statement shows its verb


@dataclass(frozen=True, slots=True)
class Text:
    """A text from token `start` on; from `lead` to there stands what leads it in.

    It goes on to the end of its act, unless its verb stands behind it: then `end` says where.
    """

    lead: int
    start: int
    told: Told
    end: int | None = None


def find_text(said: Said, head: Head, at: int, end: int) -> Text | None:
    """Find the unquoted text of an act that sends or reminds, between two tokens."""
    if head.negated or head.verb.does not in (Does.SEND, Does.REMIND):
        return None
    if head.verb.does is Does.REMIND and at < head.start and head.end >= end:
        found = _search(said, head, at, head.start)
        if found is None and head.verb.me:  # "call mum 4pm reminder"
            start, _ = skip_leading(said, at, head.start)
            found = Text(start, start, Told.BARE) if start < head.start else None
        return replace(found, end=head.start) if found else None
    begun = max(at, head.end)
    if _holds_quote(said, begun, end):
        return None
    return _search(said, head, begun, end) or _bare(said, head, begun, end)


def _search(said: Said, head: Head, at: int, end: int) -> Text | None:
    while at < end and not said.language.only_if.at(said.keys, at):
        if text := _text_at(said, head, at, end):
            return text if text.start < end else None
        spoken = read_time(said, at)
        at = spoken.end if spoken else at + 1
    return None


def _holds_quote(said: Said, at: int, end: int) -> bool:
    return any(token.kind is Kind.QUOTE for token in said.tokens[at:end])


def _text_at(said: Said, head: Head, at: int, end: int) -> Text | None:
    if said.keys[at] == ":" and not said.tokens[min(at + 1, len(said.tokens) - 1)].tight:
        return Text(at, at + 1, Told.LETTER)
    told = said.language.told.at(said.keys, at)
    if told and told[0] is Told.TOPIC and _names_deed(said, at, told[1]):
        told = Told.DOING, told[1]
    if told is None or not _leads_in(said, head.verb, told[0], at, told[1], end):
        return None
    start = at if told[0] is Told.BARE else told[1]
    if start < end and said.keys[start] in {":", ","} and told[0] is not Told.TOPIC:
        start += 1
    return Text(at, start, told[0])


def _names_deed(said: Said, at: int, after: int) -> bool:
    """Whether what is to be done follows: "avísame para recoger a los niños"."""
    leads = said.language.doing.at(said.keys, at) is not None
    ends = said.language.deed_ends
    return leads and said.is_word(after) and bool(ends) and said.keys[after].endswith(ends)


def _leads_in(said: Said, verb: Verb, told: Told, at: int, after: int, end: int) -> bool:
    """Whether a word like "that" or "to" leads in a message here."""
    worded = told is Told.STATEMENT and after - at > 1  # "diciendo que" leads in by itself
    if after >= end or told is Told.LETTER or worded:
        return after < end
    if told is Told.DOING and verb.tells and _asks_of(said, after):
        return True
    if not verb.tells or _is_else(said, verb, at, after):
        return False
    dated = told is Told.TOPIC and read_time(said, after)
    named = told is Told.DOING and said.keys[after] in said.language.not_told
    if dated or named:
        return False
    return verb.does is Does.REMIND or not is_addressed(said, at)


def _is_else(said: Said, verb: Verb, at: int, after: int) -> bool:
    """Whether the words are a time, a channel, a number, or what was found: "what you find"."""
    if read_time(said, at) or read_way(said, at) or _is_counted(said, at, after):
        return True
    return verb.does is Does.SEND and said.language.results.at(said.keys, at) is not None


def _asks_of(said: Said, at: int) -> bool:
    """Whether somebody is asked to write: "tell Bob to email me" names no channel."""
    verb = said.language.verbs.at(said.keys, at)
    return (
        verb is not None and verb[0].channel is not None and read_person(said, verb[1]) is not None
    )


def _is_counted(said: Said, at: int, after: int) -> bool:
    """Whether a number written for "to" is a number after all: "2 hours before"."""
    number = said.tokens[at].kind is Kind.NUMBER
    return number and said.time.units.at(said.keys, after) is not None


def _bare(said: Said, head: Head, at: int, end: int) -> Text | None:
    """Find a text that nothing leads in: "tell Bob I am late", "recuérdame ir a pilates"."""
    if not head.verb.tells or head.verb.asks or head.start > at:
        return None
    named = head.verb.me or at > head.end  # in a later chunk whoever was meant was named
    place = _after_person(said, at, end, named=named)
    if place is None or place >= end or said.language.told.at(said.keys, place):
        return None
    reminds = head.verb.does is Does.REMIND
    return Text(place, place, Told.BARE) if reminds or is_statement(said, place, end) else None


def _after_person(said: Said, at: int, end: int, *, named: bool) -> int | None:
    """Step over whom, when and how; None when nobody was named."""
    while at < end:
        if spoken := read_time(said, at):
            at = spoken.end
        elif way := read_way(said, at):
            at = way.end
        elif person := read_person(said, at) or (read_stranger(said, at) if not named else None):
            at, named = person.end, True
        else:
            small = _small(said, at)
            if small is None:
                break
            at = small
    return at if named else None


def _small(said: Said, at: int) -> int | None:
    language = said.language
    for phrases in (language.particles, language.messages, language.reminders):
        if found := phrases.at(said.keys, at):
            return found[1]
    link = language.links.at(said.keys, at)
    if link:
        return link[1]
    return at + 1 if said.keys[at] in {",", "¿", "¡"} else None


def is_statement(said: Said, at: int, end: int) -> bool:
    """Whether words state something: they start with "I" or "it", or soon hold an "is"."""
    if said.keys[at] in said.language.subjects:
        return True
    near = said.keys[at : min(end, at + _STATEMENT)]
    return any(key in said.language.finite for key in near)
