"""The door for providers: believed by the signature alone, read once, answered at once."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx2
import pytest

from remit.model.codec import JsonMap
from remit.settings import load
from remit.store import cues
from remit.store.database import Tx
from remit.store.secrets import Secrets
from tests.channels.whatsapp.whatsapp import (
    NUMBER_ID,
    PERSON,
    SECRET,
    STAMP,
    USER_ID,
    call,
    messages,
    sign,
    statuses,
)
from tests.live.channel_app import KEPT, NAME, WHATSAPP
from tests.server.served import Served, problem

HOOK: Final = f"/hooks/whatsapp/{NAME}"
OTHER: Final = "106540352242923"
MORE: Final = f"""
[channels.shop_whatsapp]
kind = "whatsapp"
number_id = "{OTHER}"
token = "whatsapp_token"
app_secret = "whatsapp_app_secret"
[channels.deaf_whatsapp]
kind = "whatsapp"
number_id = "106540352242924"
token = "whatsapp_token"
[channels.lost_whatsapp]
kind = "whatsapp"
number_id = "106540352242925"
token = "whatsapp_token"
app_secret = "never_set"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("hooks")
    told = WHATSAPP.format(url="http://127.0.0.1:9/v25.0") + MORE
    (home / "settings.toml").write_text(told)
    for name, value in KEPT.items():
        Secrets(home).put(name, value)
    with Served(home, settings=load({"REMIT_HOME": str(home)})) as served:
        yield served


def posted(
    served: Served, body: bytes, *, path: str = HOOK, signature: str | None = None, **more: str
) -> httpx2.Response:
    """What a provider's call is answered: no token, a name that is not ours, a signature."""
    headers = {"content-type": "application/json", "host": "hooks.example.test"}
    if signature != "":
        headers["x-hub-signature-256"] = signature or sign(body)
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    answer = served.client.post(served.url + path, content=body, headers=headers)
    served.page.check("POST", path, answer)
    return answer


def kept(served: Served, ref: str) -> list[JsonMap]:
    def read(tx: Tx) -> list[JsonMap]:
        return [json.loads(body) for body in cues.beginning(tx, ref)]

    return served.read(read)


def said(ref: str, **more: object) -> dict[str, object]:
    body = {"from": PERSON, "id": ref, "timestamp": str(STAMP), "type": "text"}
    return {**body, "text": {"body": "Good morning"}, **more}


def test_all_of_a_call_is_kept_once_however_often_it_comes(served: Served) -> None:
    body = call(
        messages(said("wamid.a"), said("wamid.b", type="image", image={"id": "media-7"})),
        statuses({"id": "wamid.out", "status": "delivered", "timestamp": str(STAMP)}),
        {"odd": True},
    )
    answers = [posted(served, body) for _ in range(3)]

    assert [(each.status_code, each.json()) for each in answers] == [(200, {"noted": 4})] * 3
    (first,) = kept(served, f"{NAME} message wamid.a")
    (second,) = kept(served, f"{NAME} message wamid.b")
    assert (first["text"], first["number"], first["line"]) == ("Good morning", PERSON, NUMBER_ID)
    media = {"kind": "image", "id": "media-7", "type": None, "name": None, "label": "a photo"}
    assert second["media"] == media
    (report,) = kept(served, f"{NAME} report wamid.out ")
    assert report["progress"] == "delivered"
    (strange,) = kept(served, f"{NAME} strange ")
    assert "odd" in str(strange["raw"])


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha256=00", sign(b"other bytes"), "sha1=" + "0" * 40]
)
def test_what_is_not_signed_is_not_read(served: Served, signature: str) -> None:
    body = call(messages(said("wamid.forged")))
    answer = posted(served, body, signature=signature)

    assert problem(answer) == (401, "unsigned")
    assert kept(served, f"{NAME} message wamid.forged") == []


def test_while_a_secret_is_replaced_both_are_believed_without_a_restart(served: Served) -> None:
    body = call(messages(said("wamid.replaced")))
    Secrets(served.home).put("whatsapp_app_secret", f"the-new-one-7711 {SECRET}")
    try:
        for secret in ("the-new-one-7711", SECRET):
            assert posted(served, body, signature=sign(body, secret)).status_code == 200
    finally:
        Secrets(served.home).put("whatsapp_app_secret", SECRET)
    assert posted(served, body, signature=sign(body, "the-new-one-7711")).status_code == 401


@pytest.mark.parametrize("secret", ["", " ", "whatsapp_app_secret"])
def test_a_secret_that_is_missing_opens_nothing(served: Served, secret: str) -> None:
    body = call(messages(said("wamid.empty")))
    lost = posted(served, body, path="/hooks/whatsapp/lost_whatsapp", signature=sign(body, secret))

    assert lost.status_code == 401


