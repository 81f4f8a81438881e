"""Mail, hooks, a bridge and Apprise from the settings, over real sockets, in a whole app."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from remit.channels.mail.mailbox_watch import BounceWatch
from remit.channels.webhook.sending import RETRY_SECONDS
from remit.intake.message import OwnerMessage
from remit.model.delivery import DeliveryStatus
from remit.model.status import Reason, Status
from remit.model.task import Source, SourceKind, Task
from remit.notify import remark
from tests.channels.mail.mail import PASSWORD, USER, Authority, PostOffice, box
from tests.channels.mail.test_email_mailbox import report
from tests.channels.webhook.hooks import SECRET as HOOK_SECRET
from tests.channels.webhook.hooks import Receiver
from tests.channels.whatsapp.whatsapp import PERSON, BridgeProvider, Cut, Order
from tests.live.channel_app import ChannelApp, only, states
from tests.live.proxy import Fault, Proxy
from tests.sections import mail_section, section


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def email(port: int, authority: Authority | None = None, imap: int | None = None) -> str:
    more = {"owner": "owner@example.test", "sender_name": "Nina"}
    if authority is not None:
        more |= {"security": "starttls", "ca_file": str(authority.file)}
        more |= {"user": USER, "password": "mail_password"}
    if imap is None:
        return mail_section(port, None, **more)
    text = mail_section(port, imap, **(more | {"imap_password": "mail_password"}))
    return text + 'sent_folders = ["Sent"]\n'


def hook(receiver: Receiver) -> str:
    return section(
        "channels.shop", kind="webhook", url=receiver.url, secret="hook_secret", private=True
    )


def kept() -> dict[str, str]:
    return {"mail_password": PASSWORD, "hook_secret": HOOK_SECRET}


async def test_a_letter_goes_out_with_markdown_kept_and_its_id_is_the_receipt(
    tmp_path: Path, authority: Authority
) -> None:
    async with (
        PostOffice(starttls=authority.server(), login=True) as office,
        ChannelApp(tmp_path, email(office.port, authority), kept()) as app,
    ):
        task = await app.send("post", "# Parks\n\n- **Lumphini**")

        assert task.status is Status.COMPLETED
        (mail,) = office.accepted
        assert mail.to == ("owner@example.test",)
        assert mail.parsed["Subject"] == "Parks"
        assert mail.parsed["Message-ID"] == only(task).receipt
        assert str(only(task).id) in (only(task).receipt or "")


_SOURCE = Source(SourceKind.MANUAL, "said-1")


async def cut_after_the_letter(app: ChannelApp, proxy: Proxy) -> Task:
    """Send a letter whose answer is lost on the way back, after one that went well."""
    task = await app.send("post", "Good day.")
    assert task.status is Status.COMPLETED
    # The second letter goes over the same line, and is answered from its sender on.
    begun, told = (bytes(proxy.said).index(word) for word in (b"250 2.1.0", b"250 2.0.0"))
    proxy.fault = Fault(down=proxy.down + told - begun + 2)
    task = await app.send("post", "Good day.")
    assert states(task) == ["unknown"]
    return task


async def test_a_letter_whose_answer_was_lost_is_found_among_the_sent_ones(tmp_path: Path) -> None:
    with box(None, tmp_path) as mailbox:
        await asyncio.to_thread(mailbox.make, "Sent")
        async with PostOffice() as office, Proxy(office.port) as proxy:
            text = email(proxy.port, imap=mailbox.port)
            async with ChannelApp(tmp_path / "home", text, kept()) as app:
                task = await cut_after_the_letter(app, proxy)
                assert task.status is Status.DELIVERING, "the mailbox may still tell"
                await asyncio.to_thread(mailbox.put, "Sent", office.accepted[1].content)
                task = await app.passes(task.id, 901)

                assert (task.status, states(task)) == (Status.COMPLETED, ["sent"])
                assert only(task).receipt == office.accepted[1].parsed["Message-ID"]
                assert len(office.accepted) == 2


async def test_a_letter_in_doubt_is_asked_about_at_once_without_a_mailbox(tmp_path: Path) -> None:
    async with PostOffice() as office, Proxy(office.port) as proxy:
        text = email(proxy.port)
        async with ChannelApp(tmp_path, text, kept()) as app:
            task = await cut_after_the_letter(app, proxy)

            assert task.status is Status.NEEDS_REVIEW
            assert (await app.only_question()).reason is Reason.AMBIGUOUS
            assert len(office.accepted) == 2


def bounces(app: ChannelApp) -> BounceWatch:
    watches = app.world.app.outfit.watches
    return next(each for each in watches if isinstance(each, BounceWatch))


async def test_a_letter_that_comes_back_later_is_told_to_the_owner_once(tmp_path: Path) -> None:
    with box(None, tmp_path) as mailbox:
        async with PostOffice() as office:
            text = email(office.port, imap=mailbox.port)
            async with ChannelApp(tmp_path / "home", text, kept()) as app:
                task = await app.send("post", "Good day.")
                watch = bounces(app)
                assert await watch.look() == 0
                back = report(original=only(task).receipt or "")
                await asyncio.to_thread(mailbox.put, "INBOX", back)
                assert [await watch.look() for _ in range(2)] == [1, 0]
                await app.restart()
                await bounces(app).look()

                history = await app.world.history(task.id)
                notices = [found for each in history if (found := remark(each, "Greeting"))]
                told = [each.text for each in notices if each.urgent]
                assert len(told) == 1
                assert told[0].startswith("Greeting: a message did not arrive. The letter came")
                assert (await app.world.get(task.id)).status is Status.COMPLETED


async def test_a_mailbox_that_says_nothing_does_not_keep_remit_from_stopping(
    tmp_path: Path,
) -> None:
    called, lines = asyncio.Event(), list[asyncio.StreamWriter]()

    def silent(_: asyncio.StreamReader, line: asyncio.StreamWriter) -> None:
        lines.append(line)
        called.set()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        text = email(9, imap=port)
        async with ChannelApp(tmp_path, text, kept()) as app:
            app.world.app.outfit.start()
            async with asyncio.timeout(100):
                await called.wait()
        async with asyncio.timeout(50):  # its thread has a minute
            await asyncio.get_running_loop().shutdown_default_executor()
        for line in lines:
            line.close()


async def test_letters_of_one_session_to_one_person_stand_in_one_thread(tmp_path: Path) -> None:
    async with PostOffice() as office:
        text = email(office.port)
        async with ChannelApp(tmp_path, text, kept()) as app:
            said = OwnerMessage(
                text="Every day at 10:00 send me 'Good day.' by my mail", source=_SOURCE
            )
            heard = await app.world.app.intake.hear(said)
            assert heard.tasks, heard
            await app.world.run(timedelta(days=3))
            alone = await app.send("post", "Good evening.")

            first, second, third, last = (mail.parsed for mail in office.accepted)
            assert alone.status is Status.COMPLETED
            assert (first["References"], last["References"]) == (None, None)
            assert second["In-Reply-To"] == first["Message-ID"]
            assert third["References"].split() == [first["Message-ID"], second["Message-ID"]]


async def test_a_wrong_password_asks_the_owner_and_a_renewed_one_goes_on(
    tmp_path: Path, authority: Authority
) -> None:
    async with (
        PostOffice(starttls=authority.server(), login=True) as office,
        ChannelApp(
            tmp_path, email(office.port, authority), {"mail_password": "wrong-canary-1"}
        ) as app,
    ):
        task = await app.send("post", "Good day.")
        question = await app.only_question()
        assert (question.reason, question.about) == (Reason.AUTH, "channel:post")
        assert "wrong-canary-1" not in question.question

        app.secrets.put("mail_password", PASSWORD)
        await app.restart()
        task = await app.passes(task.id, 60)

        assert task.status is Status.COMPLETED
        assert len(office.accepted) == 1


async def test_a_hook_is_told_until_it_says_yes_and_takes_the_event_once(tmp_path: Path) -> None:
    async with (
        Receiver() as receiver,
        ChannelApp(tmp_path, hook(receiver), kept()) as app,
    ):
        cut = Order(cut=Cut.BEFORE_ANSWER, accept=True)
        receiver.orders = [Order(status=500, accept=True), cut, *[Order(status=503)] * 5, Order()]
        task = await app.send("shop", "Good day.")
        for pause in RETRY_SECONDS[:7]:
            assert (task.status, states(task)) == (Status.DELIVERING, ["pending"])
            receiver.now += pause + 1
            task = await app.passes(task.id, pause + 1)

        assert task.status is Status.COMPLETED, "it is tried more often than a task has tries"
        assert [taken.text for taken in receiver.taken] == ["Good day."]
        assert len(receiver.heard) == 8
        assert len({heard.headers["webhook-id"] for heard in receiver.heard}) == 1


async def test_a_hook_that_never_says_yes_is_given_up_after_its_last_pause(tmp_path: Path) -> None:
    async with (
        Receiver() as receiver,
        ChannelApp(tmp_path, hook(receiver), kept()) as app,
    ):
        receiver.orders = [Order(status=404)]
        task = await app.send("shop", "Good day.")
        task = await app.passes(task.id, sum(RETRY_SECONDS) + 60)

        assert task.status is Status.FAILED
        assert only(task).status is DeliveryStatus.REFUSED
        assert len(receiver.heard) == len(RETRY_SECONDS) + 1


async def test_a_hook_that_is_gone_stays_off_over_a_restart_until_the_owner_turns_it_on(
    tmp_path: Path,
) -> None:
    async with (
        Receiver() as receiver,
        ChannelApp(tmp_path, hook(receiver), kept()) as app,
    ):
        receiver.orders = [Order(status=410), Order()]
        tasks = [await app.send("shop", text) for text in ("Good day.", "Good evening.")]
        asked = await app.world.waiting()
        assert {each.reason for each in asked} == {Reason.AUTH}
        assert all("remit channels on shop" in each.question for each in asked)
        await app.restart()
        tasks = [await app.passes(each.id) for each in tasks]
        assert [(each.status, states(each)) for each in tasks] == [
            (Status.NEEDS_REVIEW, ["pending"])
        ] * 2
        assert len(receiver.heard) == 1, "a restart asks again, and sends nothing"

        assert (await app.world.app.permits.switch_on("shop"))["released"] == 2
        tasks = [await app.passes(each.id) for each in tasks]
        assert [states(each) for each in tasks] == [["sent"]] * 2
        assert len(receiver.taken) == 2


@pytest.mark.parametrize("knows_ids", [True, False])
async def test_only_a_bridge_that_knows_ids_is_given_a_doubtful_message_again(
    tmp_path: Path, *, knows_ids: bool
) -> None:
    async with BridgeProvider(knows_ids=knows_ids) as bridge:
        text = section(
            "channels.phone", kind="bridge", url=bridge.root, owner=PERSON, knows_ids=knows_ids
        )
        async with ChannelApp(tmp_path, text, {}) as app:
            bridge.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order()]
            task = await app.send("phone", "Good day.")
            assert states(task) == ["unknown"]
            task = await app.passes(task.id, 61)

            assert len(bridge.accepted) == 1
            if knows_ids:
                assert task.status is Status.COMPLETED
                assert only(task).receipt == bridge.accepted[0].ref
            else:
                assert (await app.only_question()).reason is Reason.AMBIGUOUS


async def test_apprise_without_an_address_asks_the_owner(tmp_path: Path) -> None:
    text = '[channels.push]\nkind = "apprise"\nowner = "me"\ntargets = { me = "push_address" }\n'
    async with ChannelApp(tmp_path, text, {}) as app:
        task = await app.send("push", "Good day.")

        assert task.status is Status.NEEDS_REVIEW
        assert (await app.only_question()).about == "channel:push"
