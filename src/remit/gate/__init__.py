"""The gate: finds the one deliverable of a reply, or says why there is none.

When it is not sure, it holds the task for the owner; it never guesses, shortens or repairs a text.
It reads each character a bounded number of times, whatever the input.

    hidden      invisible characters, and blanks and line ends that change often
    pair        the tags: exactly one pair, spelt exactly, and no example
    decline     a text that looks empty, or NONE in any spelling
    leak        our instructions, markers and ids; a model's markup; keys and passwords
    silence     a run that ends with nothing to report
    eye         how a text looks, for all of these
"""

from collections.abc import Callable, Collection
from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from remit.gate import decline, hidden, hidden_layout, leak, pair
from remit.gate.decline import read_silence
from remit.gate.eye import HoldReason, Objection, fold
from remit.gate.pair import CLOSE, OPEN
from remit.model.reply import Deliverable, Reply

__all__ = [
    "CLOSE",
    "MAX_READ_CHARACTERS",
    "OPEN",
    "Author",
    "GateSecrets",
    "HoldReason",
    "Objection",
    "judge",
    "judge_text",
    "silence",
]

MAX_READ_CHARACTERS: Final = 256 * 1024
_MAX_REMEMBERED_CHARACTERS: Final = 8 * 1024
_ENDS: Final = " \t\r\n"


class Author(StrEnum):
    """The writer of a text; the owner's words are judged less strictly."""

    BRAIN = "brain"
    OWNER = "owner"
    WARNED = "warned"  # the owner, after seeing what the gate found in this very text


class GateSecrets(Struct, frozen=True):
    """Texts that must never be sent: Remit's secrets, its instructions to the brain.

    `echoes` are our fixed words to the brain and any canary in them, never the owner's: a
    deliverable may repeat what the owner asked for.
    """

    secrets: Collection[str] = frozenset()  # may grow: keys are renewed
    echoes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"GateSecrets({len(self.secrets)} secrets)"


_NOTHING: Final = GateSecrets()


def judge(reply: Reply, *, most: int, known: GateSecrets = _NOTHING) -> Deliverable | Objection:
    """Return the deliverable of a reply, or why there is none."""
    text = reply.text
    if len(text) > MAX_READ_CHARACTERS:
        return _too_long("The reply", text)
    found = pair.find(text, fold(text))
    if isinstance(found, Objection):
        return found
    return _judge_text(*found, most, Author.BRAIN, known)


def judge_text(
    text: str, *, most: int, author: Author = Author.BRAIN, known: GateSecrets = _NOTHING
) -> Deliverable | Objection:
    """Judge a text that is to be sent: from a reply, pre-composed or edited.

    The brain's text must pass every check. Checks for machine slips (a decline, markup, markers,
    ids, templates) do not apply to the owner. What a person cannot see or undo is always checked:
    hidden characters, emptiness, and the channel's limit. The bare word NONE, secrets, left-over
    tags and odd blanks are usually slips of the owner, too: they are held once, and pass when the
    owner is WARNED and insists. Characters are counted as Python does, by code point.
    """
    if len(text) > MAX_READ_CHARACTERS:
        return _too_long("The text", text)
    return _judge_text(text, fold(text), most, author, known)


def silence(reply: Reply) -> str | None:
    """Return why a reply has nothing to report, in one line; None if it does not say so."""
    return read_silence(reply.text, MAX_READ_CHARACTERS)


def _judge_text(
    text: str, plain: str, most: int, author: Author, known: GateSecrets
) -> Deliverable | Objection:
    secrets, echoes = frozenset(known.secrets), known.echoes
    if len(text) > _MAX_REMEMBERED_CHARACTERS:
        return _look_at(text, plain, most, author, secrets, echoes)
    return _remembered(text, plain, most, author, secrets, echoes)


def _look_at(
    text: str,
    plain: str,
    most: int,
    author: Author,
    secrets: frozenset[str],
    echoes: tuple[str, ...],
) -> Deliverable | Objection:
    text, plain = text.strip(_ENDS), plain.strip(_ENDS)
    owner, warned = author is not Author.BRAIN, author is Author.WARNED
    looks: tuple[tuple[bool, Callable[[], Objection | None]], ...] = (
        (True, lambda: decline.emptiness(plain)),
        (not owner, lambda: decline.objection(plain)),
        (not warned, lambda: decline.keyword(plain)),
        (True, lambda: hidden.objection(text)),
        (not warned, lambda: hidden_layout.objection(text)),
        (not warned, lambda: pair.misspelt(text, plain)),
        (not warned, lambda: leak.find_secret(plain, secrets)),
        (not owner, lambda: leak.find_internal(plain, echoes)),
        (True, lambda: _limit(text, most)),
    )
    objections = (look() for applies, look in looks if applies)
    return next((found for found in objections if found), Deliverable(text))


# A text is judged when it is written, and again when it is sent.
_remembered: Final = lru_cache(maxsize=256)(_look_at)


def _limit(text: str, most: int) -> Objection | None:
    if len(text) <= most:
        return None
    sentence = f"The deliverable has {len(text)} characters; the channel takes {most}."
    return Objection(sentence, HoldReason.LIMIT)


def _too_long(what: str, text: str) -> Objection:
    sentence = f"{what} has {len(text)} characters; at most {MAX_READ_CHARACTERS} are read."
    return Objection(sentence, HoldReason.LIMIT)
