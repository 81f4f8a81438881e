"""`remit chat`: a conversation in the terminal, with news about tasks in between."""

import queue
import sys
import threading
from collections.abc import Iterator
from typing import Annotated, Final, cast

from remit import settings as app_settings
from remit.cli import clock, codes, out, remote
from remit.cli.codes import TimedOut
from remit.cli.out import AsJson, StyledText, flag
from remit.cli.request_key import new_key
from remit.errors import NotFound
from remit.language.sentences import task_language, text_in_language
from remit.model.codec import JsonMap
from remit.model.conversation import Role, Turn
from remit.model.ids import ConversationId
from remit.model.review import Review
from remit.model.status import ACTIVE, Status
from remit.model.task import Task
from remit.operations.arguments import NewConversation, NewTurn
from remit.operations.shapes import turn_to_json
from remit.store import conversations, reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only

# Of a turn, for a program.
_SHOWN: Final = (
    *("conversationId", "turnNumber", "role", "content", "timestamp", "taskRefs"),
    *("answers", "notes"),
)
_PAUSE: Final = 0.2  # seconds between two polls
_PATIENCE: Final = 300.0  # seconds for one answer
_PARTING: Final = 10.0  # seconds to wait for news at the end
_LAST: Final = ("--last", "-l")
_GO_ON: Final = ACTIVE | {Status.NEW, Status.READY}  # statuses that continue by themselves
_HOW_TO_SEND: Final = 'Say "yes, send it".'
_TOLD: Final = frozenset({Status.NEEDS_REVIEW, Status.COMPLETED, Status.FAILED})


def chat(
    conversation: Annotated[
        str | None, flag("The conversation to continue; default: a new one.")
    ] = None,
    /,
    *,
    last: Annotated[bool, flag("Continue the last conversation.", *_LAST)] = False,
    follow: Annotated[
        bool, flag("After the input ends, stay until no task runs.", "--follow", "-f")
    ] = False,
    json: AsJson = False,
) -> int:
    """Talk with Remit, line by line; Ctrl-D ends, and nothing is lost."""
    settings = app_settings.load()
    found = remote.running(settings.home)
    try:
        with open_read_only(settings.database) as tx:
            named = _find_conversation(tx, conversation, last=last) or ConversationId(
                str(found.ask(NewConversation())["id"])
            )
            return _Chat(found, tx, named, settings.agent, json=json).run(follow=follow)
    finally:
        found.close()


class _Chat:
    def __init__(
        self, door: remote.RemoteClient, tx: Tx, talk: ConversationId, agent: str, *, json: bool
    ) -> None:
        self._door = door
        self._tx = tx
        self._talk = talk
        self._agent = agent
        self._json = json
        self._seen = 0

    def run(self, *, follow: bool) -> int:
        self._news(quiet=True)
        if not self._json:
            out.hint(f"Conversation {self._talk}. One line at a time; Ctrl-D ends it.")
        for line in _typed_lines():
            if line is None:
                self._news()
            elif line.strip():
                self._say(line)
        if follow:
            self._follow()
        self._news()
        return codes.DONE

    def _follow(self) -> None:
        """Wait until every task rests and its result was posted."""
        while self._has_unfinished_tasks():
            clock.pause(_PAUSE)
            self._news()
        # News come a moment after the event; the owner may have switched them off.
        until = clock.seconds() + _PARTING
        while self._untold() and clock.seconds() < until:
            clock.pause(_PAUSE)
            self._news()

    def _say(self, line: str) -> None:
        """Say it, and wait until it is answered."""
        answer = self._door.ask(NewTurn(self._talk, line), new_key())
        n = int(str(cast("JsonMap", answer["turn"])["turnNumber"]))
        until = clock.seconds() + _PATIENCE
        while not any(turn.answers == n for turn in self._news()):
            if clock.seconds() >= until:
                sentence = f"No answer came within {_PATIENCE:g} s; it will stand in {self._talk}."
                raise TimedOut(sentence)
            clock.pause(_PAUSE)

    def _news(self, *, quiet: bool = False) -> list[Turn]:
        """Return new turns since the last poll; the owner's own are on the screen already."""
        found = conversations.turns(self._tx, self._talk)
        fresh = [turn for turn in found if turn.n > self._seen]
        for turn in fresh:
            self._seen = turn.n
            if not quiet and turn.role is not Role.USER:
                self._show(turn)
        return fresh

    def _show(self, turn: Turn) -> None:
        if self._json:
            content = turn_to_json(turn)
            out.emit({name: content[name] for name in _SHOWN})
            return
        head, *rest = turn.content.splitlines() or [""]
        out.line(StyledText(f"{self._agent}: ", "bold"), head)
        for line in rest:
            out.line("  ", line)
        for note in turn.notes:
            out.line(StyledText(f"  {note}", "yellow"))
        for ref in turn.task_refs:
            out.line(StyledText(f"  remit show {ref.task_id}", "dim"))
        for review in self._open_texts(turn):
            for line in review.evidence.splitlines():
                out.line("    ", line)
            language = task_language(tasks.get(self._tx, review.task_id))
            for sentence, style in ((review.question, "yellow"), (_HOW_TO_SEND, "dim")):
                out.line(StyledText(f"  {text_in_language(sentence, language)}", style))

    def _open_texts(self, turn: Turn) -> Iterator[Review]:
        """Yield the texts that wait for an approval, of the tasks that a turn tells of."""
        for task_id in dict.fromkeys(ref.task_id for ref in turn.task_refs):
            for review in reviews.of_task(self._tx, task_id):
                if review.decision is None and review.about_text:
                    yield review

    def _has_unfinished_tasks(self) -> bool:
        spoken = conversations.tasks_in(self._tx, self._talk)
        # Nobody waits for what starts only later.
        now = clock.now()
        soon = [each for each in spoken if not each.scheduled_for or each.scheduled_for <= now]
        return any(task.status in _GO_ON and not task.gaps for task in soon)

    def _untold(self) -> bool:
        """Whether a task from here has a result that was not posted yet."""
        turns = [turn for turn in conversations.turns(self._tx, self._talk) if turn.answers is None]
        return any(
            task.status in _TOLD
            and self._is_from_here(task)
            and not any(_reports_on(turn, task) for turn in turns)
            for task in conversations.tasks_in(self._tx, self._talk)
        )

    def _is_from_here(self, task: Task) -> bool:
        place = conversations.birthplace(self._tx, task.id)
        return place is not None and place.id == self._talk


def _find_conversation(tx: Tx, wanted: str | None, *, last: bool) -> ConversationId | None:
    """Return the conversation to continue; None for a new one."""
    if wanted is not None:
        return conversations.get(tx, ConversationId(wanted)).id
    if not last:
        return None
    recent = conversations.recent(tx, limit=1)
    if not recent:
        raise NotFound("conversation", "to go on with")
    return recent[0].id


def _typed_lines() -> Iterator[str | None]:
    """Yield typed lines; None when nothing came for a moment."""
    typed: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            typed.put(line)
        typed.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = typed.get(timeout=_PAUSE)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line


def _reports_on(turn: Turn, task: Task) -> bool:
    """Whether a turn reports the current state of a task."""
    is_about_task = any(ref.task_id == task.id for ref in turn.task_refs)
    return is_about_task and turn.role is not Role.USER and turn.said_at >= task.last_updated
