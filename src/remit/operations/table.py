"""The table of all operations; no other write can be asked for."""

from collections.abc import Mapping
from typing import Final

from remit.operations import contacts, filters, messages, reviews, sections, series, tasks, upkeep
from remit.operations.arguments import Arguments
from remit.operations.operation import Answer, Operation, OperationRequest, rows_of

BY_ARGUMENTS: Final[Mapping[type[Arguments], Operation]] = rows_of(
    messages, filters, tasks, reviews, contacts, series, upkeep, sections
)
OPERATIONS: Final = tuple(BY_ARGUMENTS.values())


async def perform(request: OperationRequest, arguments: Arguments) -> Answer:
    """Run the operation of these arguments, if the caller may."""
    return await BY_ARGUMENTS[type(arguments)].perform(request, arguments)
