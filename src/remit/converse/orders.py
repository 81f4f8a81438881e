"""Reads a command about existing tasks, by closed forms or through a model.

If two tasks could be meant, the owner is asked. A model's reading is carried out only if it can be
undone; anything else it may only propose.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.converse import intent, meaning, records
from remit.converse.intent import Intent, IntentKind, intent_of_new_time, ref_of
from remit.converse.meaning import (
    Approval,
    Correction,
    Retraction,
    StatusQuery,
    TaskAction,
    TaskCommand,
    TaskReference,
    UndoCommand,
    bare,
    in_list,
    is_phrase,
    words_of,
)
from remit.converse.scene import ConversationScene, MessageIntake
from remit.model.codec import from_json
from remit.model.conversation import OrderKind, Role, TurnOrder
from remit.model.ids import TaskId
from remit.model.review import ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Task

_MOST_NAMED: Final = 5
_TIME: Final = ":time:"  # part of the key of a question about a time
_MONTH: Final = "month"  # a run is named by its month
_UNDOABLE: Final = (IntentKind.ACT, IntentKind.AMEND, IntentKind.SKIP, IntentKind.APPROVE)


def read_order(scene: ConversationScene, ear: MessageIntake, now: datetime) -> Intent | None:
    """Return what the sentence asks of existing tasks, if it has a known form."""
    command = meaning.read(scene.turn.content)
    if isinstance(command, (TaskCommand, Retraction)) and ear.asks_for_work(command.beside):
        return None
    if isinstance(command, TaskCommand):
        return (
            _intent_of_skip(command, scene, ear)
            if command.act is TaskAction.SKIP
            else _command(command, scene)
        )
    if isinstance(command, Correction):
        return _intent_of_correction(scene, ear, command.words, now, firm=command.firm)
    if isinstance(command, StatusQuery):
        return _intent_of_query(command, scene)
    closed = {
        Approval: _intent_of_approval,
        UndoCommand: _undone,
        Retraction: _intent_of_retraction,
    }
    return closed[type(command)](scene) if command is not None else None


def read_reply(scene: ConversationScene) -> Intent | None:
    """Return what a bare yes or no makes of the one open card.

    A reply to the card decides; said without one, a yes is asked how it is meant.
    """
    about = scene.turn.about
    cards = [each for each in scene.asked if each.reason is Reason.APPROVAL]
    cards = [each for each in cards if about in (None, each.task_id)]
    decision = meaning.read_decision(cards[0], scene.turn.content, "") if len(cards) == 1 else None
    if decision is None or meaning.read(scene.turn.content) is not None:
        return None  # a whole sentence says what it wants
    if decision.answer is ReviewAnswer.APPROVE:
        return _intent_of_approval(scene) if about else _proposed_approval(scene, cards[0].task_id)
    return (
        _intent_of_retraction(scene) if about and decision.answer is ReviewAnswer.DECLINE else None
    )


def _intent_of_query(query: StatusQuery, scene: ConversationScene) -> Intent | None:
    thing, look = query.thing, query.look
    known = intent.find_candidates(thing, scene.last, scene.others) if thing != _NOTHING else []
    if look is meaning.QueryKind.STATUS and len(known) != 1:
        return None  # none, or too many: treat it as an ordinary question
    return Intent(IntentKind.LOOK, act=look.value, tasks=tuple(task.id for task in known))


def _intent_of_approval(scene: ConversationScene) -> Intent:
    """Approve the one card that this conversation shows, or that the turn replies to."""
    cards = [each for each in scene.asked if each.reason is Reason.APPROVAL]
    if scene.turn.about is not None:
        cards = [each for each in cards if each.task_id == scene.turn.about]
    if len(cards) == 1:
        return Intent(IntentKind.APPROVE, review=str(cards[0].id))
    if not cards:
        first = f" First answer this: {scene.asked[0].question}" if scene.asked else ""
        return Intent(IntentKind.ASK, text=f"{_NOTHING_TO_APPROVE}{first}")
    shown = "\n".join(f"- {each.question}" for each in cards[:_MOST_NAMED])
    return Intent(IntentKind.ASK, text=f"{_WHICH_APPROVED}\n{shown}")


def _intent_of_retraction(scene: ConversationScene) -> Intent:
    """Cancel what was mentioned last, or say that it has already ended."""
    if not scene.last:
        return Intent(IntentKind.ASK, text=_NOTHING_TO_CANCEL)
    order = _command(TaskCommand(TaskAction.CANCEL, TaskReference(pointed=True)), scene)
    return order or Intent(IntentKind.ASK, text=_NOTHING_TO_CANCEL)


def _command(command: TaskCommand, scene: ConversationScene) -> Intent | None:
    thing = command.thing
    if thing.all:
        return Intent(IntentKind.ASK, text=_ONE_BY_ONE)
    again = command.act is TaskAction.AGAIN
    found = _tasks_to_repeat(thing, scene) if again else _candidates(thing, scene)
    if len(found) == 1 and (thing.pointed or thing.named or _is_plain(command, found[0])):
        return Intent(IntentKind.ACT, act=command.act.value, task=found[0].id)
    if found:
        return _ask_which(command, found, scene, new=not (thing.pointed or thing.named))
    if thing.pointed or thing.named:
        return Intent(IntentKind.ASK, text=_NO_SUCH)
    return None  # "cancel my gym membership": that is work


def _candidates(thing: TaskReference, scene: ConversationScene) -> list[Task]:
    """Return the tasks meant: mentioned last, else of this conversation, else any.

    "It" is what was mentioned last. "The reminder" may be any of this conversation.
    """
    last = [task for task in scene.last if scene.is_open(task)] or list(scene.last)
    if thing.pointed:
        return _one_a_series(last)
    every = [task for task in scene.others if scene.is_open(task)]
    is_described = bool(thing.words or thing.rhythm or thing.reminder)
    for among in (scene.live, every) if is_described else (last, scene.live, every):
        fitting = [task for task in among if _is_such(thing, task, scene)]
        found = intent.matching(thing.words, fitting) if thing.words else fitting
        if found:
            return _one_a_series(found)
    return []


def _tasks_to_repeat(thing: TaskReference, scene: ConversationScene) -> list[Task]:
    """Return the tasks that may be meant to be done again; mostly they have ended."""
    if thing.pointed:
        return _one_a_series([task for task in scene.last if task.ended] or list(scene.last))
    for among in (scene.last, scene.spoken, scene.others):
        if found := intent.matching(thing.words, among):
            return _one_a_series(found)
    return []


def _is_such(thing: TaskReference, task: Task, scene: ConversationScene) -> bool:
    if thing.reminder and not _is_for_owner(task):
        return False
    if thing.rhythm:
        return task.series_id is not None and scene.rhythms.get(task.series_id) == thing.rhythm
    return True


def _is_for_owner(task: Task) -> bool:
    """Whether the task sends something, and to nobody but the owner."""
    return bool(task.delivery) and not any(each.recipient for each in task.delivery)


def _one_a_series(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks, only the first of each series."""
    return list({task.series_id or task.id: task for task in reversed(tasks)}.values())[::-1]


