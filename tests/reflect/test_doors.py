"""Learning through the doors: the terminal, the API and the inbox page. No agent takes part."""

import re
from html import unescape
from pathlib import Path
from typing import Final, cast

import pytest

from remit.model.codec import Json, JsonMap
from remit.settings import DeliverSettings, Settings
from tests.cli.terminal import Terminal
from tests.server.served import TOKEN, Served

RAIN: Final = "It rains all day long in the whole of the north."
LETTER: Final = f"Dear Anna,\n\n{RAIN}"
SCRIPT: Final = f"- reply: |\n    <deliverable>Dear Anna,\n\n    {RAIN}</deliverable>\n"
GUIDELINE: Final = "Leave out the greeting; begin with what matters."


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A home in which five messages were edited alike."""
    seat = Terminal(tmp_path_factory.mktemp("taught"), script=SCRIPT)
    settings = seat.home / "settings.toml"
    settings.write_text(f"{settings.read_text()}[deliver]\nundo = 0\n[calendar]\nown = false\n")
    (seat.home / "contacts.yaml").write_text("- name: Anna\n  channels: {dashboard: anna}\n")
    with seat.up():
        for n in range(5):
            seat.run("add", f"Write to Anna {n}", "--as-is", "--to", "Anna", "--wait")
            (review,) = cast("list[JsonMap]", seat.run("inbox", "--json").json["reviews"])
            seat.run("approve", str(review["id"]), "--text", RAIN, "--wait")
    return seat


def told(seat: Terminal) -> str:
    """The guidelines without what explains them."""
    lines = (seat.home / "guidelines.txt").read_text().splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def test_a_lesson_is_found_taken_listed_and_taken_back_in_the_terminal(taught: Terminal) -> None:
    before = (taught.home / "guidelines.txt").read_text()
    assert taught.run("rules", "history").err.startswith("Nothing was changed yet")
    asked = taught.run("reflect", "now")
    assert (asked.code, "Put this into guidelines.txt" in asked.out) == (4, True)
    assert "(put it in)" in asked.out
    (review,) = cast("list[JsonMap]", taught.run("inbox", "--json").json["reviews"])
    assert f"+{GUIDELINE}" in str(review["evidence"])
    assert review["options"] == ["approve", "drop", "decline"]

    assert taught.run("approve", str(review["id"]), "--wait").code == 0
    assert told(taught) == GUIDELINE
    stands = taught.run("reflect", "--json").json
    assert (stands["lines"], stands["holds"], stands["model"]) == (5, 1, False)
    assert stands["next"] is not None
    listed = taught.run("rules", "history")
    assert "You took the greeting out of 5 of 5 messages" in listed.out

    back = taught.run("rules", "revert")
    assert (back.code, "change 1 was taken back" in back.out) == (0, True)
    assert (taught.home / "guidelines.txt").read_text() == before
    assert taught.run("rules", "history", "--json").json["holds"] == []
    again = taught.run("rules", "revert")
    assert (again.code, "Nothing is to be taken back" in again.err) == (5, True)
    assert "1 day" in taught.run("reflect").out


def test_a_app_that_has_seen_nothing_says_so(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    assert "0 ended tasks" in seat.run("reflect").out
    assert seat.run("reflect", "--json").json["next"] is None
    assert seat.run("rules", "history", "--json").json["changes"] == []
    settings = seat.home / "settings.toml"
    settings.write_text(f"{settings.read_text()}[reflect]\nnightly = false\nmodel = true\n")
    assert "nightly is false" in seat.run("reflect").out
    settings.write_text(f"{settings.read_text()}at = '25:00'\n")
    assert "one looks like 03:00" in seat.run("reflect").err


# Over HTTP ----------------------------------------------------------------------------------------


class Learner(Served):
    """A Remit behind a socket that has been edited the same way five times."""

    def teach(self) -> str:
        for n in range(5):
            sent: list[Json] = [{"channel": "outbox", "recipient": "anna", "content": LETTER}]
            self.post("/api/tasks", {"title": f"Write {n}", "delivery": sent})
            self.settle()
            (review,) = cast("list[JsonMap]", self.get("/api/reviews")["reviews"])
            answer: JsonMap = {"answer": "edit", "text": RAIN}
            self.post(f"/api/reviews/{review['id']}/decision", answer)
            self.settle()
        self.post("/api/reflections", {})
        self.settle()
        (review,) = cast("list[JsonMap]", self.get("/api/reviews")["reviews"])
        return str(review["id"])

    def html(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = self.client.get(self.url + path, headers=headers)
        assert answer.status_code == 200, answer.text
        return unescape(answer.text)


def test_programs_look_back_read_the_changes_and_take_one_back(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, deliver=DeliverSettings(undo=0))
    with Learner(tmp_path, works=True, settings=settings) as served:
        review = served.teach()
        page = served.html(f"/inbox/{review}")
        assert "Learn this?" in page
        assert "What would change" in page
        assert f"<ins>{GUIDELINE}</ins>" in page
        assert len(set(re.findall(r'href="/tasks/(task-\w{26})"', page))) >= 5
        assert "Apply it" in page
        assert not (tmp_path / "guidelines.txt").exists()

        served.post(f"/api/reviews/{review}/decision", {"answer": "approve"})
        served.settle()
        assert (tmp_path / "guidelines.txt").read_text() == f"{GUIDELINE}\n"
        (change,) = cast("list[JsonMap]", served.get("/api/lessons")["changes"])
        assert (change["change"], change["file"]) == (1, "guidelines.txt")
        made = served.post("/api/lessons/revert", {"change": 1})
        assert made["reverts"] == 1
        assert (tmp_path / "guidelines.txt").read_text() == ""
        assert served.ask("POST", "/api/lessons/revert", {"change": 1}).status_code == 409
        assert served.ask("POST", "/api/lessons/revert", {}).status_code == 409
        assert served.ask("POST", "/api/lessons/revert", {"change": 0}).status_code == 422


def test_an_agent_can_neither_take_a_lesson_nor_take_one_back(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, deliver=DeliverSettings(undo=0))
    with Learner(tmp_path, works=True, settings=settings) as served:
        review = served.teach()
        said: JsonMap = {"name": "nina", "scopes": ["read", "write"], "agent": True}
        secret = served.post("/api/tokens", said)["secret"]
        mine = {"Authorization": f"Bearer {secret}"}
        tries: dict[str, JsonMap] = {
            f"/api/reviews/{review}/decision": {"answer": "approve"},
            "/api/lessons/revert": {},
            "/api/reflections": {},
        }
        for path, body in tries.items():
            assert served.ask("POST", path, body, headers=mine).status_code == 403

    assert not (tmp_path / "guidelines.txt").exists()
