"""Requests with an Idempotency-Key: reserved before they run, stored with their answer."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.store import rows
from remit.store.database import Params, Tx

LIFETIME: Final = timedelta(hours=24)
_UNANSWERED: Final = 0


class RequestKey(Struct, frozen=True):
    """The caller and the name of an Idempotency-Key."""

    caller: str
    name: str


class StoredReply(Struct, frozen=True):
    """What is stored under a key: the request's digest, and its answer once it exists."""

    digest: str
    status: int
    body: str  # the answer; before that, the ref under which the request runs

    @property
    def answered(self) -> bool:
        return self.status != _UNANSWERED


def reserve(tx: Tx, key: RequestKey, digest: str, ref: str, now: datetime) -> StoredReply:
    """Reserve a key for a request; if it is taken, return what is stored.

    A reservation without an answer outlives its process: a repeat with the same key gets the same
    ref, so that what was done under it is found and not repeated.
    """
    wanted: Params = {
        "caller": key.caller,
        "key": key.name,
        "digest": digest,
        "ref": ref,
        "now": rows.ms(now),
        "expired": rows.ms(now - LIFETIME),
    }
    tx.run("reserve_key", wanted)
    row = tx.one("get_key", {"caller": key.caller, "key": key.name})
    assert row is not None  # noqa: S101 - written one line above
    return StoredReply(str(row["digest"]), rows.number(row["status"]), str(row["body"]))


def answer(tx: Tx, key: RequestKey, status: int, body: str) -> None:
    """Store the answer, so that the same request gets it again."""
    tx.run("answer_key", {"caller": key.caller, "key": key.name, "status": status, "body": body})


def release(tx: Tx, key: RequestKey) -> None:
    """Release the key of a request that was refused and changed nothing."""
    tx.run("release_key", {"caller": key.caller, "key": key.name})


def sweep(tx: Tx, now: datetime) -> int:
    """Delete expired keys; return how many."""
    return tx.run("delete_expired_keys", {"expired": rows.ms(now - LIFETIME)})
