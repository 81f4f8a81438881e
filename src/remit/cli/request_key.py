"""The key of a request: the same request with the same key is done once.

A key is kept for an hour if no answer came, for the next call of the same command.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from remit.cli import clock, out
from remit.errors import Unreachable
from remit.model.codec import sha256

KEPT_SECONDS: Final = 3600
GENERATED: Final = "cli:"  # a key given by the owner is used as it is
_FOLDER: Final = "unanswered"


def new_key() -> str:
    return f"{GENERATED}{os.urandom(16).hex()}"


@contextmanager
def key_for(home: Path, request: str, key: str) -> Iterator[str]:
    """Yield the key for a request; it is stored if no answer comes."""
    if not key.startswith(GENERATED):
        yield key
        return
    file = home / _FOLDER / sha256(request.encode()).hex()[:32]
    kept = _stored_key(file)
    if kept is not None:
        out.hint("The same was asked before and not answered; it is not done twice.")
    try:
        yield kept or key
    except (Unreachable, KeyboardInterrupt):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.write_text(f"{kept or key} {int(clock.now().timestamp())}", encoding="utf-8")
        raise
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def _stored_key(file: Path) -> str | None:
    try:
        key, _, at = file.read_text(encoding="utf-8").partition(" ")
        age = clock.now().timestamp() - float(at)
    except (OSError, ValueError):
        return None
    return key if 0 <= age < KEPT_SECONDS and key.startswith(GENERATED) else None
