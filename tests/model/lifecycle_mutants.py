"""Deliberate mistakes in the table, the guards and the views, each with the check that finds it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from remit.model.status import Actor, Move, Status
from remit.model.task import Task
from remit.model.view import s3_status, s4_status
from tests.model import lifecycle_checks as checks
from tests.model.lifecycle_checks import Check
from tests.model.lifecycle_model import World
from tests.model.lifecycle_situations import Config, Effect, Guard, Situation, always, same

_S, _A = Status, Actor


@dataclass(frozen=True)
class Mutant:
    name: str
    caught_by: Check
    mutate: Callable[[World], World]


def _with_row(was: Status, to: Status, by: Actor) -> Callable[[World], World]:
    row = Move(was, to, frozenset({by}), "a mistake")
    return lambda world: replace(world, table=(*world.table, row))


def _without_rows(*pairs: tuple[Status, Status]) -> Callable[[World], World]:
    return lambda world: replace(
        world, table=tuple(move for move in world.table if (move.was, move.to) not in pairs)
    )


def without_actor(was: Status, to: Status, by: Actor) -> Callable[[World], World]:
    def change(move: Move) -> Move:
        return replace(move, by=move.by - {by}) if (move.was, move.to) == (was, to) else move

    return lambda world: replace(world, table=tuple(change(move) for move in world.table))


def _with_guard(name: str, when: Guard) -> Callable[[World], World]:
    return _changed(name, lambda situation: replace(situation, when=when))


def _with_effect(name: str, then: Effect) -> Callable[[World], World]:
    return _changed(name, lambda situation: replace(situation, then=then))


def _changed(name: str, change: Callable[[Situation], Situation]) -> Callable[[World], World]:
    def mutate(world: World) -> World:
        changed = tuple(change(s) if s.name == name else s for s in world.situations)
        assert changed != world.situations, f"no situation is called {name!r}"
        return replace(world, situations=changed)

    return mutate


def _with_situation(situation: Situation) -> Callable[[World], World]:
    return lambda world: replace(world, situations=(*world.situations, situation))


def _paused_is_always_a_question(task: Task) -> str:
    return "WAITING_HITL" if task.status is _S.PAUSED else s4_status(task)


def _verifying_is_done(task: Task) -> str:
    return "completed" if task.status is _S.VERIFYING else s3_status(task)


def _deleted_is_forgotten(task: Task) -> str:
    return s3_status(replace(task, deleted_at=None))


def _sent_again(config: Config) -> Config:
    return config._replace(sending=False, unsent=config.unsent + 1)


_DELETES_A_RUNNING_TASK = Situation(
    "deletes", _A.OWNER, _S.RUNNING, _S.RUNNING, always, lambda c: c._replace(deleted=True)
)
_FORGETS_THE_COUNT = Situation(
    "tries again for ever", _A.REAPER, _S.RUNNING, _S.RUNNING, lambda c: not c.cancel, same
)

MISTAKES: Final[dict[Check, dict[str, Callable[[World], World]]]] = {
    checks.only_the_owner_leaves_a_question_or_a_pause: {
        "an old question expires": _with_row(_S.NEEDS_REVIEW, _S.CANCELLED, _A.REAPER),
        "the meta agent approves": _with_row(_S.NEEDS_REVIEW, _S.RUNNING, _A.META),
        "the engine ends a pause": _with_row(_S.PAUSED, _S.RUNNING, _A.ENGINE),
    },
    checks.nothing_leaves_an_end: {
        "a retry reopens a failed task": _with_row(_S.FAILED, _S.READY, _A.OWNER),
        "a cancelled task comes back": _with_row(_S.CANCELLED, _S.READY, _A.OWNER),
        "a completed task is failed afterwards": _with_row(_S.COMPLETED, _S.FAILED, _A.COURIER),
    },
    checks.the_second_view_is_a_projection: {
        "a task is questioned before it began": _with_row(_S.READY, _S.NEEDS_REVIEW, _A.ENGINE),
        "a pause shows as a question": lambda world: replace(
            world, s4=_paused_is_always_a_question
        ),
    },
    checks.the_first_view_is_a_projection: {
        "a retry goes back to ready": _with_row(_S.RUNNING, _S.READY, _A.REAPER),
        "checking shows as done": lambda world: replace(world, s3=_verifying_is_done),
        "a deleted task still shows": lambda world: replace(world, s3=_deleted_is_forgotten),
    },
    checks.completed_means_all_is_out: {
        "the owner completes what was never sent": _with_row(
            _S.NEEDS_REVIEW, _S.COMPLETED, _A.OWNER
        ),
        "completed despite a refusal": _with_guard(
            "all sent", lambda c: not c.sending and not c.unsent
        ),
        "completed with something unsent": _with_guard(
            "all sent", lambda c: not c.sending and not c.refused
        ),
    },
    checks.nothing_starts_early_or_with_an_open_question: {
        "a new task is sent unranked": _with_row(_S.NEW, _S.DELIVERING, _A.ENGINE),
        "ranked with an open question": _with_guard("ranked", always),
        "started before its time": _with_guard("starts", lambda c: not c.precomposed),
    },
    checks.what_is_sent_or_done_is_proven: {
        "the executor judges its own work": _with_row(_S.VERIFYING, _S.DELIVERING, _A.EXECUTOR),
        "sent without a check": _with_guard(
            "work done, to be sent", lambda c: not c.cancel and c.unsent > 0
        ),
    },
    checks.the_table_is_what_the_specification_asks_for: {
        "the courier may call anything failed": _with_row(_S.VERIFYING, _S.FAILED, _A.COURIER),
        "failed work is never fixed": _without_rows((_S.VERIFYING, _S.RUNNING)),
        "duplicates stay": without_actor(_S.NEW, _S.CANCELLED, _A.META),
    },
    checks.every_task_can_end: {
        "a pause has no way out": _without_rows(*((_S.PAUSED, to) for to in Status))
    },
    checks.every_status_is_reached: {"nothing is ever ranked": _without_rows((_S.NEW, _S.READY))},
    checks.without_a_human_every_task_ends_or_waits: {
        "a refused delivery cannot fail": _without_rows((_S.DELIVERING, _S.FAILED)),
        "a delivery cannot be stopped": _without_rows((_S.DELIVERING, _S.CANCELLED)),
    },
    checks.every_question_and_every_answer_occurs: {
        "nobody is asked when the fixes are used up": _without_rows(
            (_S.VERIFYING, _S.NEEDS_REVIEW)
        ),
        "a crash loop asks nobody": _with_guard("crashes again and again", lambda _: False),
    },
    checks.nothing_is_interrupted_mid_send: {
        "paused in the middle of a send": _with_guard("not now", lambda c: not c.cancel),
        "cancelled in the middle of a send": _with_guard(
            "leaves the rest unsent", lambda c: c.cancel and c.unsent > 0
        ),
    },
    checks.a_delivery_ends_as_what_it_was: {
        "cancelled although all is out": _with_guard(
            "leaves the rest unsent", lambda c: c.cancel and not c.sending
        ),
        "failed although nothing was refused": _with_guard(
            "one was refused", lambda c: not c.sending and not c.unsent
        ),
    },
    checks.a_doubtful_send_is_never_repeated_unasked: {
        "a doubtful message is sent again": _with_effect("nobody knows", _sent_again)
    },
    checks.only_an_ended_task_is_deleted: {
        "a running task is deleted": _with_situation(_DELETES_A_RUNNING_TASK)
    },
    checks.left_alone_nothing_runs_in_circles: {
        "work is tried again for ever": _with_situation(_FORGETS_THE_COUNT),
        "failed work is fixed for ever": _with_effect("fails, to be fixed", same),
    },
    checks.a_wait_knows_where_it_leads: {
        "a pause forgets where it was": _with_effect("not now", same)
    },
    checks.a_pause_ends_where_it_began: {"a pause ends anywhere": _with_guard("goes on", always)},
}
MUTANTS = tuple(
    Mutant(name, check, mutate) for check, made in MISTAKES.items() for name, mutate in made.items()
)
