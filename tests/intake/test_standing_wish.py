"""A standing wish is no task and no text: it is proposed as a rule, and the courier keeps to it."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.standing_wish import find_standing_wish
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from tests.intake.heard_world import Talk
from tests.tables import for_each

PEOPLE = (Contact("May"), Contact("Anna"), Contact("Luis"))
BOOK = ContactBook(Contact("Hanan"), (ChannelName("whatsapp", "whatsapp"),), PEOPLE)
ALLOWED = """\
- name: Bob
  channels: {whatsapp: "+1555"}
  policy: {whatsapp: allow}
"""


@for_each(
    ("text", "wish"),
    [
        ("never message May after 10 pm", ("May", "22:00-07:00")),
        ("Never text May after 10pm or before 7:30", ("May", "22:00-07:00", "00:00-07:30")),
        ("no messages to May on weekends", ("May", "saturday", "sunday")),
        ("don't text Anna between 22 and 7", ("Anna", "22:00-07:00")),
        ("schreib Anna nie am Sonntag", ("Anna", "sunday")),
        ("Schick Luis nie nach 22 Uhr was", ("Luis", "22:00-07:00")),
        ("Bitte Anna niemals nachts schreiben", ("Anna", "22:00-07:00")),
        ("no le escribas a Luis por la noche", ("Luis", "22:00-07:00")),
        ("nunca le escribas a Luis después de las 22:30", ("Luis", "22:30-07:00")),
        ("no le mandes mensajes a Luis los domingos", ("Luis", "sunday")),
        ("never message May", None),
        ("text May after 10 pm", None),
        ("never tell May about the party after 10 pm", None),
        ('never text May "hi" after 10 pm', None),
        ("schreib Anna nicht am Sonntag, sondern am Montag", None),
        ("never message May or Anna after 10 pm", None),
    ],
)
def test_only_a_message_that_is_nothing_else_is_a_wish(
    text: str, wish: tuple[str, ...] | None
) -> None:
    found = find_standing_wish(text, BOOK)

    assert (found and (found.name, *found.quiet.texts)) == wish


@pytest.mark.parametrize("accepts", [True, False])
async def test_a_wish_is_proposed_and_kept_to_once_it_is_accepted(
    tmp_path: Path, accepts: bool
) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        heard = await world.say("Never message Bob after 10 pm", "wish")
        again = await world.say("Never message Bob after 10 pm", "wish")
        (asked,) = await world.waiting()
        before = (tmp_path / "contacts.yaml").read_text()
        await world.decide(asked, ReviewAnswer.APPROVE if accepts else ReviewAnswer.DECLINE)
        await world.run()
        rule = await world.get(asked.task_id)
        await world.run(timedelta(hours=13, minutes=30))  # half past eleven in the evening
        send = (await world.say('Send Bob "Good night" on WhatsApp', "send")).tasks[0]
        await world.run(timedelta(hours=1))
        at_night = len(world.whatsapp.sent)
        await world.run(timedelta(hours=8))
        sent, ended = len(world.whatsapp.sent), await world.get(send.id)
        complaints = await world.complaints()

    assert (heard.tasks, [each.id for each in heard.reviews]) == ((), [asked.id])
    assert [each.id for each in again.reviews] == [asked.id]
    assert before == ALLOWED
    assert asked.question == (
        "Shall this be a rule from now on: Bob gets nothing from 22:00 to 07:00?"
    )
    after = (tmp_path / "contacts.yaml").read_text()
    assert ("22:00-07:00" in after, at_night) == ((True, 0) if accepts else (False, 1))
    assert rule.status is (Status.COMPLETED if accepts else Status.CANCELLED)
    assert (sent, ended.status) == (1, Status.COMPLETED)
    assert complaints == []


async def test_on_a_quiet_day_nothing_goes_out(tmp_path: Path) -> None:
    book = ALLOWED + "  quiet: [monday, tuesday, '00:00-10:00']\n"
    async with Talk(tmp_path, book=book) as world:  # it is Monday
        await world.say('Send Bob "Hi" on WhatsApp')
        await world.days(1.9)
        before = len(world.whatsapp.sent)
        await world.days(0.2)

    assert (before, len(world.whatsapp.sent)) == (0, 1)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Schreib Bob nie am Sonntag", "Soll das ab jetzt eine Regel sein: Bob bekommt sonntags"),
        ("No le escribas a Bob por la noche", "¿Ha de ser una regla desde ahora: Bob no recibe"),
    ],
)
async def test_the_proposal_speaks_the_language_of_the_wish(
    tmp_path: Path, text: str, question: str
) -> None:
    async with Talk(tmp_path, book=ALLOWED) as world:
        heard = await world.say(text)

    assert heard.reviews[0].question.startswith(question)
