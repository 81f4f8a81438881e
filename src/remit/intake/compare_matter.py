"""Which tasks of the model stand beside which of those that code read; the clauses decide."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo

from remit.intake.compare_words import Wording, tongue
from remit.intake.drafts import MOST_TITLE
from remit.intake.extract import Draft, Extraction
from remit.intake.grammar.sentences import sentences
from remit.intake.lexicon.shape import Language
from remit.intake.lexicon.words import fold, keys_of, tokenize
from remit.intake.proposed import Mapped, Proposal, ProposedTask
from remit.intake.recipients import About, Book, Channel
from remit.intake.sketch import sketch
from remit.model.delivery import Delivery
from remit.model.plan import Became, Clause
from remit.model.task import TaskType

LEAVE_OUT: Final = "leave it out"
_MOST_SHOWN: Final = 80
_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True)
class Ground:
    """What a proposal is held against: the owner's words, and how code read them."""

    text: str
    found: Extraction
    book: Book
    zone: ZoneInfo
    language: Language | None

    @classmethod
    def of(cls, text: str, found: Extraction, book: Book, zone: ZoneInfo) -> "Ground":
        return cls(text, found, book, zone, tongue(text))

    def ways(self, clause: Clause) -> frozenset[str]:
        """The kinds of channel that a clause names."""
        keys = keys_of(tokenize(clause.text))
        kinds = {fold(name): each.kind for each in self.book.channels for name in _names(each)}
        named = {kinds[key] for key in keys if key in kinds}
        found = (self.language.channels.at(keys, at) for at in range(len(keys)) if self.language)
        return frozenset(named | {each[0] for each in found if each})

    def is_heading(self, clause: Clause) -> bool:
        """Whether it stands behind a # at the start of its line: it names, and asks for nothing."""
        return self.text[: clause.start].rpartition("\n")[2].lstrip().startswith("#")

    def wording(self, *texts: str | None) -> Wording:
        return Wording.of("\n".join(text for text in texts if text), self.language)


@dataclass(frozen=True, slots=True)
class Matter:
    """One thing asked for: its drafts (one for each time of day), and what the model made of it."""

    drafts: tuple[Draft, ...]
    clauses: tuple[int, ...]
    tasks: tuple[ProposedTask, ...]
    mapped: tuple[Mapped, ...]
    unread: bool  # code knows no verb of it: perhaps it is in another language

    @property
    def draft(self) -> Draft:
        return self.drafts[0]

    def fates(self, clause: int) -> tuple[Mapped, ...]:
        return tuple(each for each in self.mapped if each.clause == clause + 1)

    def declined(self, ground: Ground, *became: Became) -> dict[int, str]:
        """The clauses of some sorts that the model would leave out, each with why."""
        return {
            at: f" because {show(each.why)}" if each.why else ""
            for at in self.clauses
            for each in self.fates(at)
            if each.became is Became.DECLINED and ground.found.clauses[at].became in became
        }

    def said(self, ground: Ground) -> Wording:
        """The owner's words for it."""
        return ground.wording(*(ground.found.clauses[at].text for at in self.clauses))

    def planned(self, ground: Ground) -> Wording:
        """All that the model says about it."""
        texts = ((task.title, task.instructions, *task.work) for task in self.tasks)
        return ground.wording(*(text for each in texts for text in each))

    def place(self, ground: Ground, delivery: Delivery, *words: str | None) -> int:
        """The clause that a send was said in: one with these words, or its channel, or its sort."""
        clauses = ground.found.clauses
        for keys in (_keys(each) for each in words if each):
            for at in self.clauses:
                if keys <= ground.wording(clauses[at].text).keys:
                    return at
        kind = next((c.kind for c in ground.book.channels if c.name == delivery.channel), "")
        for at in self.clauses:
            if clauses[at].became is not Became.WORK and kind in ground.ways(clauses[at]):
                return at
        return self.first(ground, Became.DELIVERY)

    def first(self, ground: Ground, became: Became) -> int:
        """The first clause of a sort, else the first of all."""
        found = (at for at in self.clauses if ground.found.clauses[at].became is became)
        return next(found, self.clauses[0])

    def asks(self, ground: Ground, about: About) -> bool:
        """Whether code asks about such a thing already."""
        return any(
            question.about is about and question.clause in self.clauses
            for question in ground.found.questions
        )


def matters(ground: Ground, plan: Proposal) -> tuple[Matter, ...]:
    """Put each draft beside the tasks that its clauses were mapped to."""
    groups = groupby(ground.found.tasks, key=lambda draft: draft.clauses)
    unread = tuple(_unread(ground))
    whole = [_matter(tuple(drafts), plan, ground, unread) for _, drafts in groups]
    return tuple(part for each in whole for part in _parts(each, plan, ground, whole))


