"""WhatsApp by the Cloud API: what the answer says is what the provider did."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.channels.parts import SendRate
from remit.channels.whatsapp.bridge import BridgeAddress
from remit.channels.whatsapp.error_codes import CODES, means
from remit.channels.whatsapp.sending import (
    WhatsAppChannel,
    WhatsAppNumber,
    WhatsAppTemplate,
    digits,
    is_address,
)
from remit.delivery.courier import Courier
from remit.errors import BadInput
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    Locked,
    Parcel,
    Refused,
    SendRetry,
    Unknown,
)
from remit.model.ids import DeliveryId
from remit.ports import Channel
from remit.testing import START, FrozenClock
from tests.channels.whatsapp.whatsapp import NUMBER_ID, PERSON, TOKEN, USER_ID, Cut, Order, Provider
from tests.ports import free_port
from tests.soak import examples

DAY: Final = timedelta(days=1)
PARCEL: Final = Parcel("dlv-01JZ", PERSON, "Lumphini Park, mornings.")
NOTICE: Final = WhatsAppTemplate("remit_result", "en_US")


@dataclass
class Desk:
    """What the adapter is given, to be turned by a test."""

    token: str = TOKEN
    last: datetime | None = START
    clock: FrozenClock = field(default_factory=FrozenClock)
    template: WhatsAppTemplate | None = None
    owner: str | None = None
    patience: float = 100.0

    async def last_inbound_at(self, _: str) -> datetime | None:
        return self.last


@asynccontextmanager
async def channel(url: str, desk: Desk | None = None) -> AsyncIterator[WhatsAppChannel]:
    desk = desk or Desk()
    line = WhatsAppNumber(NUMBER_ID, lambda: desk.token, desk.owner, desk.template, url)
    made = WhatsAppChannel(line, desk.clock, desk.last_inbound_at, patience=desk.patience)
    try:
        yield made
    finally:
        await made.close()


async def sent(provider: Provider, parcel: Parcel = PARCEL, desk: Desk | None = None) -> Answer:
    async with channel(provider.url, desk) as whatsapp:
        return await whatsapp.send(parcel)


# The table: each misbehaviour, the answer, and how often the message was accepted -----------------


@dataclass(frozen=True, slots=True)
class Row:
    order: Order
    answer: type[Answer]
    accepted: int
    after: float | None = None
    patience: float = 100.0


SHORT: Final = 2.0  # seconds of patience with who never answers; until then all else has happened
ENDLESS: Final = b'{"messages": [{"id": "wamid.1"}]}' + b" " * 200_000
TABLE: Final = {
    "good": Row(Order(), Accepted, 1),
    "429 with Retry-After": Row(
        Order(status=429, code=130429, headers={"retry-after": "30"}), SendRetry, 0, after=30
    ),
    "429 until a date": Row(
        Order(status=429, code=130429, headers={"retry-after": "Mon, 02 Mar 2026 09:00:45 GMT"}),
        SendRetry,
        0,
        after=45,
    ),
    "429 without words": Row(Order(status=429, body=b""), SendRetry, 0),
    "429 for a year": Row(
        Order(status=429, body=b"", headers={"retry-after": "31536000"}), SendRetry, 0, after=3600
    ),
    "130429 too many": Row(Order(status=400, code=130429), SendRetry, 0, after=10),
    "131056 too many to one": Row(Order(status=400, code=131056), SendRetry, 0, after=12),
    "4 too many calls": Row(Order(status=400, code=4), SendRetry, 0, after=300),
    "80007 too many calls": Row(Order(status=400, code=80007), SendRetry, 0, after=300),
    "131016 out of order": Row(Order(status=400, code=131016), SendRetry, 0, after=60),
    "131026 undeliverable": Row(Order(status=400, code=131026), Refused, 0),
    "131047 window shut": Row(Order(status=400, code=131047), Refused, 0),
    "131030 not on the list": Row(Order(status=400, code=131030), Refused, 0),
    "100 bad request": Row(Order(status=400, code=100), Refused, 0),
    "a number nobody knows": Row(Order(status=400, code=999_999), Refused, 0),
    "190 expired": Row(Order(status=401, code=190), Locked, 0),
    "200 permission": Row(Order(status=403, code=200), Locked, 0),
    "368 locked": Row(Order(status=403, code=368), Locked, 0),
    "401 without words": Row(Order(status=401, body=b"<html>"), Locked, 0),
    "404 without words": Row(Order(status=404, body=b"<html>"), Refused, 0),
    "400 half read": Row(Order(status=400, code=130429, cut=Cut.IN_ANSWER), SendRetry, 0),
    "400 dripping": Row(Order(status=400, code=130429, pace=0.3), SendRetry, 0, patience=SHORT),
    "500 failed": Row(Order(status=500, code=131000), SendRetry, 0, after=60),
    "503 out of order": Row(
        Order(status=503, code=131016, headers={"retry-after": "9"}), SendRetry, 0, after=9
    ),
    "500 down": Row(Order(status=500, code=2), SendRetry, 0, after=60),
    "500 expired": Row(Order(status=500, code=190), Locked, 0),
    "500 with a number nobody knows": Row(Order(status=500, code=999_999), Unknown, 0),
    "500 after it accepted": Row(Order(status=500, accept=True), Unknown, 1),
    "503 with Retry-After": Row(
        Order(status=503, body=b"", headers={"retry-after": "9"}), Unknown, 0
    ),
    "redirect": Row(Order(status=307, headers={"location": "/v25.0/1/messages"}), Unknown, 0),
    "no message named": Row(Order(body=b'{"messages": []}'), Unknown, 1),
    "an empty name": Row(Order(body=b'{"messages": [{"id": " "}]}'), Unknown, 1),
    "a page instead": Row(Order(body=b"<html>Welcome to the hotel</html>"), Unknown, 1),
    "a nest instead": Row(Order(body=b"[" * 60_000), Unknown, 1),
    "an answer without end": Row(Order(body=ENDLESS), Unknown, 1),
    "reset in the request": Row(Order(cut=Cut.IN_REQUEST), Unknown, 0),
    "reset before it accepted": Row(Order(cut=Cut.BEFORE_ANSWER), Unknown, 0),
    "reset after it accepted": Row(Order(cut=Cut.BEFORE_ANSWER, accept=True), Unknown, 1),
    "half read": Row(Order(cut=Cut.IN_ANSWER, accept=True), Unknown, 1),
    "black hole": Row(Order(silent=True), Unknown, 0, patience=SHORT),
    "black hole that accepted": Row(Order(silent=True, accept=True), Unknown, 1, patience=SHORT),
    "slow drip": Row(Order(pace=0.3), Unknown, 1, patience=SHORT),
}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
async def test_the_answer_says_what_the_provider_did(row: Row) -> None:
    async with Provider() as provider:
        provider.orders = [row.order]

        answer = await sent(provider, desk=Desk(patience=row.patience))

        tries = 0 if row.order.cut is Cut.IN_REQUEST else 1
        assert len(provider.heard) == tries, "it tries once, whatever comes"
        assert [message.key for message in provider.accepted] == ["dlv-01JZ"] * row.accepted
    assert type(answer) is row.answer
    match answer:
        case Accepted(ref):
            assert ref == provider.accepted[0].ref
        case SendRetry(why, after):
            assert (after, len(provider.accepted)) == (row.after, 0)
            assert why.endswith(".")
        case Refused(why) | Locked(why):
            assert why.endswith(".")
            assert provider.accepted == []
        case Unknown(why):
            assert why.endswith(".")


async def test_where_nobody_listens_nothing_was_sent() -> None:
    async with channel(f"http://127.0.0.1:{free_port()}/v25.0") as whatsapp:
        answer = await whatsapp.send(PARCEL)

    assert answer == SendRetry("WhatsApp could not be reached (connect error).")


async def test_a_line_that_is_not_safe_is_left_before_a_byte_of_the_message() -> None:
    heard = bytearray()

    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(10_000))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v25.0"
    async with server, channel(url) as whatsapp:
        answer = await whatsapp.send(PARCEL)

    assert isinstance(answer, SendRetry)
    assert heard
    assert b"messages" not in heard


async def test_a_connection_that_never_opens_leaves_nothing_in_doubt() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for caller in (first, second):  # they fill the queue, and the next one waits for ever
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v25.0"

        async with channel(url, Desk(patience=SHORT)) as whatsapp:
            answer = await whatsapp.send(PARCEL)

    assert isinstance(answer, SendRetry)


async def test_a_connection_that_was_closed_meanwhile_is_not_written_to() -> None:
    desk = Desk()
    async with Provider() as provider, channel(provider.url, desk) as whatsapp:
        provider.orders = [Order(headers={"connection": "close"}), Order()]
        for n in range(3):
            desk.clock.advance(timedelta(seconds=7))
            assert isinstance(await whatsapp.send(replace(PARCEL, key=f"dlv-{n}")), Accepted)

        assert [message.key for message in provider.accepted] == ["dlv-0", "dlv-1", "dlv-2"]


async def test_a_channel_that_was_closed_sends_nothing() -> None:
    async with Provider() as provider:
        async with channel(provider.url) as whatsapp:
            pass
        answer = await whatsapp.send(PARCEL)

        assert provider.heard == []
    assert isinstance(answer, SendRetry)


@pytest.mark.parametrize("told", [b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n", b""])
async def test_a_proxy_that_gives_no_way_leaves_nothing_in_doubt(
    told: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = bytearray()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(10_000))
        writer.write(told)
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with server, channel("https://graph.invalid/v25.0") as whatsapp:
        answer = await whatsapp.send(PARCEL)

    assert heard.startswith(b"CONNECT graph.invalid:443")
    assert TOKEN.encode() not in heard
    assert isinstance(answer, SendRetry)


async def test_what_fails_before_a_byte_leaves_leaves_nothing_in_doubt() -> None:
    async def fails(_: str) -> datetime | None:
        raise OSError("the disk is gone")

    def locked() -> str:
        raise LookupError("the keyring is locked")

    async with Provider() as provider:
        desk = Desk()
        for made in (
            WhatsAppChannel(WhatsAppNumber(NUMBER_ID, str, url=provider.url), desk.clock, fails),
            WhatsAppChannel(
                WhatsAppNumber(NUMBER_ID, locked, url=provider.url),
                desk.clock,
                desk.last_inbound_at,
            ),
        ):
            assert isinstance(await made.send(PARCEL), SendRetry)
            await made.close()

        assert provider.heard == []


def _is_honest(order: Order) -> bool:
    """Nobody can help it if a provider names a message that it did not take."""
    named = order.status == 200 and order.cut is None and order.body is None
    return order.accepts or not named


STATES: Final = st.builds(
    Order,
    status=st.sampled_from([200, 200, 201, 302, 500, 503]),
    accept=st.booleans(),
    cut=st.sampled_from([None, None, *Cut]),
    body=st.none() | st.sampled_from([b"", b"{}", b"null", b'{"messages": [{}]}', b"\xff"]),
).filter(_is_honest)
REFUSALS: Final = st.builds(
    Order,
    status=st.sampled_from([400, 401, 403, 404, 408, 409, 413, 425, 429, 431, 451]),
    code=st.none() | st.integers(-5, 1000) | st.sampled_from([*CODES]),
    cut=st.sampled_from([None, Cut.IN_ANSWER]),
    headers=st.sampled_from([{}, {"retry-after": "-5"}, {"retry-after": "Never"}]),
)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(STATES | REFUSALS, min_size=1, max_size=8))
def test_whatever_the_provider_does_no_answer_says_more_than_is_known(orders: list[Order]) -> None:
    async def all_sent() -> list[tuple[Answer, int, int]]:
        desk, found = Desk(), []
        async with Provider() as provider, channel(provider.url, desk) as whatsapp:
            for order in orders:
                provider.orders = [order]
                heard, accepted = len(provider.heard), len(provider.accepted)
                desk.clock.advance(timedelta(seconds=7))
                answer = await whatsapp.send(PARCEL)
                tries, taken = len(provider.heard) - heard, len(provider.accepted) - accepted
                found.append((answer, tries, taken))
        return found

    for answer, tries, taken in asyncio.run(all_sent()):
        assert tries <= 1
        match answer:
            case Accepted():
                assert taken == 1
            case SendRetry() | Refused() | Locked():
                assert taken == 0
            case Unknown():
                assert taken <= 1


# What goes out ------------------------------------------------------------------------------------


TEXT: Final = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(str.strip)


@settings(max_examples=examples(10), deadline=None)
@given(st.lists(TEXT, min_size=10, max_size=20))
def test_what_was_approved_is_what_arrives_to_the_last_character(bodies: list[str]) -> None:
    async def all_sent() -> list[str]:
        desk = Desk()
        async with Provider() as provider, channel(provider.url, desk) as whatsapp:
            for body in bodies:
                desk.clock.advance(timedelta(seconds=7))
                await whatsapp.send(replace(PARCEL, body=body))
            return [message.text for message in provider.accepted]

    assert asyncio.run(all_sent()) == bodies


async def test_a_message_is_asked_for_as_the_cloud_api_wants_it() -> None:
    async with Provider() as provider:
        await sent(provider)

        assert provider.heard[0].fields == {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": PERSON,
            "type": "text",
            "text": {"body": "Lumphini Park, mornings.", "preview_url": False},
            "biz_opaque_callback_data": "dlv-01JZ",
        }


async def test_a_user_id_is_sent_to_as_a_user_id() -> None:
    async with Provider() as provider:
        await sent(provider, replace(PARCEL, recipient=USER_ID))

        assert provider.heard[0].fields["recipient"] == USER_ID
        assert "to" not in provider.heard[0].fields


async def test_what_is_for_the_owner_goes_to_the_owner() -> None:
    async with Provider() as provider:
        for_owner = replace(PARCEL, recipient=None)

        assert isinstance(await sent(provider, for_owner, Desk(owner=PERSON)), Accepted)
        assert provider.accepted[0].to == PERSON
        assert isinstance(await sent(provider, for_owner), Refused)
        assert len(provider.heard) == 1


BAD_ADDRESSES: Final = [
    "",
    "+0501234567",
    "+972501234567\n",
    "+972 50--1234567",
    "++972501234567",
    "0501234567",
    "97250",
    "9725012345678901",
    "972 50 123 4567",
    "972501234567\r\nX-Evil: 1",
    "972501234567/../../me",
    "972501234567?x=1",
    "٩٧٢٥٠١٢٣٤٥٦٧",
    "IL.",
    "il.1349",
    "IL.13/49",
    "IL.ENT.",
    "41433650172129@lid",
    "nina@example.org",
]


@pytest.mark.parametrize("address", BAD_ADDRESSES)
async def test_what_is_no_address_is_refused_before_a_byte_leaves(address: str) -> None:
    async with Provider() as provider:
        answer = await sent(provider, replace(PARCEL, recipient=address))

        assert provider.heard == []
    assert isinstance(answer, Refused)
    assert "no WhatsApp address" in answer.why


@settings(deadline=None)
@given(st.text(max_size=40))
def test_an_address_has_nothing_in_it_that_a_header_or_an_url_could_read(text: str) -> None:
    assert not is_address(text) or digits(text).replace(".", "").isalnum()


@pytest.mark.parametrize("written", ["+972501234567", "+972 50-123 4567", PERSON])
async def test_a_number_may_be_written_as_people_write_it(written: str) -> None:
    async with Provider() as provider:
        assert isinstance(await sent(provider, replace(PARCEL, recipient=written)), Accepted)
        assert provider.accepted[0].to == PERSON


@pytest.mark.parametrize(
    ("body", "word"),
    [("", "empty"), (" \n ", "empty"), ("x" * 4097, "4097"), ("half \ud83d", "half a character")],
)
async def test_what_is_no_message_is_refused_in_a_sentence(body: str, word: str) -> None:
    async with Provider() as provider:
        answer = await sent(provider, replace(PARCEL, body=body))

        assert provider.heard == []
    assert isinstance(answer, Refused)
    assert word in answer.why


@pytest.mark.parametrize("key", ["", "x" * 513, "two words", "a\nb"])
async def test_a_key_that_would_not_come_back_is_not_sent(key: str) -> None:
    async with Provider() as provider:
        assert isinstance(await sent(provider, replace(PARCEL, key=key)), Refused)
        assert provider.heard == []


# The window ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "free"),
    [
        (START, True),
        (START + timedelta(minutes=5), True),  # a clock that is behind
        (START - DAY + timedelta(minutes=2), True),
        (START - DAY + timedelta(seconds=30), False),
        (START - DAY, False),
        (None, False),
    ],
)
async def test_free_text_goes_only_to_who_wrote_within_a_day(
    last: datetime | None, *, free: bool
) -> None:
    async with Provider() as provider:
        answer = await sent(provider, desk=Desk(last=last))

        assert len(provider.heard) == free
    assert isinstance(answer, Accepted if free else Refused)
    if isinstance(answer, Refused):
        assert "24 hours" in answer.why


async def test_when_the_window_is_shut_a_template_carries_the_very_text() -> None:
    async with Provider() as provider:
        answer = await sent(provider, desk=Desk(last=None, template=NOTICE))

        assert isinstance(answer, Accepted)
        assert provider.accepted[0].kind == "template"
        assert provider.accepted[0].text == PARCEL.body
        template = provider.heard[0].fields["template"]
        assert isinstance(template, dict)
        assert (template["name"], template["language"]) == ("remit_result", {"code": "en_US"})


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("two\nlines", "two  lines"),
        ("a\ttab \r\n\n  and more", "a  tab  and more"),
        ("five     blanks", "five  blanks"),
        ("• milk\n• bread\n", "• milk  • bread"),
    ],
)
async def test_in_a_template_a_text_is_one_line_with_all_its_words(body: str, line: str) -> None:
    async with Provider() as provider:
        desk = Desk(last=None, template=NOTICE)
        answer = await sent(provider, replace(PARCEL, body=body), desk)

        assert isinstance(answer, Accepted)
        assert [each.text for each in provider.accepted] == [line]


@pytest.mark.parametrize(("most", "fits"), [(1024, False), (4096, True)])
async def test_a_long_text_goes_into_a_template_that_takes_it(most: int, *, fits: bool) -> None:
    async with Provider() as provider:
        desk = Desk(last=None, template=replace(NOTICE, most=most))
        answer = await sent(provider, replace(PARCEL, body="x" * 1025), desk)

        assert len(provider.heard) == fits
    assert isinstance(answer, Accepted if fits else Refused)
    if isinstance(answer, Refused):
        assert "1025 characters; the template takes 1024" in answer.why


async def test_a_template_with_several_variables_gets_a_parameter_for_each() -> None:
    async with Provider() as provider:
        template = replace(NOTICE, parameters=("Nina's assistant", "It says: {text}"))
        provider.orders = [Order(status=400, code=132000)]
        await sent(provider, desk=Desk(last=None, template=template))

        fields = provider.heard[0].fields["template"]
    assert isinstance(fields, dict)
    texts = [each["text"] for each in fields["components"][0]["parameters"]]
    assert texts == ["Nina's assistant", f"It says: {PARCEL.body}"]


# The pace -----------------------------------------------------------------------------------------


async def test_a_second_message_to_one_person_comes_back_before_a_byte_leaves() -> None:
    desk = Desk()
    async with Provider() as provider, channel(provider.url, desk) as whatsapp:
        assert isinstance(await whatsapp.send(PARCEL), Accepted)
        desk.clock.advance(timedelta(seconds=2))

        again = await whatsapp.send(replace(PARCEL, key="dlv-2"))
        other = await whatsapp.send(replace(PARCEL, key="dlv-3", recipient=USER_ID))
        assert isinstance(again, SendRetry)
        assert again.after == 4
        assert isinstance(other, Accepted)

        desk.clock.advance(timedelta(seconds=again.after))
        assert isinstance(await whatsapp.send(replace(PARCEL, key="dlv-2")), Accepted)
        assert len(provider.heard) == 3


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 900)), max_size=200))
def test_the_pace_is_kept_and_whoever_waits_as_told_may_go(turns: list[tuple[int, int]]) -> None:
    pace, now = SendRate(pair=6, overall=3), START
    gone: list[tuple[datetime, int]] = []
    for person, milliseconds in turns:
        now += timedelta(milliseconds=milliseconds)
        wait = pace.take(str(person), now)
        while wait > 0:
            now += timedelta(seconds=wait, microseconds=1)
            wait = pace.take(str(person), now)
        gone.append((now, person))
    for at, person in gone:
        assert sum(timedelta() <= each - at < timedelta(seconds=1) for each, _ in gone) <= 3
        near = [
            each for each, who in gone if who == person and abs(each - at) < timedelta(seconds=6)
        ]
        assert len(near) == 1


def test_a_clock_that_was_set_back_holds_nobody_up() -> None:
    pace = SendRate()
    assert pace.take("a", START) == 0

    assert pace.take("a", START - DAY) == 0


def test_the_pace_remembers_only_the_last_seconds() -> None:
    pace = SendRate(overall=10**6)
    for n in range(5000):
        pace.take(str(n), START + timedelta(seconds=n))

    assert len(pace._last) <= 6
    assert len(pace._recent) <= 1


# Secrets and settings -----------------------------------------------------------------------------


async def test_the_token_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json.dumps(
        {"error": {"code": 100, "message": f"{TOKEN} is odd\r\nat {TOKEN[4:20]}"}}
    ).encode()
    async with Provider() as provider:
        provider.orders = [Order(status=400, body=echo)]
        async with channel(provider.url) as whatsapp:
            answer = await whatsapp.send(PARCEL)
            shown = [repr(answer), repr(whatsapp), repr(whatsapp._line), caplog.text]

    assert isinstance(answer, Refused)
    assert "is odd" in answer.why
    pieces = [TOKEN[n : n + 8] for n in range(len(TOKEN) - 7)]
    assert not [piece for each in shown for piece in pieces if piece in each]


class Told:
    """A way to the token that shows it to who looks."""

    def __call__(self) -> str:
        return TOKEN

    __repr__ = __call__


def test_the_way_to_the_token_is_not_shown_either() -> None:
    assert TOKEN not in repr(WhatsAppNumber(NUMBER_ID, Told()))
    assert TOKEN not in repr(BridgeAddress("http://bridge:3000/api", Told()))


@pytest.mark.parametrize("token", ["", "two words", "a\r\nX-Evil: 1", "schlüssel"])
async def test_what_cannot_be_a_token_is_not_sent(token: str) -> None:
    async with Provider() as provider:
        answer = await sent(provider, desk=Desk(token=token))

        assert provider.heard == []
    assert isinstance(answer, Locked)
    assert not token or token not in answer.why


async def test_an_expired_token_locks_and_a_renewed_one_needs_no_restart() -> None:
    desk = Desk(token="EAAold")
    async with Provider() as provider, channel(provider.url, desk) as whatsapp:
        assert isinstance(await whatsapp.send(PARCEL), Locked)
        desk.token = TOKEN
        desk.clock.advance(timedelta(seconds=7))

        assert isinstance(await whatsapp.send(PARCEL), Accepted)


BAD_LINES: Final[list[Callable[[], object]]] = [
    lambda: WhatsAppNumber("../me", str),
    lambda: WhatsAppNumber("", str),
    lambda: WhatsAppNumber(NUMBER_ID, str, url="http://graph.facebook.com/v25.0"),
    lambda: WhatsAppNumber(NUMBER_ID, str, url="https://user:pw@graph.facebook.com/v25.0"),
    lambda: WhatsAppNumber(NUMBER_ID, str, url="https://graph.facebook.com/v25.0?x="),
    lambda: WhatsAppNumber(NUMBER_ID, str, url="https://graph.facebook.com/v25.0\r\n"),
    lambda: WhatsAppNumber(NUMBER_ID, str, owner="Hanan"),
    lambda: WhatsAppTemplate("Not a name"),
    lambda: WhatsAppTemplate("fine", "english"),
    lambda: WhatsAppTemplate("fine", "en", ("Nina",)),
    lambda: WhatsAppTemplate("fine", "en", ("{text}", "{text}")),
    lambda: WhatsAppTemplate("fine", "en", ("", "{text}")),
    lambda: WhatsAppTemplate("fine", "en", most=5000),
]


@pytest.mark.parametrize("make", BAD_LINES)
def test_a_setting_that_cannot_be_is_refused_in_a_sentence(make: Callable[[], object]) -> None:
    with pytest.raises(BadInput) as refused:
        make()

    assert str(refused.value).endswith(".")
    assert refused.value.field


# The table of numbers, the port -------------------------------------------------------------------


@pytest.mark.parametrize("code", [*CODES, 200, 299, 12345, -1])
def test_a_number_means_that_nothing_was_sent_and_says_why_in_a_sentence(code: int) -> None:
    answer = means(code, "Their words")

    assert answer.why.endswith(f"(code {code}: Their words).")
    assert isinstance(answer, Refused | Locked) or (answer.after or 0) > 0


async def test_it_is_a_channel_that_the_courier_can_use() -> None:
    delivery = Delivery("whatsapp", PERSON, id=DeliveryId("dlv-1"))
    async with Provider() as provider, channel(provider.url) as whatsapp:
        port: Channel = whatsapp
        courier = Courier({port.name: port})

        assert courier.most([delivery]) == 10 * 4096, "a long text becomes several messages"
        assert isinstance(await port.send(Parcel(str(delivery.id), PERSON, "Hi")), Accepted)


def test_a_text_becomes_messages_that_the_provider_takes() -> None:
    desk = Desk()
    whatsapp = WhatsAppChannel(WhatsAppNumber(NUMBER_ID, str), desk.clock, desk.last_inbound_at)
    parts = whatsapp.parts(whatsapp.shape("# Parks\n\n" + "- **Lumphini**, mornings.\n" * 500))

    assert parts[0].startswith("*Parks*\n\n• *Lumphini*, mornings.\n• ")
    assert len(parts) > 1
    assert all(0 < len(part) <= whatsapp.most for part in parts)
