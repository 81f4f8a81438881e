"""Task routes: list, create, show, and pause, resume, cancel or run."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput
from remit.journal import transcript, tries
from remit.model import codec, rrule
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.contract import Contract, Criterion
from remit.model.delivery import Delivery
from remit.model.edit import Edit
from remit.model.event import Event
from remit.model.ids import TaskId
from remit.model.plan import WorkItem
from remit.model.reply import Usage
from remit.model.review import Review
from remit.model.run import Run
from remit.model.series import Repeats
from remit.model.task import Cue, Task
from remit.model.view import show
from remit.server import agents, listing, refusals, shapes
from remit.server.bodies import EmptyBody, NewContract, NewRepeats, NewTask, TaskChange
from remit.server.call import VIEW, Call, CallResult, Route, created, numbers, task_answer
from remit.store import events, inbox, reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview
from remit.triggers import command

RECENT: Final = 50


async def create(call: Call) -> CallResult:
    body = call.read(NewTask)
    cue = await agents.entrusted(call, _on_project(call, _cue(call, body), body))
    task = await call.house.intake.admit(cue)
    return await created(call, task)


async def attention(call: Call) -> CallResult:
    """Return what waits for the owner: open questions, and the tasks they stop."""
    now, undo = call.house.clock.now(), call.house.settings.deliver.undo
    found = await call.house.db.read(inbox.questions, now, limit=500)
    asked: list[Json] = [shapes.review(each, undo) for each in found]
    stopped = {each.task.id: each.task for each in found}
    shown: list[Json] = [show(task, call.view) for task in stopped.values()]
    unread = refusals.refusals_to_json(await call.house.db.read(refusals.look))
    return CallResult({"reviews": asked, "tasks": shown, "events": unread})


async def look(call: Call) -> CallResult:
    """Return a task with its latest events."""
    version, told = await detail(call)
    return CallResult(told, headers={"ETag": f'"{version}"'})


async def log(call: Call) -> CallResult:
    """Return a task's events, in order."""
    after, limit = call.number("after", 0), call.number("limit", 100, least=1, most=1000)
    found = await call.house.db.read(_log, call.task_id, after, limit + 1)
    told: list[Json] = [transcript.record(event) for event in found[:limit]]
    return CallResult({"log": told, "next": found[limit - 1].n if len(found) > limit else None})


async def change(call: Call) -> CallResult:
    """Apply the owner's action to a task, or an edit before it begins."""
    body, owner = call.read(TaskChange), call.owner
    if not body.model_fields_set - {"action"} and body.action is None:
        raise BadInput("Give an action, or what is to be changed.", field="action")
    await call.house.db.read(call.access.check_finds, call.task_id)
    if body.action is None:
        return await _edit(call, body)
    if body.model_fields_set != {"action"}:
        raise BadInput("Give an action or what is to be changed, not both.", field="action")
    does: dict[str, Callable[[TaskId, str | None], Awaitable[Task]]] = {
        "pause": owner.pause,
        "resume": partial(agents.resume, call),
        "cancel": owner.cancel,
        "run": owner.run_now,
    }
    task = await does[body.action](call.task_id, call.version)
    call.house.engine.heed(task)
    return await tagged(call, task)


async def _edit(call: Call, body: TaskChange) -> CallResult:
    # Neither can become the owner's again, so the check still holds when it is written.
    await call.house.db.read(_check_edit, call)
    by = call.caller.name if call.caller.agent else None
    task = await call.house.intake.edit(call.task_id, edit_of(body), call.version, by)
    call.house.engine.nudge()
    return await tagged(call, task)


def _check_edit(tx: Tx, call: Call) -> None:
    call.access.check_edit(tx, tasks.get(tx, call.task_id))


def edit_of(body: TaskChange) -> Edit:
    """Return the edit in our types."""
    parts = body.delivery
    return Edit(
        title=body.title,
        instructions=body.instructions,
        scheduled_for=moment(body.scheduled_for, "scheduledFor"),
        priority=body.priority,
        delivery=None if parts is None else tuple(Delivery(**p.model_dump()) for p in parts),
    )