def _matter(
    drafts: tuple[Draft, ...], plan: Proposal, ground: Ground, spans: Iterable[tuple[int, int]]
) -> Matter:
    clauses = tuple(ground.found.clauses.index(each) for each in drafts[0].clauses)
    mapped = tuple(
        each for each in plan.clauses if each.clause - 1 in clauses and _leads_somewhere(each, plan)
    )
    numbers = {each.task for each in mapped if each.task and each.became is not Became.DECLINED}
    tasks = tuple(plan.tasks[number - 1] for number in sorted(numbers))
    unread = any(
        start <= clause.start < end for clause in drafts[0].clauses for start, end in spans
    )
    return Matter(drafts, clauses, tasks, mapped, unread)


def _leads_somewhere(mapped: Mapped, plan: Proposal) -> bool:
    """Whether a clause was declined, or mapped to a task that there is."""
    if mapped.became is Became.DECLINED:
        return True
    return mapped.task is not None and mapped.task <= len(plan.tasks)


def _parts(
    matter: Matter, plan: Proposal, ground: Ground, everything: Sequence[Matter]
) -> Iterator[Matter]:
    """Take a matter apart as the model did, if it is work alone and each clause has one place."""
    if not _may_part(matter, ground) or _shares(matter, everything):
        yield matter
        return
    for task in matter.tasks:
        number = plan.tasks.index(task) + 1
        mapped = tuple(each for each in matter.mapped if each.task == number)
        clauses = tuple(sorted(each.clause - 1 for each in mapped))
        draft = _part(matter.draft, [ground.found.clauses[at] for at in clauses])
        yield Matter((draft,), clauses, (task,), mapped, matter.unread)


def _may_part(matter: Matter, ground: Ground) -> bool:
    """Whether nothing can be lost by it: no time, no send, no question, nothing that limits."""
    draft = matter.draft
    whole = (
        len(matter.drafts) > 1
        or len(set(matter.tasks)) < _SEVERAL
        or draft.deliveries
        or draft.scheduled_for
        or draft.type is TaskType.SCHEDULED
        or any(question.clause in matter.clauses for question in ground.found.questions)
    )
    if whole or any(clause.became is not Became.WORK for clause in draft.clauses):
        return False
    if any([fate.became for fate in matter.fates(at)] != [Became.WORK] for at in matter.clauses):
        return False
    homes = [[item.description in clause.text for clause in draft.clauses] for item in draft.work]
    return all(sum(home) == 1 for home in homes) and all(map(any, zip(*homes, strict=True)))


def _shares(matter: Matter, everything: Sequence[Matter]) -> bool:
    others = [task for other in everything if other is not matter for task in other.tasks]
    return any(task in others for task in matter.tasks)


def _part(draft: Draft, clauses: Sequence[Clause]) -> Draft:
    work = tuple(
        item for item in draft.work if any(item.description in clause.text for clause in clauses)
    )
    words = "\n".join(clause.text for clause in clauses)
    title = cut(work[0].description, MOST_TITLE)
    return replace(draft, title=title, instructions=words, work=work, clauses=tuple(clauses))


def _unread(ground: Ground) -> Iterator[tuple[int, int]]:
    """From where to where the message has no verb that code knows."""
    for task in sketch(sentences(tokenize(ground.text), ground.book)).tasks:
        if not any(line.reading.act.head for line in task.lines):
            for line in task.lines:
                yield line.said.tokens[0].start, line.said.tokens[-1].end


def opened(found: Extraction, places: Collection[int]) -> Extraction:
    """The same, but nobody knows yet what becomes of some clauses."""
    swap = {found.clauses[at]: replace(found.clauses[at], became=None) for at in places}
    return replace(
        found,
        clauses=tuple(swap.get(clause, clause) for clause in found.clauses),
        tasks=tuple(
            replace(draft, clauses=tuple(swap.get(clause, clause) for clause in draft.clauses))
            for draft in found.tasks
        ),
    )


def _keys(words: str) -> set[str]:
    return set(keys_of(tokenize(words)))


def _names(channel: Channel) -> tuple[str, ...]:
    return (channel.name, *channel.aliases)


def show(text: str) -> str:
    """A text in quotation marks on one line, and not all of it if it is long."""
    return repr(cut(text, _MOST_SHOWN))


def cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."


def shown(clause: Clause) -> str:
    return show(clause.text)
