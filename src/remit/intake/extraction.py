"""What a reader returns: tasks, open questions, and the fate of each word.

Recipients and channels are resolved by the contact book; a doubt is a question.
"""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from remit.contacts import ChannelName, Contact, ContactBook
from remit.language.order_words import SmallTalk, order_words
from remit.language.time.resolve import Recurrence
from remit.language.tokens import fold, keys_of, tokenize
from remit.model.contract import Clause, WorkItem
from remit.model.delivery import Delivery
from remit.model.veto import Condition, VetoCue


class QuestionTopic(StrEnum):
    """What a question is about."""

    TIME = "time"
    CHANNEL = "channel"
    RECIPIENT = "recipient"
    CONTENT = "content"
    TASK = "task"
    CONFIRM = "confirm"  # whether it is really meant to go to somebody else


class Question(Struct, frozen=True):
    """A question to the owner; `clause` is the number of the clause it is about.

    `waits` are the deliveries that lack the answer. One that is in two questions lacks both.
    """

    about: QuestionTopic
    sentence: str
    options: tuple[str, ...] = ()
    clause: int = -1
    waits: tuple[Delivery, ...] = ()
    letter: bool = False  # whether the answer is the text that is to be sent


class Draft(Struct, frozen=True, kw_only=True):
    """A task as the owner's words make it. Times are in UTC; `clauses` are its own."""

    title: str
    instructions: str
    work: tuple[WorkItem, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    scheduled: bool = False  # it runs at a time, which may still be asked about
    scheduled_for: datetime | None = None
    recurrence: Recurrence | None = None
    needs_brain: bool = False
    stays: bool = False  # the same message says not to send it
    agent: str | None = None  # who does it, if no brain is to
    notes: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()

    @property
    def is_loose(self) -> bool:
        """Whether it is only work, without a recipient or a time."""
        timed = self.scheduled_for is not None or self.recurrence is not None
        return bool(self.work) and not self.deliveries and not timed


class Connective(Struct, frozen=True):
    """What is between clauses: blanks, marks, and words like "and" or "please"."""

    start: int
    end: int


class Extraction(Struct, frozen=True):
    """The result of reading. `answer` is the kind of talk in a message without a task."""

    tasks: tuple[Draft, ...]
    questions: tuple[Question, ...]
    answer: SmallTalk | None
    clauses: tuple[Clause, ...]
    connectives: tuple[Connective, ...]
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set
    texts: tuple[tuple[int, int], ...] = ()  # where the message holds a text to somebody else

    def questions_about(self, draft: Draft) -> tuple[Question, ...]:
        """Return the questions that must be answered before a draft may run."""
        return tuple(q for q in self.questions if self.clauses[q.clause] in draft.clauses)


def connectives_between(clauses: tuple[Clause, ...], length: int) -> tuple[Connective, ...]:
    """Return what is between the clauses of a text of this length."""
    edges = [0, *(edge for clause in clauses for edge in (clause.start, clause.end)), length]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple(Connective(start, end) for start, end in pairs if end > start)


def as_title(title: str) -> str:
    """Return a title with a capital first letter; a first word that is no plain word stays."""
    first = title.partition(" ")[0].rstrip(",;:.!?")
    plain = first.replace("'", "").replace("’", "").replace("-", "")
    return title[:1].upper() + title[1:] if plain.isalpha() and plain.islower() else title


def resolve(words: str, book: ContactBook) -> Contact | Question:
    """Return whom some words mean: the one person of that name, or a question."""
    keys = keys_of(tokenize(words))
    found = book.people.at(keys, 0)
    if found is None and keys and keys[0] in order_words().articles:
        keys = keys[1:]
        found = book.people.at(keys, 0)
    if found is None or found[1] != len(keys):
        return Question(
            QuestionTopic.RECIPIENT, f"Who is {words!r}? Nobody in your contacts is called that."
        )
    people = found[0]
    if len(people) > 1:
        names = tuple(person.name for person in people)
        return Question(QuestionTopic.RECIPIENT, f"Which {words} is meant?", names)
    return people[0]


def channel_for(named: str, text: str, book: ContactBook) -> ChannelName | Question:
    """Return the channel that words name: by its own name, else the only one of that kind."""
    key = fold(named)
    own = [each for each in book.channels if key in each.folded_names]
    same = own or [each for each in book.channels if fold(each.kind) == key]
    if len(same) == 1:
        return same[0]
    options = tuple(each.name for each in same or book.channels)
    if same:
        return Question(QuestionTopic.CHANNEL, f"Which one is meant by {text!r}?", options)
    return Question(
        QuestionTopic.CHANNEL,
        f"{text[:1].upper()}{text[1:]} is not set up. Use another channel, or add it with "
        "`remit channels add`?",
        options,
    )


def way_to(person: Contact, channel: ChannelName | None, book: ContactBook) -> str | Question:
    """Return the channel to a person: the one that was said, or their first one in the book."""
    name = person.name
    if person is book.owner:
        return channel.name if channel else book.home
    ours = {each.name for each in book.channels}
    reach = tuple(each for each in person.channels if each in ours)
    if channel is not None and (channel.name in reach or not person.channels):
        return channel.name
    if channel is None and reach:
        return reach[0]
    sentence = f"On which channel should {name} get it?"
    if person.channels and not reach:
        sentence = (
            f"{name} can be reached by {', '.join(person.channels)}, which is not set up. "
            "Add it with `remit channels add`, or name another channel?"
        )
    elif channel is not None:
        sentence = f"{name} cannot be reached by {channel.name}."
    return Question(QuestionTopic.CHANNEL, sentence, reach)
