"""The two small files that let a program on this machine find the door and open it."""

import json
import os
import secrets
from pathlib import Path
from typing import Final

from remit.errors import BadInput

_BYTES: Final = 32


def token_of(home: Path) -> str:
    """The token of this directory, made on the first call; for the owner's eyes alone."""
    path = home / "token"
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(path, secrets.token_urlsafe(_BYTES))
    path.chmod(0o600)
    token = path.read_text(encoding="utf-8").strip()
    if not token:
        raise BadInput(f"{path} is empty. Remove it, and a new token is made.", field="token")
    return token


def announce(home: Path, url: str) -> None:
    """Say where Remit listens, and which process does."""
    _write(home / "server.json", json.dumps({"url": url, "pid": os.getpid()}))


def listens(home: Path) -> str | None:
    """Where Remit listens, if one said so."""
    try:
        told = json.loads((home / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    url = told.get("url") if isinstance(told, dict) else None
    return url if isinstance(url, str) else None


def withdraw(home: Path) -> None:
    (home / "server.json").unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    """All or nothing, and for the owner's eyes alone from the first byte."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    fresh.rename(path)
