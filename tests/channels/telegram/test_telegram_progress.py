"""The message that shows how a task goes on: edited seldom, once for each change, to the end."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from remit.channels.telegram.progress import EDIT_SECONDS, FRESH, ProgressMessages, compose
from remit.channels.telegram.sending import MAX_UNITS, TelegramChannel, render, units
from remit.model.conversation import Action, TaskRef
from remit.model.reply import Prompt, Reply
from remit.model.status import Status
from remit.model.task import Task
from remit.ports import OnText
from remit.store import cues, meta
from remit.testing import World
from tests.channels.telegram.bot_server import OWNER, BotServer, Cut, Fault
from tests.channels.telegram.test_telegram import telegram_watch, telegram_world
from tests.engine.rig import until

ACK = "Task: Find me a **park**\nRuns: now"
SHOWN = "Task: Find me a park\nRuns: now"
STEPS = ("Look at the parks", "Compare the prices", "Choose one")
SECRET_THOUGHT = "I dislike the second park"
END = "<deliverable>Lumphini Park.</deliverable>"


class SteppedBrain:
    """Says a line whenever a test gives it one; the deliverable is the last."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str] = asyncio.Queue()

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        raise AssertionError((prompt, session))

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        del prompt, session
        said = ""
        while END not in said:
            line = await self.lines.get()
            said += line
            await on_text(line)
        return Reply(said)

    def tick(self, *numbers: int) -> None:
        for number in numbers:
            self.lines.put_nowait(f"✓ STEP {number}: {SECRET_THOUGHT}\n")


class Chat:
    """A task that was ordered in the chat, and the loop that shows how it goes on."""

    def __init__(self, world: World, bot: BotServer, brain: SteppedBrain) -> None:
        self.world, self.bot, self.brain = world, bot, brain
        self.progress: ProgressMessages
        self._loop: asyncio.Task[None] | None = None
        self._follow: asyncio.Task[None] | None = None

    async def order(self, *, known: bool = True, later: timedelta | None = None) -> Task:
        """Make a task, and the answer that says so; if it is not known, its id was lost."""
        at = self.world.now + later if later else None
        task = await self.world.add("Find me a park", work=STEPS, at=at)
        await self.progress.expect("7", [TaskRef(task.id, Action.CREATED)], ACK)
        channel = cast("TelegramChannel", self.world.app.outfit.channels["telegram"])
        await channel.post(OWNER, render(ACK))
        await self.progress.note_message("7", self.bot.accepted[-1].ref if known else None)
        self.world.app.engine.nudge()
        return task

    async def start(self) -> None:
        """Begin, or begin again as after a restart: nothing is left but what is stored."""
        await self.stop()
        self.progress = telegram_watch(self.world).relay.progress
        self._loop = asyncio.create_task(self.progress.follow())
        self._follow = asyncio.create_task(self._touch())
        await asyncio.sleep(0)

    async def stop(self) -> None:
        for each in filter(None, (self._loop, self._follow)):
            each.cancel()
            await asyncio.gather(each, return_exceptions=True)

    async def _touch(self) -> None:
        async for event in self.world.app.journal.follow(0):
            self.progress.touch(event.task_id)

    async def until(self, holds: Callable[[], object]) -> None:
        """Let time pass until something holds."""

        async def passed() -> bool:
            self.world.clock.advance(timedelta(seconds=EDIT_SECONDS / 3))
            return bool(holds())

        await until(passed)

    async def rest(self) -> None:
        """Let everything happen that needs no time to pass."""
        for _ in range(50):
            await asyncio.sleep(0.002)

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.bot.edited]

    async def stored(self) -> dict[str, str]:
        found = await self.world.app.db.read(meta.starting_with, "telegram:telegram:progress:")
        return dict(found)


@asynccontextmanager
async def chat(home: Path) -> AsyncIterator[Chat]:
    brain = SteppedBrain()
    async with BotServer() as bot, telegram_world(home, bot, brain) as world:
        made = Chat(world, bot, brain)
        await made.start()
        try:
            yield made
        finally:
            brain.lines.put_nowait(END)
            await made.stop()


