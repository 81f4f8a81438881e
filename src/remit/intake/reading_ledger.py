"""Accounts for every word of a message: used by a task, kept in instructions, or small talk."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from remit.intake.extraction import Draft, Extraction, Question, connectives_between
from remit.intake.message_words import MessageWords, is_small_key
from remit.intake.patterns import MessageUnit, UnitKind
from remit.intake.word_lookup import Span
from remit.language.order_words import SmallTalk, order_words
from remit.language.tokens import Token, TokenKind, is_sign, keys_of, tokenize
from remit.model.contract import Clause, ClauseOutcome
from remit.model.veto import VetoCue, VetoKind

_KEPT = "It is kept in the instructions, as you said it."


class MarkedSpan(Struct, frozen=True):
    """A part of the message, and what became of it."""

    span: Span
    became: ClauseOutcome


class LedgerTask(Protocol):
    draft: Draft
    marks: list[MarkedSpan]
    questions: list[Question]
    vetoes: list[VetoCue]
    texts: list[Span]  # that somebody else is to read


class _Fate(Struct, frozen=True):
    """The task of a token, and what became of it."""

    task: int
    became: ClauseOutcome
    uncovered: bool = False


def write_ledger(
    message: MessageWords, tasks: Sequence[LedgerTask], talk: SmallTalk | None
) -> Extraction:
    """Return the tasks with their clauses; what no task covers is added to one, and shown."""
    if not tasks:
        whole = Clause(
            message.text, 0, len(message.text), ClauseOutcome.DECLINED, "It asks for no task."
        )
        return Extraction((), (), talk, (whole,), ())
    fates = _fates(message, tasks)
    clauses, owners = _clauses(message, fates)
    drafts, questions, vetoes = [], list[Question](), list[VetoCue]()
    texts = [mark.span for task in tasks for mark in task.marks]
    sends = sum(max(1, len(task.draft.deliveries)) + bool(task.draft.work) for task in tasks)
    for n, task in enumerate(tasks):
        own = tuple(clause for clause, fate in zip(clauses, owners, strict=True) if fate.task == n)
        own = own or clauses[:1]  # a question needs one, even if others took all its words
        left = [c for c, fate in zip(clauses, owners, strict=True) if fate == _uncovered_fate(n)]
        draft = replace(task.draft, clauses=own)
        if left:
            more = "\n".join(clause.text for clause in left)
            draft = replace(draft, instructions=f"{draft.instructions}\n{more}")
            spans = [(clause.start, clause.end) for clause in left]
            behind = any(end <= start for _, end in task.texts for start, _ in spans)
            if behind or message.asks_for_more(spans, texts, sends):
                vetoes += [VetoCue(VetoKind.UNCOVERED, c.text, c.start, c.end) for c in left]
        vetoes += task.vetoes
        drafts.append(draft)
        at = clauses.index(own[0])
        questions += [replace(each, clause=at) for each in task.questions]
    return _mark_outcomes(message, drafts, questions, talk, clauses, vetoes)


def _mark_outcomes(
    message: MessageWords,
    drafts: Sequence[Draft],
    questions: Sequence[Question],
    talk: SmallTalk | None,
    clauses: Sequence[Clause],
    vetoes: Sequence[VetoCue],
) -> Extraction:
    """Return the reading; a clause that is asked about has no outcome yet."""
    asked = {each.clause for each in questions}
    marked_clauses = tuple(
        replace(c, became=None) if n in asked else c for n, c in enumerate(clauses)
    )
    swap = dict(zip(clauses, marked_clauses, strict=True))
    made = tuple(replace(d, clauses=tuple(swap[c] for c in d.clauses)) for d in drafts)
    gaps = connectives_between(marked_clauses, len(message.text))
    return Extraction(made, tuple(questions), talk, marked_clauses, gaps, tuple(vetoes))


def _uncovered_fate(task: int) -> _Fate:
    return _Fate(task, ClauseOutcome.CONSTRAINT, uncovered=True)


def _fates(message: MessageWords, tasks: Sequence[LedgerTask]) -> list[_Fate]:
    """Return the outcome of each token: by a task's marks, by its words, or uncovered."""
    bags = [_bag(task.draft) for task in tasks]
    plain = frozenset(n for n in range(len(message.tokens)) if message.is_order_word(n))
    orders = frozenset(message.tokens[n].start for n in plain)
    found: list[_Fate] = []
    last = 0
    for token in message.raw:
        fate = _fate(token, tasks, bags, last)
        if fate.uncovered and token.start in orders:
            fate = _Fate(last, _main(tasks[last].draft))
        last = fate.task
        found.append(fate)
    return found


def _fate(
    token: Token, tasks: Sequence[LedgerTask], bags: Sequence[frozenset[str]], last: int
) -> _Fate:
    order = [last, *(n for n in range(len(tasks)) if n != last)]
    for n in order:
        for mark in tasks[n].marks:
            if mark.span[0] < token.end and token.start < mark.span[1]:
                return _Fate(n, mark.became)
    if token.kind in (TokenKind.MARK, TokenKind.LINE):
        return _Fate(last, _main(tasks[last].draft))
    inner = keys_of(tokenize(token.text)) if token.kind is TokenKind.QUOTE else (token.key,)
    for n in order:
        if all(key in bags[n] for key in inner):
            return _Fate(n, _main(tasks[n].draft))
    if all(map(is_small_key, inner)):
        return _Fate(last, _main(tasks[last].draft))
    return _uncovered_fate(last)


