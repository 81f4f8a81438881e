"""Loose wording, haste and slips: what is certain is read, the rest is asked."""

import pytest

from remit.intake.extract import Draft, Extraction, extract
from remit.intake.lexicon.shape import Talk
from remit.intake.recipients import About
from remit.model.delivery import Delivery
from remit.model.plan import Became
from tests.intake.labelled import BOOK, NOW, ZONE


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


def only(text: str) -> Draft:
    (draft,) = read(text).tasks
    return draft


def rule(text: str) -> str | None:
    recurrence = only(text).recurrence
    return recurrence.rule if recurrence else None


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("if it rains email me", ("email", None)),
        ("check the price and if it drops message Bob on whatsapp", ("whatsapp", "Bob")),
        ("falls es regnet schreib mir per Mail", ("email", None)),
        ("prüf das Wetter und wenn es kalt ist schreib mir eine Mail", ("email", None)),
        ("si llueve avisa a Carlos", ("whatsapp", "Carlos")),
        ("si Bob manda el informe avísame por correo", ("email", None)),
    ],
)
def test_a_send_survives_a_condition_without_a_comma(
    text: str, sent: tuple[str, str | None]
) -> None:
    found = read(text)

    assert [(each.channel, each.recipient) for each in found.tasks[0].deliveries] == [sent]
    assert Became.CONSTRAINT in [clause.became for clause in found.clauses]
    assert found.questions == ()


def test_a_request_that_may_hide_in_a_condition_is_asked_about() -> None:
    found = read("check the door and if he is out text Bob on whatsapp")

    assert [question.about for question in found.questions] == [About.TASK]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ('every day at noon whatsapp Bob "lunch?" until the end of March', "UNTIL=20260331"),
        ("Erinnere mich jeden Tag um 9 an die Tabletten bis Ende März", "UNTIL=20260331"),
        ("recuérdame todos los días a las 9 tomar agua hasta el 31 de marzo", "UNTIL=20260331"),
        ("remind me every day at 9 to eat for the next two weeks", "UNTIL=20260318"),
        ("erinner mich zwei Wochen lang jeden Tag um 8 Uhr ans Essen", "UNTIL=20260318"),
        ("every day at 9 remind me to stretch, 10 times", "COUNT=10"),
        ("every day at 9 email me the news. Only until the end of March.", "UNTIL=20260331"),
    ],
)
def test_a_series_ends_when_its_sentence_says_so(text: str, ends: str) -> None:
    assert ends in (rule(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "remind me every day at 9 to take pills until I feel better",
        'every day at noon whatsapp Bob "lunch?" until Easter',
        "every day at 9 email me the news. Only until the end of the strike.",
        "every Monday at 9 check hotels for two weeks",
        "every hour remind me to drink for the next three days",
    ],
)
def test_an_end_nobody_can_reckon_is_asked_about(text: str) -> None:
    found = read(text)

    assert About.TIME in [question.about for question in found.questions]
    assert all(draft.recurrence is None for draft in found.tasks)


def test_until_without_a_series_is_still_a_deadline() -> None:
    found = read("Draft the letter until Friday")

    assert [clause.text for clause in found.clauses if clause.became is Became.CONSTRAINT] == [
        "until Friday"
    ]


def test_as_well_joins_the_task_and_stays_in_a_text() -> None:
    draft = only("Find a plumber, put the list on my dashboard and email it to Alice as well")

    assert draft.deliveries == (Delivery("dashboard"), Delivery("email", "Alice"))
    assert only("Remind me at 5pm to call Bob again").deliveries[0].content == "call Bob again"


@pytest.mark.parametrize(
    ("text", "content", "due"),
    [
        ("yo remind me 2 buy milk at 530pm", "buy milk", "16:30"),
        ("call mum 4pm reminder", "call mum", "15:00"),
        ("call mum at 4pm, remind me", "call mum", "15:00"),
        ("rmnd me in 20 mins to eat", "eat", "09:20"),
        ("please remidn me at 5pm to eat, thanks", "eat", "16:00"),
        ("dont let me forget to eat at 5pm", "eat", "16:00"),
        ("in ner dreiviertelstunde pizza holen, erinner mich", "pizza holen", "09:45"),
    ],
)
def test_a_reminder_typed_in_haste_is_a_reminder(text: str, content: str, due: str) -> None:
    draft = only(text)

    assert draft.deliveries == (Delivery("dashboard", None, content),)
    assert f"{draft.scheduled_for:%H:%M}" == due


def test_a_misspelt_day_is_that_day() -> None:
    assert f"{only('remind me on Thurdsay at 9am to eat').scheduled_for:%d %H}" == "05 08"


@pytest.mark.parametrize("text", ["draft a payment reminder", "buy a sundae", "remove the rust"])
def test_a_word_that_only_looks_like_a_reminder_or_a_day_is_none(text: str) -> None:
    assert [item.description for item in only(text).work] == [text]


@pytest.mark.parametrize(
    "text",
    [
        'Schedule an email to Alice for next Tuesday 9am: "Hi"',
        'Plane eine Mail an Alice für Dienstag 9 Uhr: "Hi"',
        'Programa un correo a Alice para el martes a las 9: "Hi"',
    ],
)
def test_a_message_that_is_planned_is_sent_then(text: str) -> None:
    draft = only(text)

    assert draft.deliveries == (Delivery("email", "Alice", "Hi"),)
    assert f"{draft.scheduled_for:%m-%d %H}" == "03-10 08"


def test_an_address_nobody_knows_is_asked_about() -> None:
    found = read("Email jo@example.org the opening hours of the museum")

    assert [question.about for question in found.questions] == [About.RECIPIENT]
    assert found.tasks[0].deliveries == ()


@pytest.mark.parametrize(
    "text",
    [
        "no, I meant Tuesday",
        "forget it",
        "cancel it please",
        "Vergiss die Erinnerung an den Zahnarzt",
        "Schick es ihr noch nicht",
        "no se lo envíes todavía",
        "olvídalo",
    ],
)
def test_what_changes_an_earlier_request_asks_which_and_sends_nothing(text: str) -> None:
    found = read(text)

    assert (found.tasks, found.answer) == ((), Talk.CONTROL)
    assert [question.about for question in found.questions] == [About.TASK]


@pytest.mark.parametrize("text", ["cancel that subscription", "lösch das Foto", "Lass es laufen"])
def test_what_only_begins_like_a_correction_is_none(text: str) -> None:
    assert read(text).answer is not Talk.CONTROL


def test_what_must_not_go_yet_stays() -> None:
    draft = only("Redacta un correo para Bob sobre la reunión pero no lo envíes todavía")

    assert (draft.deliveries, draft.stays) == ((), True)


@pytest.mark.parametrize(
    "what", ["what you find", "what you found", "the outcome", "the 3 best ones"]
)
def test_what_was_found_is_no_work_of_its_own(what: str) -> None:
    draft = only(f"look into campsites and email me {what}")

    assert [item.description for item in draft.work] == ["look into campsites"]


def test_somebody_who_is_told_to_write_gets_that_text() -> None:
    assert only("Tell Carlos to email me").deliveries == (
        Delivery("whatsapp", "Carlos", "email me"),
    )
