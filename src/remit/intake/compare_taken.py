"""What is taken from a model: a title, instructions, items of work; never a send, never a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from remit.intake.compare_matter import Ground, Matter, cut, show
from remit.intake.compare_sends import planned
from remit.intake.compare_words import is_plain
from remit.intake.drafts import MOST_TITLE
from remit.intake.extract import Draft, Extraction
from remit.intake.grammar.sentences import sentences
from remit.intake.lexicon.shape import Does
from remit.intake.lexicon.words import Kind, fold, tokenize
from remit.intake.proposed import Proposal, ProposedTask
from remit.intake.recipients import About, Book, Question
from remit.intake.sketch import Line, sketch
from remit.model.plan import Became, Clause, Item


def take(draft: Draft, matter: Matter, ground: Ground) -> Draft:
    """Take the model's words for a draft that needs a brain; the owner's own stay beside them."""
    if not (matter.tasks and draft.needs_brain):
        return draft
    return replace(
        draft,
        title=_title(draft, matter, ground),
        instructions=_instructions(draft, matter, ground),
        work=_work(draft, matter, ground),
    )


def _title(draft: Draft, matter: Matter, ground: Ground) -> str:
    title = cut(matter.tasks[0].title, MOST_TITLE)
    return title if _is_fair(title, matter, ground) else draft.title


def _instructions(draft: Draft, matter: Matter, ground: Ground) -> str:
    """The owner's words first, to the letter; the model's below, where they say more."""
    texts = dict.fromkeys(task.instructions.strip() for task in matter.tasks)
    said = ground.wording(draft.instructions)
    more = [
        text
        for text in texts
        if _is_fair(text, matter, ground) and said.lacks(ground.wording(text))
    ]
    return "\n\n".join((draft.instructions, *more))


def _work(draft: Draft, matter: Matter, ground: Ground) -> tuple[Item, ...]:
    """The model's items if they are at least as many, and hold every word of those code found."""
    ours = ground.wording(*(item.description for item in draft.work))
    items = [
        text
        for text in _items(matter)
        if not ours.lacks(ground.wording(text)) or _is_work(text, matter, ground)
    ]
    whole = len(items) >= len(draft.work) and not ground.wording(*items).lacks(ours)
    return tuple(Item(text) for text in items) if draft.work and whole else draft.work


def _items(matter: Matter) -> Sequence[str]:
    texts = (" ".join(text.split()) for task in matter.tasks for text in task.work)
    return tuple(dict.fromkeys(text for text in texts if text))


def _is_fair(text: str, matter: Matter, ground: Ground) -> bool:
    """Whether a text of the model is about what the owner said, and names nothing he did not."""
    said, words = matter.said(ground), ground.wording(text)
    return is_plain(text) and words.is_about(said) and not words.invents(said, ground.book)


def _is_work(text: str, matter: Matter, ground: Ground) -> bool:
    """Whether an item may be worked on: it neither sends nor does what nobody asked for."""
    said = matter.said(ground)
    if not _is_fair(text, matter, ground):
        return False
    for line in _lines(text, ground.book):
        head = line.reading.act.head
        if line.sends:
            return False
        acts = head is not None and (head.verb.dated or head.verb.does is Does.STOP)
        if head and acts and line.said.keys[head.start] not in said.keys:
            return False
    return True


def _lines(text: str, book: Book) -> Iterator[Line]:
    message = sketch(sentences(tokenize(text), book))
    yield from message.loose
    for task in message.tasks:
        yield from task.lines


def ask_loose_sends(matter: Matter, ground: Ground) -> Iterator[Question]:
    """Ask about work of the model that is a send, where code found no delivery to cover it."""
    asks = any(matter.asks(ground, about) for about in (About.CHANNEL, About.RECIPIENT))
    if matter.draft.deliveries or asks:
        return
    said = matter.said(ground)
    ours = ground.wording(*(item.description for item in matter.draft.work))
    for text in _items(matter):
        words = ground.wording(text)
        sends = any(line.sends for line in _lines(text, ground.book))
        if sends and ours.lacks(words) and words.is_about(said):
            sentence = f"The plan of the model has {show(text)} as work. Shall anything be sent?"
            ways = tuple(each.name for each in ground.book.channels)
            yield Question(About.CHANNEL, sentence, ways, matter.clauses[0])
            return


# A question that the owner's own words settle -----------------------------------------------------

_OR_ABOUT: Final = "or is it about that?"  # how `clauses` ends that question


def settle_ways(found: Extraction, plan: Proposal, text: str, book: Book) -> Extraction:
    """Settle whether "on WhatsApp" is a channel or a topic, where the model reads it as a topic.

    It is believed only if it kept the owner's words together, and sends nothing that way. The
    other way round is never settled so: a send needs the owner.
    """
    for before, after in pairwise(range(len(found.clauses))):
        asked = [each for each in found.questions if each.clause == after]
        if len(asked) == 1 and asked[0].sentence.endswith(_OR_ABOUT):
            found = _settle_way(found, (before, after), asked[0], plan, text, book)
    return found


def _settle_way(
    found: Extraction,
    places: tuple[int, int],
    asked: Question,
    plan: Proposal,
    text: str,
    book: Book,
) -> Extraction:
    thing, way = (found.clauses[at] for at in places)
    fates = [each for each in plan.clauses if each.clause == places[1] + 1]
    one = fates[0] if len(fates) == 1 and fates[0].became is Became.WORK else None
    task = plan.tasks[one.task - 1] if one and one.task and one.task <= len(plan.tasks) else None
    if task is None or thing.became is not Became.WORK or not _is_topic(thing, way, task, text):
        return found
    if any(_keys(send.channel) <= _keys(way.text) for send in planned(task, book)):
        return found
    whole = replace(way, became=Became.WORK)
    swap = {way: whole}
    words = text[thing.start : way.end]
    drafts = tuple(
        replace(
            draft,
            work=tuple(
                replace(item, description=words) if item.description == thing.text else item
                for item in draft.work
            ),
            clauses=tuple(swap.get(clause, clause) for clause in draft.clauses),
        )
        for draft in found.tasks
    )
    clauses = tuple(swap.get(clause, clause) for clause in found.clauses)
    questions = tuple(each for each in found.questions if each is not asked)
    return replace(found, tasks=drafts, clauses=clauses, questions=questions)


def _is_topic(thing: Clause, way: Clause, task: ProposedTask, text: str) -> bool:
    """Whether an item of work holds the way together with the word the owner said before it."""
    words = [token for token in tokenize(thing.text) if token.kind is Kind.WORD]
    if not words or text[thing.end : way.start].strip():
        return False
    together = fold(f"{words[-1].text} {way.text}")
    return any(together in fold(" ".join(item.split())) for item in task.work)


def _keys(words: str) -> frozenset[str]:
    return frozenset(token.key for token in tokenize(words))
