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
        at, since_start = map(int, _moments())
        file.write_text(f"{kept or key} {at} {since_start}", encoding="utf-8")
        raise
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def _stored_key(file: Path) -> str | None:
    """Return the key that the same request left within the last hour, by either clock."""
    try:
        key, *moments = file.read_text(encoding="utf-8").split()
        ages = [now - float(then) for now, then in zip(_moments(), moments, strict=False)]
    except (OSError, ValueError):
        return None
    is_fresh = any(0 <= age < KEPT_SECONDS for age in ages)
    return key if is_fresh and key.startswith(GENERATED) else None


def _moments() -> tuple[float, float]:
    """Return the time, which may be set meanwhile, and the seconds since the machine started."""
    return clock.now().timestamp(), clock.seconds()
