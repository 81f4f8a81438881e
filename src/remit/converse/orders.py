"""An order about what is there, in words of a known form or found by a model.

Where two tasks may be meant, the owner is asked. What a model finds is followed only as far as it
can be taken back; anything else it may only propose.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.converse import meaning, records, which
from remit.converse.intent import Meant, What, moved, ref_of
from remit.converse.meaning import (
    Act,
    Approval,
    Command,
    Correction,
    Query,
    Retraction,
    Thing,
    Undo,
)
from remit.converse.phrases import bare, in_list, is_phrase, words_of
from remit.converse.plugs import Ear
from remit.converse.scene import Scene
from remit.model.codec import from_json
from remit.model.conversation import OrderKind, Role, TurnOrder
from remit.model.status import Reason
from remit.model.task import Task

_MOST_NAMED: Final = 5
_TIME: Final = ":time:"  # in the key of a question about a time
_MONTH: Final = "month"  # a run is named by its month
_UNDOABLE: Final = (What.ACT, What.AMEND, What.SKIP, What.APPROVE)


def read_order(scene: Scene, ear: Ear, now: datetime) -> Meant | None:
    """What the sentence wants of what is there, if it has a known form."""
    said = meaning.read(scene.turn.content)
    if isinstance(said, (Command, Retraction)) and ear.asks_for_work(said.beside):
        return None
    if isinstance(said, Command):
        return _skipped(said, scene, ear) if said.act is Act.SKIP else _command(said, scene)
    if isinstance(said, Correction):
        return _amended(scene, ear, said.words, now, firm=said.firm)
    if isinstance(said, Query):
        return _looked(said, scene)
    closed = {Approval: _approved, Undo: _undone, Retraction: _retracted}
    return closed[type(said)](scene) if said is not None else None


def _looked(query: Query, scene: Scene) -> Meant | None:
    thing, look = query.thing, query.look
    known = which.named(thing, scene.last, scene.others) if thing != _NOTHING else []
    if look is meaning.Look.STATUS and len(known) != 1:
        return None  # nobody, or too many: a question like any other
    return Meant(What.LOOK, act=look.value, tasks=tuple(task.id for task in known))


def _approved(scene: Scene) -> Meant:
    """Approve the one card that this conversation shows, or that the turn replies to."""
    cards = [each for each in scene.asked if each.reason is Reason.APPROVAL]
    if scene.turn.about is not None:
        cards = [each for each in cards if each.task_id == scene.turn.about]
    if len(cards) == 1:
        return Meant(What.APPROVE, review=str(cards[0].id))
    if not cards:
        first = f" First answer this: {scene.asked[0].question}" if scene.asked else ""
        return Meant(What.ASK, text=f"{_NOTHING_TO_APPROVE}{first}")
    shown = "\n".join(f"- {each.question}" for each in cards[:_MOST_NAMED])
    return Meant(What.ASK, text=f"{_WHICH_APPROVED}\n{shown}")


def _retracted(scene: Scene) -> Meant:
    """Cancel what was spoken of last; what has ended already is said to have."""
    if not scene.last:
        return Meant(What.ASK, text=_NOTHING_TO_CANCEL)
    order = _command(Command(Act.CANCEL, Thing(pointed=True)), scene)
    return order or Meant(What.ASK, text=_NOTHING_TO_CANCEL)


def _command(command: Command, scene: Scene) -> Meant | None:
    thing = command.thing
    if thing.all:
        return Meant(What.ASK, text=_ONE_BY_ONE)
    found = _candidates(thing, scene)
    if len(found) == 1 and (thing.pointed or thing.named or _is_plain(command, found[0])):
        return Meant(What.ACT, act=command.act.value, task=found[0].id)
    if found:
        return _which(command, found, scene, new=not (thing.pointed or thing.named))
    if thing.pointed or thing.named:
        return Meant(What.ASK, text=_NO_SUCH)
    return None  # "cancel my gym membership": something to be done


def _candidates(thing: Thing, scene: Scene) -> list[Task]:
    """The tasks that are meant: those spoken of last, else of this conversation, else any."""
    last = [task for task in scene.last if not task.ended] or list(scene.last)
    if thing.pointed:
        return _one_a_series(last)
    every = [task for task in scene.others if not task.ended]
    for among in (scene.live, every) if thing.words or thing.rhythm else (last, scene.live, every):
        fitting = [task for task in among if _is_such(thing, task, scene)]
        found = which.matching(thing.words, fitting) if thing.words else fitting
        if found:
            return _one_a_series(found)
    return []


def _is_such(thing: Thing, task: Task, scene: Scene) -> bool:
    if thing.reminder and any(each.recipient for each in task.delivery):
        return False
    if thing.rhythm:
        return task.series_id is not None and scene.rhythms.get(task.series_id) == thing.rhythm
    return True


def _one_a_series(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, of each series only the first."""
    return list({task.series_id or task.id: task for task in reversed(tasks)}.values())[::-1]