async def tagged(call: Call, task: Task) -> CallResult:
    """Return a task with its current version as ETag."""
    version = await call.house.db.read(tasks.version, task.id)
    return CallResult(await call.told(task), headers={"ETag": f'"{version}"'})


async def remove(call: Call) -> CallResult:
    call.read(EmptyBody)
    await call.house.db.read(call.access.check_finds, call.task_id)
    task = await call.owner.delete(call.task_id, call.version)
    call.house.engine.heed(task)
    return await task_answer(call, task)


async def mark_seen(call: Call) -> CallResult:
    """Record that the owner has looked at its end."""
    call.read(EmptyBody)
    return await task_answer(call, await call.owner.seen(call.task_id))


async def retry(call: Call) -> CallResult:
    call.read(EmptyBody)
    await call.house.db.read(call.access.check_finds, call.task_id)
    cue = agents.repeated(call, await call.owner.retry(call.task_id, call.ref))
    return await created(call, await call.house.intake.admit(cue))


async def undo(call: Call) -> CallResult:
    """Undo an approval, while nothing was sent."""
    call.read(EmptyBody)
    return await task_answer(call, await call.owner.undo(call.task_id))


async def vouch(call: Call) -> CallResult:
    """Let the session of an ended task count as the owner's from now on."""
    call.read(EmptyBody)
    return await task_answer(call, await call.owner.vouch(call.task_id))


async def builder_state(call: Call) -> CallResult:
    """Return a task's contract and findings as S2's builder-state.json."""
    now = call.house.clock.now()
    return CallResult(await call.house.db.read(_builder_state, call.task_id, now))


async def detail(call: Call) -> tuple[str, JsonMap]:
    """Return a task's version and all its details."""
    found = await call.house.db.read(_detail, call.task_id)
    task, undo = found.task, call.house.settings.deliver.undo
    used = found.used
    return found.version, {
        **show(task, call.view),
        "log": [transcript.record(event) for event in found.told],
        "reviews": [shapes.review(WaitingReview(each, task, used), undo) for each in found.asked],
        "runs": [shapes.run(leg) for leg in found.legs],
        "usage": shapes.usage(used),
    }


class _Detail(Struct, frozen=True):
    version: str
    task: Task
    told: list[Event]
    asked: list[Review]
    legs: list[Run]
    used: Usage


def _cue(call: Call, body: NewTask) -> Cue:
    said = body.text if body.text is not None else body.title
    if said is None:
        raise BadInput("Give text (what you would say) or title.", field="text")
    at = moment(body.scheduled_for, "scheduledFor")
    often = repeats_of(body.repeats, at)
    when = often.first if often else at
    cue = command.cue(said, ref=call.ref, scheduled_for=when, priority=body.priority)
    parts = body.delivery
    sent = None if parts is None else tuple(Delivery(**part.model_dump()) for part in parts)
    return replace(
        cue,
        title=cue.title if body.title is None else body.title,
        instructions=body.instructions,
        work=tuple(WorkItem(item.description) for item in body.work),
        delivery=cue.delivery if sent is None else sent,
        context=dict(body.context),
        repeats=often,
        contract=_contract(body.contract) if body.contract else None,
    )


def _on_project(call: Call, cue: Cue, body: NewTask) -> Cue:
    if body.project is None:
        if body.files or body.prd is not False:
            name = "files" if body.files else "prd"
            raise BadInput(f"{name} is about a project; say which one as project.", field=name)
        return cue
    call.access.check_person(agents.ON_PROJECT)
    known = call.house.settings.projects
    return command.on_project(cue, body.project, known, body.files, prd=body.prd)


def _contract(body: NewContract) -> Contract:
    return Contract(
        body.type,
        tuple(Criterion(**each.model_dump()) for each in body.criteria),
        body.generated_from,
        moment(body.generated_at, "contract.generatedAt"),
    )


