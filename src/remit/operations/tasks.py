"""Operations on tasks: create one, change it, stop it, start it, retry it."""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final, cast

from msgspec.structs import replace

from remit.errors import BadInput, Conflict, UnknownName
from remit.model import codec, rrule
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.contract import Contract, Criterion, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SessionId, TaskId
from remit.model.recurrence import Repeats, WatchKind, watch_kind
from remit.model.reply import PROJECT
from remit.model.status import TERMINAL, Status
from remit.model.task import Creator, Cue, Edit, Source, SourceKind, Taint, Task
from remit.model.task_file import ATTACHMENTS, to_context
from remit.model.veto import Condition
from remit.operations import arguments as args
from remit.operations.operation import AgentRule, Answer, OperationRequest, operation
from remit.operations.settings_arguments import KeepFile
from remit.owner import Owner
from remit.settings.doors import OWN
from remit.store import calendars, search, tasks
from remit.store.opening import task_files
from remit.store.search import AgentTaskFilter
from remit.triggers import cue_admission
from remit.triggers.change_watch import new_watch, unknown_calendar

MOST_OPEN: Final = 500  # tasks of one agent
_OPEN: Final = tuple(status for status in Status if status not in TERMINAL)
_BELIEVED: Final = ("parent", "depth")
_ON_PROJECT: Final = "only a person has work done on a project"
_Verb = Callable[[Owner, TaskId, str | None], Awaitable[Task]]
_makes_task: Final = partial(
    operation, Scope.WRITE, "Task", agents=AgentRule.UNTRUSTED, status=201, view=True
)
_changes_task: Final = partial(
    operation, Scope.WRITE, "Task", agents=AgentRule.KNOWN, view=True, tagged=True
)


@operation(Scope.WRITE, "KeptFile", "The file is kept.", agents=AgentRule.SCOPE)
async def keep_file(request: OperationRequest, arguments: KeepFile) -> Answer:
    """Keep a file; name its hash in `attachments` of a task or message within a day."""
    try:
        content = base64.b64decode(arguments.content, validate=True)
    except (ValueError, binascii.Error):
        sentence = "content is not base64; encode the bytes of the file so."
        raise BadInput(sentence, field="content") from None
    kept = task_files(request.app.settings)
    file = await asyncio.to_thread(kept.keep_incoming, arguments.name, content, _taint(request))
    return Answer(to_context(file))


@_makes_task("The task is taken on.")
async def create_task(request: OperationRequest, arguments: args.NewTask) -> Answer:
    """Entrust a task; without `delivery` the result goes to the dashboard."""
    cue = _on_project(request, await _cue(request, arguments), arguments)
    # What came in is named by hash, and not by whoever writes a context.
    context = {name: value for name, value in cue.context.items() if name != ATTACHMENTS}
    cue = replace(cue, context=context | await attach_files(request, arguments.attachments))
    if request.caller.agent:
        await _check_room(request)
        cue = replace(_from_agent(request, cue), created_by=Creator.AGENT)
    return await created_answer(request, await request.app.intake.admit(cue))


@_changes_task("The task is paused.")
async def pause_task(request: OperationRequest, arguments: args.PauseTask) -> Answer:
    """Pause a task."""
    return await _to_task(Owner.pause, request, arguments)


@_changes_task("The task goes on.", agents=AgentRule.NOT_HELD)
async def resume_task(request: OperationRequest, arguments: args.ResumeTask) -> Answer:
    """Go on with a paused task."""
    return await _to_task(Owner.resume, request, arguments)


@_changes_task("The task is cancelled.")
async def cancel_task(request: OperationRequest, arguments: args.CancelTask) -> Answer:
    """Cancel a task."""
    return await _to_task(Owner.cancel, request, arguments)


@_changes_task("The task starts now.")
async def run_task(request: OperationRequest, arguments: args.RunTask) -> Answer:
    """Start a task that waits for its time."""
    return await _to_task(Owner.run_now, request, arguments)


@_changes_task("The task is changed.", agents=AgentRule.OWN_WORDS)
async def edit_task(request: OperationRequest, arguments: args.EditTask) -> Answer:
    """Pause, resume, cancel or run now; or change what has not begun."""
    parts = arguments.delivery
    change = Edit(
        title=arguments.title,
        instructions=arguments.instructions,
        scheduled_for=moment(arguments.scheduled_for, "scheduledFor"),
        priority=arguments.priority,
        delivery=None if parts is None else tuple(_delivery(each) for each in parts),
    )
    task_id = TaskId(arguments.id)
    task = await request.app.intake.edit(task_id, change, request.version, request.program)
    request.app.engine.nudge()
    return await _answer_with_etag(request, task)


