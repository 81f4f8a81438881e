"""Tokens, sign-ins and codes, kept by their hashes; subscriptions go with their sign-in."""

from datetime import timedelta
from itertools import combinations

import pytest
from msgspec.structs import replace

from remit.errors import Conflict, NotFound
from remit.model.caller import Scope
from remit.store import callers
from remit.store.callers import ApiToken, PushSubscription, SignIn
from tests.store.scene import AT, Scene

READS = frozenset({Scope.READ})
TOKEN = ApiToken(id="tok-1", name="ci", scopes=READS, created_at=AT)
LATER = AT + timedelta(days=1)
SIGN_IN = SignIn(id="sig-1", created_at=AT, expires_at=LATER, used_at=AT)


@pytest.mark.parametrize("scopes", [set(some) for n in range(5) for some in combinations(Scope, n)])
@pytest.mark.parametrize("agent", [False, True])
def test_a_token_is_read_as_it_was_kept(scene: Scene, scopes: set[Scope], agent: bool) -> None:
    token = replace(TOKEN, scopes=frozenset(scopes), agent=agent, expires_at=LATER)
    scene.do(callers.add_token, token, b"hash")

    assert scene.do(callers.tokens) == [token]
    assert scene.do(callers.token_of, b"hash", AT) == token
    assert scene.do(callers.token_of, b"other", AT) is None


def test_to_revoke_twice_changes_nothing_and_what_is_not_there_is_said(scene: Scene) -> None:
    scene.do(callers.add_token, TOKEN, b"1")
    first = scene.do(callers.revoke_token, "tok-1", AT)

    assert scene.do(callers.revoke_token, "tok-1", LATER) == first
    with pytest.raises(NotFound, match="no token tok-2"):
        scene.do(callers.revoke_token, "tok-2", AT)


# Subscriptions ------------------------------------------------------------------------------------

ONE = PushSubscription(
    id="one",
    endpoint="https://push.example.org/one",
    p256dh="key",
    auth="auth",
    sign_in="sig-1",
    created_at=AT,
)


@pytest.fixture
def signed(scene: Scene) -> Scene:
    scene.do(callers.add_sign_in, SIGN_IN, b"1")
    scene.do(callers.add_sign_in, replace(SIGN_IN, id="sig-2"), b"2")
    return scene


def _ids(scene: Scene) -> list[str]:
    return [str(row["id"]) for row in scene.sql("SELECT id FROM subscriptions ORDER BY id")]


def test_a_subscription_is_read_as_it_was_kept_and_shows_nothing_of_itself(signed: Scene) -> None:
    signed.do(callers.put_push, ONE)

    assert signed.do(callers.pushes, AT) == [ONE]
    assert signed.do(callers.push_of, "one", AT) == ONE
    assert signed.do(callers.push_of, "two", AT) is None
    assert "example.org" not in repr(ONE)


def test_the_same_endpoint_again_belongs_to_whoever_came_last(signed: Scene) -> None:
    signed.do(callers.put_push, ONE)
    signed.do(callers.note_failed_push, "one")
    signed.do(callers.put_push, replace(ONE, sign_in="sig-2", auth="new"))

    assert signed.do(callers.pushes, AT) == [replace(ONE, sign_in="sig-2", auth="new")]
    assert signed.do(callers.pushes_of_sign_in, "sig-1") == []
    assert len(signed.do(callers.pushes_of_sign_in, "sig-2")) == 1


def test_one_that_ran_out_is_not_told_and_goes_when_another_comes(signed: Scene) -> None:
    signed.do(callers.put_push, ONE)
    assert signed.do(callers.pushes, LATER) == []
    assert signed.do(callers.push_of, "one", LATER) is None

    third = replace(SIGN_IN, id="sig-3", created_at=LATER, expires_at=LATER + timedelta(days=1))
    signed.do(callers.add_sign_in, third, b"3")
    signed.do(callers.put_push, replace(ONE, id="three", sign_in="sig-3", created_at=LATER))
    assert _ids(signed) == ["three"]


def test_there_are_not_more_than_a_person_has_browsers(signed: Scene) -> None:
    for n in range(callers.MOST_PUSHES):
        signed.do(callers.put_push, replace(ONE, id=f"{n}"))
    signed.do(callers.put_push, replace(ONE, id="0"))
    with pytest.raises(Conflict, match="browsers are told already"):
        signed.do(callers.put_push, replace(ONE, id="more"))

    assert len(_ids(signed)) == callers.MOST_PUSHES


def test_failures_count_in_a_row(signed: Scene) -> None:
    signed.do(callers.put_push, ONE)
    for _ in range(callers.MOST_FAILURES - 1):
        signed.do(callers.note_failed_push, "one")
    signed.do(callers.note_push, "one", AT)
    assert signed.do(callers.pushes, AT) == [replace(ONE, last_ok=AT)]
    for _ in range(callers.MOST_FAILURES - 1):
        signed.do(callers.note_failed_push, "one")
    assert _ids(signed) == ["one"]
    signed.do(callers.note_failed_push, "one")

    assert _ids(signed) == []
