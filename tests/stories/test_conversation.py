"""A day of talk: hand over, be told, reply by WhatsApp; every turn is answered, and once."""

from pathlib import Path

from remit.brain.scripted import parse
from remit.model.conversation import Action, Role
from remit.store import conversations
from remit.store.cues import InboundMessage
from remit.testing import Outbox, World
from tests.converse.talking import SCRIPT, began, ids, say, told, turns

BOOK = """\
- name: Hanan
  role: owner
  channels: {whatsapp: "+49 170 1234567"}
"""


def owned(home: Path) -> World:
    home.mkdir(exist_ok=True)
    (home / "contacts.yaml").write_text(BOOK)
    return World(home, brain=parse(SCRIPT), channels={"whatsapp": Outbox(name="whatsapp")})


def wrote(
    ref: str, text: str, sender: str = "491701234567", reply_to: str | None = None
) -> InboundMessage:
    body = {"kind": "text", "text": text, "reply_to": reply_to}
    return InboundMessage(f"whatsapp message {ref}", "whatsapp", {**body}, sender)


async def test_a_reply_by_whatsapp_finds_its_task_and_is_a_turn_where_it_was_born(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path) as app:
        talk = await began(app)
        made = await say(app, talk, "Research parks and send me the list on WhatsApp")
        await app.run()
        (task_id,) = ids(made)
        (delivery,) = (await app.get(task_id)).delivery

        reply = wrote("wamid.9", "is it done?", reply_to=delivery.receipt)
        first = await app.app.talk.receive(reply)
        again = await app.app.talk.receive(reply)
        assert first is not None
        assert again is not None
        await app.run()

        assert (first.conversation_id, first.n, first.about) == (talk, again.n, task_id)
        last = (await turns(app, talk))[-1]
        assert (last.answers, ids(last)) == (first.n, [task_id])
        assert last.channel == "whatsapp"


async def test_what_the_owner_writes_out_of_the_blue_begins_a_talk_of_that_channel(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path) as app:
        one = await app.app.talk.receive(wrote("1", "Remind me tomorrow at 9 to call mom"))
        two = await app.app.talk.receive(wrote("2", "cancel it"))
        assert one is not None
        assert two is not None
        await app.run()

        assert one.conversation_id == two.conversation_id
        found = await app.app.db.read(conversations.get, one.conversation_id)
        assert found.channel == "whatsapp"
        assert (await told(app, found.id))[-1] == "“Call mom” is cancelled."


async def test_a_stranger_and_a_picture_say_nothing(tmp_path: Path) -> None:
    async with owned(tmp_path) as app:
        assert await app.app.talk.receive(wrote("3", "cancel it", sender="4915199")) is None
        assert await app.app.talk.receive(wrote("4", "  ")) is None
        assert (
            await app.app.talk.receive(InboundMessage("r", "whatsapp", {"progress": "read"}))
            is None
        )
        assert await app.app.db.read(conversations.recent) == []


async def test_the_owner_talks_on_while_tasks_run_and_every_turn_is_answered(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path) as app:
        talk = await began(app)
        for text in ("Research parks", "what is running?", "Remind me tomorrow at 9 to call mom"):
            await app.app.talk.say(talk, text)
        await app.run()

        said = await turns(app, talk)
        owners = [turn.n for turn in said if turn.role is Role.USER]
        assert sorted(turn.answers for turn in said if turn.answers) == owners
        assert not any(turn.owed for turn in said)
        done = [ref for turn in said for ref in turn.task_refs if ref.action is Action.COMPLETED]
        assert len(done) == 1
