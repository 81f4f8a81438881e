"""`remit channels`: what is listed, a real test message, and a channel that switched itself off."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import pytest

from tests.channels.webhook.hooks import SECRET as HOOK_SECRET
from tests.channels.webhook.hooks import Receiver
from tests.channels.whatsapp.whatsapp import (
    NUMBER_ID,
    PERSON,
    SECRET,
    TOKEN,
    Order,
    Provider,
    call,
    messages,
    statuses,
    tell,
)
from tests.cli.terminal import SETTINGS, Said, Terminal
from tests.ports import free_port

CHANNELS: Final = f"""
[channels.ninas_whatsapp]
kind = "whatsapp"
number_id = "{NUMBER_ID}"
token = "whatsapp_token"
app_secret = "whatsapp_app_secret"
verify_token = "whatsapp_verify"
owner = "{PERSON}"
template = "note"
aliases = ["My Phone"]
url = "{{url}}"
"""
WROTE: Final = {"from": PERSON, "id": "wamid.in.1", "type": "text", "text": {"body": "Hello"}}


def seated(folder: Path, url: str = "https://graph.example.test/v25.0") -> Terminal:
    seat = Terminal(folder)
    (seat.home / "settings.toml").write_text(SETTINGS + CHANNELS.format(url=url))
    for name, value in (("token", TOKEN), ("app_secret", SECRET), ("verify", "a-word-8812")):
        assert seat.run("secrets", "set", f"whatsapp_{name}", "--file", stdin=value).code == 0
    return seat


async def typed(seat: Terminal, *words: str) -> Said:
    return await asyncio.to_thread(seat.run, *words)


def test_the_list_says_what_each_channel_lacks_and_no_value(tmp_path: Path) -> None:
    seat = seated(tmp_path)
    assert seat.run("secrets", "delete", "whatsapp_token").code == 0
    listed, named = seat.run("channels", "--json"), seat.run("channels", WHATSAPP_TOKEN=TOKEN)
    shown, health = seat.run("channels"), seat.run("doctor")

    dashboard, phone = listed.maps("channels")
    assert (dashboard["name"], dashboard["verdict"]) == ("dashboard", "ok")
    facts = (phone["name"], phone["kind"], phone["verdict"])
    assert facts == ("ninas_whatsapp", "whatsapp", "warn")
    assert "lacks whatsapp_token" in shown.out
    assert "remit secrets set whatsapp_token" in shown.err
    assert "ninas_whatsapp (whatsapp): lacks whatsapp_token" in health.out
    # A secret may stand in the environment.
    assert "ok  has what it needs; its hook is /hooks/whatsapp/ninas_whatsapp" in named.out
    for said in (shown, health, listed, named):
        assert SECRET not in said.out + said.err
        assert TOKEN not in said.out + said.err


async def test_a_test_message_goes_out_and_the_report_on_it_is_shown(tmp_path: Path) -> None:
    async with Provider() as provider:
        seat = seated(tmp_path, provider.url)
        with seat.up() as up:
            hook = f"{up.told['url']}/hooks/whatsapp/ninas_whatsapp"
            assert await tell(hook, call(messages(WROTE))) == 200
            trial = asyncio.create_task(
                typed(seat, "channels", "test", "my phone", "--wait", "30", "--json")
            )
            async with asyncio.timeout(100):
                await provider.took.wait()
            (message,) = provider.accepted
            assert await tell(hook, call(statuses(provider.status(message, "delivered")))) == 200
            said = await trial

        assert (said.code, said.json["status"], said.json["report"]) == (0, "sent", "delivered")
        assert said.json["receipt"] == message.ref
        assert (message.kind, message.to) == ("text", PERSON)
        assert message.text.startswith("Test message ")


async def test_where_no_remit_runs_a_test_says_what_came_of_it_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    async with Provider() as provider:
        seat = seated(tmp_path, provider.url)
        went = await typed(seat, "channels", "test", "ninas_whatsapp")
        provider.orders = [Order(status=400, code=131026, details="No such number.")]
        refused = await typed(seat, "channels", "test", "ninas_whatsapp")
        provider.token = "EAAcanaryRenewed00112233"
        locked = await typed(seat, "channels", "test", "ninas_whatsapp")
        inbox = await typed(seat, "inbox", "--json")

    assert [said.code for said in (went, refused, locked)] == [0, 1, 4]
    assert f"sent, under the name {provider.accepted[0].ref}" in went.out
    assert "no report can come in" in went.err
    assert [message.kind for message in provider.accepted] == ["template"]
    assert "refused: " in refused.out
    assert "No such number" in refused.out
    assert "does not take the access token" in locked.out
    assert TOKEN not in locked.out + locked.err
    assert inbox.json["reviews"] == []


async def test_a_test_that_succeeds_lets_go_on_what_waited_for_the_channel(tmp_path: Path) -> None:
    async with Provider() as provider:
        seat = seated(tmp_path, provider.url)
        provider.token = "EAAcanaryRenewed00112233"
        with seat.up():
            task = await asyncio.to_thread(
                seat.add, "Greet me", "--text", "Hello.", "--channel", "ninas_whatsapp"
            )
            await asyncio.to_thread(seat.until, task, "needs_review")
            await asyncio.to_thread(
                seat.run, "secrets", "set", "whatsapp_token", stdin=provider.token
            )
            said = await typed(seat, "channels", "test", "ninas_whatsapp", "--wait", "0", "--json")
            await asyncio.to_thread(seat.until, task, "completed")

        assert (said.json["status"], said.json["released"]) == ("sent", 1)
        assert sorted(message.text[:5] for message in provider.accepted) == ["Hello", "Test "]


async def test_a_test_to_a_contact_asks_the_owner_and_then_goes_to_that_address(
    tmp_path: Path,
) -> None:
    async with Provider() as provider:
        seat = seated(tmp_path, provider.url)
        anna = "4915112345678"
        added = ("contacts", "add", "Anna Weber", "--channel", f"ninas_whatsapp={anna}")
        assert (await typed(seat, *added)).code == 0
        unasked = await typed(seat, "channels", "test", "ninas_whatsapp", "--to", "Anna Weber")
        assert unasked.code == 4, "nobody but the owner is written to unasked"
        assert "Send this to Anna Weber" in unasked.out
        assert provider.accepted == []

        assert (await typed(seat, "contacts", "allow", "Anna Weber", "ninas_whatsapp")).code == 0
        said = await typed(
            seat, "channels", "test", "ninas_whatsapp", "--to", "Anna Weber", "--json"
        )
        assert (said.code, said.json["status"]) == (0, "sent")
        assert [message.to for message in provider.accepted] == [anna]


HOOK: Final = """
[channels.shop]
kind = "webhook"
url = "{url}"
secret = "hook_secret"
private = true
"""


class Lenient(Receiver):
    """It looks at no timestamp: the app has a clock of the machine."""

    @property
    def now(self) -> int:
        return int(self.heard[-1].headers["webhook-timestamp"])

    @now.setter
    def now(self, _: int) -> None:
        pass


@pytest.mark.parametrize("runs", [False, True], ids=["alone", "beside a Remit"])
def test_a_test_that_cannot_connect_says_so_after_two_tries_and_is_not_sent_later(
    tmp_path: Path, runs: bool
) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "settings.toml").write_text(
        SETTINGS + HOOK.format(url=f"http://127.0.0.1:{free_port()}/")
    )
    assert seat.run("secrets", "set", "hook_secret", "--file", stdin=HOOK_SECRET).code == 0
    with seat.up() if runs else nullcontext():
        said = seat.run("channels", "test", "shop")

    assert said.code != 0
    assert "Could not connect" in said.out
    assert said.err.count("yet: Could not connect") == 2, "each try is shown, and there are two"
    assert seat.status(seat.only()) == "cancelled"


async def waiting(folder: Path, receiver: Receiver) -> Terminal:
    """An app whose hook is gone, and a task that waits for it."""
    receiver.orders = [Order(status=410), Order()]
    seat = Terminal(folder)
    (seat.home / "settings.toml").write_text(SETTINGS + HOOK.format(url=receiver.url))
    kept = ("secrets", "set", "hook_secret", "--file")
    await asyncio.to_thread(seat.run, *kept, stdin=HOOK_SECRET)
    order = ("add", "Tell the shop", "--text", "Hello.", "--channel", "shop", "--wait")
    said = await typed(seat, *order)
    assert said.code == 4
    assert "remit channels on shop" in said.out + said.err
    return seat


@pytest.mark.parametrize("runs", [False, True], ids=["alone", "beside a Remit"])
async def test_a_hook_that_is_gone_is_off_and_turned_on_again_gets_what_waited_for_it(
    tmp_path: Path, runs: bool
) -> None:
    async with Lenient() as receiver:
        seat = await waiting(tmp_path, receiver)
        task, listed = await asyncio.to_thread(seat.only), await typed(seat, "channels")
        assert "off: its receiver says that it is gone (410)" in listed.out
        assert "remit channels on shop" in listed.err
        assert "(410)" in (await typed(seat, "doctor")).out
        if runs:
            with seat.up():
                said = await typed(seat, "channels", "on", "shop")
                await asyncio.to_thread(seat.until, task, "completed")
        else:
            said = await typed(seat, "channels", "on", "shop")
            assert (await typed(seat, "run", task)).code == 0

        assert (said.code, said.err) == (0, "shop is on again; 1 task waited for it.\n")
        assert [taken.text for taken in receiver.taken] == ["Hello."]
        assert (await typed(seat, "channels", "on", "shop")).err == "shop was on.\n"
        assert (await typed(seat, "log", task)).out.count("Asks you") == 1
        assert (await typed(seat, "audit")).code == 0
