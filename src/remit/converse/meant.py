"""What a turn is taken for, decided once: written down before anything is done, and done after.

Nothing is guessed. Where two tasks may be meant, where words may be an answer or something new, the
owner is asked, and his next words settle it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from remit.converse import meaning, records, which
from remit.converse.meaning import Act, Approval, Command, Correction, Query
from remit.converse.phrases import Table, words_of
from remit.converse.plugs import Ear, Unclear
from remit.converse.scene import Scene
from remit.model.conversation import Turn
from remit.model.review import Answered, Review
from remit.model.status import Reason, Status
from remit.model.task import Task

_SHORT: Final = 16  # words that an answer may have beside an open question
_MOST_NAMED: Final = 5
AMEND: Final = "amend"  # the act that a question about a time is about


class What(StrEnum):
    ACT = "act"  # something is done to a task
    AMEND = "amend"  # a task that has not begun gets another time
    ANSWER = "answer"  # to an open question
    APPROVE = "approve"  # the one card that is shown here
    LOOK = "look"  # at the records
    ASK = "ask"  # nobody can tell: the owner is asked
    HEAR = "hear"  # for intake


@dataclass(frozen=True, slots=True)
class Meant:
    what: What
    act: str = ""
    task: str = ""
    tasks: tuple[str, ...] = ()  # that it may be
    review: str = ""
    text: str = ""  # the answer, the question, or the words that were said first
    ref: str = ""  # under which words that were said first are heard
    at: datetime | None = None
    words: tuple[str, ...] = ()  # a time that is not clear yet, bit by bit
    new: bool = False  # whether it may also be something new


def decide(scene: Scene, ear: Ear, now: datetime) -> Meant:
    """Say what is meant. The order is that of what costs most to mistake."""
    return (
        _settled(scene, ear, now)
        or _read(scene, ear, now)
        or _answer(scene, ear)
        or Meant(What.HEAR, text=scene.turn.content, ref=ref_of(scene))
    )


def ref_of(scene: Scene) -> str:
    """What the tasks of a turn are known by: where they were born."""
    return f"{scene.turn.conversation_id}:{scene.turn.n}"


# What talk itself had asked -----------------------------------------------------------------------


def _settled(scene: Scene, ear: Ear, now: datetime) -> Meant | None:
    """What the owner's words make of the question that talk asked last, if they answer it."""
    pending = scene.pending
    if pending is None:
        return None
    asks, said = pending.asks, scene.turn.content
    words = words_of(said)
    if asks.get("new") and words and _NEW.read(words):
        return Meant(What.HEAR, text=str(asks["text"]), ref=str(asks["ref"]))
    if asks.get("review"):
        fits = _ANSWER.read(words)
        text, review = str(asks["text"]), str(asks["review"])
        return Meant(What.ANSWER, review=review, text=text) if fits else None
    named = asks.get("tasks")
    among = [task for task in scene.others if isinstance(named, list) and task.id in named]
    if asks.get("act") == AMEND:
        return _timed(among, pending, said, ear, now)
    chosen = which.chosen(said, among) or (among[0] if _sole_yes(words, among) else None)
    return Meant(What.ACT, act=str(asks["act"]), task=chosen.id) if chosen else None


def _timed(
    among: Sequence[Task], pending: Turn, said: str, ear: Ear, now: datetime
) -> Meant | None:
    """A task's new time, if the words say nothing else and it can still have it."""
    kept = pending.asks.get("words")
    earlier = tuple(map(str, kept)) if isinstance(kept, list) else ()
    at = ear.when(among[0], said, earlier) if among else None
    return _moved(among[0], at, (*earlier, said), now) if at else None


def _moved(
    task: Task, at: datetime | Unclear | None, words: tuple[str, ...], now: datetime
) -> Meant:
    """A task's new time; or why it has none, and what is known of it already."""
    refusal = _unchanged(task, at, now)
    if isinstance(at, datetime) and not refusal:
        return Meant(What.AMEND, task=task.id, at=at)
    said = words if isinstance(at, Unclear) else ()
    return Meant(What.ASK, act=AMEND, tasks=(task.id,), text=refusal, words=said)


def _sole_yes(words: Sequence[str], among: Sequence[Task]) -> bool:
    return len(among) == 1 and _ANSWER.read(tuple(words)) is not None


# What the sentence says ---------------------------------------------------------------------------


def _read(scene: Scene, ear: Ear, now: datetime) -> Meant | None:
    match meaning.read(scene.turn.content):
        case Command() as command:
            return _command(command, scene)
        case Query() as query:
            return _looked(query, scene)
        case Correction(words, firm):
            return _amended(scene, ear, words, now, firm=firm)
        case Approval():
            return _approved(scene)
        case None:
            return None


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
        return Meant(What.ASK, text=_NOTHING_TO_APPROVE)
    shown = "\n".join(f"- {each.question}" for each in cards[:_MOST_NAMED])
    return Meant(What.ASK, text=f"{_WHICH_APPROVED}\n{shown}")


