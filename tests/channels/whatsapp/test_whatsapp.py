"""WhatsApp by the Cloud API: what the answer says is what the provider did."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.channels.parts import SendRate
from remit.channels.whatsapp import WhatsAppLine
from remit.channels.whatsapp.cloud_api import ANSWERS_OF_CODES, answer_of_code
from remit.channels.whatsapp.sending import WhatsAppChannel, digits, is_address
from remit.errors import BadInput
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.testing import START, FrozenClock
from tests.channels.whatsapp.whatsapp import NUMBER_ID, PERSON, TOKEN, USER_ID, Cut, Order, Provider
from tests.live.loopback import FunctionListener
from tests.soak import examples
from tests.tables import for_each, text_table

DAY: Final = timedelta(days=1)
PARCEL: Final = Parcel("dlv-01JZ", PERSON, "Lumphini Park, mornings.")
LINE: Final = WhatsAppLine(number_id=NUMBER_ID, token="")
NOTICE: Final = replace(LINE, template="remit_result", language="en_US")


@dataclass
class Desk:
    """What the adapter is given, to be turned by a test."""

    token: str = TOKEN
    last: datetime | None = START
    clock: FrozenClock = field(default_factory=FrozenClock)
    line: WhatsAppLine = LINE
    patience: float = 100.0

    async def last_inbound_at(self, _: str) -> datetime | None:
        return self.last


@asynccontextmanager
async def channel(url: str, desk: Desk | None = None) -> AsyncIterator[WhatsAppChannel]:
    desk = desk or Desk()
    line, token = replace(desk.line, url=url), lambda: desk.token
    made = WhatsAppChannel(line, token, desk.clock, desk.last_inbound_at, patience=desk.patience)
    try:
        yield made
    finally:
        await made.close()


async def sent(provider: Provider, parcel: Parcel = PARCEL, desk: Desk | None = None) -> Answer:
    async with channel(provider.url, desk) as whatsapp:
        return await whatsapp.send(parcel)


# What only this provider says ---------------------------------------------------------------------


NINE: Final = {"retry-after": "9"}
SAID: Final[dict[str, tuple[Order, type[Answer], float | None]]] = {
    "130429 too many": (Order(400, 130429), SendRetry, 10),
    "131056 too many to one": (Order(400, 131056), SendRetry, 12),
    "4 too many calls": (Order(400, 4), SendRetry, 300),
    "80007 too many calls": (Order(400, 80007), SendRetry, 300),
    "131016 out of order": (Order(400, 131016), SendRetry, 60),
    "131026 undeliverable": (Order(400, 131026), Refused, None),
    "131047 window shut": (Order(400, 131047), Refused, None),
    "131030 not on the list": (Order(400, 131030), Refused, None),
    "100 bad request": (Order(400, 100), Refused, None),
    "a number nobody knows": (Order(400, 999_999), Refused, None),
    "190 expired": (Order(401, 190), Locked, None),
    "200 permission": (Order(403, 200), Locked, None),
    "368 locked": (Order(403, 368), Locked, None),
    "500 failed": (Order(500, 131000), SendRetry, 60),
    "503 out of order": (Order(503, 131016, headers=NINE), SendRetry, 9),
    "500 down": (Order(500, 2), SendRetry, 60),
    "500 expired": (Order(500, 190), Locked, None),
    "500 with a number nobody knows": (Order(500, 999_999), Unknown, None),
}


@for_each(("order", "means_", "after"), SAID.values())
async def test_a_number_counts_before_the_status(
    order: Order, means_: type[Answer], after: float | None
) -> None:
    async with Provider() as provider:
        provider.orders = [order]
        answer = await sent(provider)

        assert (len(provider.heard), provider.accepted) == (1, [])
    assert type(answer) is means_
    assert getattr(answer, "after", None) == after


async def test_a_connection_that_never_opens_leaves_nothing_in_doubt() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for caller in (first, second):  # they fill the queue, and the next one waits for ever
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v25.0"

        async with channel(url, Desk(patience=2.0)) as whatsapp:
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


@pytest.mark.parametrize("told", [b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n", b""])
async def test_a_proxy_that_gives_no_way_leaves_nothing_in_doubt(
    told: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = bytearray()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(10_000))
        writer.write(told)

    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with FunctionListener(refuse) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.root)
        async with channel("https://graph.invalid/v25.0") as whatsapp:
            answer = await whatsapp.send(PARCEL)

    assert heard.startswith(b"CONNECT graph.invalid:443")
    assert TOKEN.encode() not in heard
    assert isinstance(answer, SendRetry)


async def test_what_fails_before_a_byte_leaves_leaves_nothing_in_doubt() -> None:
    async def fails(_: str) -> datetime | None:
        raise OSError("the disk is gone")

    async with Provider() as provider:
        line = replace(LINE, url=provider.url)
        made = WhatsAppChannel(line, lambda: TOKEN, FrozenClock(), fails)
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
    code=st.none() | st.integers(-5, 1000) | st.sampled_from([*ANSWERS_OF_CODES]),
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


@for_each(
    ("recipient", "owner", "to"),
    [
        (USER_ID, "", {"recipient": USER_ID}),
        ("+972501234567", "", {"to": PERSON}),
        ("+972 50-123 4567", "", {"to": PERSON}),
        (None, PERSON, {"to": PERSON}),  # for the owner
    ],
)
async def test_a_message_goes_to_a_number_or_a_user_id_however_it_is_written(
    recipient: str | None, owner: str, to: dict[str, str]
) -> None:
    async with Provider() as provider:
        parcel = replace(PARCEL, recipient=recipient)

        assert isinstance(
            await sent(provider, parcel, Desk(line=replace(LINE, owner=owner))), Accepted
        )
        fields = provider.heard[0].fields
        assert {name: fields[name] for name in ("to", "recipient") if name in fields} == to


BAD_ADDRESSES: Final = text_table(__file__, "no_addresses")


async def test_what_is_no_address_is_refused_before_a_byte_leaves() -> None:
    async with Provider() as provider:
        for address in (*BAD_ADDRESSES, None):  # and an owner without an address
            answer = await sent(provider, replace(PARCEL, recipient=address))
            assert isinstance(answer, Refused), address
            assert "no WhatsApp address" in answer.why
        assert provider.heard == []


@settings(deadline=None)
@given(st.text(max_size=40))
def test_an_address_has_nothing_in_it_that_a_header_or_an_url_could_read(text: str) -> None:
    assert not is_address(text) or digits(text).replace(".", "").isalnum()


# The window ---------------------------------------------------------------------------------------


@for_each(
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
        answer = await sent(provider, desk=Desk(last=None, line=NOTICE))

        assert isinstance(answer, Accepted)
        assert provider.accepted[0].kind == "template"
        assert provider.accepted[0].text == PARCEL.body
        template = provider.heard[0].fields["template"]
        assert isinstance(template, dict)
        assert (template["name"], template["language"]) == ("remit_result", {"code": "en_US"})


@for_each(
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
        desk = Desk(last=None, line=NOTICE)
        answer = await sent(provider, replace(PARCEL, body=body), desk)

        assert isinstance(answer, Accepted)
        assert [each.text for each in provider.accepted] == [line]


@for_each(("most", "fits"), [(1024, False), (4096, True)])
async def test_a_long_text_goes_into_a_template_that_takes_it(most: int, *, fits: bool) -> None:
    async with Provider() as provider:
        desk = Desk(last=None, line=replace(NOTICE, template_limit=most))
        answer = await sent(provider, replace(PARCEL, body="x" * 1025), desk)

        assert len(provider.heard) == fits
    assert isinstance(answer, Accepted if fits else Refused)
    if isinstance(answer, Refused):
        assert "1025 characters; the template takes 1024" in answer.why


async def test_a_template_with_several_variables_gets_a_parameter_for_each() -> None:
    async with Provider() as provider:
        line = replace(NOTICE, template_parameters=("Nina's assistant", "It says: {text}"))
        provider.orders = [Order(status=400, code=132000)]
        await sent(provider, desk=Desk(last=None, line=line))

        fields = provider.heard[0].fields["template"]
    assert isinstance(fields, dict)
    texts = [each["text"] for each in fields["components"][0]["parameters"]]
    assert texts == ["Nina's assistant", f"It says: {PARCEL.body}"]


# The pace -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 900)), max_size=200))
def test_the_pace_is_kept_and_whoever_waits_as_told_may_go(turns: list[tuple[int, int]]) -> None:
    gone = asyncio.run(_paced(turns))
    for at, person in gone:
        assert sum(timedelta() <= each - at < timedelta(seconds=1) for each, _ in gone) <= 3
        near = [
            each for each, who in gone if who == person and abs(each - at) < timedelta(seconds=6)
        ]
        assert len(near) == 1


async def _paced(turns: list[tuple[int, int]]) -> list[tuple[datetime, int]]:
    pace, now = SendRate(pair=6, overall=3), START
    gone: list[tuple[datetime, int]] = []
    for key, (person, milliseconds) in enumerate(turns):
        now += timedelta(milliseconds=milliseconds)
        while wait := await pace.take(str(person), str(key), now):
            now += timedelta(seconds=wait)
        gone.append((now, person))
    return gone


async def test_of_many_that_wait_each_comes_back_once_and_others_are_not_behind_them() -> None:
    pace = SendRate(pair=6, overall=1)
    waits = [await pace.take("a", str(n), START) for n in range(100)]
    assert waits == [n * 6.0 for n in range(100)]
    assert await pace.take("b", "other", START) == 1

    told = [
        await pace.take("a", str(n), START + timedelta(seconds=wait))
        for n, wait in list(enumerate(waits))[1:]
    ]
    assert not any(told)


async def test_a_clock_that_was_set_back_holds_nobody_up() -> None:
    pace = SendRate()
    assert [await pace.take("a", key, START) for key in ("1", "waits")] == [0, 6]

    assert await pace.take("a", "2", START - DAY) == 0
    assert await pace.take("a", "waits", START - DAY) == 6


# Secrets and settings -----------------------------------------------------------------------------


BAD_SETTINGS: Final[list[tuple[str, object]]] = [
    ("number_id", "../me"),
    ("number_id", ""),
    ("url", "http://graph.facebook.com/v25.0"),
    ("url", "https://user:pw@graph.facebook.com/v25.0"),
    ("url", "https://graph.facebook.com/v25.0?x="),
    ("url", "https://graph.facebook.com/v25.0\r\n"),
    ("owner", "Hanan"),
    ("template", "Not a name"),
    ("language", "english"),
    ("template_parameters", ("Nina",)),
    ("template_parameters", ("{text}", "{text}")),
    ("template_parameters", ("", "{text}")),
    ("template_limit", 5000),
]


@for_each(("field", "value"), BAD_SETTINGS)
async def test_a_setting_that_cannot_be_is_refused_in_a_sentence(field: str, value: object) -> None:
    line = replace(NOTICE, **{field: value})
    with pytest.raises(BadInput, match=r"\.$") as refused:
        WhatsAppChannel(line, str, FrozenClock(), Desk().last_inbound_at)

    assert refused.value.field == field


# The table of numbers, the port -------------------------------------------------------------------


@for_each("code", [*ANSWERS_OF_CODES, 200, 299, 12345, -1])
def test_a_number_means_that_nothing_was_sent_and_says_why_in_a_sentence(code: int) -> None:
    answer = answer_of_code(code, "Their words")

    assert answer.why.endswith(f"(code {code}: Their words).")
    assert isinstance(answer, Refused | Locked) or (answer.after or 0) > 0
