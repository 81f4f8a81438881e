"""Stores the keys of requests that got no answer.

Nobody knows whether such a request was done. So its key is kept for an hour and the same command
uses it again: the server then returns the first result instead of repeating the work.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from remit.cli import clock, out
from remit.cli.out import StyledText
from remit.errors import Unreachable

GENERATED: Final = "cli:"  # a key given by the owner is used as it is
KEPT_SECONDS: Final = 3600
_FOLDER: Final = "unanswered"


def new_key() -> str:
    return f"{GENERATED}{os.urandom(16).hex()}"


@contextmanager
def key_for(home: Path, request: str, key: str) -> Iterator[str]:
    """Yield the key for a request; it is stored if no answer comes."""
    if not key.startswith(GENERATED):
        yield key
        return
    file = home / _FOLDER / hashlib.sha256(request.encode()).hexdigest()[:32]
    kept = _kept(file)
    if kept is not None:
        out.say(
            StyledText("The same was asked before and not answered; it is not done twice.", "dim")
        )
    try:
        yield kept or key
    except (Unreachable, KeyboardInterrupt):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.write_text(kept or key, encoding="utf-8")
        raise
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def _kept(file: Path) -> str | None:
    try:
        age = clock.now().timestamp() - file.stat().st_mtime
        key = file.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return key if age < KEPT_SECONDS and key.startswith(GENERATED) else None
