"""Operations by words: read a message; start, continue or archive a conversation."""

from typing import Final

from remit.errors import BadInput
from remit.intake.message import OwnerMessage, message_result_to_json, reading_to_json
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.conversation import Conversation, check_title
from remit.model.ids import ConversationId, TaskId
from remit.model.task import Source, SourceKind
from remit.operations import arguments as args
from remit.operations.operation import AgentRule, Answer, OperationRequest, operation
from remit.operations.shapes import conversation_to_json, turn_to_json
from remit.operations.tasks import attach_files, moment, repeats_of, watches
from remit.store import conversations

READ_SECONDS: Final = 60.0  # that a message in a conversation is waited for: a model may read along
_MOST_ID: Final = 200
_LISTS: Final = ("tasks", "clauses", "questions", "alike", "veto", "conditions")


# What is read here counts as the owner's own words: whom to write to is taken from them.
@operation(
    Scope.WRITE,
    "Heard",
    "Your words are read.",
    people="these would be its owner's words. POST /api/tasks is for it",
    status=201,
    also=200,
    view=True,
)
async def hear_message(request: OperationRequest, arguments: args.NewMessage) -> Answer:
    """Say what is to be done, in your own words; it may become several tasks, or none."""
    if arguments.conversation_id is not None:
        _refuse_what_words_say(arguments)
    at = moment(arguments.scheduled_for, "scheduledFor")
    message = OwnerMessage(
        text=arguments.text,
        source=Source(SourceKind.MANUAL, request.ref),
        scheduled_for=at,
        priority=arguments.priority,
        repeats=repeats_of(arguments.repeats, at),
        conditions=await watches(request, arguments.watch),
        context=await attach_files(request, arguments.attachments),
    )
    if arguments.dry_run:
        return Answer(reading_to_json(await request.app.intake.read(message)), 200)
    if arguments.conversation_id is not None:
        return await _store_as_turn(request, arguments, message.context)
    result = await request.app.intake.receive(message, wait=arguments.wait)
    answer = message_result_to_json(result, request.view)
    if not request.access.reads:
        answer["alike"] = []  # it names tasks of others
    if not result.tasks:
        return Answer(answer, 200, value=result)
    return Answer(answer, location=f"/api/tasks/{result.tasks[0].id}", value=result)


def _refuse_what_words_say(arguments: args.NewMessage) -> None:
    given = {
        "priority": arguments.priority,
        "watch": arguments.watch,
        "scheduledFor": arguments.scheduled_for,
    }
    if any(each is not None for each in (*given.values(), arguments.repeats)):
        sentence = "In a conversation, say the time and how urgent it is in your words."
        field = next((name for name, each in given.items() if each is not None), "scheduledFor")
        raise BadInput(sentence, field=field)


async def _store_as_turn(
    request: OperationRequest, arguments: args.NewMessage, context: JsonMap
) -> Answer:
    """Store the message as a turn of a conversation; a turn may also ask or answer."""
    say.allow(request.access)
    talking, talk = request.app.talk, ConversationId(arguments.conversation_id or "")
    spoken = await talking.say(
        talk, arguments.text, channel=request.channel, key=request.ref, context=context
    )
    answer = await talking.answered(spoken, READ_SECONDS, from_model=arguments.wait)
    where = f"/api/conversations/{talk}"
    receipt = answer.receipt if answer else {}
    if not receipt:
        nothing: JsonMap = {name: [] for name in _LISTS}
        sort = "control" if answer else None
        lacks: JsonMap = {"answer": sort, "reading": answer is None, "card": None}
        return Answer(nothing | lacks, 200, where)
    # What a turn of an earlier version lacks.
    content: JsonMap = {"veto": [], "conditions": [], "reading": False, "card": None}
    return Answer(content | receipt, 201 if receipt["tasks"] else 200, where)


@operation(
    Scope.WRITE, "Conversation", "The conversation is begun.", agents=AgentRule.SCOPE, status=201
)
async def begin_conversation(request: OperationRequest, arguments: args.NewConversation) -> Answer:
    """Begin a conversation."""
    return _conversation_answer(await request.app.talk.begin(arguments.title, request.channel))


# To speak in one is to speak as the owner: it may answer a question or stop a task. So it takes
# what deciding takes, and no agent may do it; nor may one put the owner's talk away.
@operation(Scope.APPROVE, "Conversation", "The conversation has another title.", reveals=True)
async def rename_conversation(request: OperationRequest, arguments: args.NewTitle) -> Answer:
    """Give a conversation another title."""
    title, ident = check_title(arguments.title), conversation_id(arguments.id)
    return Answer(
        conversation_to_json(await request.app.db.write(conversations.rename, ident, title))
    )


@operation(Scope.APPROVE, "Conversation", "The conversation is put away.", reveals=True)
async def remove_conversation(
    request: OperationRequest, arguments: args.RemoveConversation
) -> Answer:
    """Put a conversation away for good."""
    talk = await request.app.db.read(conversations.get, conversation_id(arguments.id))
    await request.app.db.write(conversations.remove, talk.id, request.app.clock.now())
    return Answer(conversation_to_json(talk))


@operation(Scope.APPROVE, "Spoken", "It is said.", reveals=True, status=201)
async def say(request: OperationRequest, arguments: args.NewTurn) -> Answer:
    """Say something; it is answered once, now or soon."""
    about = ids.task_id(arguments.about) if arguments.about is not None else None
    talk, ident = request.app.talk, conversation_id(arguments.id)
    spoken = await talk.say(
        ident,
        arguments.text,
        about=about,
        channel=request.channel,
        key=request.ref,
        context=await attach_files(request, arguments.attachments),
    )
    answer = await talk.answered(spoken, arguments.patience) if arguments.patience else None
    shown = turn_to_json(answer) if answer else None
    where = f"/api/conversations/{spoken.conversation_id}"
    return Answer({"turn": turn_to_json(spoken), "answer": shown}, location=where, value=spoken)


@operation(
    Scope.WRITE,
    "Conversation",
    "Here the task is talked about.",
    agents=AgentRule.KNOWN,
    reveals=True,
)
async def talk_about_task(request: OperationRequest, arguments: args.TalkAboutTask) -> Answer:
    """The conversation about a task; a new one if it was put away."""
    return _conversation_answer(await request.app.talk.resume(TaskId(arguments.id)))


def conversation_id(text: str) -> ConversationId:
    return ConversationId(text[:_MOST_ID])


def _conversation_answer(talk: Conversation) -> Answer:
    return Answer(conversation_to_json(talk), location=f"/api/conversations/{talk.id}")