def _is_plain(command: TaskCommand, task: Task) -> bool:
    """Whether bare words can only mean the task: a paused one can resume, an ended one cannot."""
    whole = words_of(task.title)
    return command.act is not TaskAction.CANCEL or command.thing.words == whole


def _ask_which(
    command: TaskCommand, found: Sequence[Task], scene: ConversationScene, *, new: bool
) -> Intent:
    some_of = found[:_MOST_NAMED]
    lines = [f"{n}. {records.title(task)}" for n, task in enumerate(some_of, 1)]
    other = ' Or is it something new? Then say "new".' if new else ""
    ask = f"Which one shall I {_VERBS[command.act]}?" if len(found) > 1 else _ONE_MEANT
    return Intent(
        IntentKind.ASK,
        act=command.act.value,
        tasks=tuple(task.id for task in some_of),
        text="\n".join([f"{ask}{other}", *lines]),
        ref=ref_of(scene),
        new=new,
    )


def _intent_of_skip(
    command: TaskCommand, scene: ConversationScene, ear: MessageIntake
) -> Intent | None:
    """Return the run of a series to skip: by day, by name, or the next one.

    Such words never become a task.
    """
    words, among = bare(command.said, in_list("articles"), ()), _repeating(scene)
    if not (among or command.only_time):
        return Intent(IntentKind.ASK, text=_NO_SUCH)
    if not words or is_phrase("next_run", words):
        return _run_of(among, command, scene)
    for cut in range(len(words)) if not command.only_time else (0,):
        named = _one_a_series(intent.matching(words[:cut], among)) if cut else among
        if found := _run_then(" ".join(words[cut:]), named, ear):
            return found
    if command.only_time:
        return None
    named = intent.matching(command.thing.words, among)
    return _run_of(named or among, command, scene)


def _run_of(among: Sequence[Task], command: TaskCommand, scene: ConversationScene) -> Intent | None:
    """Return the next run of the one series that is meant."""
    if len(among) == 1:
        return Intent(IntentKind.FIND_RUN, tasks=(among[0].id,))
    return _ask_which(command, among, scene, new=False) if among else None


def _run_then(words: str, among: Sequence[Task], ear: MessageIntake) -> Intent | None:
    """Return the runs of some series at the named time, or in the named month."""
    plain = " ".join(word for word in words.split() if word not in in_list("next_run"))
    for form, act in ((words, ""), (plain, ""), (f"1 {words}", _MONTH), (f"1 de {words}", _MONTH)):
        timed = [(task, at) for task in among if isinstance(at := ear.when(task, form), datetime)]
        if timed:
            ids = tuple(task.id for task, _ in timed)
            return Intent(IntentKind.FIND_RUN, act=act, tasks=ids, at=timed[0][1])
    return None


