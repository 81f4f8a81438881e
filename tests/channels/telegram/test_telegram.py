"""What each answer of the Bot API means for a message, and for fetching messages."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from remit.channels.telegram.bot_api import BotApi
from remit.channels.telegram.polling import TelegramTrouble, TelegramWatch
from remit.channels.telegram.sending import MAX_UNITS, TelegramChannel, render, split, units
from remit.errors import BadInput
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.ports import Brain
from remit.settings import load
from remit.store import after_restore, meta, search
from remit.store.secrets import Secrets
from remit.testing import FrozenClock, World
from tests.channels.telegram.bot_server import OWNER, TOKEN, BotServer, Cut, Fault
from tests.tables import for_each

HERE = f"{OWNER}@telegram"
ANSWERS: dict[str, tuple[Fault, type[Answer], str, int]] = {  # and how often it is accepted
    "taken": (Fault(), Accepted, f"{OWNER}:", 1),
    "too many": (Fault(429, "Too Many Requests", retry_after=17), SendRetry, "patience", 0),
    "blocked": (Fault(403, "Forbidden: bot was blocked by the user"), Refused, "has blocked", 0),
    "gone": (Fault(403, "Forbidden: user is deactivated"), Refused, "was deleted", 0),
    "unknown chat": (Fault(400, "Bad Request: chat not found"), Refused, "does not know", 0),
    "another no": (Fault(400, "Bad Request: no idea"), Refused, "no idea", 0),
    "revoked": (Fault(401, "Unauthorized"), Locked, "@BotFather", 0),
    "down": (Fault(502, "Bad Gateway"), Unknown, "neither yes nor no", 0),
    "down, in HTML": (Fault(500, body=b"<html>"), Unknown, "500", 0),
    "a yes without a name": (Fault(200, body=b'{"ok": true, "result": {}}'), Unknown, "named", 0),
    "not JSON": (Fault(200, body=b"ok"), Unknown, "named no message", 0),
    "cut before it was taken": (Fault(cut=Cut.BEFORE), Unknown, "the line broke", 0),
    "cut after it was taken": (Fault(cut=Cut.AFTER), Unknown, "the line broke", 1),
}


@for_each(("order", "means", "words", "times"), ANSWERS.values())
async def test_an_answer_means_what_it_says_and_never_shows_the_token(
    order: Fault, means: type[Answer], words: str, times: int
) -> None:
    async with BotServer() as bot:
        bot.orders = [order]
        channel = _channel(bot)
        answer = await channel.send(Parcel("dlv-1", HERE, "Good day."))
        await channel.close()

    assert isinstance(answer, means)
    said = answer.ref if isinstance(answer, Accepted) else answer.why
    assert words in said
    assert TOKEN not in said
    assert len(bot.accepted) == times
    if isinstance(answer, SendRetry):
        assert answer.after == 17
        assert not answer.spends


async def test_what_cannot_be_sent_is_refused_before_a_byte_leaves() -> None:
    async with BotServer() as bot:
        channel = _channel(bot)
        for to, body in ((None, "Hi"), ("55120001", "Hi"), (HERE, " "), (HERE, "😀" * 2049)):
            assert isinstance(await channel.send(Parcel("dlv-1", to, body)), Refused)
        unset = TelegramChannel(BotApi(str, bot.root), FrozenClock())
        assert isinstance(await unset.send(Parcel("dlv-1", HERE, "Hi")), Locked)
        assert bot.asked == []
        await channel.close()
        await unset.close()
    with pytest.raises(BadInput):
        BotApi(str, "http://api.telegram.org")


TEXTS = {
    "marks": ("**Bold** and `code_it`", "Bold and code_it", ["bold", "code"]),
    "signs in words": ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name", []),
    "a hidden address": ("[here](https://e.example)", "here (https://e.example)", []),
    "a broken mark": ("**half and _half", "**half and _half", []),
    "html": ("<b>no</b> & <script>", "<b>no</b> & <script>", []),
    "emoji before a mark": ("😀 **x**", "😀 x", ["bold"]),
    "private characters": ("\ue000 **x**", "\ue000 **x**", []),
}


@for_each(("markdown", "shown", "kinds"), TEXTS.values())
async def test_a_text_is_shown_with_marks_that_cannot_break(
    markdown: str, shown: str, kinds: list[str]
) -> None:
    made = render(markdown)
    assert made.text == shown
    assert [each["type"] for each in made.entities] == kinds
    async with BotServer() as bot:
        channel = _channel(bot)
        assert isinstance(await channel.send(Parcel("dlv-1", HERE, markdown)), Accepted)
        await channel.close()


def test_a_long_text_loses_no_word_and_no_part_is_too_long() -> None:
    for text in ("A word. " * 2000, "😀 grin " * 1500, "👩‍👩‍👧" * 2000, "**bold** " * 1200):
        made = split(text)
        assert all(units(part) <= MAX_UNITS for part in made)
        assert "".join(made).replace(" ", "") == text.replace(" ", "")


POLLS: dict[str, tuple[list[Fault], str]] = {  # what happens, and what the owner is told
    "a short outage": ([Fault(502, "Bad Gateway"), Fault(cut=Cut.BEFORE)], ""),
    "patience": ([Fault(429, "Too Many Requests", retry_after=3)], ""),
    "a long outage": ([Fault(502, "Bad Gateway")] * 8, "cannot be reached"),
    "revoked": ([Fault(401, "Unauthorized")], "does not take the token"),
    "two pollers": (
        [Fault(409, "Conflict: terminated by other getUpdates")] * 4,
        "Another program",
    ),
}


@pytest.mark.parametrize(("faults", "told"), POLLS.values(), ids=POLLS)
async def test_fetching_goes_on_or_the_owner_is_told_why_not(
    tmp_path: Path, faults: list[Fault], told: str
) -> None:
    async with BotServer() as bot, telegram_world(tmp_path, bot) as world:
        watch = telegram_watch(world)
        bot.polls = [*faults, Fault()]
        for _ in faults[1:] if told else ():
            assert not await _look(world, watch)
        if told:
            with pytest.raises(TelegramTrouble, match=told):
                await _look(world, watch)
        bot.write("Find two parks")
        while not await _look(world, watch):
            pass
        await world.run()
        assert "Find two parks" in await _titles(world)


async def test_a_webhook_that_somebody_set_is_taken_away(tmp_path: Path) -> None:
    async with BotServer() as bot, telegram_world(tmp_path, bot) as world:
        bot.webhook = True
        bot.write("Find two parks")
        watch = telegram_watch(world)
        while not await _look(world, watch):
            pass
        assert not bot.webhook


BROKEN: list[dict[str, object]] = [
    {},
    {"message": 7},
    {"message": {"chat": {"id": "x"}}},
    {"poll": {}},
]


async def test_an_update_that_breaks_something_does_not_block_the_next(tmp_path: Path) -> None:
    async with BotServer() as bot, telegram_world(tmp_path, bot) as world:
        for broken in BROKEN:
            bot.bring(broken)
        bot.write("x" * 50_000)  # longer than a turn may be
        bot.write("Find two parks")
        watch = telegram_watch(world)
        assert await _look(world, watch) == 6
        await world.run()
        assert "Find two parks" in await _titles(world)
        stored = await world.app.db.read(meta.get, "telegram:telegram:offset")
        assert await _look(world, watch) == 0
        assert stored == str(bot.asked[-1][1]["offset"])


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=400)])
async def test_after_a_quiet_week_telegram_may_number_from_anywhere(
    tmp_path: Path, ahead: timedelta
) -> None:
    """Also if the clock was ahead before it."""
    async with BotServer() as bot, telegram_world(tmp_path, bot) as world:
        watch, began = telegram_watch(world), world.now
        world.clock.jump(began + ahead)
        bot.write("Find two parks")
        assert await _look(world, watch) == 1
        await _look(world, watch)
        world.clock.jump(began + timedelta(days=8))
        bot.number_anew(7)
        bot.write("Find three lakes")
        assert await _look(world, watch) == 1
        bot.write("Find four hills")
        assert await _look(world, watch) == 1
        await world.run()
        assert {"Find two parks", "Find three lakes", "Find four hills"} <= {*await _titles(world)}


async def test_after_a_restore_no_answer_is_sent_that_may_be_out(tmp_path: Path) -> None:
    async with BotServer() as bot, telegram_world(tmp_path, bot) as world:
        relay, db = telegram_watch(world).relay, world.app.db
        await relay.begin()
        bot.write("Find two parks")
        await _look(world, telegram_watch(world))
        await world.run()
        last = await world.app.journal.last()
        assert await relay.begin() < last, "what happened since is still to be told"
        await db.write(after_restore.note, world.now)
        assert await relay.begin() == last
        await db.write(meta.put, "telegram:telegram:sending", str(last))
        assert await relay.begin() == last
        assert [each for each in bot.texts() if "may be missing here" in each]


def _channel(bot: BotServer) -> TelegramChannel:
    return TelegramChannel(BotApi(lambda: TOKEN, bot.root), FrozenClock())


def telegram_world(home: Path, bot: BotServer, brain: Brain | None = None) -> World:
    home.mkdir(exist_ok=True, parents=True)
    text = f'[channels.telegram]\nkind = "telegram"\ntoken = "telegram_token"\nurl = "{bot.root}"\n'
    (home / "settings.toml").write_text(text)
    owner = f"- name: you\n  role: owner\n  channels: {{telegram: {HERE}}}\n"
    (home / "contacts.yaml").write_text(owner)
    Secrets(home).put("telegram_token", TOKEN)
    bot.hurry = True
    return World(home, brain=brain, settings=load({"REMIT_HOME": str(home)}))


def telegram_watch(world: World) -> TelegramWatch:
    watches = world.app.doors.entrance.watches()
    return next(each for each in watches if isinstance(each, TelegramWatch))


async def _look(world: World, watch: TelegramWatch) -> int:
    """Fetch once; what sleeps meanwhile is woken."""
    looking = asyncio.create_task(watch.look())
    while not looking.done():
        world.clock.advance(timedelta(seconds=5))
        await asyncio.sleep(0.01)
    return await looking


async def _titles(world: World) -> list[str]:
    page = await world.app.db.read(search.page, search.TaskFilter(limit=100))
    return [task.title for task in page.tasks]