def repeats_of(body: NewRepeats | None, at: datetime | None) -> Repeats | None:
    """Return the repetition; an unsupported rule is refused before anything is stored."""
    if body is None:
        return None
    if at is not None:
        sentence = "Say the first time in repeats.first, or one time in scheduledFor; not both."
        raise BadInput(sentence, field="scheduledFor")
    first = moment(body.first, "repeats.first")
    assert first is not None  # noqa: S101 - a text is a moment, or refused
    repeats = Repeats(body.rule, body.zone, first)
    rrule.slots(repeats, first)  # raises for an unsupported rule
    return repeats


def moment(text: str | None, field: str) -> datetime | None:
    """Parse a time; an error names its field."""
    try:
        return None if text is None else codec.moment(text)
    except BadInput as bad:
        raise BadInput(f"{field}: {bad}", field=field) from None


def _log(tx: Tx, task_id: TaskId, after: int, limit: int) -> list[Event]:
    tasks.find_row(tx, task_id)
    return events.of_task(tx, task_id, after, limit)


def _builder_state(tx: Tx, task_id: TaskId, now: datetime) -> JsonMap:
    return tries.builder_state(tx, [tasks.get(tx, task_id)], now)


def _detail(tx: Tx, task_id: TaskId) -> _Detail:
    return _Detail(
        tasks.version(tx, task_id),
        tasks.get(tx, task_id),
        events.last_of_task(tx, task_id, RECENT),
        reviews.of_task(tx, task_id),
        runs.of_task(tx, task_id, RECENT),
        spending.told_apart(tx, task_id),
    )


PAGES: Final = (
    numbers("after", "Go on after this turnNumber.", 0, 0, 10**15),
    numbers("limit", "How many.", 100, 1, 1000),
)
ROUTES: Final = (
    Route(
        method="GET",
        path="/api/tasks",
        does=listing.find,
        says="List tasks, newest first if nothing else is said",
        gives="TaskPage",
        query=listing.FILTERS,
    ),
    Route(
        method="POST",
        path="/api/tasks",
        does=create,
        says="Entrust a task; without `delivery` the result goes to the dashboard",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=NewTask,
    ),
    Route(
        method="GET",
        path="/api/tasks/needs-attention",
        does=attention,
        says="What waits for the owner",
        gives="Attention",
        query=(VIEW,),
    ),
    Route(
        method="GET",
        path="/api/tasks/{id}",
        does=look,
        says="One task, with its recent log, its reviews and its runs",
        gives="TaskDetail",
        query=(VIEW,),
        tagged=True,
    ),
    Route(
        method="PATCH",
        path="/api/tasks/{id}",
        does=change,
        says="Pause, resume, cancel or run now; or change what has not begun",
        gives="Task",
        query=(VIEW,),
        body=TaskChange,
        tagged=True,
    ),
    Route(
        method="DELETE",
        path="/api/tasks/{id}",
        does=remove,
        says="Hide an ended task; cancel a live one, then hide it",
        gives="Task",
        query=(VIEW,),
        body=EmptyBody,
        tagged=True,
    ),
    Route(
        method="GET",
        path="/api/tasks/{id}/log",
        does=log,
        says="What happened to a task, in order",
        gives="Log",
        query=PAGES,
    ),
    Route(
        method="GET",
        path="/api/tasks/{id}/builder-state",
        does=builder_state,
        says="Its contract and what the checks found, as S2's builder-state.json",
        gives="BuilderState",
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/undo",
        does=undo,
        says="Call back what was approved: the task is paused before anything of it is claimed",
        gives="Task",
        query=(VIEW,),
        body=EmptyBody,
        scope=Scope.APPROVE,
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/seen",
        does=mark_seen,
        says="You have looked at how it ended; it waits for you no longer",
        gives="Task",
        query=(VIEW,),
        body=EmptyBody,
        scope=Scope.APPROVE,
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/vouch",
        does=vouch,
        says="You have looked at what its session remembers; the next run may count it as yours",
        gives="Task",
        query=(VIEW,),
        body=EmptyBody,
        scope=Scope.APPROVE,
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/retry",
        does=retry,
        says="Try an ended task again, as a new task in the same session",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=EmptyBody,
    ),
)
