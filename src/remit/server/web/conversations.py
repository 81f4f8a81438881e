"""Conversation pages: the list, one conversation with its turns and tasks, and the input box."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, cast

from msgspec import Meta, Struct

from remit.errors import BadInput, Conflict
from remit.model import ids
from remit.model.conversation import (
    CONVERSATION,
    MAX_TITLE,
    MAX_TURN,
    Action,
    Conversation,
    NoticeKind,
    Role,
    Turn,
)
from remit.model.ids import ConversationId, TaskId
from remit.model.review import ReviewAnswer
from remit.model.task import Task
from remit.operations import messages
from remit.operations.arguments import NewConversation, NewTitle, NewTurn, RemoveConversation
from remit.operations.table import perform
from remit.server.bodies import FileNames, RequestBody
from remit.server.call import Call, CallResult
from remit.server.reads import ident
from remit.server.routes import form, page
from remit.server.tasks import named_files
from remit.server.web import shell, talk_cards
from remit.server.web.review_kinds import question_text
from remit.server.web.talk_cards import TaskCard, card_context
from remit.server.web.task_sections import CardContext
from remit.store import conversations, notices, reviews, sessions, tasks
from remit.store.database import Tx

_ONE: Final = "/conversations/{id}"
_PATIENCE: Final = 2.0  # seconds that a page waits for an answer
_PAGE: Final = 50
_RECENT: Final = 100
_FACTS: Final = 8
_CORRECTS: Final = (ReviewAnswer.ANSWER, ReviewAnswer.BACK, ReviewAnswer.EDIT)


class TurnForm(RequestBody, frozen=True):
    """What is typed in the box; `about` is the task that is referred to."""

    text: Annotated[str, Meta(max_length=MAX_TURN)] = ""
    about: Annotated[str, Meta(max_length=60)] = ""
    file: FileNames = ()


class NewName(RequestBody, frozen=True):
    title: Annotated[str, Meta(max_length=MAX_TITLE)] = ""


class TurnView(Struct, frozen=True):
    """A turn as it is shown."""

    turn: Turn
    at: datetime  # on the owner's clock
    cards: tuple[TaskCard, ...]
    asks: bool = False  # whether it only says that a task has a question

    @property
    def mine(self) -> bool:
        return self.turn.role is Role.USER

    @property
    def text(self) -> str:
        """The text besides its cards: those of a message, and the questions they ask."""
        asked = {card.asked for card in self.cards if card.asked}
        if self.asks and asked:
            return ""
        card = self.turn.receipt.get("card") if self.cards else None
        drawn = str(card["text"]) if isinstance(card, dict) else ""
        lines = self.turn.content.removeprefix(drawn).splitlines()
        return "\n".join(line for line in lines if question_text(line) not in asked).strip()

    @property
    def clauses(self) -> list[object]:
        """What was understood, clause by clause."""
        found = self.turn.receipt.get("clauses")
        return list(found) if isinstance(found, list) else []


class StatedFact(Struct, frozen=True):
    """Something the owner said about the work, and the question if there was one."""

    text: str
    asked: str = ""


class ConversationRow(Struct, frozen=True):
    """A conversation in the list, with its last turn."""

    talk: Conversation
    last: str


class ConversationPage(Struct, frozen=True):
    """One conversation with all that its page shows."""

    talk: Conversation
    turns: tuple[TurnView, ...]
    tasks: tuple[Task, ...]
    facts: tuple[StatedFact, ...]  # remembered statements of the owner, newest last
    earlier: int  # where the previous page begins; 0: none
    about: Task | None

    @property
    def last(self) -> int:
        return self.turns[-1].turn.n if self.turns else 0


# Looking ------------------------------------------------------------------------------------------


@page("/conversations")
async def list_page(call: Call) -> CallResult:
    return await _list(call)


@page(_ONE, "before", "about")
async def conversation_page(call: Call) -> CallResult:
    before, about = call.number("before", 0, most=10**9), call.text("about")
    pointed = ids.task_id(about) if about else None
    return await _show(call, ident(call), before=before, about=pointed)


@page(f"{_ONE}/turns", "after")
async def turns(call: Call) -> CallResult:
    """Return the turns after a place: what came since the page was rendered."""
    after = call.number("after", 0, most=10**9)
    turns_found = await call.app.db.read(_since, ident(call), after, card_context(call))
    return _part(call, "parts/turns.html", {"turns": turns_found})


@page(f"{_ONE}/rail")
async def rail(call: Call) -> CallResult:
    """Return the sidebar: the tasks mentioned so far."""
    room = await call.app.db.read(_room, ident(call), 0, None, card_context(call))
    return _part(call, "parts/talk_rail.html", {"room": room, "line": talk_cards.line})


@page("/talk/card/{id}", "full")
async def card(call: Call) -> CallResult:
    full = call.text("full") != "false"
    found = await talk_cards.card(call, call.task_id, full=full)
    return _part(call, "parts/tcard.html", {"card": found})


@page("/talk/task/{id}")
async def line(call: Call) -> CallResult:
    task = await call.app.db.read(tasks.get, call.task_id)
    return _part(call, "parts/talk_task.html", {"task": task, "line": talk_cards.line})


# Speaking -----------------------------------------------------------------------------------------


async def _shown_again(call: Call, given: TurnForm, wrong: BadInput | Conflict) -> CallResult:
    """Show the conversation, or the list, with what was typed."""
    if isinstance(wrong, Conflict):
        raise wrong
    if "id" not in call.path:
        return await _list(call, wrong=str(wrong), status=422)
    if call.part:
        raise wrong
    return await _show(call, ident(call), wrong=str(wrong), text=given.text, status=422)


@form("/conversations", messages.say, files=True, refused=_shown_again)
async def begin(call: Call, given: TurnForm) -> CallResult:
    """Start a conversation with its first turn."""
    if not given.text.strip():
        raise BadInput("Write something first.", field="text")
    talk = await perform(call, NewConversation())
    return await _take_turn(call, str(talk.content["id"]), given)


@form(_ONE, messages.say, files=True, refused=_shown_again)
async def say(call: Call, given: TurnForm) -> CallResult:
    return await _take_turn(call, call.path["id"], given)


@form(f"{_ONE}/title", messages.rename_conversation)
async def rename(call: Call, given: NewName) -> CallResult:
    talk = await perform(call, NewTitle(call.path["id"], given.title))
    return shell.redirect(f"/conversations/{talk.content['id']}")


@form(f"{_ONE}/delete", messages.remove_conversation)
async def remove(call: Call, given: RemoveConversation) -> CallResult:
    await perform(call, given)
    return shell.redirect("/conversations")


async def _take_turn(call: Call, talk: str, given: TurnForm) -> CallResult:
    # The script hears of the answer by the socket.
    patience = 0.0 if call.part else _PATIENCE
    files = await named_files(call, given.file)
    turn = NewTurn(talk, given.text, given.about or None, patience, files)
    spoken = await perform(call, turn)
    if call.part:
        drawn = await call.app.db.read(
            _draw_turns, [cast("Turn", spoken.value)], card_context(call)
        )
        return _part(call, "parts/turns.html", {"turns": drawn})
    return shell.redirect(f"/conversations/{talk}#end")


# Beneath ------------------------------------------------------------------------------------------


async def _list(call: Call, *, wrong: str = "", status: int = 200) -> CallResult:
    found = await call.app.db.read(_recent)
    values = {"talks": found, "wrong": wrong}
    return await shell.page(call, "pages/conversations.html", values, status)


async def _show(  # noqa: PLR0913 - what was typed comes back when it was refused
    call: Call,
    talk: ConversationId,
    *,
    before: int = 0,
    about: TaskId | None = None,
    wrong: str = "",
    text: str = "",
    status: int = 200,
) -> CallResult:
    place = card_context(call)
    room = await call.app.db.read(_room, talk, before, about, place)
    values = {"room": room, "wrong": wrong, "text": text, "line": talk_cards.line}
    values["channel"] = place.channels.get(room.talk.channel, room.talk.channel)
    return await shell.page(call, "pages/conversation.html", values, status)


def _part(call: Call, name: str, values: dict[str, object]) -> CallResult:
    names = call.app.settings
    around = {"now": shell.local_now(call), "agent": names.agent, "owner": names.owner}
    return shell.part(name, {**around, **values})


def _recent(tx: Tx) -> list[ConversationRow]:
    found = conversations.recent(tx, None, _RECENT)
    last = (conversations.turns(tx, talk.id, 0, 1) for talk in found)
    return [
        ConversationRow(talk, turn[-1].content if turn else "")
        for talk, turn in zip(found, last, strict=True)
    ]


def _room(
    tx: Tx, ident: ConversationId, before: int, about: TaskId | None, place: CardContext
) -> ConversationPage:
    talk = conversations.get(tx, ident)
    turns_found = conversations.turns(tx, ident, before, _PAGE)
    spoken = conversations.tasks_in(tx, ident)
    facts = [fact for task in reversed(spoken) for fact in _facts(tx, task)]
    first = turns_found[0].n if turns_found else 0
    return ConversationPage(
        talk=talk,
        turns=tuple(_draw_turns(tx, turns_found, place)),
        tasks=tuple(spoken),
        facts=tuple(dict.fromkeys(facts))[-_FACTS:],
        earlier=first if first > 1 else 0,
        about=tasks.get(tx, about) if about else None,
    )


def _facts(tx: Tx, task: Task) -> list[StatedFact]:
    """Return the owner's answers and corrections, to this task and earlier runs of its session."""
    earlier = sessions.owner_statements(tx, task) if task.series_id or task.retry_of else ()
    found = [StatedFact(each.text, each.asked or "") for each in reversed(earlier)]
    for review in reviews.of_task(tx, task.id):
        decision = review.decision
        if decision is not None and decision.text and decision.answer in _CORRECTS:
            asked = review.question if decision.answer is ReviewAnswer.ANSWER else ""
            found.append(StatedFact(decision.text, asked))
    return found