def test_a_channel_without_a_secret_and_one_that_is_not_there_take_no_calls(
    served: Served,
) -> None:
    body = call(messages(said("wamid.deaf")))
    for name in ("deaf_whatsapp", "nobody", "dashboard", "..%2fapi"):
        assert posted(served, body, path=f"/hooks/whatsapp/{name}").status_code == 404


def test_a_provider_may_call_by_any_name_and_gets_nothing_else_there(served: Served) -> None:
    assert posted(served, call(messages(said("wamid.far")))).status_code == 200
    for path in ("/api/tasks", "/", "/healthz", "/openapi.json", "/hooks", "/hookss/x"):
        answer = served.client.get(served.url + path, headers={"host": "hooks.example.test"})
        assert answer.status_code == 421


@pytest.mark.parametrize("path", ["/hooks/", "/hooks/whatsapp/", "/hooks/../api/tasks", "/hooks//"])
def test_no_way_leads_from_the_hooks_to_anything_else(served: Served, path: str) -> None:
    status, told = served.raw("GET", path, None, Host="hooks.example.test", Authorization="none")

    assert status in (401, 404, 421)
    assert "tasks" not in told


def test_what_is_no_call_of_theirs_is_refused_in_a_sentence(served: Served) -> None:
    for body in (b"[]", b"{", b'{"entry": 5}', b"\xff"):
        answer = posted(served, body)
        assert answer.status_code == 400
    assert posted(served, b"{}", content_type="text/plain").status_code == 415
    assert posted(served, b" " * (1024 * 1024 + 1)).status_code == 413


def test_a_key_of_idempotency_is_not_kept_for_who_has_no_token(served: Served) -> None:
    body = call(messages(said("wamid.key")))
    first = posted(served, body, idempotency_key="mine")
    second = posted(served, body, idempotency_key="mine")

    assert "Idempotency-Replayed" not in second.headers
    assert first.json() == second.json()


def test_the_window_is_opened_by_a_message_and_by_nothing_else(served: Served) -> None:
    at = served.clock.now() - timedelta(hours=2)
    stamp = str(int(at.timestamp()))
    report = {"id": "wamid.x", "status": "read", "timestamp": stamp, "recipient_id": "4915112345"}
    both = said("wamid.w", timestamp=stamp, **{"from": "4915199999", "from_user_id": USER_ID})
    assert posted(served, call(messages(both), statuses(report))).status_code == 200

    def last(address: str, channel: str = NAME) -> object:
        return served.read(cues.last_at, channel, address)

    assert last("4915199999") == last(USER_ID) == at
    assert last("4915112345") is None
    assert last("4915199999", "shop_whatsapp") is None
    assert last("") is None


def test_a_message_from_the_future_opens_the_window_from_now_on_and_no_longer(
    served: Served,
) -> None:
    ahead = str(int((served.clock.now() + timedelta(days=9)).timestamp()))
    future = said("wamid.future", timestamp=ahead, **{"from": "4915177777"})
    assert posted(served, call(messages(future))).status_code == 200

    assert served.read(cues.last_at, NAME, "4915177777") == served.clock.now()


def test_a_message_belongs_to_the_number_it_came_in_on(served: Served) -> None:
    value = json.loads(call(messages(said("wamid.other"))))["entry"][0]["changes"][0]["value"]
    value["metadata"]["phone_number_id"] = OTHER
    assert posted(served, call(value)).status_code == 200

    assert kept(served, f"{NAME} message wamid.other") == []
    assert len(kept(served, "shop_whatsapp message wamid.other")) == 1


def test_the_challenge_is_said_back_to_who_knows_the_word(served: Served) -> None:
    def asked(word: str, **more: str) -> httpx2.Response:
        query = {"hub.mode": "subscribe", "hub.verify_token": word, "hub.challenge": "42x", **more}
        answer = served.client.get(served.url + HOOK, params=query, headers={"host": "a.test"})
        served.page.check("GET", HOOK, answer)
        return answer

    good = asked(KEPT["whatsapp_verify"])
    assert (good.status_code, good.text) == (200, "42x")
    assert good.headers["content-type"].startswith("text/plain")
    assert asked("another").status_code == 401
    assert asked("").status_code == 401
    assert asked(KEPT["whatsapp_verify"], **{"hub.challenge": "<script>"}).status_code == 401


def test_a_home_without_channels_has_no_hooks(tmp_path: Path) -> None:
    with Served(tmp_path) as plain:
        assert posted(plain, call(messages(said("wamid.none")))).status_code == 404
