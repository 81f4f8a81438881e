"""One card a message: all that is open is asked at once, and a yes approves what it shows."""

from pathlib import Path

import pytest

from remit.intake.card import card_lines
from remit.language.sentences import message_language
from remit.model.ids import Ids
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Actor, Reason, Status
from remit.store import reviews, tasks
from remit.store.database import Tx
from tests.intake.heard_world import Talk, plans

TWO = "Remind me soon to eat. Also send Zoltan 'Hi' on WhatsApp."
HELD = 'Send Bob "Hi" on WhatsApp not before tomorrow. Send Mum "Ho" on WhatsApp.'


@pytest.mark.parametrize(
    "answers",
    [
        ("1: tomorrow at 9:30\n2: Mum",),
        ("2: Mum", "1: tomorrow at 9:30"),
        ("Mum", "tomorrow at 9:30"),
        ("lol", "tomorrow at 9:30", "7: Mum", "Mum"),
    ],
)
async def test_one_card_asks_for_all_and_each_answer_fills_its_line(
    tmp_path: Path, answers: tuple[str, ...]
) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(TWO)
        for each in answers:
            await world.run()
            (card,) = await world.waiting()
            await world.decide(card, ReviewAnswer.ANSWER, each)
        await world.days(0.1)
        await world.approve()
        await world.days(2)
        eat, send = [await world.get(task.id) for task in heard.tasks]
        complaints = await world.complaints()

    (first,) = heard.reviews
    assert first.question.startswith("2 things are open. 1: ")
    assert (eat.status, send.status) == (Status.COMPLETED, Status.COMPLETED)
    assert [(each.recipient, each.body) for each in world.whatsapp.sent] == [("+1777", "Hi")]
    assert complaints == []


@pytest.mark.parametrize(
    ("message", "question", "text"),
    [
        ("tell Zoltan I'll be late", "Who is 'Zoltan'?", "I'll be late"),
        ("text Zoltan Nagy I am late", "Who is 'Zoltan Nagy'?", "I am late"),
        ("let Zoltan know I've arrived", "Who is 'Zoltan'?", "I've arrived"),
        ("Schreib Zoltan ich bin gleich da", "Wer ist 'Zoltan'?", "ich bin gleich da"),
        ("dile a Zoltan que llego tarde", "¿Quién es 'Zoltan'?", "llego tarde"),
    ],
)
async def test_the_card_asks_who_an_unknown_name_is_and_keeps_the_text_whole(
    tmp_path: Path, message: str, question: str, text: str
) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(message)

    (review,), (task,) = heard.reviews, heard.tasks
    assert review.question.startswith(question)
    assert [half.content for gap in task.gaps for half in gap.waits] == [text]


async def test_a_yes_approves_every_text_that_the_card_shows_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(HELD)
        await world.days(2)
        (card,) = await world.waiting()
        nothing = list(world.whatsapp.sent)
        await world.decide(card, ReviewAnswer.APPROVE)
        await world.days(2)
        after, left = list(world.whatsapp.sent), await world.waiting()
        complaints = await world.complaints()

    assert heard.reviews[0].id == card.id
    for shown in ("Bob (+1555), on whatsapp", "Text: Hi", "Mum (+1777)", "Text: Ho", "Limit: not"):
        assert shown in card.evidence
    assert (card.reason, nothing, left) == (Reason.APPROVAL, [], [])
    assert sorted((each.recipient, each.body) for each in after) == [
        ("+1555", "Hi"),
        ("+1777", "Ho"),
    ]
    assert complaints == []


async def test_an_address_that_changed_since_the_card_is_shown_again(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        await world.say(HELD)
        book = tmp_path / "contacts.yaml"
        book.write_text(book.read_text().replace("+1777", "+1999"))
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.ANSWER, "yes")
        await world.days(2)
        (again,) = await world.waiting()
        sent = list(world.whatsapp.sent)

    assert sent == []
    assert again.question.startswith("An address or a text changed")
    assert "Mum (+1999)" in again.evidence


@pytest.mark.parametrize("no", ["no", "gar nicht", "nobody, it was a joke", "decline"])
async def test_a_no_to_the_card_ends_all_that_waits_for_it(tmp_path: Path, no: str) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(HELD)
        if no == "decline":
            await world.decide(heard.reviews[0], ReviewAnswer.DECLINE)
        else:
            await world.decide(heard.reviews[0], ReviewAnswer.ANSWER, no)
        await world.days(2)
        ended = [await world.get(task.id) for task in heard.tasks]
        left = await world.waiting()

    assert [each.status for each in ended] == [Status.CANCELLED] * 2
    assert (world.whatsapp.sent, left) == ([], [])


async def test_the_card_stays_for_the_others_if_one_task_is_cancelled(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(HELD)
        await world.app.owner.cancel(heard.tasks[0].id)
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.ANSWER, "2: yes")
        await world.days(2)
        first, second = [await world.get(task.id) for task in heard.tasks]
        complaints = await world.complaints()

    assert (card.id, card.task_id) == (heard.reviews[0].id, second.id)
    assert (first.status, second.status) == (Status.CANCELLED, Status.COMPLETED)
    assert [each.body for each in world.whatsapp.sent] == ["Ho"]
    assert complaints == []


