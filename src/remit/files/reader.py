"""Reads the text of a file, in a process of its own with limits, so that no file can harm us.

Nothing is believed of the text: who shows it to a brain marks it as outside text.
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from remit.errors import BadInput
from remit.files import checks
from remit.system.process import exchange, exit_code_within, kill_group

SECONDS: Final = 20.0
_MAX_READ: Final = 4_000_000  # bytes of what a reader says
_READABLE: Final = checks.OFFICE | {checks.PDF, checks.ZIP}
# -I: nothing of the caller's folder or environment; the module itself sets the limits.
_READER: Final = (sys.executable, "-I", "-m", "remit.files.reader_process")


def is_readable(kind: str) -> bool:
    return checks.is_text(kind) or kind in (checks.HTML, *_READABLE)


async def text_of(name: str, kind: str, content: bytes, command: Sequence[str] = _READER) -> str:
    """Return the text of a file; BadInput with a sentence if there is none to be had."""
    if checks.is_text(kind) or kind == checks.HTML:
        return content.decode("utf-8-sig", "replace")
    if kind not in _READABLE:
        raise BadInput(f"{name!a:.80} is {kind}; there is no text to be read in it.", field="path")
    process = await asyncio.create_subprocess_exec(
        *command,
        kind,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    output = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            await exchange(process, content, output, _MAX_READ)
        code = await exit_code_within(process, SECONDS)
    except TimeoutError:
        raise BadInput(f"{name!a:.80} took too long to read.", field="path") from None
    finally:
        await kill_group(process)
    text = output[:_MAX_READ].decode("utf-8", "replace")
    if code == 0:
        return text
    why = text.strip() if code == 1 and text.strip() else "it is damaged, or too large to read"
    raise BadInput(f"{name!a:.80} cannot be read: {why[:200]}.", field="path")
