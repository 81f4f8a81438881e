"""Attack 50: the card says where we are, whoever asks; nobody is led or called elsewhere."""

from collections.abc import Iterator
from typing import cast

import pytest

from remit.model.codec import Json, JsonMap
from tests.doors.peers import Peers

CARD = "/.well-known/agent-card.json"
EVIL = "evil.example"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    with Peers(tmp_path_factory.mktemp("spoofed")) as opened:
        yield opened


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-Host": EVIL},
        {"X-Forwarded-Host": EVIL, "X-Forwarded-Proto": "https", "X-Forwarded-Port": "443"},
        {"Forwarded": f"host={EVIL};proto=https"},
        {"X-Original-URL": f"https://{EVIL}/", "X-Rewrite-URL": f"https://{EVIL}/"},
        {"Referer": f"https://{EVIL}/"},
    ],
)
def test_the_card_names_no_place_that_a_caller_named(house: Peers, headers: dict[str, str]) -> None:
    plain = house.client.get(house.url + CARD)
    told = house.client.get(house.url + CARD, headers=headers)

    assert told.json() == plain.json()
    assert EVIL not in told.text


def test_under_another_name_there_is_no_card(house: Peers) -> None:
    told = house.client.get(house.url + CARD, headers={"Host": EVIL})

    assert told.status_code == 421
    assert "supportedInterfaces" not in told.text


def test_where_a_person_decides_is_here_whatever_a_caller_says(house: Peers) -> None:
    secret = house.agent("nina", "write")
    task = house.entrust(secret, "Renew my passport")
    house.settle()
    headers = {"X-Forwarded-Host": EVIL, "Forwarded": f"host={EVIL}"}
    asked = house.call(secret, "tasks/get", {"taskId": task}, headers=headers)

    assert EVIL not in asked.text
    assert f"{house.url}/tasks/{task}" in asked.text


@pytest.mark.parametrize(
    "method",
    [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
        "tasks/pushNotificationConfig/set",
    ],
)
def test_no_method_takes_an_address_to_call_back_at(house: Peers, method: str) -> None:
    config: JsonMap = {"url": "http://127.0.0.1:9/", "taskId": "x", "id": "1", "token": "t"}
    sent: JsonMap = {"taskId": "x", "id": "1", "pushNotificationConfig": config, **config}
    answer = house.call(
        house.agent("nina", "write"), method, sent, path="/a2a", headers={"A2A-Version": "1.0"}
    )
    error = cast("JsonMap", answer.json()["error"])

    assert error["code"] in (-32003, -32601)


def test_a_token_goes_in_no_address(house: Peers) -> None:
    """A card that led elsewhere would be given a token; ours is asked for in a header alone."""
    told = cast("JsonMap", house.client.get(house.url + CARD).json())
    schemes = cast("dict[str, Json]", told["securitySchemes"])
    answer = house.client.post(f"{house.url}/a2a?token={house.agent('nina', 'write')}", json={})

    assert "bearer" in str(schemes).lower()
    assert answer.status_code == 401
