"""An act that sends or reminds, read word by word: to whom, how, when, and in which words."""

from dataclasses import dataclass
from typing import Final

from remit.intake.grammar.acts import Act
from remit.intake.grammar.behind import (
    names_thing,
    read_behind,
    read_dative,
    read_relative,
    read_role,
    read_shared,
)
from remit.intake.grammar.heads import Head, skip_leading
from remit.intake.grammar.hours import read_number
from remit.intake.grammar.phrases import (
    Person,
    is_addressed,
    is_topic,
    read_addressed,
    read_condition,
    read_limit,
    read_opening_limit,
    read_person,
    read_stranger,
    read_way,
    short_end,
)
from remit.intake.grammar.pieces import (
    Piece,
    Pieces,
    Sort,
    after_link,
    before_link,
    condition,
    event_time,
    time_piece,
)
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import Spoken, read_time
from remit.intake.grammar.texts import Text
from remit.intake.grammar.wording import reordered, tells_plainly
from remit.intake.lexicon.shape import Does, Link, Told
from remit.intake.recipients import About, Question
from remit.language.tokens import Kind, is_sign

_OWNER_HEARS: Final = frozenset({Told.STATEMENT, Told.DOING, Told.BARE})
_STOPS: Final = frozenset(".,;:")
_LONG_NAME: Final = 5  # words of a result


@dataclass(slots=True)
class _Sending:
    """One such act while it is read."""

    said: Said
    act: Act
    head: Head
    pieces: Pieces

    @property
    def reminds(self) -> bool:
        return self.head.verb.does is Does.REMIND

    @property
    def is_to_owner(self) -> bool:
        """Whether nobody but the owner has been named so far."""
        owner = self.said.book.owner
        return all(piece.person is owner for piece in self.pieces.people())

    @property
    def is_idle(self) -> bool:
        """Whether no words gather just now."""
        return self.pieces.pending is None


def read_send(said: Said, act: Act, head: Head, at: int, pieces: Pieces) -> None:
    """Read an act that sends, from a token on."""
    sending = _Sending(said, act, head, pieces)
    text = act.text
    while at < act.end:
        if text and at >= text.lead:
            at = _text(sending, text, at)
            text = None
        elif at == head.start < head.end:
            owner = said.book.owner if head.verb.me else None
            at = pieces.add(Piece(at, head.end, Sort.VERB, person=owner))
        else:
            at = _step(sending, at)


def _step(sending: _Sending, at: int) -> int:
    pieces = sending.pieces
    for read in (_quote, _when, _not, _limit, _way, _person, _message, _particle):
        if piece := read(sending, at):
            return pieces.add(piece)
    language, keys = sending.said.language, sending.said.keys
    if sending.is_idle:
        if result := _result(sending, at):
            return pieces.begin(at, result, Sort.RESULT)
        if pronoun := language.refers.at(keys, at):
            return pieces.begin(at, pronoun[1], Sort.PRONOUN)
    spoken = read_time(sending.said, at)
    return pieces.gather(at, spoken.end if spoken else at + 1)


def _result(sending: _Sending, at: int) -> int | None:
    """Read what the work before it made: "the list", "the 3 cheapest"."""
    said = sending.said
    if found := said.language.results.at(said.keys, at):
        return found[1]
    number = read_number(said, at + 1) if said.keys[at] in said.language.articles else None
    if number is None:
        return None
    without = (said.keys[at], *said.keys[number[1] : number[1] + _LONG_NAME])
    found = said.language.results.at(without, 0)
    return found[1] - 1 + number[1] if found else None


def _quote(sending: _Sending, at: int) -> Piece | None:
    token = sending.said.tokens[at]
    if token.kind is not Kind.QUOTE:
        return None
    if token.clear:
        return Piece(at, at + 1, Sort.LETTER, text=token.text.strip())
    sentence = f"Does the text end after {token.text!r}? Else say the whole text."
    question = Question(About.CONTENT, sentence, (token.text,), letter=True)
    return Piece(at, at + 1, Sort.LETTER, question=question)


def _when(sending: _Sending, at: int) -> Piece | None:
    said = sending.said
    led = said.time.about.at(said.keys, at) if sending.head.verb.dated else None
    spoken = read_time(said, led[1] if led else at)
    if spoken is None:
        return None
    if sending.head.verb.dated:  # "schedule an email for Monday"
        return Piece(at, spoken.end, Sort.TIME, spoken=spoken)
    if at > 0 and said.keys[at - 1] in said.language.events:
        return event_time(said, spoken)
    return time_piece(spoken) if sending.reminds or not is_topic(said, spoken) else None


def _not(sending: _Sending, at: int) -> Piece | None:
    if not sending.said.language.nots.at(sending.said.keys, at):
        return None
    return Piece(at, short_end(sending.said, at, sending.act.chunk_end(at)), Sort.NEGATED)


