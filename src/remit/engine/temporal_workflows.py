"""What Temporal carries: a leg, and a duty. No domain code; the names and arguments are a contract.

A leg is one activity. If its worker dies, the row is released, and the row decides what follows. A
duty is one activity that runs until it fails; then it runs again, perhaps elsewhere.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

RUN_LEG: Final = "run_leg"
RELEASE_LEG: Final = "release_leg"
RUN_DUTY: Final = "run_duty"
_ONCE: Final = RetryPolicy(maximum_attempts=1)
_LONGEST: Final = timedelta(days=7)
_RELEASE_LIMIT: Final = timedelta(seconds=30)
_ROUNDS: Final = 200  # of a duty in one history
_PAUSE: Final = timedelta(seconds=1)


@workflow.defn(name="leg")
class LegWorkflow:
    @workflow.run
    async def run(self, task_id: str, lease: int, queue: str, heartbeat: int) -> str:
        try:
            ended: str = await workflow.execute_activity(
                RUN_LEG,
                args=[task_id, lease],
                task_queue=queue,
                result_type=str,
                retry_policy=_ONCE,
                start_to_close_timeout=_LONGEST,
                heartbeat_timeout=timedelta(seconds=heartbeat),
            )
        except ActivityError:
            await workflow.execute_activity(
                RELEASE_LEG, args=[task_id, lease], start_to_close_timeout=_RELEASE_LIMIT
            )
            return "released"
        return ended


@workflow.defn(name="duty")
class DutyWorkflow:
    @workflow.run
    async def run(self, name: str, heartbeat: int) -> None:
        for _ in range(_ROUNDS):
            with suppress(ActivityError):
                await workflow.execute_activity(
                    RUN_DUTY,
                    args=[name],
                    retry_policy=_ONCE,
                    start_to_close_timeout=_LONGEST,
                    heartbeat_timeout=timedelta(seconds=heartbeat),
                )
            await workflow.sleep(_PAUSE)
        workflow.continue_as_new(args=[name, heartbeat])
