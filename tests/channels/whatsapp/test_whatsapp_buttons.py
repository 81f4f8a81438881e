"""Questions on WhatsApp with buttons: decided there by the owner, and by nobody else."""

import asyncio
from datetime import timedelta
from pathlib import Path

from remit.model.status import Status
from tests.channels.whatsapp.whatsapp import PERSON, Message, Order, Provider, call, messages, tell
from tests.engine.rig import until
from tests.live.channel_house import NAME, WHATSAPP, ChannelHouse

SETTINGS = f"""
[notices]
question = ["{NAME}"]
done = "none"
[deliver]
undo = 0
[brain]
kind = "none"
"""


async def asked(house: ChannelHouse, provider: Provider, text: str) -> Message:
    """A message to Anna waits for a yes; return the card."""
    house.write("contacts.yaml", "- name: Anna\n  channels: {outbox: anna-1}\n")
    await house.send("outbox", text, "Anna")
    await house.world.house.herald.catch_up()
    return provider.accepted[-1]


async def press(
    house: ChannelHouse, data: str, sender: str = PERSON, ref: str = "wamid.in.press"
) -> None:
    stamp = str(int(house.world.now.timestamp()))
    reply = {"type": "list_reply", "list_reply": {"id": data, "title": "Approve"}}
    said = {"from": sender, "id": ref, "timestamp": stamp, "type": "interactive"}
    assert await tell(house.hook, call(messages({**said, "interactive": reply}))) == 200
    await settle(house)


async def write(house: ChannelHouse, text: str, ref: str) -> None:
    stamp = str(int(house.world.now.timestamp()))
    said = {"from": PERSON, "id": ref, "timestamp": stamp, "type": "text", "text": {"body": text}}
    assert await tell(house.hook, call(messages(said))) == 200
    await settle(house)


async def settle(house: ChannelHouse) -> None:
    """Let the answer out, which waits for its turn."""
    for _ in range(5):
        house.world.clock.advance(timedelta(seconds=7))
        await asyncio.sleep(0.02)
    await house.world.run()


async def test_a_question_is_decided_by_its_buttons_on_whatsapp(tmp_path: Path) -> None:
    async with Provider() as provider:
        text = SETTINGS + WHATSAPP.format(url=provider.url)
        async with ChannelHouse(tmp_path, text) as house:
            await house.owner_wrote()
            card = await asked(house, provider, "See you at noon.")
            assert list(card.buttons) == ["Approve", "Edit", "Send back", "Decline"]
            data = card.buttons["Approve"]

            # Nobody else, and nothing that was made up.
            await press(house, data, sender="4915112345678", ref="wamid.in.1")
            await press(house, data[:-1] + ("A" if data[-1] != "A" else "B"), ref="wamid.in.2")
            assert "Nothing was done" in provider.accepted[-1].text
            assert house.world.outbox.sent == []

            await press(house, card.buttons["Edit"], ref="wamid.in.3")
            assert "Write the text" in provider.accepted[-1].text
            await write(house, "See you at two.", "wamid.in.4")
            shown = provider.accepted[-1]
            assert "See you at two." in shown.text
            assert house.world.outbox.sent == []
            await press(house, shown.buttons["Approve this text"], ref="wamid.in.5")
            assert [each.body for each in house.world.outbox.sent] == ["See you at two."]

            await press(house, data, ref="wamid.in.6")
            assert "was decided before" in provider.accepted[-1].text
            assert len(house.world.outbox.sent) == 1


async def test_outside_the_window_and_under_a_long_text_there_are_no_buttons(
    tmp_path: Path,
) -> None:
    async with Provider() as provider:
        text = SETTINGS + WHATSAPP.format(url=provider.url)
        async with ChannelHouse(tmp_path, text) as house:
            await house.owner_wrote()
            card = await asked(house, provider, "A long text. " * 100)
            assert card.kind == "text"
            assert card.buttons == {}
            await house.world.run(timedelta(hours=25))
            before = len(provider.accepted)
            task = await house.send("outbox", "See you at three.", "Anna")
            await house.world.house.herald.catch_up()
            assert len(provider.accepted) == before
            assert task.status is Status.NEEDS_REVIEW


async def test_an_answer_that_was_cut_while_it_went_out_is_not_sent_again(tmp_path: Path) -> None:
    async with (
        Provider() as provider,
        ChannelHouse(tmp_path, SETTINGS + WHATSAPP.format(url=provider.url)) as house,
    ):
        await house.owner_wrote()
        await asked(house, provider, "See you at noon.")
        provider.orders = [Order(silent=True, accept=True), Order()]
        await press(house, "made up", ref="wamid.in.1")
        await until(lambda: "Nothing was done" in provider.accepted[-1].text)
        before, works = len(provider.accepted), asyncio.all_tasks()
        (reply,) = (work for work in works if work.get_name().startswith("reply:"))
        reply.cancel()

        async def is_over() -> bool:
            house.world.clock.advance(timedelta(seconds=1))
            loops = house.world.house.background.states
            return not any(each.name.startswith("reply:") for each in loops)

        await until(is_over)
        assert len(provider.accepted) == before


async def test_no_message_is_taken_for_a_text_that_was_asked_for_by_a_clock_that_was_ahead(
    tmp_path: Path,
) -> None:
    async with (
        Provider() as provider,
        ChannelHouse(tmp_path, SETTINGS + WHATSAPP.format(url=provider.url)) as house,
    ):
        right = house.world.now
        house.world.clock.jump(right + timedelta(days=400))
        await house.owner_wrote()
        card = await asked(house, provider, "See you at noon.")
        await press(house, card.buttons["Edit"], ref="wamid.in.1")
        await until(lambda: "Write the text" in provider.accepted[-1].text)
        house.world.clock.jump(right + timedelta(days=1))
        await write(house, "Find two parks", "wamid.in.2")

        assert not [each for each in provider.accepted if "Approve this text" in each.buttons]
