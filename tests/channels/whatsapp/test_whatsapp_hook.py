"""What WhatsApp tells by its hook: all of it is read, once each, and only if it is signed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from remit.channels.registry import InboundHook
from remit.channels.whatsapp import callbacks as hook
from remit.model.codec import JsonMap
from remit.store.cues import InboundMessage
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
OTHER: Final = "208811223344556"  # another number of the same app
HOOK: Final = InboundHook("first", str, str, {NUMBER_ID: "first", OTHER: "second"})
ONE: Final = Message("wamid.1", PERSON, "Hi", "dlv-1", "text")
TWO: Final = Message("wamid.2", USER_ID, "Ho", "dlv-2", "text")


def written(ref: str, **more: object) -> Json:
    """A text as a person sends it."""
    text: dict[str, object] = {"id": ref, "timestamp": str(STAMP), "type": "text"}
    return text | {"text": {"body": f"text of {ref}"}} | more


def read(*values: Json) -> list[InboundMessage]:
    found = hook.read_call(call(*values), HOOK)
    assert found is not None
    return found


def only(message: Mapping[str, object], *contacts: Json) -> JsonMap:
    """What is kept of the only message of a call."""
    (found,) = read(messages(message, contacts=contacts))
    assert found.sender, "it is known who wrote it"
    return found.body


def test_nothing_of_a_batch_is_left_out() -> None:
    provider, mine = Provider(), {"from": PERSON}
    found = read(
        statuses(*provider.life(ONE), provider.status(TWO, "sent")),
        messages(written("wamid.a", **mine), written("wamid.b", **mine)),
        messages(written("wamid.c", from_user_id=USER_ID)),
        statuses(provider.status(TWO, "delivered")),
    )

    assert [each.ref.removeprefix("first ") for each in found] == [
        *(f"report wamid.1 {each}" for each in ("sent", "delivered", "read")),
        "report wamid.2 sent",
        *(f"message wamid.{each}" for each in "abc"),
        "report wamid.2 delivered",
    ]


# The signature and the question -------------------------------------------------------------------


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 199), st.integers(1, 255))
def test_one_changed_byte_spoils_the_signature(body: bytes, place: int, change: int) -> None:
    assert is_signed(body, sign(body), [SECRET])
    if place < len(body):
        changed = bytearray(body)
        changed[place] ^= change
        assert not is_signed(bytes(changed), sign(body), [SECRET])


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

    assert (both["user_id"], both["number"]) == (USER_ID, PERSON)
    assert (number["number"], number["user_id"]) == (PERSON, None)
    assert (hidden["user_id"], hidden["number"]) == (USER_ID, None)


def test_the_contacts_of_a_call_name_who_wrote_and_nobody_else() -> None:
    nina = {"wa_id": "4915112345678", "user_id": "DE.1", "profile": {"name": "Nina"}}
    hanan = {"wa_id": PERSON, "user_id": USER_ID, "profile": {"name": "Hanan"}}

    by_number = only(written("w", **{"from": PERSON}), nina, hanan)
    by_user_id = only(written("w", from_user_id=USER_ID), nina, hanan)
    stranger = only(written("w", **{"from": "33612345678"}), nina)

    assert (by_number["name"], by_number["user_id"]) == ("Hanan", USER_ID)
    assert (by_user_id["name"], by_user_id["number"]) == ("Hanan", PERSON)
    assert (stranger["name"], stranger["user_id"]) == (None, None)


def test_a_message_by_nobody_is_noted_and_never_guessed_at() -> None:
    people = [{"wa_id": PERSON}, {"wa_id": "4915112345678"}]
    (found,) = read(messages(written("w"), contacts=people))

    assert (found.sender, found.body["what"]) == ("", "a message")
    assert "text of w" in str(found.body["raw"])


def test_a_text_is_read_whole() -> None:
    said = written("wamid.9", **{"from": PERSON}, context={"id": "wamid.1", "from": "1"})
    body: JsonMap = {
        "kind": "text",
        "text": "text of wamid.9",
        "user_id": None,
        "number": PERSON,
        "name": None,
        "media": None,
        "reply_to": "wamid.1",
        "line": NUMBER_ID,
    }

    assert read(messages(said)) == [
        InboundMessage("first message wamid.9", "first", body, PERSON, AT)
    ]


@for_each("kind", ["image", "video", "document", "audio", "sticker"])
def test_media_is_noted_with_what_was_said_about_it(kind: str) -> None:
    content = {"id": "55", "mime_type": "a/b", "filename": "f.pdf", "caption": "Look!"}
    body = only({"id": "w", "from": PERSON, "type": kind, kind: content})

    noted = body["media"]
    assert isinstance(noted, dict)
    assert str(noted.pop("label")).endswith("“f.pdf”")
    assert noted == {"kind": kind, "id": "55", "type": "a/b", "name": "f.pdf"}
    assert body["text"] == ("" if kind in ("audio", "sticker") else "Look!")


NO: Final = {"type": "button_reply", "button_reply": {"id": "1", "title": "No"}}


@for_each(
    ("kind", "content", "more"),
    [
        ("button", {"text": "Yes", "payload": "y"}, {"text": "Yes"}),
        ("interactive", NO, {"text": "No", "button": "1"}),
        ("interactive", {"type": "list_reply", "list_reply": {"title": "B"}}, {"text": "B"}),
        (
            "reaction",
            {"message_id": "wamid.1", "emoji": "👍"},
            {"text": "👍", "reply_to": "wamid.1"},
        ),
        (
            "location",
            {"latitude": 13.7, "longitude": 100.5, "name": "Park"},
            {"text": "Park, 13.7, 100.5"},
        ),
        ("system", {"body": "Nina changed her number"}, {"text": "Nina changed her number"}),
    ],
)
def test_what_is_said_without_typing_is_read_too(kind: str, content: Json, more: JsonMap) -> None:
    body = only({"id": "w", "from": PERSON, "type": kind, kind: content})

    assert body == body | {"kind": kind, **more}


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
    body = only({"id": "w", "from": PERSON, **message})
    assert "canary" in str(body["raw"])
    assert (body["text"], body["media"] is not None) == ("", True)


@for_each(
    ("value", "what", "raw"),
    [
        ({"errors": [{"code": 130429}]}, "an error", "130429"),
        (statuses({"id": "wamid.1", "status": "pondered"}), "a status", "pondered"),
        ({"metadata": {}}, "a change without anything in it", "metadata"),
    ],
)
def test_what_is_neither_a_report_nor_a_message_is_noted(value: Json, what: str, raw: str) -> None:
    (found,) = read(value)
    assert (found.body["what"], raw in str(found.body["raw"])) == (what, True)


def test_a_change_of_another_field_is_noted() -> None:
    odd = hook.read_call(call({"event": "DISABLED_UPDATE"}, field="account_update"), HOOK)
    assert odd is not None
    assert odd[0].body["what"] == "a change of account_update"
    assert "DISABLED_UPDATE" in str(odd[0].body["raw"])


# Reports ------------------------------------------------------------------------------------------


def reported(**more: object) -> InboundMessage:
    told = {"id": "wamid.1", "status": "delivered", "recipient_id": PERSON, **more}
    (found,) = read(statuses({"timestamp": str(STAMP), **told}))
    assert found.report is not None
    return found


def test_a_report_belongs_to_the_number_that_it_is_about_whatever_door_it_comes_by() -> None:
    """One app has one door for all its numbers."""
    body = call(statuses({"id": "wamid.1", "status": "delivered"}))
    for number, channel in ((NUMBER_ID, "first"), (OTHER, "second"), ("999", "first")):
        found = hook.read_call(body.replace(NUMBER_ID.encode(), number.encode()), HOOK)
        assert found is not None
        assert found[0].report is not None
        assert (found[0].channel, found[0].report.channel) == (channel, channel)
        assert found[0].ref == f"{channel} report wamid.1 delivered"


@for_each(
    ("code", "why"),
    [
        (131026, "(code 131026: Their words)."),
        (190, "(code 190: Their words)."),
        (None, "failed to deliver it: Their words."),
    ],
)
def test_a_failure_says_why_by_its_number_and_in_their_words(code: int | None, why: str) -> None:
    found = reported(status="failed", errors=[{"code": code, "title": "Their words"}])

    assert found.report is not None
    assert not found.report.said.arrived
    assert found.report.said.why.endswith(why)


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
    found = read({"statuses": told, "messages": said, "contacts": contacts})

    assert len(found) == len(told) + len(said)
    # What cannot be encoded could not be stored.
    json.dumps([each.body for each in found], ensure_ascii=False).encode()


@settings(deadline=None)
@given(SHAPED)
def test_no_call_brings_the_reader_down(some: object) -> None:
    for body in (json.dumps(some), json.dumps({"entry": some}), json.dumps({"entry": [some]})):
        found = hook.read_call(body.encode(errors="replace"), HOOK)
        entries = json.loads(body).get("entry") if body.startswith("{") else None
        assert (found is not None) == isinstance(entries, list), "a call is known by its entries"


WHOLE: Final = call(messages())


@for_each(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b"\xff", b"[" * 10_000, b'{"entry": {}}', b"1" * 5000),
        WHOLE + b" " * hook.MOST,
    ],
)
def test_what_is_no_call_or_too_long_is_not_read(body: bytes) -> None:
    assert hook.read_call(body, HOOK) is None
    assert hook.read_call(WHOLE, HOOK) == []


@for_each("stamp", ["soon", "9" * 30, True, None, [], -(10**20), "9" * 5000])
def test_a_time_that_is_none_does_not_cost_the_message(stamp: object) -> None:
    (found,) = read(messages(written("w", **{"from": PERSON}, timestamp=stamp)))
    assert found.said_at is None
