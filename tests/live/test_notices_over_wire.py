"""Notices by WhatsApp and by mail, over real sockets: once, in one line, healed by a report."""

from datetime import timedelta
from pathlib import Path

from remit.model.conversation import Notice, NoticeState
from remit.store import events, notices
from tests.channels.mail.mail import PostOffice
from tests.channels.whatsapp.whatsapp import (
    PERSON,
    Cut,
    Order,
    Provider,
    call,
    messages,
    statuses,
    tell,
)
from tests.live.channel_house import NAME, WHATSAPP, ChannelHouse
from tests.sections import mail_section

WISHES = """
[notices]
failed = ["{way}"]
question = ["{way}"]
done = "none"
link = "https://remit.example.test"

[brain]
kind = "none"
"""


def email(office: PostOffice) -> str:
    return mail_section(office.port, owner="owner@example.test")


TITLE = "Look at [this](https://evil.example)\r\nBcc: all@example.test"


def whatsapp(provider: Provider) -> str:
    return WISHES.format(way=NAME) + WHATSAPP.format(url=provider.url)


async def told(house: ChannelHouse, title: str = "Renew it") -> Notice:
    """Something that fails or asks, and what became of the notice about it."""
    await house.world.add(title, channel="dashboard")
    await house.world.run()
    return await again(house)


async def again(house: ChannelHouse) -> Notice:
    await house.world.house.herald.catch_up()
    return (await house.world.house.db.read(notices.recent))[0][1]


async def quarter(house: ChannelHouse) -> None:
    """So long after he wrote nobody is here any more."""
    await house.world.run(timedelta(minutes=16))


async def test_a_notice_by_whatsapp_is_one_short_line_to_its_owner(tmp_path: Path) -> None:
    async with Provider() as provider, ChannelHouse(tmp_path, whatsapp(provider)) as house:
        await house.owner_wrote()
        await quarter(house)
        notice = await told(house, TITLE)
        (message,) = provider.accepted

        assert (message.to, message.key) == (PERSON, notice.id)
        assert (notice.state, notice.receipt) == (NoticeState.SENT, message.ref)
        assert "\n" not in str(message.text)
        assert "evil.example" not in str(message.text)
        assert str(message.text).count("https://") == 1
        assert "https://remit.example.test/" in str(message.text)


async def test_a_lost_answer_leaves_a_doubt_that_a_report_heals_with_one_message(
    tmp_path: Path,
) -> None:
    async with Provider() as provider, ChannelHouse(tmp_path, whatsapp(provider)) as house:
        await house.owner_wrote()
        await quarter(house)
        provider.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order()]
        assert (await told(house)).state is NoticeState.UNKNOWN
        await house.world.run(timedelta(hours=1))
        assert (await again(house)).state is NoticeState.UNKNOWN
        before = await house.world.house.db.read(events.last)
        lives = [provider.status(message, "delivered") for message in provider.accepted]
        assert await tell(house.hook, call(statuses(*lives))) == 200

        assert (await again(house)).state is NoticeState.SENT
        assert len(provider.accepted) == 1
        assert await house.world.house.db.read(events.last) == before


async def test_who_writes_by_whatsapp_is_told_by_it_and_his_reply_finds_the_task(
    tmp_path: Path,
) -> None:
    async with Provider() as provider, ChannelHouse(tmp_path, whatsapp(provider)) as house:
        await house.owner_wrote()
        notice = await told(house)
        (message,) = provider.accepted
        stamp = str(int(house.world.now.timestamp()))
        said = {"from": PERSON, "id": "wamid.in.2", "timestamp": stamp, "type": "text"}
        reply = {**said, "text": {"body": "What is that?"}, "context": {"id": message.ref}}
        assert await tell(house.hook, call(messages(reply))) == 200

        found = await house.world.house.db.read(notices.replied_to, NAME, message.ref)
        assert found == notice.telling.task_id


async def test_a_notice_by_mail_has_one_subject_one_recipient_and_one_link(tmp_path: Path) -> None:
    async with PostOffice() as office:
        text = WISHES.format(way="post") + email(office)
        async with ChannelHouse(tmp_path, text) as house:
            notice = await told(house, TITLE)
        (mail,) = office.accepted

        assert mail.to == ("owner@example.test",)
        assert mail.parsed.get_all("Bcc") is None
        assert len(mail.parsed.get_all("Subject") or []) == 1
        assert str(mail.parsed["Message-ID"]).startswith(f"<{notice.id}@")
        body = mail.parsed.get_body(("html",))
        assert body is not None
        assert "evil.example" not in body.get_content()
        assert body.get_content().count("<a ") <= 1


async def test_without_a_public_address_no_message_links_anywhere(tmp_path: Path) -> None:
    async with PostOffice() as office, Provider() as provider:
        nowhere = WISHES.replace("https://remit.example.test", "").format(way=f'post", "{NAME}')
        text = nowhere + email(office) + WHATSAPP.format(url=provider.url)
        async with ChannelHouse(tmp_path, text) as house:
            await house.owner_wrote()
            await quarter(house)
            house.write("contacts.yaml", "- name: Anna\n  channels: {outbox: anna-1}\n")
            await house.send("outbox", "See you at noon.", "Anna")
            await again(house)
        (mail,), (message,) = office.accepted, provider.accepted
        for said in (mail.parsed.as_string(), message.text):
            assert "See you at noon." in said
            assert "://" not in said


async def test_a_mail_server_that_is_away_gets_it_later_and_once(tmp_path: Path) -> None:
    async with PostOffice() as office:
        text = WISHES.format(way="post") + email(office)
        async with ChannelHouse(tmp_path, text) as house:
            office.says = {"MAIL": "451 later"}
            assert (await told(house)).state is NoticeState.NEW
            office.says = {}
            await house.world.run(timedelta(hours=1))
            assert (await again(house)).state is NoticeState.SENT
            await house.restart()
            await again(house)

        assert len(office.accepted) == 1
