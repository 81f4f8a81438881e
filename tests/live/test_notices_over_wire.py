"""Notices by WhatsApp and by mail, over real sockets: once, in one line, healed by a report."""

from datetime import timedelta
from pathlib import Path

from remit.model.conversation import Notice, NoticeState
from remit.store import notices
from tests.channels.mail.mail import PostOffice
from tests.channels.whatsapp.whatsapp import (
    PERSON,
    Provider,
    call,
    messages,
    tell,
)
from tests.live.channel_app import NAME, WHATSAPP, ChannelApp
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


async def told(app: ChannelApp, title: str = "Renew it") -> Notice:
    """Something that fails or asks, and what became of the notice about it."""
    await app.world.add(title, channel="dashboard")
    await app.world.run()
    return await again(app)


async def again(app: ChannelApp) -> Notice:
    await app.world.app.herald.catch_up()
    return (await app.world.app.db.read(notices.recent))[0][1]


async def quarter(app: ChannelApp) -> None:
    """So long after he wrote nobody is here any more."""
    await app.world.run(timedelta(minutes=16))


async def test_a_notice_by_whatsapp_is_one_short_line_to_its_owner(tmp_path: Path) -> None:
    async with Provider() as provider, ChannelApp(tmp_path, whatsapp(provider)) as app:
        await app.owner_wrote()
        await quarter(app)
        notice = await told(app, TITLE)
        (message,) = provider.accepted

        assert (message.to, message.key) == (PERSON, notice.id)
        assert (notice.state, notice.receipt) == (NoticeState.SENT, message.ref)
        assert "\n" not in str(message.text)
        assert "evil.example" not in str(message.text)
        assert str(message.text).count("https://") == 1
        assert "https://remit.example.test/" in str(message.text)


async def test_who_writes_by_whatsapp_is_told_by_it_and_his_reply_finds_the_task(
    tmp_path: Path,
) -> None:
    async with Provider() as provider, ChannelApp(tmp_path, whatsapp(provider)) as app:
        await app.owner_wrote()
        notice = await told(app)
        (message,) = provider.accepted
        stamp = str(int(app.world.now.timestamp()))
        said = {"from": PERSON, "id": "wamid.in.2", "timestamp": stamp, "type": "text"}
        reply = {**said, "text": {"body": "What is that?"}, "context": {"id": message.ref}}
        assert await tell(app.hook, call(messages(reply))) == 200

        found = await app.world.app.db.read(notices.replied_to, NAME, message.ref)
        assert found == notice.telling.task_id


async def test_a_notice_by_mail_has_one_subject_one_recipient_and_one_link(tmp_path: Path) -> None:
    async with PostOffice() as office:
        text = WISHES.format(way="post") + email(office)
        async with ChannelApp(tmp_path, text) as app:
            notice = await told(app, TITLE)
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
        async with ChannelApp(tmp_path, text) as app:
            await app.owner_wrote()
            await quarter(app)
            app.write("contacts.yaml", "- name: Anna\n  channels: {outbox: anna-1}\n")
            await app.send("outbox", "See you at noon.", "Anna")
            await again(app)
        (mail,), (message,) = office.accepted, provider.accepted
        for said in (mail.parsed.as_string(), message.text):
            assert "See you at noon." in said
            assert "://" not in said