async def test_a_text_given_in_an_answer_is_shown_before_it_goes(tmp_path: Path) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        await world.say("Write to Bob on WhatsApp")
        (asked,) = await world.waiting()
        await world.decide(asked, ReviewAnswer.ANSWER, '"See you at 5"')
        (card,) = await world.waiting()
        await world.days(1)
        before = list(world.whatsapp.sent)
        await world.decide(card, ReviewAnswer.APPROVE)
        await world.days(1)

    assert before == []
    assert card.evidence == "See you at 5"
    assert [each.body for each in world.whatsapp.sent] == ["See you at 5"]


async def test_questions_of_an_earlier_version_are_settled_one_by_one(tmp_path: Path) -> None:
    async with Talk(tmp_path) as world:
        task = await world.one('Send Zoltan "Hi" on Signal')
        await world.app.db.write(_as_before, world.app.ids)
        asked = {each.key.split(":")[2]: each for each in await world.waiting()}
        recipient, channel = asked["recipient"], asked["channel"]
        await world.decide(recipient, ReviewAnswer.ANSWER, "somebody else")
        again = [each for each in await world.waiting() if each.id != channel.id]
        await world.decide(again[0], ReviewAnswer.ANSWER, "Bob")
        await world.decide(channel, ReviewAnswer.ANSWER, "email")
        settled, left = await world.get(task.id), await world.waiting()

    assert plans(settled) == [("email", "Bob", "Hi")]
    assert (len(again), [each.reason for each in left]) == (1, [Reason.APPROVAL])


def _as_before(tx: Tx, ids: Ids) -> None:
    """Ask as the last version did: a question for every gap, and none for the message."""
    (card,) = reviews.waiting(tx)
    task = tasks.get(tx, card.task_id)
    gone = {"id": card.id, "answer": "decline", "text": None, "by": "test", "now": 0}
    tx.run("decide_review", gone)
    for gap in task.gaps:
        asked = Review(
            id=ids.review(),
            task_id=task.id,
            key=f"{gap.key}:0",
            reason=Reason.INPUT,
            question=gap.question,
            resume_to=Status.NEW,
        )
        reviews.open_review(tx, asked, Actor.INTAKE, task.created_at)


ALLOWED = """\
- name: Bob
  channels: {whatsapp: "+1555"}
  policy: {whatsapp: allow}
"""


@pytest.mark.parametrize(
    ("text", "language", "shown"),
    [
        ("Remind me soon to eat", "en", ("Runs: once you have answered", "At what time is")),
        ("Erinnere mich bald an den Müll", "de", ("Geht an: dich, über dashboard", "Wann soll")),
        ("Recuérdame pronto sacar la basura", "es", ("Va a: ti, por dashboard", "¿Cuándo")),
        ("Erinnere mich um 8 an den Zug", "de", ("Möglich ist: morgen um 08:00; heute um",)),
        ("Recuérdame el tren a las 8", "es", ("Puede ser: mañana a las 08:00; hoy a las",)),
        (
            'Schick Bob "Hallo" per WhatsApp, aber nicht an Mum',
            "de",
            ("Grenze: aber nicht an Mum", "Deine Nachricht sagt “nicht”."),
        ),
    ],
)
async def test_the_card_speaks_the_language_of_the_message(
    tmp_path: Path, text: str, language: str, shown: tuple[str, ...]
) -> None:
    async with Talk(tmp_path) as world:
        heard = await world.say(text)
    assert heard.card is not None
    (review,) = heard.reviews
    said = "\n".join([*card_lines(heard.card, asks=False), review.question])

    assert (message_language(text), heard.card.language) == (language, language)
    assert all(each in said for each in shown), said


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('Send Bob "Hi" on WhatsApp', "Send this to Bob (+1555) on whatsapp?"),
        ('Schick Bob "Hallo" per WhatsApp', "Soll das so an Bob (+1555) gehen, über whatsapp?"),
        ('Manda a Bob "Hola" por WhatsApp', "¿Enviar esto a Bob (+1555) por whatsapp?"),
    ],
)
async def test_the_question_at_a_send_is_in_the_language_of_the_message(
    tmp_path: Path, text: str, asked: str
) -> None:
    async with Talk(tmp_path) as world:
        await world.say(text)
        await world.run()
        (review,) = await world.waiting()

    assert review.question == asked


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("tomorrow at 18:00", "Runs: Tue 2026-03-03 18:00"),
        ('"Good morning"', "Text: Good morning"),
    ],
)
async def test_a_line_of_the_card_is_changed_and_the_card_is_shown_again(
    tmp_path: Path, change: str, shown: str
) -> None:
    async with Talk(tmp_path) as world:
        await world.say('Send Bob and Mum "Hi" on WhatsApp, but not Anna Weber')
        (card,) = await world.waiting()
        await world.decide(card, ReviewAnswer.ANSWER, change)
        await world.run()
        (again,) = await world.waiting()
        before = list(world.whatsapp.sent)
        await world.decide(again, ReviewAnswer.ANSWER, "yes")
        await world.days(2)

    assert (before, shown in again.evidence) == ([], True)
    assert [each.recipient for each in world.whatsapp.sent] == ["+1555", "+1777"]


@pytest.mark.parametrize(("policy", "asks"), [("ask", True), ("allow", False), ("deny", False)])
async def test_the_card_says_that_you_are_asked_only_if_you_are(
    tmp_path: Path, policy: str, asks: bool
) -> None:
    book = ALLOWED.replace("allow", policy)
    async with Talk(tmp_path, book=book) as world:
        heard = await world.say('Send Bob "Hi" on WhatsApp')
        await world.run()
        asked = await world.waiting()
    assert heard.card is not None

    assert ("you are asked before it is sent" in card_lines(heard.card)) is asks
    assert bool(asked) is asks