def _is_plain(command: Command, task: Task) -> bool:
    """Whether bare words can only mean the task: what is paused can go on, what ended cannot."""
    whole = words_of(task.title)
    return command.act is not Act.CANCEL or command.thing.words == whole


def _which(command: Command, found: Sequence[Task], scene: Scene, *, new: bool) -> Meant:
    some_of = found[:_MOST_NAMED]
    lines = [f"{n}. {records.title(task)}" for n, task in enumerate(some_of, 1)]
    other = ' Or is it something new? Then say "new".' if new else ""
    ask = f"Which one shall I {_VERBS[command.act]}?" if len(found) > 1 else _ONE_MEANT
    return Meant(
        What.ASK,
        act=command.act.value,
        tasks=tuple(task.id for task in some_of),
        text="\n".join([f"{ask}{other}", *lines]),
        ref=ref_of(scene),
        new=new,
    )


def _skipped(command: Command, scene: Scene, ear: Ear) -> Meant | None:
    """A run of a series that is left out: by its day, by the name of the series, or the next one.

    Words that order that never become a task of their own.
    """
    said, among = bare(command.said, in_list("articles"), ()), _repeating(scene)
    if not said or is_phrase("next_run", said):
        return _run_of(among, command, scene)
    for cut in range(len(said)) if not command.only_time else (0,):
        named = _one_a_series(which.matching(said[:cut], among)) if cut else among
        if found := _run_then(" ".join(said[cut:]), named, ear):
            return found
    if command.only_time:
        return None
    named = which.matching(command.thing.words, among)
    return _run_of(named or among, command, scene)


def _run_of(among: Sequence[Task], command: Command, scene: Scene) -> Meant | None:
    """The next run of the one series that is meant."""
    if len(among) == 1:
        return Meant(What.FIND_RUN, tasks=(among[0].id,))
    return _which(command, among, scene, new=False) if among else None


def _run_then(words: str, among: Sequence[Task], ear: Ear) -> Meant | None:
    """The runs of some series at the time that words name, or in their month."""
    plain = " ".join(word for word in words.split() if word not in in_list("next_run"))
    for form, act in ((words, ""), (plain, ""), (f"1 {words}", _MONTH), (f"1 de {words}", _MONTH)):
        timed = [(task, at) for task in among if isinstance(at := ear.when(task, form), datetime)]
        if timed:
            ids = tuple(task.id for task, _ in timed)
            return Meant(What.FIND_RUN, act=act, tasks=ids, at=timed[0][1])
    return None


def _repeating(scene: Scene) -> list[Task]:
    """What comes back: of those spoken of last, else of this conversation, else any."""
    every = [task for task in scene.others if not task.ended]
    for among in (scene.last, scene.live, every):
        if found := [task for task in among if task.series_id is not None]:
            return _one_a_series(found)
    return []


def _undone(scene: Scene) -> Meant:
    """What was done last in this conversation, to be undone."""
    for turn in reversed(scene.before):
        done = from_json(Meant, turn.meant) if turn.role is Role.USER and turn.meant else None
        if done is not None and done.what is What.UNDO:
            break
        if done is not None and done.what in _UNDOABLE:
            return replace(done, what=What.UNDO, text=done.what.value, ref=ref_of(scene))
    return Meant(What.ASK, text=_NOTHING_TO_UNDO)


