"""API tokens of programs and browser sessions of the owner, stored as hashes.

Also their requests with an Idempotency-Key: reserved before they run, stored with their answer. And
the push subscriptions of browsers: an ended or expired session gets nothing; the SQL statements
ensure that, not their callers.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.errors import Conflict, NotFound
from remit.model.caller import Caller, Scope
from remit.store import rows
from remit.store.database import Params, Row, Tx, quick


class ApiToken(Struct, frozen=True, kw_only=True):
    """An API token of a program. Its secret was shown once, when it was made."""

    id: str
    name: str
    scopes: frozenset[Scope]
    agent: bool = False
    created_at: datetime
    used_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def caller(self) -> Caller:
        return Caller(self.name, self.scopes, self.agent)


class SignIn(Struct, frozen=True, kw_only=True):
    """A signed-in browser of the owner."""

    id: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


def add_token(tx: Tx, token: ApiToken, digest: bytes) -> ApiToken:
    """Store a new token; a name already in use is refused."""
    scopes = " ".join(scope for scope in Scope if scope in token.scopes)
    columns = rows.columns(token, scopes=scopes, hash=digest, now=rows.ms(token.created_at))
    if not tx.run("insert_token", columns):
        sentence = f"There is a token called {token.name!r}; revoke it, or choose another name."
        raise Conflict(sentence)
    return token


def tokens(tx: Tx) -> list[ApiToken]:
    """Return the tokens that are not revoked, oldest first; expired ones too."""
    return [_read(row) for row in tx.all("list_tokens")]


@quick
def token_of(tx: Tx, digest: bytes, now: datetime) -> ApiToken | None:
    """Return the valid token with this secret."""
    row = tx.one("find_token", {"hash": digest, "now": rows.ms(now)})
    return None if row is None else _read(row)


def revoke_token(tx: Tx, token_id: str, now: datetime) -> ApiToken:
    """Revoke a token. Repeating it changes nothing."""
    tx.run("revoke_token", {"id": token_id, "now": rows.ms(now)})
    row = tx.one("get_token", {"id": token_id})
    if row is None:
        raise NotFound("token", token_id)
    return _read(row)


def touch_token(tx: Tx, token_id: str, now: datetime) -> None:
    tx.run("touch_token", {"id": token_id, "now": rows.ms(now)})


def add_code(tx: Tx, digest: bytes, now: datetime, until: datetime) -> None:
    """Store the code of a sign-in link until it is used; delete expired ones."""
    tx.run("delete_expired_codes", {"now": rows.ms(now)})
    tx.run("insert_code", {"hash": digest, "expires_at": rows.ms(until)})


def exchange(tx: Tx, code: bytes, sign_in: SignIn, digest: bytes) -> bool:
    """Exchange a code for a sign-in, both or neither; False if the code is not valid."""
    used = tx.run("delete_valid_code", {"hash": code, "now": rows.ms(sign_in.created_at)})
    if used:
        add_sign_in(tx, sign_in, digest)
    return bool(used)


def add_sign_in(tx: Tx, sign_in: SignIn, digest: bytes) -> None:
    now = rows.ms(sign_in.created_at)
    tx.run("insert_sign_in", rows.columns(sign_in, hash=digest, now=now))


def sign_ins(tx: Tx, now: datetime) -> list[SignIn]:
    """Return the valid sign-ins, oldest first."""
    return [rows.value(SignIn, row) for row in tx.all("list_sign_ins", {"now": rows.ms(now)})]


@quick
def sign_in_of(tx: Tx, digest: bytes, now: datetime) -> SignIn | None:
    row = tx.one("find_sign_in", {"hash": digest, "now": rows.ms(now)})
    return None if row is None else rows.value(SignIn, row)


def end_sign_in(tx: Tx, sign_in_id: str, now: datetime) -> bool:
    """End a sign-in; False if there was no valid one."""
    return bool(tx.run("end_sign_in", {"id": sign_in_id, "now": rows.ms(now)}))


def touch_sign_in(tx: Tx, sign_in_id: str, now: datetime) -> None:
    tx.run("touch_sign_in", {"id": sign_in_id, "now": rows.ms(now)})


def _read(row: Row) -> ApiToken:
    scopes = frozenset(Scope(word) for word in str(row["scopes"]).split())
    return rows.value(ApiToken, row, scopes=scopes)


LIFETIME: Final = timedelta(hours=24)
KEPT_KEYS: Final = 200  # of a caller and route, however old: the clock may be ahead
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


@quick
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
    row = rows.found(tx.one("get_key", {"caller": key.caller, "key": key.name}))
    return rows.value(StoredReply, row)


@quick
def answer(tx: Tx, key: RequestKey, status: int, body: str) -> None:
    """Store the answer, so that the same request gets it again."""
    tx.run("answer_key", {"caller": key.caller, "key": key.name, "status": status, "body": body})


@quick
def release(tx: Tx, key: RequestKey) -> None:
    """Release the key of a request that was refused and changed nothing."""
    tx.run("release_key", {"caller": key.caller, "key": key.name})


def sweep(tx: Tx, now: datetime) -> int:
    """Delete expired keys; return how many."""
    wanted: Params = {"expired": rows.ms(now - LIFETIME), "kept": KEPT_KEYS}
    return tx.run("delete_expired_keys", wanted)


# Push subscriptions -------------------------------------------------------------------------------


MOST_PUSHES: Final = 20
MOST_FAILURES: Final = 10  # in a row; then it is given up


class PushSubscription(Struct, frozen=True, kw_only=True):
    """The subscription of a browser. Whoever has the endpoint and both keys can push to it."""

    id: str
    endpoint: str
    p256dh: str
    auth: str
    sign_in: str
    created_at: datetime
    last_ok: datetime | None = None
    failures: int = 0

    def __repr__(self) -> str:
        return f"Subscription(id={self.id!r})"  # without its secrets


def put_push(tx: Tx, new: PushSubscription) -> None:
    """Store a subscription; an endpoint belongs to the latest sign-in."""
    tx.run("delete_expired_subscriptions", {"now": rows.ms(new.created_at)})
    others = tx.all("count_subscriptions", {"id": new.id})[0]["n"]
    if rows.number(others) >= MOST_PUSHES:
        raise Conflict(f"{MOST_PUSHES} browsers are told already; sign one of them out first.")
    tx.run("put_subscription", rows.columns(new, now=rows.ms(new.created_at)))


def pushes(tx: Tx, now: datetime) -> list[PushSubscription]:
    """Return the subscriptions with a valid sign-in."""
    return [_push(row) for row in tx.all("list_subscriptions", {"now": rows.ms(now)})]


def push_of(tx: Tx, ident: str, now: datetime) -> PushSubscription | None:
    """Return one subscription with a valid sign-in."""
    row = tx.one("get_subscription", {"id": ident, "now": rows.ms(now)})
    return None if row is None else _push(row)


def pushes_of_sign_in(tx: Tx, sign_in: str) -> list[PushSubscription]:
    return [_push(row) for row in tx.all("list_sign_in_subscriptions", {"sign_in": sign_in})]


def drop_push(tx: Tx, ident: str) -> None:
    tx.run("delete_subscription", {"id": ident})


def drop_pushes(tx: Tx, sign_in: str) -> None:
    """Delete all subscriptions of one browser."""
    tx.run("delete_sign_in_subscriptions", {"sign_in": sign_in})


def note_push(tx: Tx, ident: str, now: datetime) -> None:
    """Record a successful push."""
    tx.run("record_push_success", {"id": ident, "now": rows.ms(now)})


def note_failed_push(tx: Tx, ident: str) -> None:
    """Record a failed push; after too many in a row the subscription is deleted."""
    tx.run("record_push_failure", {"id": ident})
    tx.run("delete_failing_subscription", {"id": ident, "most": MOST_FAILURES})


def _push(row: Row) -> PushSubscription:
    return rows.value(PushSubscription, row, sign_in=row["sign_in_id"])