def _repeating(scene: ConversationScene) -> list[Task]:
    """Return repeating tasks: mentioned last, else of this conversation, else any."""
    every = [task for task in scene.others if scene.is_open(task)]
    for among in (scene.last, scene.live, every):
        if found := [task for task in among if task.series_id is not None]:
            return _one_a_series(found)
    return []


def _undone(scene: ConversationScene) -> Intent:
    """Return the intent that undoes what was done last in this conversation."""
    for turn in reversed(scene.before):
        done = from_json(Intent, turn.meant) if turn.role is Role.USER and turn.meant else None
        if done is not None and done.what is IntentKind.UNDO:
            break
        if done is not None and done.what in _UNDOABLE:
            return replace(done, what=IntentKind.UNDO, text=done.what.value, ref=ref_of(scene))
    return Intent(IntentKind.ASK, text=_NOTHING_TO_UNDO)


def _intent_of_correction(
    scene: ConversationScene, ear: MessageIntake, words: str, now: datetime, *, firm: bool
) -> Intent | None:
    """Return another time for the task mentioned last; a firm correction is never a new task."""
    if not scene.last:
        return None
    task = scene.last[0]
    at = ear.when(task, words)
    mine = [each for each in scene.asked if each.task_id == task.id]
    asked = [each for each in mine if at is None or _TIME in each.key]
    answered = [each for each in asked if ear.fits(task, each, words)]
    if answered:
        return Intent(IntentKind.ANSWER, review=str(answered[0].id), text=words)
    if at is None and not firm:
        return None
    if len(scene.last) > 1:
        return Intent(IntentKind.ASK, text=_WHICH_CHANGES)
    return intent_of_new_time(task, at, (words,), now)


# Orders that a model found ------------------------------------------------------------------------


def intent_of_model_order(
    order: TurnOrder, scene: ConversationScene, ear: MessageIntake, now: datetime
) -> Intent:
    """Return a model's command, as far as it may be executed.

    What cannot be undone, or what the words do not confirm, is only proposed.
    """
    task = next((each for each in (*scene.spoken, *scene.others) if each.id == order.task), None)
    if order.kind is OrderKind.ANSWER or task is None:
        answer = Intent(IntentKind.ANSWER, review=str(order.question), text=scene.turn.content)
        return answer if order.question else Intent(IntentKind.ASK, text=_NO_SUCH)
    if order.kind is OrderKind.APPROVE:
        return _proposed_approval(scene, task.id)
    at = ear.when(task, order.words)
    if order.kind is OrderKind.MOVE:
        return intent_of_new_time(task, at, (order.words,), now)
    if order.kind is OrderKind.SKIP and task.series_id is not None:
        day = at if isinstance(at, datetime) else None
        return Intent(IntentKind.FIND_RUN, tasks=(task.id,), at=day)
    act = TaskAction.CANCEL if order.kind is OrderKind.SKIP else TaskAction(order.kind.value)
    return _intent_of_order(act, task, certain=order.certain)


def _intent_of_order(act: TaskAction, task: Task, *, certain: bool) -> Intent:
    """Pause or cancel if the owner's words confirm it; else propose it."""
    if certain and act in (TaskAction.PAUSE, TaskAction.CANCEL):
        return Intent(IntentKind.ACT, act=act.value, task=task.id)
    ask = f"Shall I {_VERBS[act]} {records.title(task)}? Say yes."
    return Intent(IntentKind.ASK, act=act.value, tasks=(task.id,), text=ask)


def _proposed_approval(scene: ConversationScene, task_id: TaskId) -> Intent:
    cards = [each for each in scene.asked if each.reason is Reason.APPROVAL]
    mine = [each for each in cards if each.task_id == task_id]
    if len(mine) != 1:
        return Intent(IntentKind.ASK, text=_NOTHING_TO_APPROVE)
    how = 'Say "yes, send it".' if len(cards) == 1 else "Approve it on its card."
    return Intent(IntentKind.ASK, text=f"{mine[0].question}\n{mine[0].evidence}\n{how}".strip())


_NOTHING: Final = meaning.TaskReference()
_VERBS: Final = {
    TaskAction.PAUSE: "pause",
    TaskAction.RESUME: "resume",
    TaskAction.CANCEL: "cancel",
    TaskAction.RUN: "start",
    TaskAction.AGAIN: "do again",
    TaskAction.SKIP: "leave out once",
}
_NOTHING_TO_CANCEL: Final = "There is nothing in this conversation to take back."
_NOTHING_TO_UNDO: Final = "There is nothing in this conversation that I could undo."
_ONE_MEANT: Final = "Is it this task that you mean? Say yes, or its name."
_ONE_BY_ONE: Final = "Here I do that to one task at a time; the Tasks page does it to many at once."
_NO_SUCH: Final = "I find no task like that. Name it by a word of its title."
_WHICH_CHANGES: Final = "Several tasks were just spoken of. Which one should change, and to when?"
_NOTHING_TO_APPROVE: Final = "Nothing in this conversation waits for your approval."
_WHICH_APPROVED: Final = "Several messages wait for your approval. Approve each on its card:"
