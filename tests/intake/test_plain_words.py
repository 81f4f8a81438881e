"""Everyday wording: strangers, corrections, loose sends and reminders, ranges and plain telling."""

import pytest

from remit.intake.extract import Extraction, extract
from remit.intake.lexicon.shape import Talk
from remit.intake.recipients import About
from remit.model.plan import Became
from tests.intake.labelled import BOOK, NOW, ZONE

Sent = tuple[str, str | None, str | None]


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


def sends(text: str) -> list[Sent]:
    found = read(text)
    return [(d.channel, d.recipient, d.content) for task in found.tasks for d in task.deliveries]


@pytest.mark.parametrize(
    "text",
    [
        "Send my landlord a note that the rent will be late",
        "send the landlord the report",
        "Send my wife flowers",
        "send our accountant: all is paid",
        "schick meinem Vermieter eine Nachricht",
        "schick dem Vermieter: Miete ist da",
        "Schick meiner Chefin bitte den Bericht",
        "manda a mi casero el informe",
        "mándale a mi casero un mensaje",
    ],
)
def test_somebody_told_by_a_role_is_asked_about_and_gets_nothing(text: str) -> None:
    found = read(text)

    assert About.RECIPIENT in [question.about for question in found.questions]
    assert sends(text) == []


@pytest.mark.parametrize("text", ["send my doctor notes to Carlos", "send my report to Carlos"])
def test_a_thing_of_the_owner_s_is_no_person(text: str) -> None:
    assert [(channel, who) for channel, who, _ in sends(text)] == [("whatsapp", "Carlos")]
    assert read(text).questions == ()


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("summarise this article and after send to me in whatsapp", "whatsapp"),
        ("find a plumber and after email me the list", "email"),
        ("translate the letter and send to me by email", "email"),
        ("could you dig out three curry houses and whatsapp me the list? Ta", "whatsapp"),
    ],
)
def test_a_loose_send_goes_out_with_its_work(text: str, channel: str) -> None:
    found = read(text)

    assert len(found.tasks) == 1
    assert len(found.tasks[0].work) == 1
    assert sends(text) == [(channel, None, None)]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("dentist 3:30pm tmrw remind", "dentist"),
        ("dentist 3pm 2moro remind me", "dentist"),
        ("Zahnarzt morgen um 9:15 Uhr, bitte erinnern", "Zahnarzt"),
    ],
)
def test_a_reminder_may_be_asked_for_last(text: str, about: str) -> None:
    (task,) = read(text).tasks

    assert sends(text) == [("dashboard", None, about)]
    assert task.scheduled_for is not None
    assert task.work == ()


@pytest.mark.parametrize(
    "text",
    [
        "Actually make it 8pm instead",
        "scrap the thing about the workout",
        "forget about the plumber",
        "Nee, doch lieber am Dienstag",
        "Vergiss das mit dem Klempner",
        "Olvida lo del fontanero",
        "No, mejor el martes",
        "mejor el martes",
        "doch besser am Dienstag",
        "Better on Tuesday",
    ],
)
def test_a_correction_makes_no_task(text: str) -> None:
    found = read(text)

    assert found.tasks == ()
    assert found.answer is Talk.CONTROL


@pytest.mark.parametrize(
    "text",
    [
        "cheapest flights to Lisbon 14-18 May",
        "find flights to Lisbon 14–18 May",
        "Flüge nach Lissabon 14.-18. Mai suchen",
        "busca vuelos a Lisboa 14-18 mayo",
    ],
)
def test_a_stretch_of_days_is_what_the_work_is_about(text: str) -> None:
    found = read(text)

    assert [item.description for task in found.tasks for item in task.work] == [text]
    assert found.questions == ()


def test_a_tongue_narrows_a_translation_and_no_recipient() -> None:
    clauses = {clause.text: clause.became for clause in read("translate the menu to Greek").clauses}
    asked = [question.about for question in read("send the menu to German clients").questions]

    assert clauses == {"translate the menu": Became.WORK, "to Greek": Became.CONSTRAINT}
    assert asked == [About.RECIPIENT]


def test_a_decimal_comma_ends_nothing() -> None:
    found = read("Wenn der Spritpreis unter 1,60 fällt, gib mir auf WhatsApp Bescheid")

    assert found.clauses[0].text == "Wenn der Spritpreis unter 1,60 fällt"
    assert [d.channel for d in found.tasks[0].deliveries] == ["whatsapp"]


@pytest.mark.parametrize(
    "text",
    [
        "nudge me every day at 9pm until 15 March to take the pills",
        "erinnere mich täglich um 21 Uhr bis 15. März an die Tabletten",
        "recuérdame cada día a las 21h hasta el 15 de marzo tomar la pastilla",
    ],
)
def test_a_habit_keeps_its_hour_and_its_end(text: str) -> None:
    (task,) = read(text).tasks

    assert task.recurrence is not None
    assert task.recurrence.rule == "FREQ=DAILY;BYHOUR=21;BYMINUTE=0;UNTIL=20260315T225959Z"
    assert task.work == ()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Work was exhausting today, three meetings in a row", Talk.STATEMENT),
        ("Arbeit war heute anstrengend", Talk.STATEMENT),
        ("Ta", Talk.THANKS),
        ("Cheers", Talk.THANKS),
    ],
)
def test_telling_and_thanking_ask_for_nothing(text: str, answer: Talk) -> None:
    assert read(text).tasks == ()
    assert read(text).answer is answer


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("dile a Carlos que llego en diez minutos", "llego en diez minutos"),
        ("dile a Carlos que venga pronto", None),  # to be worded: "ven pronto"
        ("sag Carlos, dass ich im Stau stehe", "ich stehe im Stau"),
        ("sag Carlos, dass er im Stau steht", None),  # to be worded: "du stehst"
    ],
)
def test_only_what_would_be_said_in_the_same_words_goes_to_the_letter(
    text: str, sent: str | None
) -> None:
    assert sends(text) == [("whatsapp", "Carlos", sent)]


@pytest.mark.parametrize(
    ("today", "tomorrow"),
    [
        ("remind me at 4 to iron", "remind me tomorrow at 4 to iron"),
        ("erinnere mich um 4 an die Wäsche", "erinnere mich morgen um 4 an die Wäsche"),
        ("recuérdame planchar a las 4", "recuérdame planchar mañana a las 4"),
    ],
)
def test_an_early_hour_is_asked_about_where_both_halves_are_to_come(
    today: str, tomorrow: str
) -> None:
    assert read(today).questions == ()
    assert [question.about for question in read(tomorrow).questions] == [About.TIME]
