"""Questions on WhatsApp with buttons: decided there by the owner, and by nobody else."""

import asyncio
from datetime import timedelta
from pathlib import Path

from remit.model.status import Status
from tests.channels.whatsapp.whatsapp import PERSON, Message, Order, Provider, call, messages, tell
from tests.engine.rig import until
from tests.live.channel_app import NAME, WHATSAPP, ChannelApp

SETTINGS = f"""
[notices]
question = ["{NAME}"]
done = "none"
[deliver]
undo = 0
[brain]
kind = "none"
"""


async def asked(app: ChannelApp, provider: Provider, text: str) -> Message:
    """A message to Anna waits for a yes; return the card."""
    app.write("contacts.yaml", "- name: Anna\n  channels: {outbox: anna-1}\n")
    await app.send("outbox", text, "Anna")
    await app.world.app.herald.catch_up()
    return provider.accepted[-1]


async def press(
    app: ChannelApp, data: str, sender: str = PERSON, ref: str = "wamid.in.press"
) -> None:
    stamp = str(int(app.world.now.timestamp()))
    reply = {"type": "list_reply", "list_reply": {"id": data, "title": "Approve"}}
    said = {"from": sender, "id": ref, "timestamp": stamp, "type": "interactive"}
    assert await tell(app.hook, call(messages({**said, "interactive": reply}))) == 200
    await settle(app)


async def write(app: ChannelApp, text: str, ref: str) -> None:
    stamp = str(int(app.world.now.timestamp()))
    said = {"from": PERSON, "id": ref, "timestamp": stamp, "type": "text", "text": {"body": text}}
    assert await tell(app.hook, call(messages(said))) == 200
    await settle(app)


async def settle(app: ChannelApp) -> None:
    """Let the answer out, which waits for its turn."""
    for _ in range(5):
        app.world.clock.advance(timedelta(seconds=7))
        await asyncio.sleep(0.02)
    await app.world.run()


async def test_a_question_is_decided_by_its_buttons_on_whatsapp(tmp_path: Path) -> None:
    async with Provider() as provider:
        text = SETTINGS + WHATSAPP.format(url=provider.url)
        async with ChannelApp(tmp_path, text) as app:
            await app.owner_wrote()
            card = await asked(app, provider, "See you at noon.")
            assert list(card.buttons) == ["Approve", "Edit", "Send back", "Decline"]
            data = card.buttons["Approve"]

            # Nobody else, and nothing that was made up.
            await press(app, data, sender="4915112345678", ref="wamid.in.1")
            await press(app, data[:-1] + ("A" if data[-1] != "A" else "B"), ref="wamid.in.2")
            assert "Nothing was done" in provider.accepted[-1].text
            assert app.world.outbox.sent == []

            await press(app, card.buttons["Edit"], ref="wamid.in.3")
            assert "Write the text" in provider.accepted[-1].text
            await write(app, "See you at two.", "wamid.in.4")
            shown = provider.accepted[-1]
            assert "See you at two." in shown.text
            assert app.world.outbox.sent == []
            await press(app, shown.buttons["Approve this text"], ref="wamid.in.5")
            assert [each.body for each in app.world.outbox.sent] == ["See you at two."]

            await press(app, data, ref="wamid.in.6")
            assert "was decided before" in provider.accepted[-1].text
            assert len(app.world.outbox.sent) == 1


async def test_outside_the_window_and_under_a_long_text_there_are_no_buttons(
    tmp_path: Path,
) -> None:
    async with Provider() as provider:
        text = SETTINGS + WHATSAPP.format(url=provider.url)
        async with ChannelApp(tmp_path, text) as app:
            await app.owner_wrote()
            card = await asked(app, provider, "A long text. " * 100)
            assert card.kind == "text"
            assert card.buttons == {}
            await app.world.run(timedelta(hours=25))
            before = len(provider.accepted)
            task = await app.send("outbox", "See you at three.", "Anna")
            await app.world.app.herald.catch_up()
            assert len(provider.accepted) == before
            assert task.status is Status.NEEDS_REVIEW


async def test_an_answer_that_was_cut_while_it_went_out_is_not_sent_again(tmp_path: Path) -> None:
    async with (
        Provider() as provider,
        ChannelApp(tmp_path, SETTINGS + WHATSAPP.format(url=provider.url)) as app,
    ):
        await app.owner_wrote()
        await asked(app, provider, "See you at noon.")
        provider.orders = [Order(silent=True, accept=True), Order()]
        await press(app, "made up", ref="wamid.in.1")
        await until(lambda: "Nothing was done" in provider.accepted[-1].text)
        before, works = len(provider.accepted), asyncio.all_tasks()
        (reply,) = (work for work in works if work.get_name().startswith("reply:"))
        reply.cancel()

        async def is_over() -> bool:
            app.world.clock.advance(timedelta(seconds=1))
            loops = app.world.app.background.states
            return not any(each.name.startswith("reply:") for each in loops)

        await until(is_over)
        assert len(provider.accepted) == before


async def test_no_message_is_taken_for_a_text_that_was_asked_for_by_a_clock_that_was_ahead(
    tmp_path: Path,
) -> None:
    async with (
        Provider() as provider,
        ChannelApp(tmp_path, SETTINGS + WHATSAPP.format(url=provider.url)) as app,
    ):
        right = app.world.now
        app.world.clock.jump(right + timedelta(days=400))
        await app.owner_wrote()
        card = await asked(app, provider, "See you at noon.")
        await press(app, card.buttons["Edit"], ref="wamid.in.1")
        await until(lambda: "Write the text" in provider.accepted[-1].text)
        app.world.clock.jump(right + timedelta(days=1))
        await write(app, "Find two parks", "wamid.in.2")

        assert not [each for each in provider.accepted if "Approve this text" in each.buttons]