def _command(command: Command, scene: Scene) -> Meant | None:
    thing = command.thing
    if thing.all:
        return Meant(What.ASK, text=_ONE_BY_ONE)
    live = [task for task in scene.others if not task.ended]
    last = [task for task in scene.last if not task.ended] or list(scene.last)
    found = last if thing.pointed else which.named(thing, scene.live, live)
    if len(found) == 1 and (thing.pointed or thing.named or _is_plain(command, found[0])):
        return Meant(What.ACT, act=command.act.value, task=found[0].id)
    if found:
        return _which(command, found, scene, new=not (thing.pointed or thing.named))
    if thing.pointed or thing.named:
        return Meant(What.ASK, text=_NO_SUCH)
    return None  # "cancel my gym membership": something to be done


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


def _amended(scene: Scene, ear: Ear, words: str, now: datetime, *, firm: bool) -> Meant | None:
    """Another time for the task that was spoken of last; what is firm is never a second task."""
    if not scene.last:
        return None
    task = scene.last[0]
    answered = [each for each in scene.asked if ear.fits(task, each, words)]
    if answered and answered[0].task_id == task.id:
        return Meant(What.ANSWER, review=str(answered[0].id), text=words)
    at = ear.when(task, words)
    if at is None and not firm:
        return None
    if len(scene.last) > 1:
        return Meant(What.ASK, text=_WHICH_CHANGES)
    return _moved(task, at, (words,), now)


def _unchanged(task: Task, at: datetime | Unclear | None, now: datetime) -> str:
    """Why a task is not given another time; empty if it is."""
    name = records.title(task)
    if at is None:
        return _WHAT_CHANGES.format(name)
    if isinstance(at, Unclear):
        return f"{name}: {at.sentence} Say it with the hour, like 17:00."
    if task.series_id is not None or task.repeats is not None:
        return _COMES_BACK.format(name)
    if has_begun(task):
        return _HAS_BEGUN.format(name)
    return _HAS_PASSED.format(name) if at <= now else ""


def has_begun(task: Task) -> bool:
    waits = task.status in (Status.NEW, Status.READY)
    return not waits or task.started_at is not None


# The answer to an open question -------------------------------------------------------------------


def _answer(scene: Scene, ear: Ear) -> Meant | None:
    """Short words while exactly one question is open that takes words, and no work in them."""
    said = scene.turn.content.strip()
    open_ = [each for each in scene.asked if Answered.ANSWER in each.options]
    if scene.turn.about is not None:
        open_ = [each for each in open_ if each.task_id == scene.turn.about]
    if not open_ or len(said.split()) > _SHORT or said.endswith("?") or ear.is_talk(said):
        return None
    fitting = [each for each in open_ if _fit(scene, ear, each, said)]
    if ear.asks_for_work(said):
        free = [each for each in open_ if _fit(scene, ear, each, said) is not False]
        return _either(scene, free[0]) if free else None  # else it can be no answer
    if len(open_) == 1 or len(fitting) == 1:
        review = fitting[0] if fitting else open_[0]
        return Meant(What.ANSWER, review=str(review.id), text=said)
    asked = "\n".join(f"- {each.question}" for each in open_[:_MOST_NAMED])
    return Meant(What.ASK, text=f"{_WHICH_ANSWERED}\n{asked}")


def _fit(scene: Scene, ear: Ear, review: Review, said: str) -> bool | None:
    task = next((task for task in scene.spoken if task.id == review.task_id), None)
    return ear.fits(task, review, said) if task else False


def _either(scene: Scene, review: Review) -> Meant:
    ask = f'Is that the answer to "{review.question}", or something new? Say "answer" or "new".'
    return Meant(What.ASK, review=str(review.id), text=ask, ref=ref_of(scene), new=True)


_NOTHING: Final = meaning.Thing()
_NEW: Final = Table(
    {True: "new|something new|a new task|new task|it is new|neu|etwas neues|nuevo|algo nuevo|nueva"}
)
_ANSWER: Final = Table(
    {True: "answer|the answer|it is the answer|yes|yes please|ja|antwort|die antwort|si|respuesta"}
)
_VERBS: Final = {Act.PAUSE: "pause", Act.RESUME: "resume", Act.CANCEL: "cancel", Act.RUN: "start"}
_ONE_MEANT: Final = "Is it this task that you mean? Say yes, or its name."
_ONE_BY_ONE: Final = "Here I do that to one task at a time; the Tasks page does it to many at once."
_NO_SUCH: Final = "I find no task like that. Name it by a word of its title."
_WHICH_CHANGES: Final = "Several tasks were just spoken of. Which one is to change, and to when?"
_WHAT_CHANGES: Final = (
    "{} has not been changed: I can change when it runs, and that is no time I can read."
    " To change anything else, edit it on its page, or cancel it and say it anew."
)
_COMES_BACK: Final = (
    "{} comes back again and again. Move one run of it on the Schedule page, or cancel it and say"
    " it anew."
)
_NOTHING_TO_APPROVE: Final = "Nothing in this conversation waits for your approval."
_WHICH_APPROVED: Final = "Several messages wait for your approval. Approve each on its card:"
_WHICH_ANSWERED: Final = (
    "Several questions are open, and I cannot tell which of them that answers. Answer on the card:"
)
_HAS_BEGUN: Final = "{} has begun, so its time cannot be changed. Cancel it, or say what is new."
_HAS_PASSED: Final = "{} was not changed: that time has passed. Say one to come."
