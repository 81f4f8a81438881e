"""Secrets: in the machine's keyring, or in a file only the owner can read.

Settings hold names; the values are here. They are one document, so a change is atomic. An existing
file wins over a keyring, because Remit may run where no keyring opens, such as at boot.
"""

import errno
import importlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeVar
from urllib.parse import quote

from remit.errors import BadInput, NotFound, StoreTrouble
from remit.store.redact import Redactor
from remit.system.files import PRIVATE, locked, write_atomic

T = TypeVar("T")

FILE: Final = "secrets"
SERVICE: Final = "remit"
MOST: Final = 65_536  # characters per value
LONG_WORD: Final = 16  # characters; a shorter word of a value may be any word
_MOST_BYTES: Final = 4_194_304
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_OTHERS: Final = 0o077


class Keyring(Protocol):
    """A keyring: one text for each service and name."""

    def get_password(self, service: str, username: str, /) -> str | None: ...

    def set_password(self, service: str, username: str, password: str, /) -> None: ...

    def delete_password(self, service: str, username: str, /) -> None: ...


def machine_ring(home: Path) -> Keyring | None:
    """Return this machine's keyring, if there is one that really stores values.

    A home with a file of secrets uses no keyring.
    """
    if os.path.lexists(home / FILE):
        return None
    try:
        # It is an extra and loads slowly.
        found: Keyring = importlib.import_module("keyring").get_keyring()
        # Below 1 are those that fail, forget, or write plain text.
        good = float(getattr(found, "priority", 0)) >= 1
    except Exception:  # noqa: BLE001 - whatever is wrong with it, there is none
        return None
    return found if good else None


def secrets_of(home: Path) -> "Secrets":
    """Open the secrets of a home; call it in a thread, because a keyring loads slowly."""
    return Secrets(home, machine_ring(home))


