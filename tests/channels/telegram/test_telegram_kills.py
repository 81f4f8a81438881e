"""kill -9 around every step between Telegram and Remit: nothing is lost, nothing happens twice."""

import http.client
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import JsonMap
from tests.channels.telegram.bot_server import ANNA, Sent
from tests.channels.telegram.chat_town import Town, add, seat_of
from tests.cli.terminal import LIMIT, Terminal
from tests.live.http_client import Client
from tests.live.loopback import LIMIT_SECONDS
from tests.soak import SOAK, one_in

PLACES = {  # where it is killed, and how many messages are in doubt then, at least
    "stored, not acted on": ("telegram:stored:1", 0),
    "acted on, the offset not moved": ("telegram:handled:2", 0),
    "the answer claimed, not sent": ("telegram:claimed:1", 0),
    "the answer sent, not noted": ("telegram:answered:1", 0),
    "the progress shown, not noted": ("telegram:edited:1", 0),
    "the result claimed, not sent": ("send:claimed:1", 1),
    "the button pressed, the offset not moved": ("telegram:pressed:1", 0),
    "the approved message sent, not noted": ("send:answered:2", 1),
}
AT_LENGTH = {
    "the code used, the offset not moved": ("telegram:handled:1", 0),
    "the result sent, not noted": ("send:answered:1", 1),
    "the card claimed, not sent": ("notice:claimed:1", 0),
    "the card sent, not noted": ("notice:answered:1", 0),
    "the approved message claimed": ("send:claimed:2", 1),
}
if SOAK:
    PLACES |= AT_LENGTH
_CLAIMED = "SELECT count(*) FROM deliveries WHERE status = 'sending'"
WORK, NOTE = "Find two parks near me", "Tell Anna: see you at noon"


@one_in(3)
@pytest.mark.parametrize(("place", "doubts"), PLACES.values(), ids=PLACES)
def test_a_kill_loses_nothing_and_doubles_nothing(tmp_path: Path, place: str, doubts: int) -> None:
    with Town() as town:
        seat = seat_of(tmp_path)
        code = add(seat, town)
        anna = f"- name: Anna\n  channels: {{telegram: {ANNA}@telegram}}\n"
        (seat.home / "contacts.yaml").write_text(anna)
        for text in (f"/start {code}", WORK, NOTE):
            town.bot.write(text)
        with seat.up(REMIT_FAILPOINT=place) as up:
            assert not _settles(Client(seat, up), town)
            up.process.communicate(timeout=LIMIT)
            assert up.process.returncode == -signal.SIGKILL, "it must pass there"
        cut = _under_way(seat)
        asked, titles = _lives_on(seat, town)

    results, sent = town.bot.texts().count("Done as asked."), town.bot.texts(ANNA)
    assert titles == [WORK, "See you at noon"], "each message is one task"
    assert asked == cut, "what the kill cut is asked about, and nothing else"
    assert cut >= doubts
    answers = [each for each in town.bot.texts() if each.startswith(f"Task: {WORK}")]
    missing = [each for each in town.bot.texts() if "may be missing here" in each]
    assert len(answers) <= 1
    assert len(answers) + len(missing) >= 1, "an answer in doubt is said to be missing"
    assert results <= 1
    assert len(sent) <= 1
    assert results + len(sent) >= 2 - cut


def _under_way(seat: Terminal) -> int:
    """How many messages were claimed and not settled when it was killed."""
    with closing(sqlite3.connect(seat.home / "agent.db")) as db:
        return int(db.execute(_CLAIMED).fetchone()[0])


def _lives_on(seat: Terminal, town: Town) -> tuple[int, list[str]]:
    with seat.up() as up:
        client = Client(seat, up)
        assert _settles(client, town, by_page=True)
        waiting = cast("list[JsonMap]", client.get("/api/reviews")["reviews"])
        return len(waiting), sorted(str(task["title"]) for task in _tasks(client))


def _settles(client: Client, town: Town, *, by_page: bool = False) -> bool:
    """Act as the owner until everything rests; false if Remit was killed before."""
    pressed, end = False, time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        try:
            tasks = _tasks(client)
            waiting = cast("list[JsonMap]", client.get("/api/reviews")["reviews"])
            card = _card(town)
            if card is not None and not pressed:
                town.bot.press(card, "Approve")
                pressed = True
            if by_page and not pressed:
                _approve(client, waiting)
        except (OSError, http.client.HTTPException):
            return False
        unsure = {each["taskId"] for each in waiting if each["reason"] == "ambiguous"}
        rests = [each["state"] == "completed" or each["id"] in unsure for each in tasks]
        if len(rests) == 2 and all(rests):
            return True
        time.sleep(0.05)
    raise AssertionError((_tasks(client), town.bot.accepted))


def _approve(client: Client, waiting: list[JsonMap]) -> None:
    """A card that may be lost is still in the inbox."""
    for each in waiting:
        if each["reason"] == "approval":
            client.ask("POST", f"/api/reviews/{each['id']}/decision", {"answer": "approve"})


def _tasks(client: Client) -> list[JsonMap]:
    return cast("list[JsonMap]", client.get("/api/tasks")["tasks"])


def _card(town: Town) -> Sent | None:
    cards = [each for each in town.bot.accepted if "Approve" in each.buttons]
    return cards[-1] if cards else None
