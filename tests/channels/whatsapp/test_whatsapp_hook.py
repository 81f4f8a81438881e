"""What WhatsApp tells by its hook: all of it is read, once each, and only if it is signed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from remit.channels.whatsapp import callbacks as hook
from remit.channels.whatsapp.callbacks import (
    MessageProgress,
    UnknownWhatsAppEvent,
    WhatsAppBatch,
    WhatsAppMedia,
    WhatsAppMessage,
    WhatsAppReport,
)
from remit.channels.whatsapp.sending import WhatsAppChannel, WhatsAppNumber
from remit.model.delivery import Accepted, Locked, Parcel, Refused, SendRetry, Unknown
from remit.testing import FrozenClock
from tests.channels.whatsapp.whatsapp import (
    NUMBER_ID,
    PERSON,
    SECRET,
    STAMP,
    USER_ID,
    Cut,
    Heard,
    Json,
    Loopback,
    Message,
    Order,
    Provider,
    ask,
    call,
    messages,
    sign,
    statuses,
    tell,
)

AT: Final = datetime.fromtimestamp(STAMP, UTC)
ONE: Final = Message("wamid.1", PERSON, "Hi", "dlv-1", "text")
TWO: Final = Message("wamid.2", USER_ID, "Ho", "dlv-2", "text")


class Door(Loopback):
    """What the server will do: nothing is read that is not signed; what is, is kept once."""

    def __init__(self) -> None:
        super().__init__()
        self.far: dict[str, MessageProgress] = {}
        self.inbox: dict[str, WhatsAppMessage] = {}
        self.strange: list[UnknownWhatsAppEvent] = []

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        del order
        if heard.method == "GET":
            query = dict(parse_qsl(urlsplit(heard.path).query))
            echo = hook.challenge(query, "t0ken")
            return (403, b"") if echo is None else (200, echo.encode())
        return self._told(heard)

    def _told(self, heard: Heard) -> tuple[int, bytes]:
        if not hook.is_signed(heard.body, heard.headers.get("x-hub-signature-256"), [SECRET]):
            return 401, b""
        batch = hook.read(heard.body)
        if batch is None:
            return 400, b""
        for report in batch.reports:
            key = report.key or report.ref
            self.far[key] = hook.furthest(self.far.get(key), report.progress)
        for message in batch.messages:
            self.inbox.setdefault(message.ref, message)
        self.strange += batch.strange
        return 200, b""


def written(ref: str, **more: object) -> Json:
    """A text as a person sends it."""
    text: dict[str, object] = {"id": ref, "timestamp": str(STAMP), "type": "text"}
    return text | {"text": {"body": f"text of {ref}"}} | more


def read(*values: Json) -> WhatsAppBatch:
    batch = hook.read(call(*values))
    assert batch is not None
    return batch


def only(message: Mapping[str, object], *contacts: Json) -> WhatsAppMessage:
    batch = read(messages(message, contacts=contacts))
    assert batch.strange == ()
    return batch.messages[0]


# Over HTTP ----------------------------------------------------------------------------------------


async def test_reports_settle_what_was_sent_in_any_order_and_any_number() -> None:
    async with Provider() as provider, Door() as door:
        life = provider.life(ONE)
        for order in permutations(life):
            door.far.clear()
            for told in (*order, *order):
                assert await tell(door.root, call(statuses(told))) == 200

            assert door.far == {"dlv-1": MessageProgress.READ}


async def test_nothing_of_a_batch_is_left_out() -> None:
    async with Provider() as provider, Door() as door:
        body = call(
            statuses(*provider.life(ONE), provider.status(TWO, "sent")),
            messages(
                written("wamid.a", **{"from": PERSON}), written("wamid.b", **{"from": PERSON})
            ),
            messages(written("wamid.c", from_user_id=USER_ID)),
            statuses(provider.status(TWO, "delivered")),
        )
        for _ in range(3):
            assert await tell(door.root, body) == 200

    assert door.far == {"dlv-1": MessageProgress.READ, "dlv-2": MessageProgress.DELIVERED}
    assert list(door.inbox) == ["wamid.a", "wamid.b", "wamid.c"]
    assert door.strange == []


@pytest.mark.parametrize("wrong", ["sha256=" + "0" * 64, "", "sha1=abc", "sha256="])
async def test_what_is_not_signed_is_not_read(wrong: str) -> None:
    async with Provider() as provider, Door() as door:
        body = call(statuses(*provider.life(ONE)))

        assert await tell(door.root, body, wrong) == 401
    assert door.far == {}


async def test_a_hook_is_entered_by_who_knows_its_word() -> None:
    async with Door() as door:
        assert await ask(f"{door.root}/hook", "t0ken", "77") == "77"
        assert await ask(f"{door.root}/hook", "guess", "77") is None


async def test_what_is_in_doubt_is_settled_by_reports_alone() -> None:
    lost = {
        "dlv-0": Order(),
        "dlv-1": Order(cut=Cut.BEFORE_ANSWER, accept=True),
        "dlv-2": Order(cut=Cut.IN_REQUEST),
        "dlv-3": Order(cut=Cut.IN_ANSWER, accept=True),
        "dlv-4": Order(status=500, accept=True),
        "dlv-5": Order(status=502),
        "dlv-6": Order(status=400, code=131026),
    }
    clock, answers = FrozenClock(), {}
    async with Provider() as provider, Door() as door:
        provider.orders = [*lost.values()]
        line = WhatsAppNumber(NUMBER_ID, lambda: provider.token, url=provider.url)
        whatsapp = WhatsAppChannel(line, clock, wrote_just_now)
        for key in lost:
            answers[key] = await whatsapp.send(Parcel(key, PERSON, "Hi"))
            clock.advance(timedelta(seconds=7))
        await whatsapp.close()
        for message in provider.accepted:
            await tell(door.root, call(statuses(*provider.life(message))))
        taken = {str(message.key) for message in provider.accepted}

    in_doubt = {key for key, answer in answers.items() if isinstance(answer, Unknown)}
    assert in_doubt == {"dlv-1", "dlv-2", "dlv-3", "dlv-4", "dlv-5"}
    assert set(door.far) == taken == {"dlv-0", "dlv-1", "dlv-3", "dlv-4"}
    assert in_doubt - set(door.far) == {"dlv-2", "dlv-5"}  # and these are asked about


async def wrote_just_now(_: str) -> datetime:
    return FrozenClock().now()


async def test_a_window_that_was_shut_and_a_number_without_whatsapp_are_told_later() -> None:
    async with Provider() as provider:
        shut = Message("wamid.3", "4915112345678", "Hi", "dlv-3", "text")
        nobody = Message("wamid.4", "4915112340000", "Hi", "dlv-4", "text")

        reports = read(statuses(*provider.life(shut), *provider.life(nobody))).reports

    assert [(each.key, each.code) for each in reports] == [("dlv-3", 131047), ("dlv-4", 131026)]
    for report in reports:
        answer = hook.settles(report)
        assert isinstance(answer, Refused)
        assert "said at length" in answer.why


# The signature and the question -------------------------------------------------------------------


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 199), st.integers(1, 255))
def test_one_changed_byte_spoils_the_signature(body: bytes, place: int, change: int) -> None:
    assert hook.is_signed(body, sign(body), [SECRET])
    if place < len(body):
        changed = bytearray(body)
        changed[place] ^= change
        assert not hook.is_signed(bytes(changed), sign(body), [SECRET])


def test_while_a_secret_is_changed_the_old_one_and_the_new_one_hold() -> None:
    body = b'{"a":  1}'

    assert hook.is_signed(body, sign(body, "old"), ["new", "old"])
    assert hook.is_signed(body, sign(body, "new"), ["new", "old"])
    assert not hook.is_signed(body, sign(body, "older"), ["new", "old"])


def test_without_a_secret_or_a_signature_nothing_is_signed() -> None:
    assert not hook.is_signed(b"x", sign(b"x", ""), [""])
    assert not hook.is_signed(b"x", sign(b"x"), [])
    assert not hook.is_signed(b"x", None, [SECRET])
    assert not hook.is_signed(b"x", "sha256=\u20ac\ud800", [SECRET])


ASKED: Final = {"hub.mode": "subscribe", "hub.verify_token": "t0ken", "hub.challenge": "1158201444"}


def test_the_hook_answers_to_who_knows_its_word() -> None:
    assert hook.challenge(ASKED, "t0ken") == "1158201444"


@pytest.mark.parametrize(
    "other",
    [
        {"hub.mode": "unsubscribe"},
        {"hub.verify_token": "other"},
        {"hub.verify_token": ""},
        {"hub.verify_token": "t0ken\ud800"},
        {"hub.challenge": "<script>"},
        {"hub.challenge": ""},
    ],
)
def test_the_hook_echoes_nothing_to_others(other: Mapping[str, str]) -> None:
    assert hook.challenge({**ASKED, **other}, "t0ken") is None
    assert hook.challenge({**ASKED, "hub.verify_token": ""}, "") is None


# Who wrote, and what ------------------------------------------------------------------------------


def test_a_person_is_known_by_the_user_id_first_and_the_number_second() -> None:
    both = only(written("w", **{"from": PERSON}, from_user_id=USER_ID))
    number = only(written("w", **{"from": PERSON}))
    hidden = only(written("w", from_user_id=USER_ID))

    assert (both.sender, both.number) == (USER_ID, PERSON)
    assert (number.sender, number.user_id) == (PERSON, None)
    assert (hidden.sender, hidden.number) == (USER_ID, None)


def test_the_contacts_of_a_call_name_who_wrote_and_nobody_else() -> None:
    nina = {"wa_id": "4915112345678", "user_id": "DE.1", "profile": {"name": "Nina"}}
    hanan = {"wa_id": PERSON, "user_id": USER_ID, "profile": {"name": "Hanan"}}

    by_number = only(written("w", **{"from": PERSON}), nina, hanan)
    by_user_id = only(written("w", from_user_id=USER_ID), nina, hanan)
    stranger = only(written("w", **{"from": "33612345678"}), nina)

    assert (by_number.name, by_number.user_id) == ("Hanan", USER_ID)
    assert (by_user_id.name, by_user_id.number) == ("Hanan", PERSON)
    assert (stranger.name, stranger.user_id) == (None, None)


def test_a_message_by_nobody_is_noted_and_never_guessed_at() -> None:
    people = [{"wa_id": PERSON}, {"wa_id": "4915112345678"}]
    batch = read(messages(written("w"), contacts=people))

    assert batch.messages == ()
    assert batch.strange[0].what == "a message"
    assert "text of w" in batch.strange[0].raw


def test_a_text_is_read_whole() -> None:
    said = written("wamid.9", **{"from": PERSON}, context={"id": "wamid.1", "from": "1"})

    assert only(said) == WhatsAppMessage(
        ref="wamid.9",
        line=NUMBER_ID,
        kind="text",
        text="text of wamid.9",
        number=PERSON,
        at=AT,
        reply_to="wamid.1",
    )


@pytest.mark.parametrize("kind", ["image", "video", "document", "audio", "sticker"])
def test_media_is_noted_with_what_was_said_about_it(kind: str) -> None:
    content = {"id": "55", "mime_type": "a/b", "filename": "f.pdf", "caption": "Look!"}
    message = only({"id": "w", "from": PERSON, "type": kind, kind: content})

    assert message.media == WhatsAppMedia(kind, "55", "a/b", "f.pdf")
    assert message.media.label.endswith("“f.pdf”")
    assert message.text == ("" if kind in ("audio", "sticker") else "Look!")


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("button", {"text": "Yes", "payload": "y"}, "Yes"),
        (
            "interactive",
            {"type": "button_reply", "button_reply": {"id": "1", "title": "No"}},
            "No",
        ),
        ("interactive", {"type": "list_reply", "list_reply": {"id": "1", "title": "B"}}, "B"),
        ("reaction", {"message_id": "wamid.1", "emoji": "👍"}, "👍"),
        ("location", {"latitude": 13.7, "longitude": 100.5, "name": "Park"}, "Park, 13.7, 100.5"),
        ("system", {"body": "Nina changed her number"}, "Nina changed her number"),
    ],
)
def test_what_is_said_without_typing_is_read_too(kind: str, content: Json, text: str) -> None:
    message = only({"id": "w", "from": PERSON, "type": kind, kind: content})

    assert (message.kind, message.text) == (kind, text)


def test_a_reaction_says_to_what() -> None:
    content = {"message_id": "wamid.1", "emoji": "👍"}

    assert only({"id": "w", "from": PERSON, "type": "reaction", "reaction": content}).reply_to


@pytest.mark.parametrize(
    "message",
    [
        {"type": "hologram", "hologram": {"beam": "canary"}},
        {"type": "contacts", "contacts": [{"name": "canary"}]},
        {"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {"b": "canary"}}},
        {"type": "text", "text": {"words": "canary"}},
        {"type": "unsupported", "errors": [{"title": "canary"}]},
        {"oddly": "canary"},
    ],
)
def test_a_kind_that_nobody_knows_is_kept_as_it_came(message: Json) -> None:
    assert "canary" in only({"id": "w", "from": PERSON, **message}).text


def test_what_is_neither_a_report_nor_a_message_is_noted() -> None:
    odd = hook.read(call({"event": "DISABLED_UPDATE"}, field="account_update"))
    error = read({"errors": [{"code": 130429}]})
    status = read(statuses({"id": "wamid.1", "status": "pondered"}))
    empty = read({"metadata": {}})

    assert odd is not None
    assert [each.what for each in odd.strange] == ["a change of account_update"]
    assert "DISABLED_UPDATE" in odd.strange[0].raw
    assert [each.what for each in error.strange] == ["an error"]
    assert "pondered" in status.strange[0].raw
    assert len(empty.strange) == 1


# Reports ------------------------------------------------------------------------------------------


def test_a_report_carries_the_key_that_went_out() -> None:
    told = {"id": "wamid.1", "status": "sent", "timestamp": str(STAMP), "recipient_id": PERSON}
    whole = {**told, "biz_opaque_callback_data": "dlv-1", "recipient_user_id": USER_ID}
    sent = WhatsAppReport(
        "wamid.1", "dlv-1", MessageProgress.SENT, AT, USER_ID, PERSON, line=NUMBER_ID
    )

    assert read(statuses(whole)).reports == (sent,)
    assert hook.settles(sent) == Accepted("wamid.1")


@pytest.mark.parametrize(
    ("code", "answer"), [(131026, Refused), (131056, SendRetry), (190, Locked), (None, Refused)]
)
def test_a_failure_is_settled_by_its_number(code: int | None, answer: type[object]) -> None:
    report = WhatsAppReport(
        "wamid.1", "dlv-1", MessageProgress.FAILED, code=code, why="Their words"
    )
    settled = hook.settles(report)

    assert type(settled) is answer
    assert not isinstance(settled, Accepted)
    assert "Their words" in settled.why


@settings(deadline=None)
@given(st.lists(st.sampled_from(MessageProgress), min_size=1, max_size=8))
def test_how_far_a_message_came_does_not_hang_on_the_order_of_reports(
    told: list[MessageProgress],
) -> None:
    ends = set()
    for order in (told, told[::-1], sorted(told), [*told, *told]):
        known = None
        for each in order:
            known = hook.furthest(known, each)
        ends.add(known)

    assert len(ends) == 1
    assert ends <= set(told)


# Whatever comes -----------------------------------------------------------------------------------

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda each: (
        st.lists(each, max_size=4) | st.dictionaries(st.text(max_size=8), each, max_size=4)
    ),
    max_leaves=12,
)
OUTER: Final = ["contacts", "statuses", "messages", "metadata", "errors", "context", "profile"]
INNER: Final = ["id", "from", "type", "text", "body", "status", "timestamp", "image", "interactive"]
NAMES: Final = st.sampled_from([*OUTER, *INNER, "reaction"])
SHAPED: Final = st.recursive(
    JSON | st.sampled_from(["sent", "failed", "text", "wamid.1", "\ud800"]),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(NAMES, each, max_size=6),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.lists(SHAPED, max_size=5), st.lists(SHAPED, max_size=5), SHAPED)
def test_nothing_that_came_in_is_lost_whatever_its_shape(
    told: list[object], said: list[object], contacts: object
) -> None:
    value = {"statuses": told, "messages": said, "contacts": contacts}
    batch = read(value)

    count = len(batch.reports) + len(batch.messages) + len(batch.strange)
    assert count == len(told) + len(said)
    # What cannot be encoded could not be stored.
    json.dumps(to_builtins(batch), default=str, ensure_ascii=False).encode()


@settings(deadline=None)
@given(SHAPED)
def test_no_call_brings_the_reader_down(some: object) -> None:
    for body in (json.dumps(some), json.dumps({"entry": some}), json.dumps({"entry": [some]})):
        batch = hook.read(body.encode(errors="replace"))
        entries = json.loads(body).get("entry") if body.startswith("{") else None
        assert (batch is not None) == isinstance(entries, list), "a call is known by its entries"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"entry": {}}', b"1" * 5000],
    ids=["empty", "open", "list", "null", "bytes", "nest", "object", "number"],
)
def test_what_is_no_call_is_said_to_be_none(body: bytes) -> None:
    assert hook.read(body) is None


def test_a_call_that_is_too_long_is_not_read() -> None:
    assert hook.read(call(messages()) + b" " * hook.MOST) is None


@pytest.mark.parametrize("stamp", ["soon", "9" * 30, True, None, [], -(10**20), "9" * 5000])
def test_a_time_that_is_none_does_not_cost_the_message(stamp: object) -> None:
    assert only(written("w", **{"from": PERSON}, timestamp=stamp)).at is None
