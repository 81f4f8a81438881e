"""Attack 50: the card says where we are, whoever asks; nobody is led or called elsewhere."""

from collections.abc import Iterator

import pytest

from tests.peer.peers import Peers
from tests.tables import for_each

CARD = "/.well-known/agent-card.json"
EVIL = "evil.example"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    with Peers(tmp_path_factory.mktemp("spoofed")) as opened:
        yield opened


@for_each(
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


def test_where_a_person_decides_is_here_whatever_a_caller_says(house: Peers) -> None:
    secret = house.agent("nina", "write")
    task = house.entrust(secret, "Renew my passport")
    house.settle()
    headers = {"X-Forwarded-Host": EVIL, "Forwarded": f"host={EVIL}"}
    asked = house.call(secret, "tasks/get", {"taskId": task}, headers=headers)

    assert EVIL not in asked.text
    assert f"{house.url}/tasks/{task}" in asked.text