@_changes_task("The task is deleted.")
async def delete_task(request: OperationRequest, arguments: args.DeleteTask) -> Answer:
    """Hide an ended task; cancel a live one, then hide it."""
    return await _end(Owner.delete, request, arguments)


@operation(Scope.APPROVE, "Task", "It is called back; nothing was sent.", view=True)
async def undo_task(request: OperationRequest, arguments: args.UndoTask) -> Answer:
    """Call back what was approved: the task is paused before anything of it is claimed."""
    return await _end(Owner.undo, request, arguments)


@operation(Scope.APPROVE, "Task", "The task waits for you no longer.", view=True)
async def see_task(request: OperationRequest, arguments: args.SeeTask) -> Answer:
    """You have looked at how it ended; it waits for you no longer."""
    return await _to_ended(Owner.seen, request, arguments)


@operation(Scope.APPROVE, "Task", "What its session remembers counts as yours.", view=True)
async def vouch_task(request: OperationRequest, arguments: args.VouchTask) -> Answer:
    """You have looked at what its session remembers; the next run may count it as yours."""
    return await _to_ended(Owner.vouch, request, arguments)


@operation(Scope.WRITE, "Task", "The task is shown again.", agents=AgentRule.KNOWN, page=True)
async def restore_task(request: OperationRequest, arguments: args.RestoreTask) -> Answer:
    """Show it again."""
    return await _to_ended(Owner.undelete, request, arguments)


@_makes_task("The task is tried again, as a new one.")
async def retry_task(request: OperationRequest, arguments: args.RetryTask) -> Answer:
    """Try an ended task again, as a new task in the same session."""
    task = await try_again(
        request, TaskId(arguments.id), request.ref, arguments.instructions.strip()
    )
    return await created_answer(request, task)


async def _to_task(verb: _Verb, request: OperationRequest, arguments: args.TaskArguments) -> Answer:
    """Do one thing to a task, which may be running; return it with its version."""
    return await _answer_with_etag(request, await act(verb, request, TaskId(arguments.id)))


async def _end(verb: _Verb, request: OperationRequest, arguments: args.TaskArguments) -> Answer:
    """Do one thing to a task; return it without a version, because no change follows."""
    return Answer(await request.task_json(await act(verb, request, TaskId(arguments.id))))


async def act(verb: _Verb, request: OperationRequest, task_id: TaskId) -> Task:
    task = await verb(request.owner, task_id, request.version)
    request.app.engine.heed(task)
    return task


async def _to_ended(
    verb: Callable[[Owner, TaskId], Awaitable[Task]],
    request: OperationRequest,
    arguments: args.TaskArguments,
) -> Answer:
    """Do one thing to a task that does not run; no engine has to know."""
    return Answer(await request.task_json(await verb(request.owner, TaskId(arguments.id))))


async def try_again(
    request: OperationRequest, task_id: TaskId, ref: str, instructions: str = ""
) -> Task:
    """Make a new task like an ended one; it keeps its taint, or gets an agent's."""
    cue = await request.owner.retry(task_id, ref)
    if instructions:
        cue = replace(cue, instructions=instructions)
    if request.caller.agent:
        if (cue.assigned_agent or "").startswith(PROJECT):
            request.access.check_person(_ON_PROJECT)
        cue = _from_agent(request, cue)
    return await request.app.intake.admit(cue)


async def created_answer(request: OperationRequest, task: Task) -> Answer:
    return Answer(await request.task_json(task), location=f"/api/tasks/{task.id}", value=task)


async def _answer_with_etag(request: OperationRequest, task: Task) -> Answer:
    """Return a task with its current version as ETag."""
    version = await request.app.db.read(tasks.version, task.id)
    return Answer(await request.task_json(task), etag=version)


# What is entrusted --------------------------------------------------------------------------------


def moment(text: str | None, field: str) -> datetime | None:
    """Parse a time; an error names the field."""
    try:
        return None if text is None else codec.moment(text)
    except BadInput as bad:
        raise type(bad)(f"{field}: {bad}", field=field) from None


def repeats_of(arguments: args.NewRepeats | None, at: datetime | None) -> Repeats | None:
    """Return the repetition; an invalid rule is refused before anything is stored."""
    if arguments is None:
        return None
    if at is not None:
        sentence = "Say the first time in repeats.first, or one time in scheduledFor; not both."
        raise BadInput(sentence, field="scheduledFor")
    first = moment(arguments.first, "repeats.first")
    assert first is not None  # noqa: S101 - a text is a moment, or refused
    repeats = Repeats(arguments.rule, arguments.zone, first)
    rrule.slots(repeats, first)  # for what it refuses
    return repeats


