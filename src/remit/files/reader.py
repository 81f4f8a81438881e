"""Reads the text of a file, in a process of its own with limits, so that no file can harm us.

Nothing is believed of the text: who shows it to a brain marks it as outside text.
"""

import sys
from collections.abc import Sequence
from typing import Final

from remit.errors import BadInput
from remit.files import checks
from remit.system.process import ask_worker

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
    answer = await ask_worker((*command, kind), content, SECONDS, _MAX_READ)
    if not answer.in_time:
        raise BadInput(f"{name!a:.80} took too long to read.", field="path")
    text = answer.output.decode("utf-8", "replace")
    if answer.code == 0:
        return text
    damaged = "it is damaged, or too large to read"
    why = (text.strip() if answer.code == 1 else "") or damaged
    raise BadInput(f"{name!a:.80} cannot be read: {why[:200]}.", field="path")
