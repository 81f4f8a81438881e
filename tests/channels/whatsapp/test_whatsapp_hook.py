"""What WhatsApp tells by its hook: all of it is read, once each, and only if it is signed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from remit.channels.whatsapp import callbacks as hook
from remit.channels.whatsapp.callbacks import (
    MessageProgress,
    WhatsAppBatch,
    WhatsAppMedia,
    WhatsAppMessage,
    WhatsAppReport,
)
from remit.model.delivery import Accepted, Locked, Refused, SendRetry
from remit.system.http_client import is_signed
from tests.channels.whatsapp.whatsapp import (
    NUMBER_ID,
    PERSON,
    SECRET,
    STAMP,
    USER_ID,
    Json,
    Message,
    Provider,
    call,
    messages,
    sign,
    statuses,
)
from tests.tables import for_each

AT: Final = datetime.fromtimestamp(STAMP, UTC)
ONE: Final = Message("wamid.1", PERSON, "Hi", "dlv-1", "text")
TWO: Final = Message("wamid.2", USER_ID, "Ho", "dlv-2", "text")


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


def test_nothing_of_a_batch_is_left_out() -> None:
    provider, mine = Provider(), {"from": PERSON}
    batch = read(
        statuses(*provider.life(ONE), provider.status(TWO, "sent")),
        messages(written("wamid.a", **mine), written("wamid.b", **mine)),
        messages(written("wamid.c", from_user_id=USER_ID)),
        statuses(provider.status(TWO, "delivered")),
    )

    assert [each.key for each in batch.reports] == ["dlv-1"] * 3 + ["dlv-2"] * 2
    assert [each.ref for each in batch.messages] == ["wamid.a", "wamid.b", "wamid.c"]
    assert batch.strange == ()


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
    assert is_signed(body, sign(body), [SECRET])
    if place < len(body):
        changed = bytearray(body)
        changed[place] ^= change
        assert not is_signed(bytes(changed), sign(body), [SECRET])


def test_a_signature_counts_by_a_secret_old_or_new_and_by_nothing_else() -> None:
    body = b'{"a":  1}'
    secrets = {"old": True, "new": True, "older": False, "": False}
    for secret, counts in secrets.items():
        assert is_signed(body, sign(body, secret), ["new", "old", ""]) is counts, secret
    for given_ in ("", "sha1=abc", "sha256=", "sha256=" + "0" * 64, "sha256=\u20ac\ud800"):
        assert not is_signed(body, given_, [SECRET])
    assert not is_signed(body, sign(body), [])


ASKED: Final = {"hub.mode": "subscribe", "hub.verify_token": "t0ken", "hub.challenge": "1158201444"}


@for_each(
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
def test_the_hook_echoes_to_who_knows_its_word_and_nothing_to_others(
    other: Mapping[str, str],
) -> None:
    assert hook.challenge(ASKED, "t0ken") == "1158201444"
    assert hook.challenge({**ASKED, **other}, "t0ken") is None
    assert hook.challenge({**ASKED, "hub.verify_token": ""}, "") is None


# Who wrote, and what ------------------------------------------------------------------------------


def test_a_person_is_known_by_the_user_id_and_by_the_number() -> None:
    both = only(written("w", **{"from": PERSON}, from_user_id=USER_ID))
    number = only(written("w", **{"from": PERSON}))
    hidden = only(written("w", from_user_id=USER_ID))

    assert (both.user_id, both.number) == (USER_ID, PERSON)
    assert (number.number, number.user_id) == (PERSON, None)
    assert (hidden.user_id, hidden.number) == (USER_ID, None)


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


@for_each("kind", ["image", "video", "document", "audio", "sticker"])
def test_media_is_noted_with_what_was_said_about_it(kind: str) -> None:
    content = {"id": "55", "mime_type": "a/b", "filename": "f.pdf", "caption": "Look!"}
    message = only({"id": "w", "from": PERSON, "type": kind, kind: content})

    assert message.media == WhatsAppMedia(kind, "55", "a/b", "f.pdf")
    assert message.media.label.endswith("“f.pdf”")
    assert message.text == ("" if kind in ("audio", "sticker") else "Look!")


@for_each(
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


@for_each(
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
    found = only({"id": "w", "from": PERSON, **message})
    assert "canary" in found.raw
    assert (found.text, found.media is not None) == ("", True)


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
    sent = WhatsAppReport("wamid.1", "dlv-1", MessageProgress.SENT, AT, line=NUMBER_ID)

    assert read(statuses(whole)).reports == (sent,)
    assert hook.settles(sent) == Accepted("wamid.1")


@for_each(
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


@for_each(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 10_000, b'{"entry": {}}', b"1" * 5000]
)
def test_what_is_no_call_is_said_to_be_none(body: bytes) -> None:
    assert hook.read(body) is None


def test_a_call_that_is_too_long_is_not_read() -> None:
    assert hook.read(call(messages()) + b" " * hook.MOST) is None


@for_each("stamp", ["soon", "9" * 30, True, None, [], -(10**20), "9" * 5000])
def test_a_time_that_is_none_does_not_cost_the_message(stamp: object) -> None:
    assert only(written("w", **{"from": PERSON}, timestamp=stamp)).at is None
