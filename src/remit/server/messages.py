"""Messages: what the owner says in his own words, read and turned into tasks."""

from typing import Final

from remit.intake.heard import Message, rehearsed, told
from remit.model.task import Source, SourceKind
from remit.server.bodies import NewMessage
from remit.server.call import VIEW, Answer, Call, Route
from remit.server.tasks import moment


async def hear(call: Call) -> Answer:
    """Store all that a message asks for; say what became of every clause."""
    body = call.read(NewMessage)
    message = Message(
        text=body.text,
        source=Source(SourceKind.MANUAL, call.ref),
        scheduled_for=moment(body.scheduled_for, "scheduledFor"),
        priority=body.priority,
    )
    if body.dry_run:
        return Answer(rehearsed(await call.house.intake.read(message)))
    heard = await call.house.intake.hear(message)
    if not heard.tasks:
        return Answer(told(heard, call.view))
    return Answer(told(heard, call.view), 201, f"/api/tasks/{heard.tasks[0].id}")


ROUTES: Final = (
    Route(
        method="POST",
        path="/api/messages",
        does=hear,
        says="Say what is to be done, in your own words; it may become several tasks, or none",
        gives="Heard",
        status=201,
        also=200,
        query=(VIEW,),
        body=NewMessage,
    ),
)
