"""Subscriptions: kept with their sign-in, gone with it."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.errors import Conflict
from remit.store import callers, push
from remit.store.callers import SignIn
from remit.store.push import PushSubscription
from tests.store.scene import AT, Scene

LATER = AT + timedelta(days=1)
SIGN_IN = SignIn(id="sig-1", created_at=AT, expires_at=LATER)
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


def test_the_same_endpoint_again_belongs_to_whoever_came_last(signed: Scene) -> None:
    signed.do(push.put, ONE)
    signed.do(push.blame, "one")
    signed.do(push.put, replace(ONE, sign_in="sig-2", auth="new"))

    assert signed.do(push.list_subscriptions, AT) == [replace(ONE, sign_in="sig-2", auth="new")]
    assert signed.do(push.of_sign_in, "sig-1") == []
    assert len(signed.do(push.of_sign_in, "sig-2")) == 1


def test_one_that_ran_out_is_not_told_and_goes_when_another_comes(signed: Scene) -> None:
    signed.do(push.put, ONE)
    assert signed.do(push.list_subscriptions, LATER) == []
    assert signed.do(push.find, "one", LATER) is None

    third = replace(SIGN_IN, id="sig-3", created_at=LATER, expires_at=LATER + timedelta(days=1))
    signed.do(callers.add_sign_in, third, b"3")
    signed.do(push.put, replace(ONE, id="three", sign_in="sig-3", created_at=LATER))
    assert _ids(signed) == ["three"]


def test_there_are_not_more_than_a_person_has_browsers(signed: Scene) -> None:
    for n in range(push.MOST):
        signed.do(push.put, replace(ONE, id=f"{n}"))
    signed.do(push.put, replace(ONE, id="0"))
    with pytest.raises(Conflict, match="browsers are told already"):
        signed.do(push.put, replace(ONE, id="more"))

    assert len(_ids(signed)) == push.MOST


def test_failures_count_in_a_row(signed: Scene) -> None:
    signed.do(push.put, ONE)
    for _ in range(push.MOST_FAILURES - 1):
        signed.do(push.blame, "one")
    signed.do(push.praise, "one", AT)
    assert signed.do(push.list_subscriptions, AT) == [replace(ONE, last_ok=AT)]
    for _ in range(push.MOST_FAILURES - 1):
        signed.do(push.blame, "one")
    assert _ids(signed) == ["one"]
    signed.do(push.blame, "one")

    assert _ids(signed) == []