def _limit(sending: _Sending, at: int) -> Piece | None:
    said, stop = sending.said, sending.act.chunk_end(at)
    if end := read_condition(said, at, stop):
        return condition(said, at, end)
    if end := read_limit(said, at, stop):
        only = said.language.only_if.at(said.keys, at)
        return condition(said, at, end) if only else Piece(at, end, Sort.LIMIT)
    opening = sending.act.starts_chunk(at)
    end = read_opening_limit(said, at, stop) if opening else None
    return Piece(at, end, Sort.LIMIT) if end else None


def _way(sending: _Sending, at: int) -> Piece | None:
    way = read_way(sending.said, at)
    if way is None:
        return None
    if isinstance(way.channel, Question):
        return Piece(at, way.end, Sort.WAY, question=way.channel)
    return Piece(at, way.end, Sort.WAY, channel=way.channel)


# To whom ------------------------------------------------------------------------------------------


def _person(sending: _Sending, at: int) -> Piece | None:
    """Read a person: outright while nothing else was named yet, else only after "to"."""
    person = _named(sending, at)
    if person is None:
        return None
    if isinstance(person.who, Question):
        return Piece(at, person.end, Sort.PERSON, question=person.who)
    return Piece(at, person.end, Sort.PERSON, person=person.who)


def _named(sending: _Sending, at: int) -> Person | None:
    said, pieces = sending.said, sending.pieces
    if _is_thing(sending, at):
        return None
    early = sending.is_idle and not pieces.has(Sort.OBJECT, Sort.RESULT)
    outright = early or _follows_pronoun(sending, at) or _follows_person(sending)
    if outright and (person := read_person(said, at)):
        return person
    named = pieces.has(Sort.PERSON) or sending.head.verb.me
    if (sending.is_idle or not named) and (person := read_addressed(said, at)):
        return person
    return None if named else _unknown(sending, at, early=early)


def _unknown(sending: _Sending, at: int, *, early: bool) -> Person | None:
    """Read somebody whom the book does not know, where nobody has been named yet."""
    said, verb = sending.said, sending.head.verb
    if verb.shares and (person := read_shared(said, at)):
        return person
    if _follows_pronoun(sending, at) and said.tokens[at].capital and not _is_told(sending, at):
        return read_stranger(said, at)
    if early:
        return _stranger(sending, at)
    return None if verb.tells else read_behind(said, at, sending.act.end)


def _is_told(sending: _Sending, at: int) -> bool:
    """Whether the case of somebody behind it tells that this is the thing: "das Heft dem Chef"."""
    stop = sending.act.end
    return any(read_dative(sending.said, place, stop) for place in range(at + 1, stop))


def _is_thing(sending: _Sending, at: int) -> bool:
    """Whether a word that may mean people means things: "send them to me", not "them the file"."""
    said = sending.said
    found = said.language.refers.at(said.keys, at) if sending.is_idle else None
    if found is None:
        return False
    thing = names_thing(said, found[1])
    tells = sending.head.verb.tells or (thing and not _is_told(sending, at))
    return is_addressed(said, found[1]) or not tells


def _follows_pronoun(sending: _Sending, at: int) -> bool:
    """Whether somebody may be named behind "it": "schick es Mama"."""
    said, pieces = sending.said, sending.pieces
    if sending.is_idle or pieces.sort is not Sort.PRONOUN:
        return False
    link = said.language.links.at(said.keys, pieces.enough)  # "schick es dann Mama"
    return at in (pieces.enough, link[1] if link else pieces.enough)


def _follows_person(sending: _Sending) -> bool:
    """Whether somebody was named just before, with nothing but a link between: "Bob and Alice"."""
    last = sending.pieces.found[-2:]
    return sending.is_idle and any(piece.sort is Sort.PERSON for piece in last)


def _stranger(sending: _Sending, at: int) -> Person | None:
    """Read somebody unknown right behind the verb: "tell Bob's mother", "send Zoe the file"."""
    said = sending.said
    person = read_stranger(said, at) if at >= sending.head.end else None
    if person is None or sending.head.verb.tells:
        return person
    if said.keys[at] in said.language.articles:  # "send my landlord a note"
        if read_dative(said, person.end, sending.act.end):
            return None
        return person if names_thing(said, person.end) else read_role(said, at, sending.act.end)
    if not said.tokens[at].capital:
        return None
    return person if names_thing(said, person.end) else read_relative(said, at)


# What -----------------------------------------------------------------------------------------


def _message(sending: _Sending, at: int) -> Piece | None:
    """Read what only says that there is a message: "a note", "a reminder", "saying"."""
    language, keys = sending.said.language, sending.said.keys
    for phrases in (language.reminders, language.messages):
        if found := phrases.at(keys, at):
            return Piece(at, found[1], Sort.VERB)
    number = sending.said.tokens[at].kind is Kind.NUMBER  # "2 hours before", not "2 buy milk"
    told = None if number or _result(sending, at) else language.told.at(keys, at)
    if told and (told[0] is Told.LETTER or (sending.head.verb.tells and sending.is_idle)):
        return Piece(at, told[1], Sort.VERB)
    return None


