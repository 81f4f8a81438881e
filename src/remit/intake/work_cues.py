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
        if verb and verb[0].kind is VerbKind.TELL and not verb[0].me:
            return (at, verb[1]) if _composes(message, verb[1], asks=verb[0].asks) else None
        words = order_words()
        tables = (words.polite, words.frames, words.wants)
        skipped = next((f[1] for table in tables if (f := table.at(message.keys, at))), None)
        time = message.time_at(at)
        if skipped is None and time is None and message.tokens[at].kind is not TokenKind.MARK:
            return None
        at = max(skipped or at + 1, time.end if time else 0)
    return None


def _composes(message: MessageWords, at: int, *, asks: bool) -> bool:
    """Whether something is to be written that is only named: "write a short refusal to …"."""
    keys = message.keys
    if asks:
        return at < len(keys) and keys[at] in words_in_all("addressing", "nearby")
    return at < len(keys) and keys[at] in message.own_words("one")


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
        """Whether a cue only describes the work."""
        tokens, keys = self.message.tokens, self.message.keys
        at = next((n for n in range(self.first, self.end) if tokens[n].start == cue.start), None)
        if at is None or cue.kind in _NEVER or is_firm(keys, at) is not None:
            return False
        if self._names_others(at) or self._limits(at):
            return False
        return self._describes_work(cue.kind, at)

    def _names_others(self, at: int) -> bool:
        """Whether somebody is named behind a cue, except for whom the work is: "for Lucía"."""
        message = self.message
        named = [n for n in range(at, self.end) if n in message.people]
        return any(
            message.keys[n - 1] not in words_in_all("addressing", "nearby") or n - 1 <= at
            for n in named
            if n - 1 not in named
        )

    def _describes_work(self, kind: VetoKind, at: int) -> bool:
        """Whether a cue describes work whose result is sent."""
        if at < self.behind or (at == self._object and kind is VetoKind.CONDITION):
            return True  # "prepare"; "see whether …"
        key, clause = self.message.keys[at], self._clause_before(at)
        if kind is VetoKind.CONDITION:
            bare = key in words_in_all("addressing", "only") and not self._limits(at + 1)
            return (bare and clause >= self.first) or (clause >= 0 and self._asks_between(at))
        if kind is VetoKind.DENIAL and key in words_in_all("addressing", "without"):
            return clause == self.first
        return clause > self.first or (clause == self.first and self._embeds_before(at))

    @property
    def _object(self) -> int:
        """Return the first word behind the verb and its particles."""
        at, words = self.behind, order_words()
        while at < self.end and (
            self.message.keys[at] in words_in_all("addressing", "skipped")
            or words.me.at(self.message.keys, at)
            or words.particles_at_end.at(self.message.keys, at)
            or self.message.keys[at] in words_in_all("addressing", "nearby")
        ):
            at += 1
        return at

    def _clause_before(self, at: int) -> int:
        """Return where the clause of a token begins; -1 if it may be said to Remit.

        A comma may begin one in German ("was passiert, wenn …"), or one that tells something.
        """
        keys, breaks = self.message.keys, words_in_all("addressing", "but")
        for n in range(at - 1, self.behind - 1, -1):
            if keys[n] in breaks or keys[n] in _ASIDES:
                return -1
            if keys[n] == ",":
                has_speaker = keys[n + 1] in words_in_all("addressing", "speakers")
                short = any(self._asks(m) for m in range(max(self.behind, n - 2), n))
                begins = self._embeds(n + 1) or (short and self.message.language == "de")
                return n + 1 if begins or has_speaker else -1
        return self.first

    def _asks_between(self, end: int) -> bool:
        return any(self._asks(n) for n in range(self.behind, end))

    def _asks(self, at: int) -> bool:
        """Whether a word begins an indirect question: "what happens when …"."""
        key, token = self.message.keys[at], self.message.tokens[at]
        if self.message.language == "es" and key in ("que", "q"):
            return not token.text.isascii() or at == self._object
        return order_words().asking.at(self.message.keys, at) is not None

    def _embeds(self, at: int) -> bool:
        """Whether a word begins a clause or phrase inside the work: "that", "explaining"."""
        if self._asks(at):
            return True
        if self.message.keys[at] not in words_in_all("addressing", "embeds"):
            return False
        relative = self.message.keys[at] in order_words().articles
        before = at - 1
        near = self.message.keys[before] in words_in_all("addressing", "nearby")
        noun = near or (
            self.message.is_plain_word(before)
            and not self.message.is_small_word(before)
            and not self.message.time_at(before)
        )
        return not relative or (noun and before >= self.behind)

    def _embeds_before(self, at: int) -> bool:
        keys = self.message.keys
        own = self.message.language == "en" and keys[at].endswith("n't")
        return own or any(self._embeds(n) for n in range(self.behind, at + 1))

    def _limits(self, at: int) -> bool:
        """Whether a limit begins at a token that no question has: "unless", "not before"."""
        tables = (("conditions", "not_before"), ("addressing", "limits"))
        return any(phrases_in_all(*each).at(self.message.keys, at) for each in tables)
