"""The table of all operations; no other write can be asked for."""

from collections.abc import Mapping
from typing import Final

from remit.operations import (
    bulk,
    contacts,
    entry,
    files,
    messages,
    reviews,
    sections,
    series,
    sign_ins,
    tasks,
    upkeep,
)
from remit.operations.arguments import Arguments
from remit.operations.operation import Answer, Operation, OperationRequest

OPERATIONS: Final = (
    *messages.OPERATIONS,
    *files.OPERATIONS,
    *bulk.OPERATIONS,
    *tasks.OPERATIONS,
    *reviews.OPERATIONS,
    *contacts.OPERATIONS,
    *series.OPERATIONS,
    *entry.OPERATIONS,
    *upkeep.OPERATIONS,
    *sign_ins.OPERATIONS,
    *sections.OPERATIONS,
)
BY_ARGUMENTS: Final[Mapping[type[Arguments], Operation]] = {
    each.arguments: each for each in OPERATIONS
}


async def perform(request: OperationRequest, arguments: Arguments) -> Answer:
    """Run the operation of these arguments, if the caller may."""
    return await BY_ARGUMENTS[type(arguments)].perform(request, arguments)
