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

from remit.contacts import ContactBook
from remit.intake.extract import extract
from remit.intake.extraction import Draft, Extraction
from remit.intake.hear import RequestReader, TurnReader
from remit.language.files import phrases_in_all, words_in_all
from remit.language.tokens import fold
from remit.model.conversation import TalkContext, TurnOrder

_AROUND: Final = "\"'`.,:;!\u00a1\u2026\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


class CommandReader:
    """Reads messages with another reader, except one that only runs a configured command.

    The closed patterns read that one, and the task is the command's: no model is involved.
    """

    def __init__(self, reader: RequestReader, names: Collection[str]) -> None:
        self._reader = reader
        self._names = names

    async def read(self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook) -> Extraction:
        command = self._command(text, now, zone, book)
        return command or await self._reader.read(text, now, zone, book)

    async def read_turn(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook, talk: TalkContext
    ) -> Extraction | TurnOrder:
        command = self._command(text, now, zone, book)
        if command is not None or not isinstance(self._reader, TurnReader):
            return command or await self._reader.read(text, now, zone, book)
        return await self._reader.read_turn(text, now, zone, book, talk)

    def _command(
        self, text: str, now: datetime, zone: ZoneInfo, book: ContactBook
    ) -> Extraction | None:
        found = extract(text, now=now, zone=zone, book=book) if self._names else None
        command = assign_commands(found, self._names) if found else None
        return command if command and any(draft.agent for draft in command.tasks) else None


def assign_commands(found: Extraction, names: Collection[str]) -> Extraction:
    """Return the reading; a task that only asks for a command is assigned to it."""
    return replace(found, tasks=tuple(_assign_command(draft, names) for draft in found.tasks))


def _assign_command(draft: Draft, names: Collection[str]) -> Draft:
    name = named_command(draft.work[0].description, names) if len(draft.work) == 1 else None
    return replace(draft, agent=f"command:{name}", needs_brain=False) if name else draft


def named_command(text: str, names: Collection[str]) -> str | None:
    """Return the exact name of the command that some words ask to run, if they ask only that."""
    words = [bare for word in text.split() if (bare := _bare(word))]
    places = (n for n, word in enumerate(words) if word in names)
    return next((words[n] for n in places if _orders(words[:n], words[n + 1 :])), None)


def _orders(before: list[str], after: list[str]) -> bool:
    """Whether the words around a name are only a verb of running and small words."""
    small = words_in_all("commands", "polite") | words_in_all("commands", "small")
    first, last = ([key for key in map(fold, part) if key not in small] for part in (before, after))
    found = phrases_in_all("commands", "verbs").at((*first, *last), 0)
    return bool(first) and found is not None and found[1] == len(first) + len(last)


def _bare(word: str) -> str:
    return unicodedata.normalize("NFC", word).strip(_AROUND)