def _particle(sending: _Sending, at: int) -> Piece | None:
    """Read small words between the others, while no thing is being named."""
    said = sending.said
    if not sending.is_idle:
        return None
    if particle := said.language.particles.at(said.keys, at):
        return Piece(at, particle[1], Sort.VERB)
    if beside := said.language.with_.at(said.keys, at):
        return Piece(at, beside[1], Sort.LINK)
    if link := said.language.links.at(said.keys, at):
        return Piece(at, link[1], Sort.LINK)
    return Piece(at, at + 1, Sort.LINK) if said.tokens[at].kind is Kind.MARK else None


def _text(sending: _Sending, text: Text, at: int) -> int:
    """Read an unquoted text: to the letter, or (told to somebody else) something to be worded."""
    act, pieces = sending.act, sending.pieces
    start, end = max(at, text.start), text.end or act.end
    if _is_matter(sending, text):
        return pieces.gather(at, end)
    if act.unsure:
        sentence = "Where does the text to send end? Say the whole text."
        question = Question(About.CONTENT, sentence, letter=True)
        return pieces.add(Piece(at, end, Sort.LETTER, question=question))
    stop = _without_tail(sending, text, start, end)
    if _is_letter(sending, text, start, stop):
        pieces.add(Piece(at, start, Sort.VERB))
        first, last = _edges(sending, text, start, stop)
        pieces.skip(start, first)
        pieces.add(Piece(first, last, Sort.LETTER, text=_moved(sending, text, first, last)))
        at = pieces.skip(last, stop)
    else:
        at = pieces.add(Piece(at, stop, Sort.OBJECT))
    while at < end:
        at = _step(sending, at)
    return end


def _is_matter(sending: _Sending, text: Text) -> bool:
    """Whether what follows a colon is what the thing to send is about: "a summary of this: …"."""
    if sending.said.keys[text.lead] != ":" or sending.is_idle:
        return False
    return sending.pieces.sort is Sort.RESULT or sending.is_to_owner


def _is_letter(sending: _Sending, text: Text, start: int, end: int) -> bool:
    """Whether a text may go out as it stands."""
    language = sending.said.language
    if text.told is Told.LETTER:
        return True
    if sending.head.verb.asks:
        return False
    if sending.is_to_owner:
        return sending.reminds or text.told in _OWNER_HEARS
    if text.told is Told.STATEMENT and tells_plainly(sending.said, start, end):
        return True
    plain = text.told in language.said_plainly or _moved(sending, text, start, end) is not None
    return plain and language.third.isdisjoint(sending.said.keys[start:end])


def _moved(sending: _Sending, text: Text, start: int, end: int) -> str | None:
    """The text with its verb in its place, where the language puts it last behind "that"."""
    last = bool(sending.said.language.final_verbs.firsts)
    if not last or text.told is not Told.STATEMENT or sending.is_to_owner:
        return None
    return reordered(sending.said, start, end)


def _edges(sending: _Sending, text: Text, start: int, end: int) -> tuple[int, int]:
    """Leave out the mark that ends the request; a text to the letter keeps all else."""
    said = sending.said
    while start < end and said.keys[start] in {":", ","}:
        start += 1
    if text.told is Told.LETTER:
        asked = said.keys[text.lead] != ":" and skip_leading(said, said.marks, end)[1]
        while end > start and said.keys[end - 1] in (_STOPS | {"?"} if asked else _STOPS):
            end -= 1
        return start, end
    while end > start and not is_sign(said.tokens[end - 1].text):
        step = before_link(said, start, end, too=False)
        if step is None:
            break
        end = step
    return start, end


def _without_tail(sending: _Sending, text: Text, start: int, end: int) -> int:
    """Find where the text itself ends: when and how it goes out may be said behind it."""
    said, pieces = sending.said, sending.pieces
    if text.told is Told.LETTER and not sending.reminds:
        return end
    timed = pieces.has(Sort.TIME) or not sending.reminds
    sent = pieces.has(Sort.WAY) or sending.head.verb.channel
    at = tail = start
    while at < end:
        spoken = read_time(said, at)
        spoken = spoken if spoken and (not timed or _only_ends(spoken)) else None
        way = None if sent else read_way(said, at)
        step = spoken or way
        after = step.end if step else _after_courtesy(said, at)
        at = after or at + 1
        tail = tail if after else at
    return tail if tail > start else end


def _after_courtesy(said: Said, at: int) -> int | None:
    """Step over a link or a mark, but not over an "as well", which the text may need."""
    link = said.language.links.at(said.keys, at)
    return None if link and link[0] is Link.TOO else after_link(said, at)


def _only_ends(spoken: Spoken) -> bool:
    """Whether a time only says how long a habit lasts: "until Friday"."""
    return spoken.until is not None and spoken.every is None
