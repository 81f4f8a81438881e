"""What an answer claims, held against the records: a lie is marked, the truth is not."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.converse.answer import NOTE, claim_notes
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import SessionId, TaskId
from remit.model.status import Status
from remit.model.task import Creator, Source, SourceKind, Task, TaskType

AT = datetime(2026, 3, 2, 7, 57, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")
LETTER = Delivery("whatsapp", "Anna Berg", status=DeliveryStatus.SENT, sent_at=AT)
TASK = Task(
    id=TaskId("task-1"),
    type=TaskType.IMMEDIATE,
    source=Source(SourceKind.CONVERSATION, "c:1"),
    title="Summarise the newsletter",
    instructions="",
    status=Status.COMPLETED,
    created_at=AT,
    last_updated=AT,
    created_by=Creator.USER,
    session_id=SessionId("ses-1"),
    delivery=(LETTER,),
    completed_at=AT,
)
OPEN = replace(TASK, title="Water plants", status=Status.READY, delivery=(), completed_at=None)


def notes(text: str, *about: Task, known: tuple[Task, ...] = ()) -> tuple[str, ...]:
    return claim_notes(text, about, known, ZONE)


@pytest.mark.parametrize(
    "text",
    [
        "I sent the newsletter to Anna.",
        "I sent it to Anna at 08:57.",
        "The newsletter is done.",
        "Ich habe den Newsletter an Anna geschickt.",
        "He enviado la newsletter a Anna.",
        "It was sent by WhatsApp.",
    ],
)
def test_what_is_on_record_is_let_stand(text: str) -> None:
    assert notes(text, TASK) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I sent the newsletter to Bob.",
        "I sent it to Anna at 09:30.",
        "I cancelled it.",
        "I have scheduled the newsletter.",
        "I've paused it.",
        "Ich habe es an Bernd geschickt.",
        "Ich habe den Newsletter storniert.",
        "Lo he cancelado.",
        "I will remind you tomorrow.",
        "Voy a recordarte mañana.",
    ],
)
def test_what_is_not_on_record_is_marked(text: str) -> None:
    assert notes(text, TASK) == (f"Not on record: {text}",)


@pytest.mark.parametrize(
    "text", ["Done.", "I sent it.", "Your reminder is scheduled.", "Listo, lo envié."]
)
def test_a_claim_about_nothing_is_marked(text: str) -> None:
    assert notes(text) == (f"Not on record: {text}",)


def test_a_claim_about_one_of_two_tasks_must_name_it() -> None:
    assert notes("I sent it.", TASK, OPEN) == ("Not on record: I sent it.",)
    assert notes("I sent the newsletter.", TASK, OPEN) == ()
    assert notes("The plants are done.", TASK, OPEN) == ("Not on record: The plants are done.",)


def test_a_task_that_the_talk_is_not_about_bears_out_what_names_it() -> None:
    assert notes("I sent the newsletter.", known=(TASK,)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Spiders have eight legs.",
        "The bridge was completed in 1932.",
        "Did I send it?",
        "I have not sent anything.",
        "If you want, it can be cancelled.",
        "Ich würde es an Bob geschickt haben.",
        "Gern hätte ich es storniert.",
        "You could say “I sent it to Bob”.",
        "",
    ],
)
def test_what_claims_nothing_is_not_marked(text: str) -> None:
    assert notes(text, TASK) == ()


def test_only_the_sentence_that_lies_is_marked() -> None:
    text = "Spiders have eight legs. I sent the list to Bob. Anything else?"

    assert notes(text, TASK) == ("Not on record: I sent the list to Bob.",)


@given(st.text(max_size=400))
def test_whatever_is_said_every_note_is_a_sentence_of_it(text: str) -> None:
    for note in notes(text, TASK):
        assert note.removeprefix(NOTE) in text
