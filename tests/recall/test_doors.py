"""Recall through the doors: the API, a task's page, the palette, the command."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest

from remit.model.codec import JsonMap
from tests.cli.terminal import Terminal
from tests.server.served import TOKEN, Served

TAP: Final = "Find a plumber for the leaking tap in the kitchen"
POEM: Final = "Write a birthday poem for my grandmother"
FAUCET: Final = "somebody must repair the faucet"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path) as served:
        yield served


def read(served: Served) -> None:
    served.do(served.app.recollection.catch_up())


def alike(found: JsonMap) -> list[str]:
    return [
        str(cast("JsonMap", each["task"])["id"]) for each in cast("list[JsonMap]", found["alike"])
    ]


def test_the_api_finds_what_is_like_words_and_what_is_like_a_task(served: Served) -> None:
    tap, _, again = served.add(TAP), served.add(POEM), served.add("Get the kitchen tap repaired")
    read(served)

    assert set(alike(served.get(f"/api/search?like={FAUCET.replace(' ', '+')}"))) == {tap, again}
    assert alike(served.get(f"/api/search?like={tap}")) == [again]
    beside = served.get(f"/api/search?q={FAUCET.replace(' ', '+')}")
    assert (beside["tasks"], set(alike(beside))) == ([], {tap, again})


def test_the_api_says_how_it_stands_and_makes_it_anew_or_ends_it(served: Served) -> None:
    served.add(TAP)
    read(served)
    assert served.get("/api/recall")["snippets"] == 1

    assert served.post("/api/recall/rebuild", {})["snippets"] == 0
    read(served)
    assert served.get("/api/recall")["snippets"] == 1

    assert served.ask("DELETE", "/api/recall").json()["on"] is False


def test_a_page_and_the_palette_show_what_is_alike(served: Served) -> None:
    tap = served.add(TAP)
    again = served.add("Get the leaking kitchen tap repaired")
    read(served)
    sent = {"Authorization": f"Bearer {TOKEN}"}

    page = served.client.get(f"{served.url}/tasks/{tap}", headers=sent).text
    assert "Like this one" in page
    assert f'href="/tasks/{again}"' in page
    found = served.client.get(
        f"{served.url}/palette?q={FAUCET.replace(' ', '+')}", headers=sent
    ).json()
    assert TAP in [each["title"] for each in found["alike"]]


def test_the_command_tells_finds_makes_anew_and_switches_off(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    tap = seat.add(TAP)
    assert seat.run("recall", "status", "--json").json["snippets"] == 0

    assert seat.run("recall", "rebuild", "--json").json["snippets"] == 1
    found = seat.run("recall", "find", FAUCET, "--json").json
    assert alike(found) == [tap]
    assert "plumber" in seat.run("recall", "find", FAUCET).out

    assert seat.run("recall", "off", "--json").json["on"] is False
    assert 'store = "off"' in (seat.home / "settings.toml").read_text()
    assert "off" in seat.run("recall").out
    assert alike(seat.run("recall", "find", "leaking kitchen", "--json").json) == [tap]
    seat.run("recall", "on")
    assert seat.run("recall", "status", "--json").json["on"] is True


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("REMIT_RECALL_STORE", "nowhere", "embedded, qdrant, off, or the address"),
        ("REMIT_RECALL_STORE", "http://qdrant.example.org", "http:// on this machine"),
        ("REMIT_RECALL_EMBEDDER", "gopher://x", "must be an address"),
        ("REMIT_RECALL_MODEL", "bge-m3", "not embedder"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(
    tmp_path: Path, variable: str, value: str, said: str
) -> None:
    answer = Terminal(tmp_path).run("recall", "status", **{variable: value})

    assert answer.code == 2
    assert said in answer.err


def test_who_only_lists_loads_no_numpy(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, fresh=True)

    told = seat.run("ls", PYTHONVERBOSE="1").err

    assert "import 'remit.cli.ls'" in told
    assert "import 'numpy" not in told
    assert "import 'qdrant_edge" not in told