def _since(tx: Tx, ident: ConversationId, after: int, place: CardContext) -> list[TurnView]:
    return _draw_turns(tx, conversations.turns(tx, ident, 0, _PAGE), place, after)


def _draw_turns(
    tx: Tx, turns_found: Sequence[Turn], place: CardContext, after: int = 0
) -> list[TurnView]:
    """Return the turns after a place. A task's question stands once: in its last whole card.

    The card that the owner still has in sight asks by itself, so no turn says that it does.
    """
    shown: list[tuple[Turn, bool]] = []
    whole: dict[TaskId, int] = {}  # the turn with the task's whole card
    in_sight: set[TaskId] = set()  # such cards since the owner's last turn
    for turn in turns_found:
        asking = _asking(tx, turn)
        if asking & in_sight:
            continue
        made = {ref.task_id for ref in turn.task_refs if ref.action is Action.CREATED} | asking
        in_sight = made | (set() if turn.role is Role.USER else in_sight)
        whole |= dict.fromkeys(made, turn.n)
        shown.append((turn, bool(asking)))
    return [
        TurnView(
            turn,
            turn.said_at.astimezone(place.zone),
            tuple(talk_cards.cards_of_turn(tx, turn, place, whole)),
            asks,
        )
        for turn, asks in shown
        if turn.n > after
    ]


def _asking(tx: Tx, turn: Turn) -> set[TaskId]:
    """Return the task whose question a turn only reports; empty if it says anything else."""
    if turn.role is not Role.ASSISTANT or turn.answers or len(turn.task_refs) != 1:
        return set()
    key = conversations.turn_key(tx, turn.conversation_id, turn.n)
    asks = notices.kind_sent(tx, key, CONVERSATION) is NoticeKind.QUESTION
    return {turn.task_refs[0].task_id} if asks else set()
