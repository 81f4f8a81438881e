"""A call from a program: believed by its secret alone, named by what that vouches for."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.channels.webhook import receiving
from remit.channels.webhook.receiving import HookCall, HookProof
from remit.errors import BadInput
from remit.model.codec import Json
from tests.channels.webhook.calls import NOW, OTHER, SECRET, bearer, hub, standard
from tests.tables import for_each

BODY: Final = b'{"order": {"name": "Two lamps"}}'
EVENT: Final[dict[str, Json]] = {
    "specversion": "1.0",
    "id": "e-1",
    "source": "/shop",
    "type": "order.placed",
    "data": {"name": "Two lamps"},
}


def test_while_a_secret_is_replaced_either_opens_and_so_does_one_signature_of_several() -> None:
    both = standard(BODY)
    theirs = standard(BODY, secret=OTHER).headers["webhook-signature"]
    many = {**both.headers, "webhook-signature": f"v1a,zzz {theirs} v1,AAAA"}
    assert receiving.verify(both, [OTHER, SECRET], NOW) is HookProof.STANDARD
    assert receiving.verify(HookCall(many, BODY), [SECRET, OTHER], NOW) is HookProof.STANDARD
    assert receiving.verify(HookCall(many, BODY), [SECRET], NOW) is None


@for_each("call", [standard(BODY), hub(BODY), bearer(BODY)])
def test_the_secret_of_another_hook_opens_nothing(call: HookCall) -> None:
    assert receiving.verify(call, [OTHER], NOW) is None
    assert receiving.verify(call, [], NOW) is None
    assert receiving.verify(call, [""], NOW) is None


@for_each("minutes", [-6, 6, -100_000, 100_000])
def test_what_was_signed_long_ago_or_ahead_is_not_believed(minutes: int) -> None:
    late = standard(BODY, at=NOW + timedelta(minutes=minutes))
    assert receiving.verify(late, [SECRET], NOW) is None
    near = standard(BODY, at=NOW + timedelta(minutes=4 if minutes > 0 else -4))
    assert receiving.verify(near, [SECRET], NOW) is HookProof.STANDARD


def test_whoever_changes_a_byte_an_id_or_the_time_is_not_believed() -> None:
    good = standard(BODY)
    for name, value in (
        ("webhook-id", "msg_2"),
        ("webhook-id", ""),
        ("webhook-id", "msg.1"),
        ("webhook-timestamp", str(int(NOW.timestamp()) + 1)),
        ("webhook-timestamp", "now"),
        ("webhook-timestamp", "-1"),
        ("webhook-signature", ""),
        ("webhook-signature", "v1,"),
        ("webhook-signature", "é"),
    ):
        assert (
            receiving.verify(HookCall({**good.headers, name: value}, BODY), [SECRET], NOW) is None
        )
    assert receiving.verify(HookCall(good.headers, BODY + b" "), [SECRET], NOW) is None


def test_who_signs_wrongly_is_not_saved_by_another_way() -> None:
    """Else whoever may change the headers chooses the weakest."""
    wrong = standard(b"other")
    both = {**bearer(BODY).headers, "webhook-signature": wrong.headers["webhook-signature"]}
    assert receiving.verify(HookCall(both, BODY), [SECRET], NOW) is None
    hubbed = {**bearer(BODY).headers, "x-hub-signature-256": "sha256=00"}
    assert receiving.verify(HookCall(hubbed, BODY), [SECRET], NOW) is None


def test_the_time_cannot_be_moved_into_the_id() -> None:
    """`a.1` and `2.x` are signed alike as `a` and `1.2.x`."""
    at = str(int(NOW.timestamp()))
    signed = hmac.new(
        base64.b64decode(SECRET.removeprefix("whsec_")), f"a.{at}.{at}.x".encode(), hashlib.sha256
    )
    signature = "v1," + base64.b64encode(signed.digest()).decode()
    head = {"webhook-timestamp": at, "webhook-signature": signature}
    assert receiving.verify(
        HookCall({**head, "webhook-id": "a"}, f"{at}.x".encode()), [SECRET], NOW
    )
    assert (
        receiving.verify(HookCall({**head, "webhook-id": f"a.{at}"}, b"x"), [SECRET], NOW) is None
    )


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "webhook-id",
                "webhook-timestamp",
                "webhook-signature",
                "x-hub-signature-256",
                "authorization",
            ]
        ),
        st.text(max_size=80),
    ),
    st.binary(max_size=200),
)
def test_whatever_a_stranger_sends_he_is_refused_and_nothing_breaks(
    headers: dict[str, str], body: bytes
) -> None:
    assert receiving.verify(HookCall(headers, body), [SECRET, "plain"], NOW) is None


# What it says -------------------------------------------------------------------------------------


def test_a_call_is_named_by_what_was_signed_and_by_nothing_else() -> None:
    """A repeated call with another id in a header that nobody signed is the same call."""
    ours = hub(BODY, **{"x-github-delivery": "1"})
    again = hub(BODY, **{"x-github-delivery": "2", "webhook-id": "x", "ce-id": "y"})
    assert receiving.read(ours, HookProof.GITHUB).ref == receiving.read(again, HookProof.GITHUB).ref
    first, second = standard(BODY, ident="m1"), standard(BODY, ident="m2")
    assert (
        receiving.read(first, HookProof.STANDARD).ref
        != receiving.read(second, HookProof.STANDARD).ref
    )
    binary = {f"ce-{key}": str(EVENT[key]) for key in ("specversion", "id", "source", "type")}
    one, two = hub(BODY, **binary), hub(BODY, **{**binary, "ce-id": "e-2"})
    assert receiving.read(one, HookProof.GITHUB).ref == receiving.read(two, HookProof.GITHUB).ref


@for_each("lacks", ["id", "source", "type", "specversion"])
def test_an_event_that_lacks_something_is_refused_in_a_sentence(lacks: str) -> None:
    broken = {key: value for key, value in EVENT.items() if key != lacks}
    call = bearer(json.dumps(broken).encode(), **{"content-type": "application/cloudevents+json"})
    with pytest.raises(BadInput, match=lacks):
        receiving.read(call, HookProof.BEARER)
    if lacks != "specversion":
        said = {f"ce-{key}": str(broken.get(key, "")) for key in EVENT if key != "data"}
        with pytest.raises(BadInput, match=lacks):
            receiving.read(bearer(b"", **said), HookProof.BEARER)


@for_each(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b'"\\ud800 half"',
        b"9" * 10_000,
        json.dumps({"x": "\x00\x1b[31m\u202e"}).encode(),
        b"NaN",
        "é".encode() * 200_000,
    ],
)
def test_whatever_a_believed_call_brings_becomes_bounded_words(body: bytes) -> None:
    event = receiving.read(bearer(body), HookProof.BEARER)
    assert len(event.text.encode()) <= 60_000
    assert not any(ord(char) < 32 and char not in "\n\t" for char in event.text)


@for_each(
    ("content", "pointer", "found"),
    [
        ({"a": [{"b": "x"}]}, "/a/0/b", "x"),
        ({"a": [1]}, "/a/5", ""),
        ({"a": {"b": {}}}, "/a/b", ""),
        ("text", "/a", ""),
        (None, "/a", ""),
        ({"a": 7}, "/a", "7"),
    ],
)
def test_a_title_is_looked_for_where_the_owner_says(
    content: Json, pointer: str, found: str
) -> None:
    assert receiving.value_at(content, pointer) == found


def test_a_secret_that_is_made_is_one_of_standard_webhooks() -> None:
    made = receiving.new_secret(b"\x01" * 32)
    assert made.startswith("whsec_")
    assert receiving.verify(standard(BODY, secret=made), [made], NOW) is HookProof.STANDARD
