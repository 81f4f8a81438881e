"""Notices through the doors: listed, tried out, wished for in a plain form, and events seen to."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast
from urllib.parse import urlencode

import httpx2
import pytest
from msgspec.structs import replace

from remit.model.codec import JsonMap
from remit.model.conversation import KINDS
from remit.settings import NoticeSettings, load
from remit.store import calendars, occurrences
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.occurrences import ReadResource, StoredOccurrence
from tests.cli.terminal import Terminal
from tests.server.besieged import Besieged
from tests.server.served import Served


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Besieged]:
    with Besieged(tmp_path) as opened:
        yield opened


def tell(house: Served) -> None:
    async def telling() -> None:
        await house.house.talk.settled()
        await house.house.herald.catch_up()

    house.do(telling())


def sent(house: Besieged, path: str, fields: list[tuple[str, str]]) -> httpx2.Response:
    """What a form sends, without a script."""
    headers = {
        "Cookie": house.cookie(),
        "Origin": house.url,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return house.client.post(house.url + path, content=urlencode(fields), headers=headers)


def seen(house: Besieged, path: str) -> str:
    headers = {"Cookie": house.cookie(), "Accept": "text/html"}
    return house.client.get(house.url + path, headers=headers).text


# What was told ------------------------------------------------------------------------------------


def test_what_was_told_is_listed_page_by_page_with_what_came_of_it(house: Besieged) -> None:
    for _ in range(3):
        assert house.post("/api/notices/test", {"way": "conversation"})["state"] == "sent"
    told = house.post("/api/notices/test", {"way": "push"})
    first = house.get("/api/notices?limit=3")
    rest = house.get(f"/api/notices?limit=3&cursor={first['next']}")

    assert (told["state"], told["why"]) == ("dropped", "No browser listens.")
    assert [n["way"] for n in cast("list[JsonMap]", first["notices"])] == [
        "push",
        "conversation",
        "conversation",
    ]
    assert len(cast("list[JsonMap]", rest["notices"])) == 1
    assert rest["next"] is None


@pytest.mark.parametrize("path", ["/api/notices?cursor=x", "/api/notices?limit=0"])
def test_a_page_that_never_was_is_refused(house: Besieged, path: str) -> None:
    assert house.ask("GET", path).status_code in (404, 422)


def test_a_way_that_is_none_is_refused_with_those_there_are(house: Besieged) -> None:
    answer = house.ask("POST", "/api/notices/test", {"way": "pigeon"})

    assert answer.status_code == 404
    assert "there is conversation, push" in answer.json()["detail"]


# What is wished for -------------------------------------------------------------------------------


def test_the_grid_is_a_plain_form_that_writes_the_file_and_holds_at_once(house: Besieged) -> None:
    page = seen(house, "/settings/notices")
    assert page.count('type="checkbox"') == len(KINDS) * (3 + len(_channels(house)) + 1)
    fields = [
        ("question", "conversation"),
        ("question", "digest"),
        ("failed", "push"),
        ("urgent", "failed"),
        ("digest_at", "07:45"),
        ("digest_over", "conversation"),
    ]
    answer = sent(house, "/settings/edit", [("section", "notices"), *fields])
    wanted = replace(
        NoticeSettings(),
        question=("conversation", "digest"),
        done=(),
        failed=("push",),
        lost=(),
        missed=(),
        refused=(),
        urgent=("failed",),
        digest_at="07:45",
    )

    assert answer.headers["location"] == "/settings/notices?saved=true"
    assert house.house.wishes.notices == wanted
    assert load({"REMIT_HOME": str(house.house.settings.home)}).notices == wanted
    again = seen(house, "/settings/notices")
    assert again.count(" checked") == 4
    assert 'value="07:45"' in again


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([("done", "pigeon")], "it may be none alone, or some of"),
        ([("digest_at", "late")], "one looks like 08:00"),
        ([("urgent", "done"), ("urgent", "<b>")], "it may be none, or some of"),
    ],
)
def test_a_wish_nobody_can_fulfil_is_refused_in_a_sentence_and_changes_nothing(
    house: Besieged, fields: list[tuple[str, str]], why: str
) -> None:
    before = house.house.wishes.notices
    answer = sent(house, "/settings/edit", [("section", "notices"), *fields])

    assert answer.status_code == 422
    assert why in answer.text
    assert "<b>" not in answer.text.partition('role="alert"')[2].partition("</div>")[0]
    assert house.house.wishes.notices == before


def test_a_way_is_tried_out_on_the_page(house: Besieged) -> None:
    good = sent(house, "/settings/notices/test", [("way", "conversation")])
    bad = sent(house, "/settings/notices/test", [("way", "pigeon")])

    assert "Conversation: sent." in good.text
    assert (bad.status_code, "There is no way" in bad.text) == (422, True)


def _channels(house: Served) -> list[str]:
    return list(house.house.settings.channels)


# Events that could not be read -------------------------------------------------------------------


def refuse(house: Served, title: str = "Water <b>them</b>") -> None:
    now = house.clock.now()
    body = f"BEGIN:VEVENT\nUID:a\nSUMMARY:{title}\nEND:VEVENT"
    held = StoredResource("work", "/team/", "/a.ics", "1", "a", body, now, "It is endless.", title)

    async def reads() -> None:
        await house.house.db.write(
            calendars.note, StoredCalendar("work", "/team/", "Team", marked=True)
        )
        read = ReadResource(held, (), frozenset(), now, now)
        await house.house.db.write(occurrences.follow, read, now)

    house.do(reads())


def test_an_event_that_starts_nothing_stands_in_the_inbox_until_it_is_seen(
    house: Besieged,
) -> None:
    refuse(house)
    inbox, schedule = seen(house, "/inbox"), seen(house, "/schedule")
    attention = house.get("/api/tasks/needs-attention")

    assert 'href="/schedule#refused"' in inbox
    assert "Water &lt;b&gt;them&lt;/b&gt;" in inbox
    assert "It is endless." in schedule
    assert attention["events"] == [
        {
            "account": "work",
            "calendar": "work/Team",
            "uid": "a",
            "title": "Water <b>them</b>",
            "why": "It is endless.",
            "seen": False,
        }
    ]
    fields = [("account", "work"), ("calendar", "/team/"), ("path", "/a.ics")]
    answer = sent(house, "/schedule/refused", fields)
    assert answer.status_code == 303
    assert 'href="/schedule#refused"' not in seen(house, "/inbox")
    assert "Seen" in seen(house, "/schedule")
    gone = sent(house, "/schedule/refused", [*fields[:2], ("path", "/b.ics")])
    assert gone.status_code == 404


def test_what_calendars_start_is_listed_with_the_series(house: Besieged) -> None:
    now = house.clock.now()
    at = now + timedelta(hours=3)
    held = StoredResource("work", "/team/", "/a.ics", "1", "a", "", at)
    start = StoredOccurrence(uid="a", key="20260302T120000Z", start=at, title="Water", text="")

    async def reads() -> None:
        await house.house.db.write(
            calendars.note, StoredCalendar("work", "/team/", "Team", marked=True)
        )
        read = ReadResource(held, (start,), frozenset(), now, now)
        await house.house.db.write(occurrences.follow, read, now)

    house.do(reads())
    (event,) = cast("list[JsonMap]", house.get("/api/series")["events"])

    assert (event["title"], event["calendar"], event["repeats"]) == ("Water", "Team", True)
    assert event["taskId"] is None


# In the terminal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("running", [True, False])
def test_the_terminal_tries_a_way_and_shows_what_was_told(tmp_path: Path, *, running: bool) -> None:
    seat = Terminal(tmp_path)

    def look() -> None:
        tried, bad = seat.run("notices", "test", "conversation"), seat.run("notices", "test", "x")
        assert (tried.code, tried.out.strip()) == (0, "conversation: told.")
        assert (bad.code, "there is conversation, push" in bad.err) == (2, True)
        listed = seat.run("notices", "--json").json["notices"]
        assert [each["state"] for each in cast("list[JsonMap]", listed)] == ["sent"]
        assert "This is a test notice" in seat.run("notices", "ls").out
        assert seat.run("notices", "ls", "-n", "0").code == 2

    if running:
        with seat.up():
            look()
    else:
        look()


def test_the_doctor_says_which_ways_work_and_how_the_calendars_stand(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    text = (
        "[notices]\ndone = ['phone']\n[channels.phone]\nkind = 'bridge'\n"
        "url = 'http://127.0.0.1:9'\ntoken = 'phone_token'\n"
        "[calendars.work]\nurl = 'https://dav.example.org/'\n[brain]\nkind = 'none'\n"
    )
    (seat.home / "settings.toml").write_text(text)
    said = seat.run("doctor").out

    assert "phone (done): lacks phone_token" in said
    assert "conversation (question, failed, lost, missed, refused): it always works" in said
    assert "work: not read yet" in said
