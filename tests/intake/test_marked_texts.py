"""A cue inside a text that the owner wrote belongs to the text, unless it is said to Remit."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

from remit.intake.exam import NOW, ZONE, exam_book
from remit.intake.extraction import Extraction
from remit.intake.model_reader import ModelReader, contacts_named
from remit.intake.reading_form import Reading, ReadSend, ReadTask
from remit.intake.veto import find_veto, held_back, reaches_others
from tests.intake.readings import Answers, named_in
from tests.intake.test_reading import EVERY, TYPED_WITHOUT_MARKS

TWINS: Final = Path(__file__).parents[1] / "data" / "reading" / "twins.txt"


class Twin(Struct, frozen=True):
    language: str
    order: str
    text: str
    rest: str

    @property
    def message(self) -> str:
        space = "" if self.rest[:1] in ".,;" else " "
        return f"{self.order} {self.text}{space}{self.rest}".strip()


def _twins() -> tuple[Twin, ...]:
    lines = (line for line in TWINS.read_text().splitlines() if not line.startswith("#"))
    return tuple(Twin(*(part.strip() for part in line.split("|"))) for line in lines)


def _greedy_texts(text: str) -> Iterator[tuple[str, str, str]]:
    """Everybody whom a message names, with all that stands behind the name, or its colon."""
    for person in exam_book().contacts:
        for words in named_in(text, person.name):
            rest = text.partition(words)[2]
            lead = re.sub(r"^\W*(that|dass|que|q|saying)\s", "", rest)
            for each in {rest, lead, rest.partition(":")[2]}:
                if each.strip(" ,:'\""):
                    yield person.name, words, each.strip(" ,:'\"")


async def read_with_text(message: str, text: str, order: str) -> Extraction:
    """What comes of a model that sends these words to everybody whom the order names."""
    sends = tuple(
        ReadSend(to=name, to_words=_words_for(name, order), text=text)
        for name in contacts_named(order, exam_book())
    )
    return await _read(message, sends)


async def _read(message: str, sends: tuple[ReadSend, ...]) -> Extraction:
    reading = Reading(tasks=(ReadTask(title="Send", instructions=message, sends=sends),))
    found = await ModelReader(Answers(reading)).read(message, NOW, ZONE, exam_book())
    return held_back(found, message, exam_book())


def _words_for(name: str, order: str) -> str:
    calls = (name, "lucia", name.split(maxsplit=1)[0])
    return next(each for each in calls if each.casefold() in order.casefold())


def acts(found: Extraction) -> bool:
    return any(
        reaches_others(draft.deliveries) and not found.questions_about(draft)
        for draft in found.tasks
    )


@pytest.mark.parametrize("twin", [t for t in _twins() if not t.rest], ids=lambda t: t.message)
async def test_a_cue_in_the_text_itself_asks_nothing(twin: Twin) -> None:
    read = await read_with_text(twin.message, twin.text, twin.order)

    assert read.veto == ()
    assert acts(read)


@pytest.mark.parametrize("twin", [t for t in _twins() if t.rest], ids=lambda t: t.message)
async def test_a_cue_that_is_said_to_remit_holds_the_text_back_wherever_a_model_ends_it(
    twin: Twin,
) -> None:
    rest = twin.message.removeprefix(f"{twin.order} ")
    for text in (twin.text, rest):
        assert not acts(await read_with_text(twin.message, text, twin.order)), text


# Behind a comma, without any word that tells it, nothing shows that these are no part of the text.
UNSEEN = {"e-en-t-012", "e-de-t-011", "e-de-t-012", "e-es-t-011", "e-es-t-012"}


TYPED = [m for m in EVERY if m.sort == "trap" and m.id.startswith(TYPED_WITHOUT_MARKS)]


async def test_a_model_that_takes_all_behind_a_name_for_the_text_overrules_no_cue() -> None:
    traps = [m for m in EVERY if m.sort == "trap" and m.id not in UNSEEN]
    held = [m for m in traps if find_veto(m.text, exam_book())]
    reached = [
        (message.id, text)
        for message in held
        for name, words, text in _greedy_texts(message.text)
        if acts(await _read(message.text, (ReadSend(to=name, to_words=words, text=text),)))
    ]

    earlier = [each for each in reached if not each[0].startswith(TYPED_WITHOUT_MARKS)]
    assert len(held) > 100  # most of the traps
    assert earlier == []
    assert len(reached) <= 0.21 * len(TYPED)  # it may only fall


async def test_words_that_only_tell_of_a_message_are_no_text_even_without_a_cue() -> None:
    traps = [m for m in EVERY if m.id.startswith("e-") and m.sort == "trap"]
    reached = {
        message.id
        for message in traps
        for name, words, text in _greedy_texts(message.text)
        if acts(await _read(message.text, (ReadSend(to=name, to_words=words, text=text),)))
    }

    assert len(traps) == 40
    assert reached <= UNSEEN  # it may only fall
