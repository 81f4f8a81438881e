"""Decides which cues only describe work whose result is sent: they cannot limit the sending.

"Look up what happens when it leaks and mail it to Bob": the "when" belongs to what is looked up.
Such work begins with its verb and ends where an order to send its result begins. Inside, a cue must
stand in a clause of its own ("that doesn't close"); what stands behind a "but" or a dash, names
somebody, or takes something back holds the message as ever.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from remit.intake.message_words import MessageWords
from remit.language.cues import is_firm
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import VerbKind, order_words
from remit.language.tokens import TokenKind
from remit.model.veto import VetoCue, VetoKind

_SENTENCE_ENDS: Final = frozenset(".!?;…")
_NEVER: Final = (VetoKind.RETRACTION, VetoKind.LANGUAGE)
_NEAR: Final = 5
_ASIDES: Final = frozenset("()[]-–—/:")


def cues_outside_work(message: MessageWords, cues: Sequence[VetoCue]) -> tuple[VetoCue, ...]:
    """Return the cues, without those that only describe work whose result is sent."""
    if not cues:
        return ()
    areas = tuple(work_areas(message))
    return tuple(cue for cue in cues if not any(area.describes(cue) for area in areas))


def work_areas(message: MessageWords) -> Iterator["WorkArea"]:
    """Yield the work of each sentence that is followed by an order to send it."""
    start = 0
    for at in range(len(message.keys) + 1):
        if at < len(message.keys) and not _ends_sentence(message, at):
            continue
        verb = _work_verb(message, start, at)
        if verb:
            send = next(_sends(message, verb[1], at), None)
            if send is not None:
                yield WorkArea(message, *verb, send)
        start = at + 1


def _ends_sentence(message: MessageWords, at: int) -> bool:
    mark = message.keys[at] in _SENTENCE_ENDS and not message.is_tight(at + 1)
    return mark or message.tokens[at].kind is TokenKind.LINE


def _work_verb(message: MessageWords, start: int, end: int) -> tuple[int, int] | None:
    """Return where the verb of some work begins and ends, if only small talk precedes it."""
    at = start
    while at < end:
        verb = message.verb_at(at)
        if verb and at not in message.people and verb[0].kind is VerbKind.WORK:
            return at, verb[1]
        if verb and verb[0].kind is VerbKind.TELL and not verb[0].me:  # "write a refusal to …"
            thing = verb[1] < end and message.keys[verb[1]] in message.own_words("one")
            return (at, verb[1]) if thing else None
        words = order_words()
        tables = (words.polite, words.frames, words.wants)
        skipped = next((f[1] for table in tables if (f := table.at(message.keys, at))), None)
        time = message.time_at(at)
        if skipped is None and time is None and message.tokens[at].kind is not TokenKind.MARK:
            return None
        at = max(skipped or at + 1, time.end if time else 0)
    return None


def _sends(message: MessageWords, start: int, end: int) -> Iterator[int]:
    """Yield where "and" begins an order to send: its verb follows, or ends the sentence."""
    links = order_words().links
    for at in range(start, end):
        link = links.at(message.keys, at)
        if link is None:
            continue
        behind = link[1]
        while behind < end and (more := order_words().polite.at(message.keys, behind)):
            behind = more[1]
        if behind < end and message.sends_at(behind) and behind not in message.people:
            yield at


class WorkArea(Struct, frozen=True):
    """The tokens of some work, from its verb to the order to send it."""

    message: MessageWords
    first: int
    behind: int  # its verb
    end: int

    def describes(self, cue: VetoCue) -> bool:
        """Whether a cue only describes the work: it stands behind a word like "what" or "that"."""
        tokens, keys = self.message.tokens, self.message.keys
        at = next((n for n in range(self.first, self.end) if tokens[n].start == cue.start), None)
        if at is None or cue.kind in _NEVER or is_firm(keys, at) is not None:
            return False
        if self._names_others(at) or self._limits(at) or self._is_apart(at):
            return False
        asks = cue.kind is VetoKind.CONDITION  # it may be a question itself: "see whether …"
        if at < self.behind or (asks and at == self._object):
            return True
        return any(map(self._embeds, range(self.behind, at if asks else at + 1)))

    @property
    def _object(self) -> int:
        """Return the first word behind the verb that is not small."""
        inside = range(self.behind, self.end)
        return next((n for n in inside if not self.message.is_small_word(n)), self.end)

    def _embeds(self, at: int) -> bool:
        """Whether a word begins a clause or phrase inside the work: "that", "what", "about"."""
        asks = order_words().asking.at(self.message.keys, at) is not None
        return asks or self.message.keys[at] in words_in_all("addressing", "embeds")

    def _names_others(self, at: int) -> bool:
        """Whether somebody is named behind a cue, except for whom the work is: "for Lucía"."""
        message = self.message
        named = [n for n in range(at, self.end) if n in message.people]
        return any(
            message.keys[n - 1] not in words_in_all("addressing", "nearby") or n - 1 <= at
            for n in named
            if n - 1 not in named
        )

    def _is_apart(self, at: int) -> bool:
        """Whether "but", a dash or a comma stands before a cue: it may be said to Remit.

        A comma may also begin a clause of the work, such as "…, which …" or "was passiert, wenn …".
        """
        keys = self.message.keys
        for n in range(at - 1, self.behind - 1, -1):
            if keys[n] in words_in_all("addressing", "but") or keys[n] in _ASIDES:
                return True
            if keys[n] == ",":
                return not any(map(self._embeds, range(n - 1, n + 2)))
        return False

    def _limits(self, at: int) -> bool:
        """Whether a limit begins at a token that no question has: "unless", "not before"."""
        tables = (("conditions", "not_before"), ("addressing", "limits"))
        return any(phrases_in_all(*each).at(self.message.keys, at) for each in tables)