def _amended(scene: Scene, ear: Ear, words: str, now: datetime, *, firm: bool) -> Meant | None:
    """Another time for the task that was spoken of last; what is firm is never a second task."""
    if not scene.last:
        return None
    task = scene.last[0]
    at = ear.when(task, words)
    mine = [each for each in scene.asked if each.task_id == task.id]
    asked = [each for each in mine if at is None or _TIME in each.key]
    answered = [each for each in asked if ear.fits(task, each, words)]
    if answered:
        return Meant(What.ANSWER, review=str(answered[0].id), text=words)
    if at is None and not firm:
        return None
    if len(scene.last) > 1:
        return Meant(What.ASK, text=_WHICH_CHANGES)
    return moved(task, at, (words,), now)


# Orders that a model found ------------------------------------------------------------------------


def ordered(order: TurnOrder, scene: Scene, ear: Ear, now: datetime) -> Meant:
    """The order that a model found in a turn, as far as it may be followed.

    What cannot be taken back, or what its words do not bear out, is only proposed.
    """
    task = next((each for each in (*scene.spoken, *scene.others) if each.id == order.task), None)
    if order.kind is OrderKind.ANSWER or task is None:
        answer = Meant(What.ANSWER, review=str(order.question), text=scene.turn.content)
        return answer if order.question else Meant(What.ASK, text=_NO_SUCH)
    if order.kind is OrderKind.APPROVE:
        return _proposed_approval(scene, task)
    at = ear.when(task, order.words)
    if order.kind is OrderKind.MOVE:
        return moved(task, at, (order.words,), now)
    if order.kind is OrderKind.SKIP and task.series_id is not None:
        day = at if isinstance(at, datetime) else None
        return Meant(What.FIND_RUN, tasks=(task.id,), at=day)
    act = Act.CANCEL if order.kind is OrderKind.SKIP else Act(order.kind.value)
    return _followed(act, task, certain=order.certain)


def _followed(act: Act, task: Task, *, certain: bool) -> Meant:
    """What holds or ends a task is done where the owner's words bear it out; else proposed."""
    if certain and act in (Act.PAUSE, Act.CANCEL):
        return Meant(What.ACT, act=act.value, task=task.id)
    ask = f"Shall I {_VERBS[act]} {records.title(task)}? Say yes."
    return Meant(What.ASK, act=act.value, tasks=(task.id,), text=ask)


def _proposed_approval(scene: Scene, task: Task) -> Meant:
    cards = [each for each in scene.asked if each.reason is Reason.APPROVAL]
    mine = [each for each in cards if each.task_id == task.id]
    if len(mine) != 1:
        return Meant(What.ASK, text=_NOTHING_TO_APPROVE)
    how = 'Say "yes, send it".' if len(cards) == 1 else "Approve it on its card."
    return Meant(What.ASK, text=f"{mine[0].question}\n{mine[0].evidence}\n{how}".strip())


_NOTHING: Final = meaning.Thing()
_VERBS: Final = {
    Act.PAUSE: "pause",
    Act.RESUME: "resume",
    Act.CANCEL: "cancel",
    Act.RUN: "start",
    Act.SKIP: "leave out once",
}
_NOTHING_TO_CANCEL: Final = "There is nothing in this conversation to take back."
_NOTHING_TO_UNDO: Final = "There is nothing in this conversation that I could undo."
_ONE_MEANT: Final = "Is it this task that you mean? Say yes, or its name."
_ONE_BY_ONE: Final = "Here I do that to one task at a time; the Tasks page does it to many at once."
_NO_SUCH: Final = "I find no task like that. Name it by a word of its title."
_WHICH_CHANGES: Final = "Several tasks were just spoken of. Which one is to change, and to when?"
_NOTHING_TO_APPROVE: Final = "Nothing in this conversation waits for your approval."
_WHICH_APPROVED: Final = "Several messages wait for your approval. Approve each on its card:"
