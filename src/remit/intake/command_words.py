"""Detects a message that only says: run this command.

It compares the message with the settings: a verb of running, the exact name of a command, and
nothing else that matters.
"""

import unicodedata
from collections.abc import Collection
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from remit.contacts.people import ContactBook
from remit.intake.extract import extract
from remit.intake.extraction import Draft, Extraction
from remit.intake.hear import RequestReader, TurnReader
from remit.model.conversation import TalkContext, TurnOrder

_EN: Final = ("run", "start", "execute", "launch", "trigger", "kick off")
_DE: Final = ("starte", "führe", "fuehre", "führ", "lass", "lasse")
_ES: Final = ("ejecuta", "ejecute", "ejecutar", "corre", "lanza", "lanzar", "inicia", "arranca")
_VERBS: Final = frozenset({*_EN, *_DE, *_ES})
# A verb in two parts needs its second one.
_AFTER: Final = {
    "führe": ("aus", "durch"),
    "fuehre": ("aus", "durch"),
    "führ": ("aus", "durch"),
    "lass": ("laufen",),
    "lasse": ("laufen",),
}
_POLITE: Final = frozenset({"please", "now", "bitte", "mal", "jetzt", "por", "favor", "ahora"})
_ARTICLES: Final = frozenset(
    {"the", "my", "das", "den", "die", "mein", "meine", "meinen", "el", "la", "mi"}
)
_NOUNS: Final = frozenset({"command", "job", "script", "befehl", "kommando", "skript", "comando"})
_AROUND: Final = "\"'`.,:;!\u00a1\u2026\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


class CommandReader:
    """Reads messages with another reader, except one that only runs a configured command.

    The closed patterns read that one, and the task is the command's: no model is involved.
    """

    def __init__(self, reader: RequestReader, names: Collection[str]) -> None:
        self._reader = reader
        self._names = names

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        told = self._command(text, now, zone, book)
        return told or await self._reader.read(text, now, zone, book)

    async def read_turn(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook, talk: TalkContext
    ) -> Extraction | TurnOrder:
        told = self._command(text, now, zone, book)
        if told is not None or not isinstance(self._reader, TurnReader):
            return told or await self._reader.read(text, now, zone, book)
        return await self._reader.read_turn(text, now, zone, book, talk)

    def _command(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook
    ) -> Extraction | None:
        found = extract(text, now=now, zone=zone, book=book) if self._names else None
        told = assigned(found, self._names) if found else None
        return told if told and any(draft.agent for draft in told.tasks) else None


def assigned(found: Extraction, names: Collection[str]) -> Extraction:
    """Return the reading; a task that only asks for a command is assigned to it."""
    return replace(found, tasks=tuple(_assigned(draft, names) for draft in found.tasks))


def _assigned(draft: Draft, names: Collection[str]) -> Draft:
    name = named_command(draft.work[0].description, names) if len(draft.work) == 1 else None
    return replace(draft, agent=f"command:{name}", needs_brain=False) if name else draft


def named_command(text: str, names: Collection[str]) -> str | None:
    """Return the exact name of the command that some words ask to run, if they ask only that."""
    words = [bare for word in text.split() if (bare := _bare(word))]
    while words and words[-1].casefold() in _POLITE:
        words.pop()
    while words and words[0].casefold() in _POLITE:
        words.pop(0)
    for place, word in enumerate(words):
        if word in names and _orders(words[:place], words[place + 1 :]):
            return word
    return None


def _orders(before: list[str], after: list[str]) -> bool:
    """Whether the words around a name are only a verb of running and small words."""
    said = [word.casefold() for word in before]
    while said and said[-1] in _ARTICLES | _NOUNS | _POLITE:
        said.pop()
    verb, rest = " ".join(said), [word.casefold() for word in after]
    rest = [word for word in rest if word not in _NOUNS | _POLITE]
    if verb not in _VERBS:
        return False
    wanted = _AFTER.get(verb)
    return rest == [] if wanted is None else len(rest) == 1 and rest[0] in wanted


def _bare(word: str) -> str:
    return unicodedata.normalize("NFC", word).strip(_AROUND)
