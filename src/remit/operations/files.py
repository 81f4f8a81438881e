"""Operations on files: keep one that is uploaded, and name kept ones in a new task."""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Final

from remit.errors import BadInput, UnknownName
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.task import Taint
from remit.model.task_file import ATTACHMENTS, to_context
from remit.operations.operation import AgentRule, Answer, Operation, OperationRequest
from remit.operations.settings_arguments import KeepFile
from remit.store.opening import task_files


async def keep(request: OperationRequest, arguments: KeepFile) -> Answer:
    try:
        content = base64.b64decode(arguments.content, validate=True)
    except (ValueError, binascii.Error):
        sentence = "content is not base64; encode the bytes of the file so."
        raise BadInput(sentence, field="content") from None
    kept = task_files(request.house.settings)
    file = await asyncio.to_thread(kept.keep_incoming, arguments.name, content, _taint(request))
    return Answer(to_context(file))


async def attached(request: OperationRequest, named: Mapping[str, str]) -> JsonMap:
    """Return kept files as the context of a task lists them; one that is not kept is refused."""
    kept = task_files(request.house.settings)
    listed: list[Json] = []
    for name, digest in named.items():
        content = await asyncio.to_thread(kept.read, digest)
        if content is None:
            sentence = f"No file is kept under {digest[:12]}…; send it to /api/files first."
            raise UnknownName(sentence, field=ATTACHMENTS)
        file = await asyncio.to_thread(kept.keep_incoming, name, content, _taint(request))
        listed.append(to_context(file))
    return {ATTACHMENTS: listed} if listed else {}


def _taint(request: OperationRequest) -> str:
    return (Taint.CONTACT if request.caller.agent else Taint.OWNER).value


KEEP: Final = Operation(
    name="keep_file",
    arguments=KeepFile,
    scope=Scope.WRITE,
    agents=AgentRule.SCOPE,
    effect=keep,
    summary="Keep a file; name its hash in `attachments` of a task or message within a day",
    result="KeptFile",
    sentence="The file is kept.",
)
OPERATIONS: Final = (KEEP,)
