"""The connection to Temporal, in a thread with an event loop of its own.

So a busy app does not miss a heartbeat, and Temporal does not take a live worker for a dead one.
"""

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import Enum
from functools import cache
from typing import Final, Protocol, TypeVar

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import Priority, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ApplicationError,
    ApplicationErrorCategory,
    WorkflowAlreadyStartedError,
)
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from remit.engine.temporal_health import reason
from remit.engine.temporal_workflows import (
    RELEASE_LEG,
    RUN_DUTY,
    RUN_LEG,
    DutyWorkflow,
    LegWorkflow,
)
from remit.errors import StoreAway, Transient
from remit.model.ids import TaskId
from remit.settings import EngineSettings
from remit.store.postgres.duties import DutyLost

T = TypeVar("T")

CONTROL: Final = "control"  # the queue of workflows, duties and releases
CODE_DUTIES: Final = "control-code"  # of duties that need the repositories
_QUEUE: Final = "queue"  # in the memo of a leg
_BEATS: Final = 5  # in the time after which a worker counts as dead
_RETRY_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("remit.temporal")


class LegStatus(Enum):
    RUNNING = "running"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@cache
def _runtime() -> Runtime:
    """The library's own threads; they log what failed, not what another worker has done since."""
    only_errors = TelemetryFilter(core_level="ERROR", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=only_errors)))


class TemporalWork(Protocol):
    """What a worker does for Temporal, in the loop of the app."""

    async def run_leg(self, task_id: TaskId, lease: int) -> str: ...

    async def release_leg(self, task_id: TaskId, lease: int) -> None: ...

    async def run_duty(self, name: str) -> None: ...


