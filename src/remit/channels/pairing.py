"""Connect a chat to the owner or to a contact, by a code that is shown to the owner.

A channel has one open code at most. It works once, for a quarter of an hour, and not after ten
wrong ones were sent; only its hash is stored.
"""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from remit.store import meta
from remit.store.database import Tx

CODE_LIFE: Final = timedelta(minutes=15)
MAX_WRONG_CODES: Final = 10
CODE_LENGTH: Final = 10
_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none is mistaken for another


class PairingCode(Struct, frozen=True):
    """An open code of a channel. `contact` is whose chat it connects; None: the owner's."""

    digest: str
    until: datetime
    contact: str | None = None
    wrong: int = 0


def new_code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(CODE_LENGTH))


def open_code(tx: Tx, channel: str, code: str, contact: str | None, now: datetime) -> datetime:
    """Store a code in place of an earlier one; return until when it can be used."""
    until = now + CODE_LIFE
    _put(tx, channel, PairingCode(digest_of(code), until, contact))
    return until


def find_code(tx: Tx, channel: str, code: str, now: datetime) -> PairingCode | None:
    """The open code, if this is it. A wrong one is counted; too many end the open one."""
    found = _get(tx, channel)
    if found is None:
        return None
    if now >= found.until or now < found.until - CODE_LIFE:
        close_code(tx, channel)
        return None
    if hmac.compare_digest(found.digest, digest_of(code.upper())):
        return found
    if found.wrong + 1 >= MAX_WRONG_CODES:
        close_code(tx, channel)
    else:
        _put(tx, channel, replace(found, wrong=found.wrong + 1))
    return None


def close_code(tx: Tx, channel: str) -> None:
    meta.delete(tx, _key(channel))


def use_code(tx: Tx, channel: str, code: PairingCode) -> None:
    """Close a code whose chat is connected now."""
    meta.put(tx, f"paired:{channel}", code.digest)
    close_code(tx, channel)


class PairingState(StrEnum):
    WAITING = "waiting"
    CONNECTED = "connected"
    ENDED = "ended"  # too late, too many wrong ones, or a newer code


def state_of(tx: Tx, channel: str, digest: str, now: datetime) -> PairingState:
    """Return the state of a code, by its digest."""
    if meta.get(tx, f"paired:{channel}") == digest:
        return PairingState.CONNECTED
    found = _get(tx, channel)
    waits = found is not None and found.digest == digest and now < found.until
    return PairingState.WAITING if waits else PairingState.ENDED


def _get(tx: Tx, channel: str) -> PairingCode | None:
    stored = meta.get(tx, _key(channel))
    return None if stored is None else msgspec.json.decode(stored, type=PairingCode)


def _put(tx: Tx, channel: str, code: PairingCode) -> None:
    meta.put(tx, _key(channel), msgspec.json.encode(code).decode())


def _key(channel: str) -> str:
    return f"pairing:{channel}"


def digest_of(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
