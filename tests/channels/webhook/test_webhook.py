"""Webhooks: signed so that anybody can check it, and tried again under the same id."""

import base64
import json
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from remit.channels.webhook import WebhookSettings, sending
from remit.channels.webhook.sending import (
    RETRY_SECONDS,
    HookGone,
    UnconfirmedSend,
    WebhookChannel,
    retry_or_give_up,
    signed_headers,
    signing_keys,
)
from remit.errors import BadInput
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.system import safe_http
from remit.system.http_client import Token
from remit.system.safe_http import Resolve
from remit.testing import FrozenClock
from tests.channels.test_http_outcomes import SHORT, TABLE
from tests.channels.webhook.hooks import OTHER, SECRET, Receiver, complaint
from tests.channels.whatsapp.whatsapp import Cut, Order
from tests.tables import for_each, table

PARCEL: Final = Parcel("dlv-01JZ", None, "Lumphini Park, mornings. \u05e9\u05dc\u05d5\u05dd 🌳")
LAST: Final = len(RETRY_SECONDS) + 1

KEYS = st.from_regex(r"[A-Za-z0-9_-]{1,200}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
SECRETS = st.binary(min_size=24, max_size=64)


def hooked(
    receiver: Receiver, secret: str | Token = SECRET, patience: float = 100.0
) -> WebhookChannel:
    return WebhookChannel(
        WebhookSettings(url=receiver.url, secret="", private=True),
        secret if callable(secret) else lambda: secret,
        FrozenClock(),
        patience=patience,
    )


def _outside(url: str, resolve: Resolve = safe_http.resolve_host, **more: object) -> WebhookChannel:
    hook = structs.replace(WebhookSettings(url=url, secret=""), **more)
    return WebhookChannel(hook, lambda: SECRET, FrozenClock(), resolve=resolve)


@for_each("case", [case for case in TABLE if "black hole" not in case])
async def test_a_no_after_tries_that_nobody_saw_is_a_doubt(case: str) -> None:
    order, *_, means = TABLE[case]
    patience = SHORT if order.pace else 100.0
    async with Receiver() as receiver:
        receiver.orders = [order]
        parcel = Parcel(PARCEL.key, None, PARCEL.body, attempt=LAST)
        answer = await hooked(receiver, patience=patience).send(parcel)

    assert type(answer) is (means if means in (Accepted, HookGone) else Unknown)


async def tried(statuses: Sequence[int]) -> list[Answer]:
    """What comes of an event that is answered so, try after try."""
    async with Receiver() as receiver:
        receiver.orders = [*(Order(status=status) for status in statuses), Order()]
        channel = hooked(receiver)
        return [
            await channel.send(Parcel("dlv-1", None, "Hello.", attempt=n))
            for n in range(1, len(statuses) + 1)
        ]


@for_each(
    ("statuses", "ends"),
    [
        *(([status] * LAST, Refused) for status in (302, 400, 404, 429)),
        *(([400] * at + [500] + [400] * (LAST - 1 - at), Unknown) for at in (0, 4, LAST - 1)),
        *((statuses, HookGone) for statuses in ([404, 410], [500, 410], [404, 500, 404, 410])),
    ],
)
async def test_after_the_last_try_one_doubt_leaves_a_doubt_and_410_waits_for_the_owner(
    statuses: list[int], ends: type[Answer]
) -> None:
    *before, last = await tried(statuses)

    kinds = [UnconfirmedSend if status == 500 else SendRetry for status in statuses[:-1]]
    assert [type(answer) for answer in before] == kinds
    assert type(last) is ends
    assert not isinstance(last, Refused) or "given up" in last.why


async def test_a_try_for_want_of_a_secret_leaves_no_doubt() -> None:
    held = [""]
    async with Receiver() as receiver:
        receiver.orders = [Order(status=410)]
        channel = hooked(receiver, lambda: held[0])
        first = await channel.send(PARCEL)
        held[0] = SECRET
        second = await channel.send(Parcel(PARCEL.key, None, PARCEL.body, attempt=2))

    assert [type(first), type(second)] == [Locked, HookGone]


async def test_it_is_tried_under_one_id_until_it_is_taken_and_then_once() -> None:
    async with Receiver() as receiver:
        doubts = [Order(status=503), Order(cut=Cut.BEFORE_ANSWER, accept=True), Order(status=500)]
        receiver.orders = [*doubts, Order()]
        channel = hooked(receiver)

        answers = [
            await channel.send(Parcel("dlv-01JZ", "Ada", "Hello.", attempt=n)) for n in range(1, 5)
        ]

        assert [type(answer) for answer in answers] == [
            UnconfirmedSend,
            UnconfirmedSend,
            UnconfirmedSend,
            Accepted,
        ]
        assert [(each.key, each.text, each.recipient) for each in receiver.taken] == [
            ("dlv-01JZ", "Hello.", "Ada")
        ]
        assert len({heard.body for heard in receiver.heard}) == 1
    waits = [answer.after for answer in answers if isinstance(answer, SendRetry)]
    assert waits == list(RETRY_SECONDS[:3])


@given(st.integers(-3, 100), st.none() | st.floats(0, 3600), st.booleans())
def test_a_try_is_followed_by_another_until_the_pauses_end(
    attempt: int, wait: float | None, doubt: bool
) -> None:
    answer = retry_or_give_up("It did not work.", attempt, wait=wait, doubt=doubt)

    if attempt > len(RETRY_SECONDS):
        assert type(answer) is (Unknown if doubt else Refused)
    else:
        assert type(answer) is (UnconfirmedSend if doubt else SendRetry)
        assert answer.after is not None
        assert answer.after >= max(5, wait or 0)


@for_each("status", [400, 404, 410, 429, 500])
async def test_no_later_no_says_that_what_may_have_arrived_did_not(status: int) -> None:
    async with Receiver() as receiver:
        receiver.orders = [Order(status=500, accept=True), Order(status=status)]
        channel = hooked(receiver)
        await channel.send(PARCEL)

        found = await channel.find(PARCEL)

        assert len(receiver.taken) == 1  # it did arrive
    assert found is None


@given(KEYS, st.integers(0, 2**40), TEXTS, st.lists(SECRETS, min_size=1, max_size=3))
def test_every_signature_fits_for_who_holds_the_secret_and_for_nobody_else(
    key: str, stamp: int, text: str, secrets: list[bytes]
) -> None:
    body = sending.event(Parcel(key, None, text), "urn:remit")
    headers = signed_headers(key, stamp, body, tuple(secrets))

    for secret in secrets:
        told = "whsec_" + base64.b64encode(secret).decode()
        assert complaint(headers, body, told, stamp) is None
        assert complaint(headers, body + b" ", told, stamp) == "No signature fits."
        assert complaint({**headers, "webhook-id": key + "x"}, body, told, stamp) is not None
        moved = {**headers, "webhook-timestamp": str(stamp + 1)}
        assert complaint(moved, body, told, stamp) == "No signature fits."
    if b"another-key-of-32-bytes-length!!" not in secrets:
        assert complaint(headers, body, OTHER, stamp) == "No signature fits."


@given(KEYS, st.none() | TEXTS, TEXTS)
def test_an_event_says_all_that_a_cloudevent_must_and_the_same_each_time(
    key: str, recipient: str | None, text: str
) -> None:
    parcels = [Parcel(key, recipient, text, attempt=n) for n in (1, 7)]
    first, later = (sending.event(parcel, "urn:remit:home") for parcel in parcels)

    assert first == later
    assert json.loads(first) == {
        "specversion": "1.0",
        "id": key,
        "source": "urn:remit:home",
        "type": "remit.delivery.v1",
        "datacontenttype": "application/json",
        "data": {"recipient": recipient, "text": text},
    }


async def test_while_a_secret_is_replaced_both_old_and_new_fit_and_no_other() -> None:
    for theirs, ours, answer in (
        (SECRET, f"{SECRET} {OTHER}", Accepted),
        (OTHER, f"{SECRET} {OTHER}", Accepted),
        (OTHER, SECRET, SendRetry),
    ):
        async with Receiver(theirs) as receiver:
            assert type(await hooked(receiver, ours).send(PARCEL)) is answer
            assert [each.text for each in receiver.taken] == [PARCEL.body] * (answer is Accepted)


@for_each("text", table(__file__, "unsound"))
async def test_without_a_sound_secret_nothing_is_sent(text: str) -> None:
    assert signing_keys(text) == ()
    async with Receiver() as receiver:
        answer = await hooked(receiver, text).send(PARCEL)

        assert receiver.heard == []
    assert type(answer) is Locked
    assert "Set it anew" in answer.why


@for_each(
    ("url", "private"),
    [
        ("http://hooks.example.com/in", False),
        ("https://ada:pw@hooks.example.com/in", True),
        ("ftp://hooks.example.com/in", True),
        ("https://2130706433/in", False),
        ("", True),
    ],
)
def test_a_hook_with_a_bad_address_is_refused_at_the_door(url: str, private: bool) -> None:
    with pytest.raises(BadInput) as refused:
        _outside(url, private=private)

    assert refused.value.field == "url"
    assert "pw" not in str(refused.value)


def test_a_source_must_be_a_uri() -> None:
    with pytest.raises(BadInput, match="urn:remit"):
        _outside("https://hooks.example.com", source="two words")


@for_each("leads", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1"]])
async def test_a_name_that_leads_into_ones_own_network_is_refused_unsent(leads: list[str]) -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return leads

    async with Receiver() as receiver:
        port = receiver.root.rpartition(":")[2]
        channel = _outside(f"https://hooks.example.com:{port}/in", resolve)
        answer = await channel.send(PARCEL)

        assert receiver.heard == []
    assert type(answer) is Refused


async def test_a_key_with_a_dot_is_refused_because_dots_part_what_is_signed() -> None:
    async with Receiver() as receiver:
        assert type(await hooked(receiver).send(Parcel("dlv.1", None, "Hello."))) is Refused
        assert receiver.heard == []


async def test_a_name_that_is_not_found_is_looked_up_again_later() -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        raise OSError("no such name")

    answer = await _outside("https://hooks.example.com/in", resolve).send(PARCEL)

    assert type(answer) is SendRetry


async def test_a_doubt_is_settled_by_telling_it_again_under_the_same_id() -> None:
    async with Receiver() as receiver:
        receiver.orders = [Order(cut=Cut.BEFORE_ANSWER, accept=True), Order(status=500), Order()]
        hook = hooked(receiver)
        await hook.send(PARCEL)

        assert await hook.find(PARCEL) is None
        assert await hook.find(PARCEL) == Accepted(PARCEL.key)
        assert [taken.key for taken in receiver.taken] == [PARCEL.key]
