"""The table of all operations; no other write can be asked for."""

from collections.abc import Mapping
from typing import Final

from remit.operations import (
    contacts,
    entry,
    filters,
    messages,
    reviews,
    sections,
    series,
    tasks,
    upkeep,
)
from remit.operations.arguments import Arguments
from remit.operations.operation import Answer, Operation, OperationRequest

OPERATIONS: Final = (
    *messages.OPERATIONS,
    *tasks.FILE_OPERATIONS,
    *filters.OPERATIONS,
    *tasks.OPERATIONS,
    *reviews.OPERATIONS,
    *contacts.OPERATIONS,
    *series.OPERATIONS,
    *entry.OPERATIONS,
    *upkeep.OPERATIONS,
    *sections.SIGN_IN_OPERATIONS,
    *sections.OPERATIONS,
)
BY_ARGUMENTS: Final[Mapping[type[Arguments], Operation]] = {
    each.arguments: each for each in OPERATIONS
}


async def perform(request: OperationRequest, arguments: Arguments) -> Answer:
    """Run the operation of these arguments, if the caller may."""
    return await BY_ARGUMENTS[type(arguments)].perform(request, arguments)
