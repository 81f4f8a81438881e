"""Push over HTTP: only a browser that is signed in can be told, and no longer than it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx2
import pytest
from msgspec.structs import replace

from remit.channels.push import PushNotifier
from remit.model.codec import Json, JsonMap
from remit.store import push
from remit.wiring import App
from tests.channels.push.push_relay import Phone
from tests.server.besieged import Besieged, bearer
from tests.server.served import Served


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Besieged]:
    with Besieged(tmp_path) as opened:
        yield opened


def _said(endpoint: str = "https://push.example.org/one") -> JsonMap:
    return {"endpoint": endpoint, "keys": Phone().keys()}


def _as_browser(house: Served, cookie: str, method: str, body: Json = None) -> httpx2.Response:
    """As a page of ours asks."""
    headers = {"Cookie": cookie, "Origin": house.url, "Sec-Fetch-Site": "same-origin"}
    answer = house.client.request(method, f"{house.url}/api/push", json=body, headers=headers)
    house.page.check(method, "/api/push", answer)
    return answer


def _kept(house: Served) -> int:
    return len(house.do(_read(house)))


async def _read(house: Served) -> list[push.PushSubscription]:
    return await house.house.db.read(push.list_subscriptions, house.clock.now())


def test_a_browser_turns_it_on_and_off(house: Besieged) -> None:
    cookie = house.cookie()
    before = _as_browser(house, cookie, "GET").json()
    on = _as_browser(house, cookie, "POST", _said())
    other = _as_browser(house, house.cookie(), "GET").json()
    after = _as_browser(house, cookie, "GET").json()
    off = _as_browser(house, cookie, "DELETE").json()

    assert (before["possible"], before["on"], len(before["publicKey"])) == (True, False, 87)
    assert (on.status_code, on.json()["on"]) == (200, True)
    assert (other["on"], after["on"], off["on"]) == (False, True, False)
    assert {each["publicKey"] for each in (before, other, after, off)} == {before["publicKey"]}
    assert _kept(house) == 0


def test_no_token_is_told_anything(house: Besieged) -> None:
    everything = house.secret("phone", "read", "write", "approve", "admin")
    agent = house.secret("nina", "read", "write", agent=True)
    for headers in (None, bearer(everything), bearer(agent)):
        for method, body in (("POST", _said()), ("DELETE", None)):
            answer = house.ask(method, "/api/push", body, headers=headers)
            assert answer.status_code == 403

    assert house.ask("GET", "/api/push", headers=bearer(agent)).status_code == 403
    assert house.get("/api/push")["on"] is False
    assert _kept(house) == 0


def test_another_site_cannot_have_a_browser_told(house: Besieged) -> None:
    headers = {"Cookie": house.cookie(), "Origin": "https://evil.example"}
    answer = house.client.post(f"{house.url}/api/push", json=_said(), headers=headers)

    assert answer.status_code == 403
    assert _kept(house) == 0


@pytest.mark.parametrize("path", ["/api/sign-ins", "/sign-out"])
def test_who_is_signed_out_loses_it(house: Besieged, path: str) -> None:
    cookie = house.cookie()
    _as_browser(house, cookie, "POST", _said())
    assert _kept(house) == 1
    if path == "/sign-out":
        headers = {"Cookie": cookie, "Origin": house.url}
        house.client.post(house.url + path, headers=headers)
    else:
        (found,) = cast("list[JsonMap]", house.get(path)["signIns"])
        assert house.ask("DELETE", f"{path}/{found['id']}").is_success

    assert _kept(house) == 0
    assert _as_browser(house, cookie, "GET").status_code == 401


@pytest.mark.parametrize(
    "said",
    [
        _said("https://127.0.0.1/push"),
        _said("http://push.example.org/one"),
        {**_said(), "keys": {"p256dh": "BA", "auth": "AA"}},
        {**_said(), "more": 1},
        {"endpoint": "https://push.example.org/one"},
    ],
)
def test_what_is_no_subscription_is_refused_with_a_sentence(house: Besieged, said: Json) -> None:
    answer = _as_browser(house, house.cookie(), "POST", said)

    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].endswith(".")
    assert _kept(house) == 0


def test_the_worker_is_served_at_the_root_to_everybody(house: Besieged) -> None:
    answer = house.client.get(f"{house.url}/sw.js")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "showNotification" in answer.text


def test_the_key_survives_a_restart_and_stays_in_the_house(house: Besieged) -> None:
    told = house.get("/api/push")
    secrets = (house.home / "secrets").read_text()

    assert (house.home / "secrets").stat().st_mode & 0o077 == 0
    assert "push_key" in secrets
    assert str(told["publicKey"]) not in secrets
    assert secrets.split('"')[3] not in str(told)


def test_without_the_extra_page_and_api_say_how_to_get_it(tmp_path: Path) -> None:
    def without(house: App) -> App:
        gone = PushNotifier(house.push._around, there=False)
        return replace(house, push=gone)

    with Served(tmp_path, alter=without) as served:
        told = served.get("/api/push")
        served.client.get(str(served.post("/api/sign-ins")["url"]))
        page = served.client.get(f"{served.pages}/settings/notices").text
        served.client.cookies.clear()

    assert (told["possible"], told["publicKey"]) == (False, None)
    assert "pip install 'remit[push]'" in str(told["why"])
    assert "pip install &#39;remit[push]&#39;" in page
    assert "data-push=" not in page
