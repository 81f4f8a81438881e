"""`remit channels`: one that switched itself off is shown, and is on when the owner says so."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from tests.channels.webhook.hooks import SECRET, Receiver
from tests.channels.whatsapp.whatsapp import Order
from tests.cli.terminal import SETTINGS, Said, Terminal

HOOK: Final = """
[channels.shop]
kind = "webhook"
url = "{url}"
secret = "hook_secret"
private = true
"""


async def typed(seat: Terminal, *words: str) -> Said:
    return await asyncio.to_thread(seat.run, *words)


class Lenient(Receiver):
    """It looks at no timestamp: the house has a clock of the machine."""

    @property
    def now(self) -> int:
        return int(self.heard[-1].headers["webhook-timestamp"])

    @now.setter
    def now(self, _: int) -> None:
        pass


async def waiting(folder: Path, receiver: Receiver) -> Terminal:
    """A house whose hook is gone, and a task that waits for it."""
    receiver.orders = [Order(status=410), Order()]
    seat = Terminal(folder)
    (seat.home / "settings.toml").write_text(SETTINGS + HOOK.format(url=receiver.url))
    kept = ("secrets", "set", "hook_secret", "--file")
    await asyncio.to_thread(seat.run, *kept, stdin=SECRET)
    order = ("add", "Tell the shop", "--text", "Hello.", "--channel", "shop", "--wait")
    said = await typed(seat, *order)
    assert said.code == 4
    assert "remit channels on shop" in said.out + said.err
    return seat


async def test_a_hook_that_is_gone_is_shown_to_be_off_and_how_to_turn_it_on(
    tmp_path: Path,
) -> None:
    async with Lenient() as receiver:
        seat = await waiting(tmp_path, receiver)
        listed = await typed(seat, "channels")

        assert "off: its receiver says that it is gone (410)" in listed.out
        assert "remit channels on shop" in listed.err
        assert "(410)" in (await typed(seat, "doctor")).out


@pytest.mark.parametrize("runs", [False, True], ids=["alone", "beside a Remit"])
async def test_a_hook_that_is_turned_on_again_gets_what_waited_for_it(
    tmp_path: Path, runs: bool
) -> None:
    async with Lenient() as receiver:
        seat = await waiting(tmp_path, receiver)
        task = await asyncio.to_thread(seat.only)
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
        assert (await typed(seat, "audit")).code == 0