class TemporalLink:
    """Starts legs and duties, and asks about them; `serve` also takes them on."""

    def __init__(self, settings: EngineSettings, identity: str | None = None) -> None:
        """`identity` is the name of this worker at Temporal."""
        self._settings = settings
        self._identity = identity
        self._app = asyncio.get_running_loop()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="remit-temporal", daemon=True)
        self._thread.start()
        self._client: Client | None = None
        self._workers: list[Worker] = []

    def queue(self, name: str = "") -> str:
        base = self._settings.task_queue
        return f"{base}-{name}" if name else base

    async def start_leg(self, task_id: TaskId, lease: int, queue: str, priority: int) -> None:
        """Start a leg; one that was started before stays the only one."""
        await self._call(self._start_leg(task_id, lease, queue, priority))

    async def start_duty(self, name: str, queue: str = CONTROL) -> None:
        """Have a duty done, unless it is."""
        await self._call(self._start_duty(name, queue))

    async def queue_of_leg(self, task_id: TaskId, lease: int) -> str:
        """Return the queue in which a leg was put."""
        return await self._call(self._queue_of_leg(task_id, lease))

    async def was_handed_here(self, task_id: TaskId, lease: int) -> bool:
        """Whether Temporal takes a leg for one that runs on this worker."""
        return await self._call(self._was_handed_here(task_id, lease))

    async def end_leg(self, task_id: TaskId, lease: int) -> None:
        """End a leg that nobody runs."""
        await self._call(self._end_leg(task_id, lease))

    async def status(self, task_id: TaskId, lease: int) -> LegStatus:
        return await self._call(self._status(task_id, lease))

    async def serve(self, work: TemporalWork, queues: Sequence[str], slots: int) -> None:
        """Take on legs from some queues, and duties, until `stop_serving`."""
        await self._call(self._serve(_Activities(self._app, work, self._settings), queues, slots))

    async def stop_serving(self) -> None:
        """Take on nothing more; return when everything that runs has ended."""
        await self._call(self._shut_down())

    async def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _call(self, work: Coroutine[None, None, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    # In the thread of Temporal ------------------------------------------------------------------

    async def _connect(self) -> Client:
        if self._client is None:
            settings = self._settings
            try:
                self._client = await Client.connect(
                    settings.address,
                    namespace=settings.namespace,
                    identity=self._identity,
                    runtime=_runtime(),
                )
            except RuntimeError as error:
                sentence = f"Temporal at {settings.address} does not answer: {reason(error)}."
                raise Transient(sentence) from error
        return self._client

    async def _start_leg(self, task_id: TaskId, lease: int, queue: str, priority: int) -> None:
        client = await self._connect()
        with suppress(WorkflowAlreadyStartedError), _unreachable(self._settings.address):
            await client.start_workflow(
                LegWorkflow.run,
                args=[task_id, lease, queue, self._settings.heartbeat],
                id=leg_id(task_id, lease),
                task_queue=self.queue(CONTROL),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                priority=Priority(priority_key=priority),
                memo={_QUEUE: queue},
            )

    async def _queue_of_leg(self, task_id: TaskId, lease: int) -> str:
        client = await self._connect()
        with _unreachable(self._settings.address):
            found = await client.get_workflow_handle(leg_id(task_id, lease)).describe()
            return str((await found.memo()).get(_QUEUE, ""))

    async def _was_handed_here(self, task_id: TaskId, lease: int) -> bool:
        client = await self._connect()
        with _unreachable(self._settings.address):
            found = await client.get_workflow_handle(leg_id(task_id, lease)).describe()
        pending = found.raw_description.pending_activities
        return any(each.last_worker_identity == client.identity for each in pending)

    async def _end_leg(self, task_id: TaskId, lease: int) -> None:
        client = await self._connect()
        with _unreachable(self._settings.address):
            await client.get_workflow_handle(leg_id(task_id, lease)).terminate()

    async def _start_duty(self, name: str, queue: str) -> None:
        client = await self._connect()
        with suppress(WorkflowAlreadyStartedError), _unreachable(self._settings.address):
            await client.start_workflow(
                DutyWorkflow.run,
                args=[name, self._settings.heartbeat],
                id=f"duty/{self._settings.task_queue}/{name}",
                task_queue=self.queue(queue),
            )

    async def _status(self, task_id: TaskId, lease: int) -> LegStatus:
        client = await self._connect()
        try:
            found = await client.get_workflow_handle(leg_id(task_id, lease)).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return LegStatus.UNKNOWN
            raise Transient(f"Temporal at {self._settings.address} does not answer.") from error
        runs = found.status is WorkflowExecutionStatus.RUNNING
        return LegStatus.RUNNING if runs else LegStatus.CLOSED

    async def _serve(self, acts: "_Activities", queues: Sequence[str], slots: int) -> None:
        client = await self._connect()
        control = (CONTROL, CODE_DUTIES) if self.queue("code") in queues else (CONTROL,)
        self._workers = [
            *(self._control_worker(client, acts, self.queue(name)) for name in control),
            *(self._leg_worker(client, acts, queue, slots) for queue in queues),
        ]
        runs = [asyncio.create_task(each.run()) for each in self._workers]
        try:
            await asyncio.wait(runs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # If one fails, all end. A connection takes no second worker for a queue, even if the
            # first one failed: the next ones get a connection of their own.
            self._client = None
            await self._shut_down()
        await asyncio.gather(*runs)

    def _control_worker(self, client: Client, acts: "_Activities", queue: str) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            workflows=[LegWorkflow, DutyWorkflow],
            activities=[acts.release_leg, acts.run_duty],
            workflow_runner=UnsandboxedWorkflowRunner(),
            # The next task of a cached workflow waits so long for a dead worker.
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            graceful_shutdown_timeout=timedelta(seconds=1),  # duties end at once
            max_heartbeat_throttle_interval=self._beats,
        )

    def _leg_worker(self, client: Client, acts: "_Activities", queue: str, slots: int) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            activities=[acts.run_leg],
            max_concurrent_activities=slots,
            graceful_shutdown_timeout=timedelta(seconds=self._settings.stop_limit + 10),
            max_heartbeat_throttle_interval=self._beats,
        )

    @property
    def _beats(self) -> timedelta:
        """Otherwise Temporal's library sends one in 80 % of the time in which one must arrive."""
        return timedelta(seconds=self._settings.heartbeat / _BEATS)

    async def _shut_down(self) -> None:
        workers, self._workers = self._workers, []
        await asyncio.gather(*(each.shutdown() for each in workers), return_exceptions=True)


class _unreachable:  # noqa: N801 - used as a word
    """Turns an error of the connection into one that passes."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RPCError):
            sentence = f"Temporal at {self._address} does not answer: {reason(error)}."
            raise Transient(sentence) from error


class _Activities:
    """Each passes its work to the loop of the app, and beats while that runs."""

    def __init__(
        self, app: asyncio.AbstractEventLoop, work: TemporalWork, settings: EngineSettings
    ) -> None:
        self._app = app
        self._work = work
        self._pause = settings.heartbeat / _BEATS

    @activity.defn(name=RUN_LEG)
    async def run_leg(self, task_id: str, lease: int) -> str:
        return await self._beating(lambda: self._work.run_leg(TaskId(task_id), lease))

    @activity.defn(name=RELEASE_LEG)
    async def release_leg(self, task_id: str, lease: int) -> None:
        await self._beating(lambda: self._work.release_leg(TaskId(task_id), lease))

    @activity.defn(name=RUN_DUTY)
    async def run_duty(self, name: str) -> None:
        await self._beating(lambda: self._work.run_duty(name))

    async def _beating(self, work: Callable[[], Coroutine[None, None, T]]) -> T:
        done: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(work(), self._app)
        waiter: Awaitable[T] = asyncio.wrap_future(done)
        ended = asyncio.ensure_future(waiter)
        try:
            while True:
                await asyncio.wait({ended}, timeout=self._pause)
                if ended.done():
                    return ended.result()
                activity.heartbeat()
        except (asyncio.CancelledError, DutyLost, StoreAway, Transient) as error:
            # No fault of the code, so Temporal's library logs no trace.
            benign = ApplicationErrorCategory.BENIGN
            raise ApplicationError(str(error), category=benign) from None
        finally:
            done.cancel()  # Temporal has given it to another worker


def leg_id(task_id: TaskId, lease: int) -> str:
    return f"leg/{task_id}/{lease}"