class Secrets:
    """All secrets of one home. `hide` learns every value that is handed out."""

    def __init__(
        self, home: Path, ring: Keyring | None = None, hide: Redactor | None = None
    ) -> None:
        self._home = home
        self._ring = ring
        self.hide: Final = hide or Redactor()

    @property
    def where(self) -> str:
        """Where they are stored, in words."""
        return "the keyring" if self._in_ring() else str(self._file)

    def use_ring(self, ring: Keyring | None) -> None:
        """Use a keyring from now on, if none was set."""
        self._ring = self._ring or ring

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._read()))

    def get(self, name: str) -> str:
        """Return the current value of a secret."""
        found = self.find(name)
        if not found:
            raise NotFound("secret", f"{name!r:.80} in {self.where}; `remit secrets set` makes one")
        return found

    def find(self, name: str) -> str:
        """Return the current value of a secret; empty if there is none."""
        found = self._read().get(name, "")
        self._learn(found)
        return found

    def token(self, name: str) -> Callable[[], str]:
        """Return a function that looks a secret up at each use: a renewed one needs no restart."""
        return lambda: self.get(name)

    def learn_all(self) -> None:
        """Teach `hide` every secret."""
        for value in self._read().values():
            self._learn(value)

    def put(self, name: str, value: str) -> None:
        """Store a value under a name, replacing the old one."""
        if not _NAME.fullmatch(name):
            raise BadInput(
                f"The name {name!r:.80} must be 1 to 64 letters, digits, -, _ and dots, "
                "and begin with a letter.",
                field="name",
            )
        wrong = _wrong(value)
        if wrong is not None:
            raise BadInput(f"The value of {name} {wrong}", field="value")
        with self._held():
            self._write({**self._read(), name: value})

    def change(self, name: str, make: Callable[[str], str]) -> str:
        """Replace a value by what `make` makes of it, while nobody else writes; return the new."""
        with self._held():
            kept = self._read()
            value = make(kept.get(name, ""))
            self._write({**kept, name: value})
        return value

    def one_at_a_time(self, name: str) -> AbstractContextManager[None]:
        """A lock for what takes longer than a write, such as to renew a token.

        It holds for the threads of all processes of this home.
        """
        return locked(self._home / "locks" / f"secret-{quote(name, safe='')}")

    def drop(self, name: str) -> None:
        """Delete a secret."""
        with self._held():
            kept = dict(self._read())
            if kept.pop(name, None) is None:
                raise NotFound("secret", f"{name!r:.80} in {self.where}")
            self._write(kept)

    def move_to_file(self) -> None:
        """Store them in the file from now on, for machines where no keyring opens."""
        with self._held():
            if not self._in_ring() or self._ring is None:
                return
            text = _ask_keyring(self._ring.get_password, self._user)
            write_atomic(self._file, text or "{}\n", mode=PRIVATE)
            if text is not None:
                _ask_keyring(self._ring.delete_password, self._user)

    def __repr__(self) -> str:
        return f"Secrets(in {self.where})"

    # Beneath ------------------------------------------------------------------------------------

    def _learn(self, value: str) -> None:
        """Hide a value, and each long word of it: one secret may hold several."""
        for each in (value, *(word for word in value.split() if len(word) >= LONG_WORD)):
            self.hide.learn(each)

    @property
    def _file(self) -> Path:
        return self._home / FILE

    @property
    def _user(self) -> str:
        return str(self._home.absolute())

    def _in_ring(self) -> bool:
        return self._ring is not None and not os.path.lexists(self._file)

    def _read(self) -> Mapping[str, str]:
        if self._in_ring() and self._ring is not None:
            return _parse_secrets(_ask_keyring(self._ring.get_password, self._user), self.where)
        return _parse_secrets(_content(self._file), self.where)

    def _write(self, secrets: Mapping[str, str]) -> None:
        text = json.dumps(secrets, ensure_ascii=False, indent=1, sort_keys=True)
        if self._in_ring() and self._ring is not None:
            _ask_keyring(self._ring.set_password, self._user, text)
        else:
            write_atomic(self._file, text + "\n", mode=PRIVATE)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Allow one change at a time, so that none is lost."""
        with locked(self._home):
            yield


def _ask_keyring(ask: Callable[..., T], *words: str) -> T:
    """Ask the keyring; raise a sentence for the operator if it does not open."""
    try:
        return ask(SERVICE, *words)
    except Exception as error:  # noqa: BLE001 - each keyring has errors of its own
        what = type(error).__name__
    # Raised outside, because the keyring's error may contain a value.
    raise StoreTrouble(
        f"The keyring of this machine does not open ({what}). Unlock it, or keep the secrets in a "
        "file: `remit secrets set NAME --file`."
    )


def _wrong(value: str) -> str | None:
    if not value.strip():
        return "is empty; give it on the standard input."
    if len(value) > MOST:
        return f"has {len(value)} characters; at most {MOST} are kept."
    try:
        value.encode()
    except UnicodeEncodeError:
        return "is no text; write it in UTF-8."
    return "holds a NUL, which no key does." if "\0" in value else None


def _content(path: Path) -> str | None:
    """Return the file's content; None if there is none. A file others can read is refused."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise StoreTrouble(f"{path} is a link; it must be a file. Put the file there.") from None
    try:
        wrong = _unsafe(path, os.fstat(opened))
        if wrong is not None:
            raise StoreTrouble(wrong)
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    finally:
        os.close(opened)


def _unsafe(path: Path, found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is no file. Move it away, and set the secrets again."
    if found.st_mode & _OTHERS:
        return (
            f"{path} can be read or written by others (mode {found.st_mode & 0o777:o}). "
            f"Run `chmod 600 {path}`; if others use this machine, renew the secrets in it."
        )
    if found.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to somebody else. Make it yours with chown."
    return None


def _parse_secrets(text: str | None, where: str) -> Mapping[str, str]:
    found: object = {}
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None  # raised below, outside: a parser's error contains its input
    if isinstance(found, dict) and all(isinstance(value, str) for value in found.values()):
        return found
    raise StoreTrouble(
        f"What is kept in {where} is damaged: it must be one JSON object of names and texts. "
        "Fix it, or remove it and set the secrets again."
    )
