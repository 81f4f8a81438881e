"""Contacts: whom the owner knows, and who is written to without a question."""

from typing import Final

from remit.server.bodies import NewPermission
from remit.server.call import Answer, Call, Route


async def look(call: Call) -> Answer:
    """Everyone in the book, with what holds for each way."""
    return Answer(await call.house.permits.listed())


async def permit(call: Call) -> Answer:
    """Say once and for all whether someone is written to on a channel."""
    said = call.read(NewPermission)
    return Answer(await call.house.permits.permit(said.contact, said.channel, said.policy))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/contacts",
        does=look,
        says="Everyone in the contact book, and whether they are written to unasked",
        gives="Contacts",
    ),
    Route(
        method="POST",
        path="/api/contacts/permissions",
        does=permit,
        says="Say once and for all whether someone is written to on a channel",
        gives="Permission",
        body=NewPermission,
    ),
)
