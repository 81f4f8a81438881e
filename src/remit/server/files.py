"""Three small files: where Remit listens, the owner's token, the host name of the pages."""

import json
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.settings import Settings
from remit.system.files import PRIVATE, write_atomic

HOST: Final = "127.0.0.1"
LOOPBACK: Final = frozenset({HOST, "::1", "::ffff:127.0.0.1"})
_BYTES: Final = 32
_SHORTEST_TOKEN: Final = 20  # characters
_LABEL_BYTES: Final = 10
_PAGES_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9-]{8,60})[a-z0-9]\.localhost")


def token_of(home: Path) -> str:
    """Return the owner's token of this directory, made at first use."""
    path = home / "token"
    token = _made_once(path, lambda: secrets.token_urlsafe(_BYTES))
    if len(token) < _SHORTEST_TOKEN:
        sentence = f"{path} is empty or shorter than {_SHORTEST_TOKEN} characters."
        raise BadInput(f"{sentence} Remove it, and a new token is made.", field="token")
    return token


def pages_host(home: Path) -> str:
    """Return the host name of the pages, made at first use.

    A browser sends a cookie to every port of the host that set it. With a random name under
    .localhost, which browsers resolve to this machine, the owner's cookie goes to no other program
    here. Programs without the token must not learn the name, so it is never told to a caller who is
    not signed in.
    """
    path = home / "pages-host"
    name = _made_once(path, lambda: f"remit-{secrets.token_hex(_LABEL_BYTES)}.localhost")
    if not _PAGES_HOST.fullmatch(name):
        sentence = f"{path} does not hold a name such as remit-0123456789abcdef.localhost."
        raise BadInput(f"{sentence} Remove it, and a new one is made.", field="pages-host")
    return name


def _made_once(path: Path, make: Callable[[], str]) -> str:
    """Return what stands in a file, which is made at first use and is for the owner alone."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, make(), mode=PRIVATE)
    path.chmod(0o600)
    return path.read_text(encoding="utf-8").strip()


def pages_url(settings: Settings, port: int) -> str:
    """Return where browsers see the pages."""
    name = pages_host(settings.home) if settings.server.own_name else HOST
    return f"http://{name}:{port}"


def announce(home: Path, url: str) -> None:
    """Write where Remit listens, and its process id."""
    text = json.dumps({"url": url, "pid": os.getpid()})
    write_atomic(home / "server.json", text, mode=PRIVATE)


def listens(home: Path) -> str | None:
    """Return where Remit listens, if known."""
    try:
        fields = json.loads((home / "server.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    url = fields.get("url") if isinstance(fields, dict) else None
    return url if isinstance(url, str) else None


def holder_listens(home: Path) -> bool:
    """Whether who holds the directory said where it listens: no short command, after a kill."""
    try:
        fields = json.loads((home / "server.json").read_text(encoding="utf-8"))
        return bool((home / "lock").read_text(encoding="utf-8") == f"process {fields['pid']}")
    except (OSError, ValueError, KeyError, TypeError):
        return False


def withdraw(home: Path) -> None:
    (home / "server.json").unlink(missing_ok=True)
