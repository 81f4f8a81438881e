"""Decides once what a turn means, and stores that before acting on it.

Nothing is guessed: if two tasks could be meant, or a turn could be an answer or a new request, the
owner is asked and the next turn settles it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from remit.converse import intent, meaning, records
from remit.converse.intent import AMEND, MOVE_RUN, Intent, IntentKind, intent_of_new_time, ref_of
from remit.converse.meaning import Retraction, TaskAction, is_phrase, words_of
from remit.converse.orders import read_order, read_reply
from remit.converse.scene import ConversationScene, MessageIntake
from remit.model.codec import moment
from remit.model.conversation import Turn
from remit.model.review import Review, ReviewAnswer
from remit.model.task import Task
from remit.model.task_file import ATTACHMENTS

_SHORT: Final = 16  # words of an answer to an open question
_SLIP: Final = 2  # words that may be an answer, though no question takes them
_MOST_NAMED: Final = 5
_MOST_REMARK: Final = 12  # words of what may be a remark or work


def decide(scene: ConversationScene, ear: MessageIntake, now: datetime) -> Intent:
    """Return the intent. The order follows what is most costly to mistake.

    What comes with files is a request of its own.
    """
    if ATTACHMENTS in scene.turn.context:
        return Intent(IntentKind.HEAR, text=scene.turn.content, ref=ref_of(scene))
    return (
        _intent_of_answer(scene, ear, now)
        or read_reply(scene)
        or read_order(scene, ear, now)
        or _answer(scene, ear)
        or _remark(scene, ear)
        or Intent(IntentKind.HEAR, text=scene.turn.content, ref=ref_of(scene))
    )


# What talk itself had asked -----------------------------------------------------------------------


def _intent_of_answer(scene: ConversationScene, ear: MessageIntake, now: datetime) -> Intent | None:
    """Return what the owner's words make of the last question, if they answer it."""
    pending = scene.pending
    if pending is None:
        return None
    asks, text = pending.asks, scene.turn.content
    words = words_of(text)
    if is_phrase("no", words) or isinstance(meaning.read(text), Retraction):
        return Intent(IntentKind.ASK, text=_NOTHING_DONE)
    if asks.get("new") and is_phrase("new", words):
        return Intent(IntentKind.HEAR, text=str(asks["text"]), ref=str(asks["ref"]))
    if asks.get("review"):
        answered = Intent(IntentKind.ANSWER, review=str(asks["review"]), text=str(asks["text"]))
        return answered if is_phrase("answer", words) else None
    return _intent_of_choice(scene, pending, ear, now)


def _intent_of_choice(
    scene: ConversationScene, pending: Turn, ear: MessageIntake, now: datetime
) -> Intent | None:
    """Return the command that was asked about, for the task the words choose."""
    asks, text = pending.asks, scene.turn.content
    act, named = str(asks.get("act") or ""), asks.get("tasks")
    among = [task for task in scene.others if isinstance(named, list) and task.id in named]
    if act == AMEND:
        return _intent_of_time(among, pending, text, ear, now)
    sole_yes = len(among) == 1 and is_phrase("answer", words_of(text))
    task = intent.choose_task(text, among) or (among[0] if sole_yes else None)
    if task is None or not act:
        return None
    at = moment(str(asks["at"])) if asks.get("at") else None
    if act == MOVE_RUN:
        return Intent(IntentKind.AMEND, task=task.id, at=at, was=task.scheduled_for)
    if act == TaskAction.SKIP:
        return Intent(IntentKind.FIND_RUN, tasks=(task.id,), at=at)
    return Intent(IntentKind.ACT, act=act, task=task.id)


def _intent_of_time(
    among: Sequence[Task], pending: Turn, text: str, ear: MessageIntake, now: datetime
) -> Intent | None:
    """Return a task's new time, if the words say nothing else and it can still change."""
    kept = pending.asks.get("words")
    earlier = tuple(map(str, kept)) if isinstance(kept, list) else ()
    at = ear.when(among[0], text, earlier) if among else None
    return intent_of_new_time(among[0], at, (*earlier, text), now) if at else None


# The answer to an open question -------------------------------------------------------------------


def _answer(scene: ConversationScene, ear: MessageIntake) -> Intent | None:
    """Return short words as the answer to an open question, if they can be one.

    What no question takes is a turn of its own, and the question stays open; a word or two may be
    an answer with a slip, and are asked about.
    """
    text = scene.turn.content.strip()
    open_ = [each for each in scene.asked if ReviewAnswer.ANSWER in each.options]
    if scene.turn.about is not None:
        open_ = [each for each in open_ if each.task_id == scene.turn.about]
    if not open_ or len(text.split()) > _SHORT or text.endswith("?") or ear.is_talk(text):
        return None
    fits = {each: _fit(scene, ear, each, text) for each in open_}
    fitting = [each for each in open_ if fits[each]]
    if ear.asks_for_work(text) or (not fitting and ear.is_request(text)):
        may_fit = [each for each in open_ if fits[each] is not False]
        return _either(scene, may_fit[0]) if may_fit else None  # otherwise it can be no answer
    is_slip = len(text.split()) <= _SLIP
    free = [each for each in open_ if fits[each] is None or is_slip]
    if not fitting and (ear.reads_by_model or not free):
        return None  # a model decides which one it answers, if any
    if len(open_) == 1 or len(fitting) == 1:
        return Intent(IntentKind.ANSWER, review=str((fitting or open_)[0].id), text=text)
    asked = "\n".join(f"- {each.question}" for each in open_[:_MOST_NAMED])
    return Intent(IntentKind.ASK, text=f"{_WHICH_ANSWERED}\n{asked}")


def _fit(scene: ConversationScene, ear: MessageIntake, review: Review, text: str) -> bool | None:
    task = next((task for task in scene.spoken if task.id == review.task_id), None)
    return ear.fits(task, review, text) if task else False


def _either(scene: ConversationScene, review: Review) -> Intent:
    ask = f'Is that the answer to "{review.question}", or something new? Say "answer" or "new".'
    return Intent(IntentKind.ASK, review=str(review.id), text=ask, ref=ref_of(scene), new=True)


def _remark(scene: ConversationScene, ear: MessageIntake) -> Intent | None:
    """Return a question for a few words that may be a remark; they never become work unasked."""
    text = scene.turn.content.strip()
    loose = "\n" not in text and ":" not in text and len(text.split()) <= _MOST_REMARK
    about = scene.last[:1] or scene.live[:1]
    if not loose or not (about or scene.asked) or ear.reads_by_model:
        return None
    if ear.asks_for_work(text) or not ear.is_loose_work(text):
        return None
    name = f" If it is about {records.title(about[0])}, say what is to change." if about else ""
    ask = f'Is that something new to be done? Then say "new".{name}{scene.still_open}'
    return Intent(IntentKind.ASK, text=ask, ref=ref_of(scene), new=True)


_NOTHING_DONE: Final = "All right. Nothing was done."
_WHICH_ANSWERED: Final = (
    "Several questions are open, and I cannot tell which of them that answers. Answer on the card:"
)
