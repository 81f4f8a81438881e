"""The client used when no Remit runs here: this process locks the directory for a moment.

The engine starts only if the caller waits for a task; then it runs here until that task rests, and
stops in good order.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import TypeVar

from msgspec.structs import replace

from remit.cli import clock
from remit.cli.codes import TimedOut
from remit.cli.lookup import PAUSE, EventWatch
from remit.cli.out import part
from remit.cli.request_key import new_key
from remit.errors import IllegalMove
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.run import EventKind
from remit.model.status import PAUSABLE, Status
from remit.model.task import Task
from remit.model.view import JsonView
from remit.operations import messages
from remit.operations import tasks as tasks_operations
from remit.operations.arguments import Arguments, NewMessage, RunTask
from remit.operations.callers import CallerRegistry
from remit.operations.operation import Operation, OperationRequest, rows_of
from remit.operations.settings_arguments import RebuildRecall
from remit.operations.shapes import similar_to_json
from remit.server.files import token_of
from remit.settings import Settings
from remit.store import tasks
from remit.wiring.quick import QuickApp, open_quick_app

T = TypeVar("T")


@contextmanager
def open_client(settings: Settings, *, works: bool) -> Iterator["InProcessClient"]:
    """Lock the directory; raises `HomeLocked` if another process holds it."""
    with asyncio.Runner() as runner:
        stack, quick = AsyncExitStack(), replace(settings.engine, stop_limit=1)
        # The caller wants to continue: whatever else runs is parked, not waited for.
        settings = replace(settings, engine=quick)
        app = open_quick_app(settings, works=works)
        try:
            yield InProcessClient(runner, stack, runner.run(stack.enter_async_context(app)))
        finally:
            runner.run(stack.aclose())


def _row_of(arguments: Arguments) -> Operation:
    """Find the operation of these arguments; what is asked for most loads only its own module."""
    rows = rows_of(tasks_operations, messages)
    if type(arguments) in rows:
        return rows[type(arguments)]
    from remit.operations.table import BY_ARGUMENTS  # noqa: PLC0415 - every operation

    return BY_ARGUMENTS[type(arguments)]


class InProcessClient:
    def __init__(self, runner: asyncio.Runner, stack: AsyncExitStack, app: QuickApp) -> None:
        self._runner = runner
        self._stack = stack
        self._app = app
        self._working = False

    @property
    def serves(self) -> bool:
        """Whether workers go on with what is given to them."""
        return self._app.settings.engine.is_shared

    def ask(self, arguments: Arguments, key: str | None = None) -> JsonMap:
        return self._do(self._ask(arguments, key or new_key()))

    def hear(self, message: NewMessage, key: str) -> JsonMap:
        return self._do(self._hear(message, key))

    def run(self, task: TaskId) -> TaskId:
        return self._do(self._run_now(task))

    def recall_state(self) -> JsonMap:
        return self._do(self._app.recollection.state())

    def rebuild_recall(self, report_progress: Callable[[float], None]) -> JsonMap:
        return self._do(self._rebuild(report_progress))

    def find_like(self, like: str, limit: int) -> JsonMap:
        self._do(self._app.recollection.open())  # a search before it is open would find nothing
        return {
            "alike": similar_to_json(
                self._do(self._app.recollection.like(like, limit)), JsonView.S3
            )
        }

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Work here until the task rests."""
        return self._do(self._run_until_rest(watch, timeout))

    def _do(self, work: Coroutine[None, None, T]) -> T:
        return self._runner.run(work)

    async def _ask(self, arguments: Arguments, ref: str) -> JsonMap:
        app = self._app
        callers = CallerRegistry(app.db, app.clock, app.ids, token_of(app.settings.home))
        request = OperationRequest(app=app, ref=ref, callers=callers)
        return (await _row_of(arguments).perform(request, arguments)).content

    async def _hear(self, message: NewMessage, ref: str) -> JsonMap:
        """If a model has to read the words and they are waited for, the engine starts here."""
        result = await self._ask(replace(message, wait=False), ref)
        if not message.wait or not result["reading"]:
            return result
        await self._work()
        return await self._ask(message, ref)

    async def _rebuild(self, report_progress: Callable[[float], None]) -> JsonMap:
        recollection = self._app.recollection

        async def tell() -> None:
            report_progress(part(await recollection.state()))

        await self._ask(RebuildRecall(), "")
        await recollection.catch_up(tell)
        return await recollection.state()

    async def _run_now(self, task_id: TaskId) -> TaskId:
        task = await self._get(task_id)
        if task.status not in PAUSABLE:
            await self._ask(RunTask(task_id), "")  # raises, and says why not
        since = await self._app.journal.last()
        if task.slot is not None:
            # Of a series another task is run, before the engine may begin this one.
            begun = await self._ask(RunTask(task_id), "")
            await self._work()
            return TaskId(str(begun["id"]))
        await self._work()
        if (await self._get(task_id)).status is Status.NEW:
            await self._wait_until_ranked(task_id, since)
        with suppress(IllegalMove):  # the engine was quicker, which is what was asked for
            await self._ask(RunTask(task_id), "")
        return task_id

    async def _wait_until_ranked(self, task_id: TaskId, since: int) -> None:
        async for event in self._app.journal.follow(since):
            if event.task_id == task_id and event.kind is EventKind.TASK_MOVED:
                return

    async def _get(self, task_id: TaskId) -> Task:
        return await self._app.db.read(tasks.get, task_id)

    async def _run_until_rest(self, watch: EventWatch, limit: float | None) -> Task:
        await self._work()
        until = None if limit is None else clock.seconds() + limit
        while True:
            task = watch.poll()
            if task is not None and watch.rests(task):
                return task
            if until is not None and clock.seconds() >= until:
                raise TimedOut(f"Task {watch.task_id} did not come to rest within {limit:g} s.")
            await asyncio.sleep(PAUSE)

    async def _work(self) -> None:
        if not self._working:
            self._working = True
            from remit.wiring import start  # noqa: PLC0415 - only who waits works here

            await start(self._app.whole)
            self._stack.push_async_callback(self._app.whole.engine.stop)