def _bag(draft: Draft) -> frozenset[str]:
    """Return every word of a task for its worker; a ready text does not count."""
    if not draft.work:
        return frozenset()
    texts = (draft.title, draft.instructions, *(item.description for item in draft.work))
    return frozenset(key for text in texts for key in keys_of(tokenize(text.replace('"', " "))))


def _main(draft: Draft) -> ClauseOutcome:
    return ClauseOutcome.WORK if draft.work or not draft.deliveries else ClauseOutcome.DELIVERY


def _clauses(
    message: MessageWords, fates: Sequence[_Fate]
) -> tuple[tuple[Clause, ...], tuple[_Fate, ...]]:
    """Join neighbours with the same outcome into clauses."""
    clauses: list[Clause] = []
    owners: list[_Fate] = []
    for fate, places in groupby(range(len(fates)), fates.__getitem__):
        run = [message.raw[n] for n in places]
        tokens = [each for each in run if each.kind is not TokenKind.LINE] or run
        start, end = tokens[0].start, tokens[-1].end
        why = _KEPT if fate.uncovered else None
        clauses.append(Clause(message.text[start:end], start, end, fate.became, why))
        owners.append(fate)
    return tuple(clauses), tuple(owners)


_EDGES = frozenset(",;:.!?¿¡-–—…()")


class _Label(Struct, frozen=True):
    owner: int  # the number of a task, or -1
    unit: int
    became: ClauseOutcome | None
    why: str | None = None


class ClauseLabels:
    """The outcome of each token; None is a connective."""

    def __init__(self, words: MessageWords) -> None:
        self.words = words
        self.found: list[_Label | None] = [None] * len(words.tokens)

    def unit(self, unit: MessageUnit, owner: int, *, reminds: bool) -> None:
        """Label the words of a unit that is part of a task."""
        works = unit.kind in (UnitKind.WORK, UnitKind.COMPOSE, UnitKind.PASTED) and not reminds
        self._put(unit, unit.start, unit.end, owner, ClauseOutcome.DELIVERY)
        became = ClauseOutcome.WORK if works else ClauseOutcome.DELIVERY
        became = ClauseOutcome.CONSTRAINT if unit.kind is UnitKind.LIMIT else became
        self._put(unit, *unit.body, owner, became)
        if unit.kind is UnitKind.WORK:
            for (start, end), _ in unit.order.channels:
                self._put(unit, start - 1, end, owner, ClauseOutcome.DELIVERY)
        for phrase in unit.times:
            self._put(unit, phrase.start, phrase.end, owner, ClauseOutcome.TIME)
        self._free_edges(unit)

    def loose(self, unit: MessageUnit, became: ClauseOutcome | None, why: str | None) -> None:
        """Label a unit that belongs to no task."""
        label = _Label(-1, unit.start, became, why)
        for at in range(*unit.body):
            self.found[at] = label
        self._free_edges(unit)

    def note(self, at: int, why: str) -> None:
        """Set the reason for all words with the same label as a token."""
        label = self.found[at]
        self.found = [
            replace(each, why=why) if each is not None and each == label else each
            for each in self.found
        ]

    def _put(
        self, unit: MessageUnit, start: int, end: int, owner: int, became: ClauseOutcome
    ) -> None:
        for at in range(start, end):
            self.found[at] = _Label(owner, unit.start, became)

    def _free_edges(self, unit: MessageUnit) -> None:
        """Make words like "and" or "please" at the edges connectives."""
        kept = range(*unit.body)
        for at in [*range(unit.start, unit.end), *range(unit.end - 1, unit.start - 1, -1)]:
            token = self.words.tokens[at]
            if token.kind is TokenKind.LINE:
                self.found[at] = None
        at = unit.start
        while at < unit.end and at not in kept and (step := self._link(at)):
            for n in range(at, min(step, unit.end)):
                self.found[n] = None
            at = step
        at = unit.end
        while at > unit.start and at - 1 not in kept and self.words.tokens[at - 1].text in _EDGES:
            at -= 1
            self.found[at] = None

    def _link(self, at: int) -> int | None:
        known, keys = order_words(), self.words.keys
        for table in (known.frames, known.links, known.polite):
            if found := table.at(keys, at):
                return found[1]
        token = self.words.tokens[at]
        if token.kind is TokenKind.MARK and not is_sign(token.text):
            return at + 1
        return (
            at + 2 if token.kind is TokenKind.NUMBER and keys[at + 1 : at + 2] == (")",) else None
        )


def clauses_of(labels: ClauseLabels, asked: Collection[int]) -> Iterator[tuple[Clause, int]]:
    """Yield the clauses in order, each with the task it belongs to.

    A time that is asked about is open.
    """
    words = labels.words
    for label, run in groupby(range(len(labels.found)), labels.found.__getitem__):
        places = list(run)
        if label is None:
            continue
        while len(places) > 1 and words.tokens[places[0]].text in _EDGES:
            del places[0]
        is_open = label.became is ClauseOutcome.TIME and not set(asked).isdisjoint(places)
        text = words.slice(places[0], places[-1] + 1)
        start = words.tokens[places[0]].start
        became = None if is_open else label.became
        yield Clause(text, start, start + len(text), became, label.why), label.owner
