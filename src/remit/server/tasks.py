"""Tasks: listed, entrusted, looked at, and told to pause, go on, stop or start."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from remit.errors import BadInput, NotFound
from remit.journal import transcript
from remit.model import codec, ids
from remit.model.codec import Json, JsonMap
from remit.model.contract import Contract, Criterion
from remit.model.delivery import Delivery
from remit.model.event import Event
from remit.model.ids import TaskId
from remit.model.plan import Item
from remit.model.review import Review
from remit.model.run import Run
from remit.model.status import TERMINAL, Status
from remit.model.task import Cue, Priority, SourceKind, Task, TaskType
from remit.model.view import SCHEMA_VERSION, show
from remit.server import shapes
from remit.server.bodies import Change, NewContract, NewTask, Nothing
from remit.server.call import VIEW, Answer, Call, Query, Route, created, numbers, task_answer
from remit.store import events, reviews, runs, search, tasks
from remit.store.database import Tx
from remit.store.search import Filter
from remit.trigger import command

RECENT: Final = 50

# S3's words stand for several of ours. What is `running` to us is so to S3 too.
_ONES: Final[dict[str, tuple[Status, ...]]] = {status.value: (status,) for status in Status}
_S3: Final[dict[str, tuple[Status, ...]]] = {
    "pending": (Status.NEW, Status.READY),
    "running": (Status.RUNNING, Status.VERIFYING, Status.DELIVERING),
    "deleted": (Status.CANCELLED,),
}
STATUS_WORDS: Final[dict[str, tuple[Status, ...]]] = _ONES | _S3


async def find(call: Call) -> Answer:
    """The newest tasks that match, a page at a time."""
    wanted = _filter(call)
    try:
        page = await call.house.db.read(search.page, wanted)
    except NotFound:
        raise _bad_cursor(call) from None
    shown: list[Json] = [show(task, call.view) for task in page.tasks]
    return Answer({"schema_version": SCHEMA_VERSION, "tasks": shown, "next": page.next})


async def create(call: Call) -> Answer:
    task = await call.house.intake.admit(_cue(call, call.read(NewTask)))
    return created(call, task)


async def attention(call: Call) -> Answer:
    """What waits for the owner: the open questions, and the tasks they stop."""
    found = await call.house.db.read(_waiting)
    asked: list[Json] = [shapes.review(review, task.title) for review, task in found]
    stopped = {task.id: task for _, task in found}
    shown: list[Json] = [show(task, call.view) for task in stopped.values()]
    return Answer({"reviews": asked, "tasks": shown})


async def look(call: Call) -> Answer:
    """A task with what happened to it lately."""
    return Answer(await detail(call))


async def log(call: Call) -> Answer:
    """What happened to a task, in order."""
    after, limit = call.number("after", 0), call.number("limit", 100, least=1, most=1000)
    found = await call.house.db.read(_log, call.task_id, after, limit + 1)
    told: list[Json] = [transcript.record(event) for event in found[:limit]]
    return Answer({"log": told, "next": found[limit - 1].n if len(found) > limit else None})


async def change(call: Call) -> Answer:
    """The owner's word on a task that may be at work right now."""
    owner = call.house.owner
    does = {
        "pause": owner.pause,
        "resume": owner.resume,
        "cancel": owner.cancel,
        "run": owner.run_now,
    }
    task = await does[call.read(Change).action](call.task_id)
    call.house.engine.heed(task)
    return task_answer(call, task)


async def remove(call: Call) -> Answer:
    call.read(Nothing)
    task = await call.house.owner.delete(call.task_id)
    call.house.engine.heed(task)
    return task_answer(call, task)


async def retry(call: Call) -> Answer:
    call.read(Nothing)
    cue = await call.house.owner.retry(call.task_id, call.ref)
    return created(call, await call.house.intake.admit(cue))


async def undo(call: Call) -> Answer:
    """Call back what was approved, while nothing of it is on its way."""
    call.read(Nothing)
    return task_answer(call, await call.house.owner.undo(call.task_id))


async def detail(call: Call) -> JsonMap:
    task, told, asked, legs = await call.house.db.read(_detail, call.task_id)
    return {
        **show(task, call.view),
        "log": [transcript.record(event) for event in told],
        "reviews": [shapes.review(review, task.title) for review in asked],
        "runs": [shapes.run(leg) for leg in legs],
    }


def _filter(call: Call) -> Filter:
    cursor, deleted = call.text("cursor"), call.flag("deleted")
    # Of what was deleted, S3 calls everything so, whatever it was before.
    words = STATUS_WORDS | {"deleted": tuple(TERMINAL)} if deleted else STATUS_WORDS
    return Filter(
        statuses=call.words("status", words),
        type=call.word("type", TaskType),
        source=call.word("source", SourceKind),
        priority=call.word("priority", Priority),
        text=call.text("q"),
        deleted=deleted,
        before=None if cursor is None else _cursor(call, cursor),
        limit=call.number("limit", 50, least=1, most=search.MOST),
    )