async def _cue(request: OperationRequest, arguments: args.NewTask) -> Cue:
    text = arguments.text if arguments.text is not None else arguments.title
    if text is None:
        raise BadInput("Give text (what you would say) or title.", field="text")
    at = moment(arguments.scheduled_for, "scheduledFor")
    often = repeats_of(arguments.repeats, at)
    when = often.first if often else at
    cue = cue_admission.cue(text, ref=request.ref, scheduled_for=when, priority=arguments.priority)
    parts = arguments.delivery
    return replace(
        cue,
        title=cue.title if arguments.title is None else arguments.title,
        instructions=arguments.instructions,
        work=tuple(map(_work_item, arguments.work)),
        delivery=cue.delivery if parts is None else tuple(map(_delivery, parts)),
        context=cast("dict[str, Json]", dict(arguments.context)),
        repeats=often,
        contract=_contract(arguments.contract) if arguments.contract else None,
        session_id=SessionId(arguments.session) if arguments.session else None,
        conditions=await watches(request, arguments.watch),
    )


async def watches(
    request: OperationRequest, arguments: args.NewWatch | None
) -> tuple[Condition, ...]:
    """Return a watch as a limit of the task; only a person sets one."""
    if arguments is None:
        return ()
    request.access.check_person("only a person has something watched")
    app = request.app
    watch = new_watch(arguments.target, arguments.part, app.settings.commands)
    kind, name = watch_kind(watch.words)
    set_up = kind is not WatchKind.CALENDAR or name in {*app.settings.calendars, OWN}
    if not set_up and not await app.db.read(calendars.is_known, name):
        raise UnknownName(unknown_calendar(name), field="watch")
    return (watch,)


def _work_item(item: str | args.NewItem) -> WorkItem:
    text = item if isinstance(item, str) else item.description
    if not text.strip():
        raise BadInput(
            "A work item is empty; say what is to be done, or leave it out.", field="work"
        )
    return WorkItem(text)


def _delivery(arguments: args.NewDelivery) -> Delivery:
    if arguments.recipient is not None and not arguments.recipient.strip():
        sentence = "The recipient is empty; name a person, or leave it out: it is for you then."
        raise BadInput(sentence, field="recipient")
    return Delivery(arguments.channel, arguments.recipient, arguments.content)


def _contract(arguments: args.NewContract) -> Contract:
    return Contract(
        arguments.type,
        tuple(
            Criterion(each.activity, each.description, each.pattern, each.timing)
            for each in arguments.criteria
        ),
        arguments.generated_from,
        moment(arguments.generated_at, "contract.generatedAt"),
    )


def _on_project(request: OperationRequest, cue: Cue, arguments: args.NewTask) -> Cue:
    if arguments.project is None:
        if arguments.files or arguments.prd is not False:
            name = "files" if arguments.files else "prd"
            raise BadInput(f"{name} is about a project; say which one as project.", field=name)
        return cue
    request.access.check_person(_ON_PROJECT)
    known = request.app.settings.projects
    return cue_admission.on_project(
        cue, arguments.project, known, arguments.files, prd=arguments.prd
    )


# An agent's words are never the owner's -----------------------------------------------------------


def _from_agent(request: OperationRequest, cue: Cue) -> Cue:
    """Return the cue as the agent's: its source names the agent, and sending to others asks."""
    ref, prefix = cue.source.ref, request.access.prefix
    source = Source(SourceKind.AGENT, ref if ref.startswith(prefix) else prefix + ref)
    context = cue.context
    if cue.source.kind is not SourceKind.AGENT:
        # Of an agent's task these are believed: which task it was made by, and how deep.
        context = {name: value for name, value in context.items() if name not in _BELIEVED}
    return replace(cue, source=source, context=context, taint=cue.taint.joined(Taint.CONTACT))


async def _check_room(request: OperationRequest) -> None:
    """Refuse another task if the agent has too many open ones."""
    still = AgentTaskFilter(statuses=_OPEN, limit=MOST_OPEN)
    count = await request.app.db.read(search.count_agent_tasks, request.access.prefix, still)
    if count >= MOST_OPEN:
        name = request.access.name
        raise Conflict(f"{name} has {MOST_OPEN} open tasks here; let some of them end first.")


async def attach_files(request: OperationRequest, named: Mapping[str, str]) -> JsonMap:
    """Return kept files as the context of a task lists them; one that is not kept is refused."""
    if not named:
        return {}
    kept = task_files(request.app.settings)
    listed: list[Json] = []
    for name, digest in named.items():
        content = await asyncio.to_thread(kept.read, digest)
        if content is None:
            sentence = f"No file is kept under {digest[:12]}…; send it to /api/files first."
            raise UnknownName(sentence, field=ATTACHMENTS)
        file = await asyncio.to_thread(kept.keep_incoming, name, content, _taint(request))
        listed.append(to_context(file))
    return {ATTACHMENTS: listed}


def _taint(request: OperationRequest) -> str:
    return (Taint.CONTACT if request.caller.agent else Taint.OWNER).value