async def test_one_message_shows_the_items_and_the_states_and_nothing_of_the_work(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as seen:
        task = await seen.order()
        await seen.until(lambda: seen.texts)
        waiting = "\n".join(f"○ {each}" for each in STEPS)
        assert seen.texts == [f"{SHOWN}\n\n{waiting}\nRunning."]
        seen.brain.tick(1)
        await seen.until(lambda: len(seen.texts) > 1)
        assert f"✓ {STEPS[0]}\n○ {STEPS[1]}" in seen.texts[-1]
        seen.brain.tick(2, 3)
        seen.brain.lines.put_nowait(END)
        await seen.until(lambda: re.search(r"Done \d\d:\d\d\.$", seen.texts[-1]))
        ticked = "\n".join(f"✓ {each}" for each in STEPS)
        assert seen.texts[-1].startswith(f"{SHOWN}\n\n{ticked}\nDone ")
        assert {ref for ref, _ in seen.bot.edited} == {seen.bot.accepted[0].ref}
        assert not any(SECRET_THOUGHT in each for each in seen.texts)
        kept = [fields for method, fields in seen.bot.asked if method == "editMessageText"]
        assert all(each["entities"] for each in kept), "the answer keeps its marks"
        await until(lambda: _is_empty(seen))
        assert (await seen.world.get(task.id)).status is Status.COMPLETED
        assert len(seen.bot.accepted) == 1, "an edit is no delivery, and no message"
        assert len(seen.world.outbox.sent) == 1


async def _is_empty(seen: Chat) -> bool:
    return not await seen.stored()


async def test_edits_keep_their_rate_and_telegrams_patience(tmp_path: Path) -> None:
    async with chat(tmp_path) as seen:
        await seen.order()
        await seen.until(lambda: seen.texts)
        seen.world.clock.advance(timedelta(seconds=EDIT_SECONDS))
        await seen.rest()
        before = _calls(seen)
        for number in (1, 2, 3):
            seen.brain.tick(number)
            await seen.rest()
        assert _calls(seen) <= before + 1, "no time has passed"
        seen.bot.edit_orders = [Fault(429, "Too Many Requests", retry_after=900), Fault()]
        await seen.until(lambda: len(seen.bot.edit_orders) == 1)
        refused = _calls(seen)
        seen.world.clock.advance(timedelta(seconds=800))
        await seen.rest()
        assert _calls(seen) == refused
        await seen.until(lambda: f"✓ {STEPS[2]}" in seen.texts[-1])
        assert len(seen.texts) == len(set(seen.texts)), "no text is sent twice in a row"


def _calls(seen: Chat) -> int:
    return len([method for method, _ in seen.bot.asked if method == "editMessageText"])


async def test_after_a_restart_the_same_message_goes_on_to_its_end(tmp_path: Path) -> None:
    async with chat(tmp_path) as seen:
        task = await seen.order()
        await seen.until(lambda: seen.texts)
        await until(lambda: _is_noted(seen))
        calls = _calls(seen)
        await seen.start()
        await seen.rest()
        assert _calls(seen) == calls, "what it says already is not said again"
        await seen.stop()
        seen.brain.lines.put_nowait(END)
        await until(lambda: _ended(seen, task))
        await seen.start()
        await seen.until(lambda: "Done " in seen.texts[-1])
        assert len(seen.bot.accepted) == 1
        await until(lambda: _is_empty(seen))


async def _is_noted(seen: Chat) -> bool:
    return any('"begun":true' in each for each in (await seen.stored()).values())


async def _ended(seen: Chat, task: Task) -> bool:
    return (await seen.world.get(task.id)).status is Status.COMPLETED


@pytest.mark.parametrize("known", [False, True])
async def test_where_the_answer_is_not_known_or_old_one_silent_message_is_made(
    tmp_path: Path, known: bool
) -> None:
    async with chat(tmp_path) as seen:
        task = await seen.order(known=known, later=FRESH if known else None)
        await seen.until(lambda: len(seen.bot.accepted) > 1)
        (_, made) = seen.bot.accepted
        assert made.silent
        assert made.text.startswith("“Find me a park”\n○ ")
        seen.brain.lines.put_nowait(END)
        await seen.until(lambda: "Done " in seen.bot.edits.get(made.ref, ""))
        assert seen.bot.accepted[0].ref not in seen.bot.edits
        assert len(seen.bot.accepted) == 2
        found = await seen.world.app.db.read(cues.replied_to, "telegram", made.ref)
        assert found == task.id, "a reply to it is about its task"


async def test_a_message_in_doubt_is_not_made_again_and_a_refused_edit_fails_nothing(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path / "doubt") as seen:
        seen.bot.orders = [Fault(), Fault(cut=Cut.AFTER), Fault()]
        task = await seen.order(known=False)
        await seen.until(lambda: len(seen.bot.accepted) > 1)
        await seen.start()
        seen.brain.tick(1)
        seen.brain.lines.put_nowait(END)
        await until(lambda: _ended(seen, task))
        await until(lambda: _is_empty(seen))
        assert len(seen.bot.accepted) == 2
    async with chat(tmp_path / "deleted") as seen:
        task = await seen.order()
        seen.bot.edit_orders = [Fault(400, "Bad Request: message to edit not found")]
        await seen.until(lambda: _calls(seen))
        await until(lambda: _is_empty(seen))
        seen.brain.lines.put_nowait(END)
        await until(lambda: _ended(seen, task))


async def test_whatever_is_shown_fits_into_one_message_and_leads_nowhere(tmp_path: Path) -> None:
    async with chat(tmp_path) as seen:
        task = await seen.world.add("Look at https://evil.example", work=["[x](y)", "z " * 500] * 9)
    running = replace(task, status=Status.RUNNING)
    for head in ("", "x" * 3_000):
        for count in (1, 3, 60):
            made = compose(head, False, [running] * count, UTC, str)
            assert head < made.text
            assert made.text.startswith(head)
            assert units(made.text) <= MAX_UNITS
            assert not any(each in made.text for each in ("evil", "]("))