def _cursor(call: Call, text: str) -> TaskId:
    try:
        return ids.task_id(text)
    except BadInput:
        raise _bad_cursor(call) from None


def _bad_cursor(call: Call) -> BadInput:
    sentence = f"{call.text('cursor')!r:.60} is no cursor of ours; give `next` of the page before."
    return BadInput(sentence, field="cursor")


def _cue(call: Call, body: NewTask) -> Cue:
    said = body.text if body.text is not None else body.title
    if said is None:
        raise BadInput("Give text (what you would say) or title.", field="text")
    at = moment(body.scheduled_for, "scheduledFor")
    cue = command.cue(said, ref=call.ref, scheduled_for=at, priority=body.priority)
    parts = body.delivery
    sent = None if parts is None else tuple(Delivery(**part.model_dump()) for part in parts)
    return replace(
        cue,
        title=cue.title if body.title is None else body.title,
        instructions=body.instructions,
        work=tuple(Item(item.description) for item in body.work),
        delivery=cue.delivery if sent is None else sent,
        context=dict(body.context),
        contract=_contract(body.contract) if body.contract else None,
    )


def _contract(body: NewContract) -> Contract:
    return Contract(
        body.type,
        tuple(Criterion(**each.model_dump()) for each in body.criteria),
        body.generated_from,
        moment(body.generated_at, "contract.generatedAt"),
    )


def moment(text: str | None, field: str) -> datetime | None:
    """A time as it was sent; what is wrong with it is said with the name of its field."""
    try:
        return None if text is None else codec.moment(text)
    except BadInput as bad:
        raise BadInput(f"{field}: {bad}", field=field) from None


def _waiting(tx: Tx) -> list[tuple[Review, Task]]:
    return [(review, tasks.get(tx, review.task_id)) for review in reviews.waiting(tx)]


def _log(tx: Tx, task_id: TaskId, after: int, limit: int) -> list[Event]:
    tasks.find_row(tx, task_id)
    return events.of_task(tx, task_id, after, limit)


def _detail(tx: Tx, task_id: TaskId) -> tuple[Task, list[Event], list[Review], list[Run]]:
    return (
        tasks.get(tx, task_id),
        events.last_of_task(tx, task_id, RECENT),
        reviews.of_task(tx, task_id),
        runs.of_task(tx, task_id, RECENT),
    )


def _words(*words: str) -> JsonMap:
    return {"enum": list[Json](words)}


FILTERS: Final = (
    Query(
        "status",
        "Where it stands, in our words or S3's; `running` also finds what is being verified or"
        " delivered, as S3 has it. May be repeated.",
        _words(*STATUS_WORDS),
        many=True,
    ),
    Query("type", "Whether it waits for a time.", _words(*TaskType)),
    Query("source", "Where it came from.", _words(*SourceKind)),
    Query("priority", "How urgent it is.", _words(*Priority)),
    Query(
        "q",
        "Words of its title, instructions or result; the last may be cut short.",
        {"type": "string"},
    ),
    Query("cursor", "`next` of the page before.", {"type": "string"}),
    numbers("limit", "How many.", 50, 1, search.MOST),
    Query("deleted", "What was deleted, and only that.", _words("true", "false")),
    VIEW,
)
PAGES: Final = (
    numbers("after", "Go on after this turnNumber.", 0, 0, 10**15),
    numbers("limit", "How many.", 100, 1, 1000),
)
ROUTES: Final = (
    Route(
        method="GET",
        path="/api/tasks",
        does=find,
        says="List tasks, newest first",
        gives="TaskPage",
        query=FILTERS,
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
    ),
    Route(
        method="PATCH",
        path="/api/tasks/{id}",
        does=change,
        says="Pause, resume, cancel or run now",
        gives="Task",
        query=(VIEW,),
        body=Change,
    ),
    Route(
        method="DELETE",
        path="/api/tasks/{id}",
        does=remove,
        says="Hide an ended task; cancel a live one, then hide it",
        gives="Task",
        query=(VIEW,),
        body=Nothing,
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
        method="POST",
        path="/api/tasks/{id}/undo",
        does=undo,
        says="Call back what was approved: the task is paused before anything of it is claimed",
        gives="Task",
        query=(VIEW,),
        body=Nothing,
    ),
    Route(
        method="POST",
        path="/api/tasks/{id}/retry",
        does=retry,
        says="Try an ended task again, as a new task in the same session",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=Nothing,
    ),
)
