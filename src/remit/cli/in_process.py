"""The client used when no Remit runs here: this process locks the directory for a moment.

The engine starts only if the caller waits for a task; then it runs here until that task rests, and
stops in good order.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import timedelta
from typing import Final, TypeVar

from msgspec.structs import replace

from remit.brain.no_brain import NoBrain
from remit.cli import clock
from remit.cli.codes import TimedOut
from remit.cli.order import MessageOrder, TaskOrder
from remit.cli.progress import part
from remit.cli.watch import PAUSE, EventWatch
from remit.errors import IllegalMove
from remit.intake.heard import MessageResult, OwnerMessage, message_result_to_json, rehearsed
from remit.model.caller import OWNER, Scope
from remit.model.codec import JsonMap, moment
from remit.model.edit import Edit
from remit.model.event import EventKind
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.reply import Policy
from remit.model.review import Decision, ReviewAnswer
from remit.model.series import OnMissed, Overlap
from remit.model.status import PAUSABLE, Status
from remit.model.task import Source, SourceKind, Task
from remit.model.view import JsonView
from remit.server.callers import CallerRegistry, shape
from remit.server.files import token_of
from remit.server.hooks_in import cue_to_json
from remit.server.lesson_shapes import changed
from remit.server.notice_shapes import notice
from remit.server.recall import alike
from remit.server.series_shapes import whole
from remit.settings import Settings
from remit.store import tasks
from remit.triggers import command
from remit.wiring import App, opened, start

T = TypeVar("T")


@contextmanager
def entered(settings: Settings, *, works: bool) -> Iterator["InProcessClient"]:
    """Lock the directory; raises `HomeLocked` if another process holds it."""
    with asyncio.Runner() as runner:
        stack, quick = AsyncExitStack(), replace(settings.engine, stop_limit=1)
        # The caller wants to continue: whatever else runs is parked, not waited for.
        settings = replace(settings, engine=quick)
        # Only a worker needs a brain; a broken script must not prevent a pause.
        house = opened(settings, brain=None if works else NoBrain())
        try:
            yield InProcessClient(runner, stack, runner.run(stack.enter_async_context(house)))
        finally:
            runner.run(stack.aclose())


class InProcessClient:
    serves: Final = False

    def __init__(self, runner: asyncio.Runner, stack: AsyncExitStack, house: App) -> None:
        self._runner = runner
        self._stack = stack
        self._house = house
        self._working = False

    def add(self, order: TaskOrder) -> TaskId:
        cue = command.cue(
            order.text,
            ref=order.key,
            work=order.work,
            channel=order.channel,
            recipient=order.recipient,
            content=order.content,
            scheduled_for=order.scheduled_for,
            priority=order.priority,
        )
        often = order.repeats
        if often is not None:
            cue = replace(cue, repeats=often, scheduled_for=often.first)
        if (code := order.code) is not None:
            known = self._house.settings.projects
            cue = command.on_project(
                cue, code.project, known, code.files, prd=False if code.prd is None else code.prd
            )
        return self._do(self._house.intake.admit(cue)).id

    def hear(self, saying: MessageOrder) -> JsonMap:
        message = OwnerMessage(
            text=saying.text,
            source=Source(SourceKind.MANUAL, saying.key),
            scheduled_for=saying.scheduled_for,
            repeats=saying.repeats,
            priority=saying.priority,
        )
        if saying.dry_run:
            return rehearsed(self._do(self._house.intake.read(message)))
        return message_result_to_json(self._do(self._receive(message, wait=saying.wait)))

    def decide(
        self, review: ReviewId, answer: ReviewAnswer, text: str | None, *, always: bool = False
    ) -> None:
        self._do(self._house.inbox.decide(review, Decision(answer, text, always=always)))

    def later(self, review: ReviewId, hours: int) -> None:
        until = self._house.clock.now() + timedelta(hours=hours)
        self._do(self._house.inbox.later(review, until))

    def edit(self, task: TaskId, change: Edit) -> None:
        self._do(self._house.intake.edit(task, change))

    def pause(self, task: TaskId) -> None:
        self._do(self._house.owner.pause(task))

    def undo(self, task: TaskId) -> None:
        self._do(self._house.owner.undo(task))

    def resume(self, task: TaskId) -> None:
        self._do(self._house.owner.resume(task))

    def cancel(self, task: TaskId) -> None:
        self._do(self._house.owner.cancel(task))

    def delete(self, task: TaskId) -> None:
        self._do(self._house.owner.delete(task))

    def retry(self, task: TaskId, key: str) -> TaskId:
        return self._do(self._retry(task, key)).id

    def vouch(self, task: TaskId) -> None:
        self._do(self._house.owner.vouch(task))

    def run(self, task: TaskId) -> TaskId:
        return self._do(self._hasten(task))

    def order_series(self, series: SeriesId, verb: str, said: JsonMap) -> JsonMap:
        return self._do(self._order(series, verb, said))

    def look_back(self) -> TaskId:
        return self._do(self._house.reflection.now()).id

    def revert_rules(self, change: int | None, *, force: bool) -> JsonMap:
        return changed(self._do(self._house.reflection.revert(change, force=force)))

    def permit(self, contact: str, channel: str, policy: Policy) -> JsonMap:
        return self._do(self._house.permits.permit(contact, channel, policy))

    def switch_on(self, channel: str) -> JsonMap:
        return self._do(self._house.permits.switch_on(channel))

    def sync_calendars(self) -> int:
        found = self._do(self._house.calendars.look())
        return sum(why is None for why in found.values())

    def start_cue(self, name: str) -> JsonMap:
        return cue_to_json(self._do(self._house.doors.begin(name)))

    def test_notice(self, way: str) -> JsonMap:
        return notice(self._do(self._house.herald.test(way)))

    def recall_state(self) -> JsonMap:
        return self._do(self._house.recollection.state())

    def rebuild_recall(self, told: Callable[[float], None]) -> JsonMap:
        return self._do(self._rebuild(told))

    def turn_recall_off(self) -> JsonMap:
        self._do(self._house.recollection.turn_off())
        return self.recall_state()

    def find_like(self, like: str, limit: int) -> JsonMap:
        self._do(self._house.recollection.open())  # a search before it is open would find nothing
        return {"alike": alike(self._do(self._house.recollection.like(like, limit)), JsonView.S3)}

    def make_token(
        self, name: str, scopes: frozenset[Scope], *, agent: bool, days: int | None
    ) -> JsonMap:
        made = self._callers.make(OWNER, name, scopes, agent=agent, days=days)
        token, secret = self._do(made)
        return {**shape(token), "secret": secret}

    def revoke_token(self, token_id: str) -> JsonMap:
        return shape(self._do(self._callers.revoke(token_id)))

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Work here until the task rests."""
        return self._do(self._rest(watch, timeout))

    @property
    def _callers(self) -> CallerRegistry:
        house = self._house
        return CallerRegistry(house.db, house.clock, house.ids, token_of(house.settings.home))

    def _do(self, work: Coroutine[None, None, T]) -> T:
        return self._runner.run(work)

    async def _receive(self, message: OwnerMessage, *, wait: bool) -> MessageResult:
        heard = await self._house.intake.receive(message)
        if not wait or heard.reading is None:
            return heard
        await self._work()
        return await self._house.intake.receive(message, wait=True)

    async def _retry(self, task: TaskId, key: str) -> Task:
        return await self._house.intake.admit(await self._house.owner.retry(task, key))

    async def _rebuild(self, told: Callable[[float], None]) -> JsonMap:
        recollection = self._house.recollection

        async def tell() -> None:
            told(part(await recollection.state()))

        await recollection.rebuild()
        await recollection.catch_up(tell)
        return await recollection.state()

    async def _order(self, series: SeriesId, verb: str, said: JsonMap) -> JsonMap:
        owner, now = self._house.owner, self._house.clock.now()
        slot, to = said.get("slot"), said.get("to")
        at = moment(str(slot)) if slot else None
        match verb:
            case "pause":
                await owner.pause_series(series)
            case "resume":
                await owner.resume_series(series)
            case "end":
                await owner.end_series(series)
            case "skip":
                await owner.skip_slot(series, at)
            case "move":
                await owner.move_slot(series, at, moment(str(to)))
            case _:
                missed, overlap = said.get("missed"), said.get("overlap")
                await owner.rule_series(
                    series,
                    OnMissed(str(missed)) if missed else None,
                    Overlap(str(overlap)) if overlap else None,
                )
        return await self._house.db.read(whole, series, now)

    async def _hasten(self, task_id: TaskId) -> TaskId:
        task = await self._get(task_id)
        if task.status not in PAUSABLE:
            await self._house.owner.run_now(task_id)  # raises if it is not possible
        since = await self._house.journal.last()
        if task.slot is not None:
            # For a series a new task runs, before the engine may start this one.
            begun = await self._house.owner.run_now(task_id)
            await self._work()
            return begun.id
        await self._work()
        if (await self._get(task_id)).status is Status.NEW:
            await self._ranked(task_id, since)
        with suppress(IllegalMove):  # the engine was faster, which is fine
            await self._house.owner.run_now(task_id)
        return task_id

    async def _ranked(self, task_id: TaskId, since: int) -> None:
        async for event in self._house.journal.follow(since):
            if event.task_id == task_id and event.kind is EventKind.TASK_MOVED:
                return

    async def _get(self, task_id: TaskId) -> Task:
        return await self._house.db.read(tasks.get, task_id)

    async def _rest(self, watch: EventWatch, limit: float | None) -> Task:
        await self._work()
        until = None if limit is None else clock.seconds() + limit
        while True:
            task = watch.look()
            if task is not None and watch.rests(task):
                return task
            if until is not None and clock.seconds() >= until:
                raise TimedOut(f"Task {watch.task_id} did not come to rest within {limit:g} s.")
            await asyncio.sleep(PAUSE)

    async def _work(self) -> None:
        if not self._working:
            self._working = True
            await start(self._house)
            self._stack.push_async_callback(self._house.engine.stop)
