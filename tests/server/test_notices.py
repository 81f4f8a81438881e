"""Notices through the doors: listed, tried out, wished for, pushed; and events seen to."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx2
import pytest
from msgspec.structs import replace

from remit.channels.push import PushNotifier
from remit.model.codec import Json, JsonMap
from remit.model.conversation import KINDS
from remit.settings import NoticeSettings, load
from remit.store import calendars, callers, occurrences
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.occurrences import ReadResource, StoredOccurrence
from remit.wiring import App
from tests.channels.push.push_relay import Phone
from tests.cli.terminal import Terminal
from tests.server.besieged import Besieged, bearer
from tests.server.served import Served

ENDLESS: Final = "It is endless."


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Besieged]:
    with Besieged(tmp_path) as opened:
        yield opened


def tell(app: Served) -> None:
    async def telling() -> None:
        await app.app.talk.settled()
        await app.app.herald.catch_up()

    app.do(telling())


# What was told ------------------------------------------------------------------------------------


def test_what_was_told_is_listed_page_by_page_with_what_came_of_it(app: Besieged) -> None:
    for _ in range(3):
        assert app.post("/api/notices/test", {"way": "conversation"})["state"] == "sent"
    told = app.post("/api/notices/test", {"way": "push"})
    first = app.get("/api/notices?limit=3")
    rest = app.get(f"/api/notices?limit=3&cursor={first['next']}")

    assert (told["state"], told["why"]) == ("dropped", "No browser listens.")
    assert [n["way"] for n in first["notices"]] == [
        "push",
        "conversation",
        "conversation",
    ]
    assert len(rest["notices"]) == 1
    assert rest["next"] is None


# What is wished for -------------------------------------------------------------------------------


def test_the_grid_is_a_plain_form_that_writes_the_file_and_holds_at_once(app: Besieged) -> None:
    page = app.look("/settings/notices").text
    assert page.count('type="checkbox"') == len(KINDS) * (3 + len(_channels(app)) + 1)
    fields = [
        ("question", "conversation"),
        ("question", "digest"),
        ("failed", "push"),
        ("urgent", "failed"),
        ("digest_at", "07:45"),
        ("digest_over", "conversation"),
    ]
    answer = app.submit("/settings/edit", [("section", "notices"), *fields])
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
    assert app.app.wishes.notices == wanted
    assert load({"REMIT_HOME": str(app.app.settings.home)}).notices == wanted
    again = app.look("/settings/notices").text
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
    app: Besieged, fields: list[tuple[str, str]], why: str
) -> None:
    before = app.app.wishes.notices
    answer = app.submit("/settings/edit", [("section", "notices"), *fields])

    assert answer.status_code == 422
    assert why in answer.text
    assert "<b>" not in answer.text.partition('role="alert"')[2].partition("</div>")[0]
    assert app.app.wishes.notices == before


def _channels(app: Served) -> list[str]:
    return list(app.app.settings.channels)


# Events that could not be read -------------------------------------------------------------------


def refuse(app: Served, title: str = "Water <b>them</b>") -> None:
    body = f"BEGIN:VEVENT\nUID:a\nSUMMARY:{title}\nEND:VEVENT"
    now = app.clock.now()
    follow(app, StoredResource("work", "/team/", "/a.ics", "1", "a", body, now, ENDLESS, title))


def follow(app: Served, held: StoredResource, *starts: StoredOccurrence) -> None:
    """Read an event of a calendar that is marked."""
    now = app.clock.now()
    app.write(calendars.note, StoredCalendar("work", "/team/", "Team", marked=True))
    app.write(occurrences.follow, ReadResource(held, starts, frozenset(), now, now), now)


def test_an_event_that_starts_nothing_stands_in_the_inbox_until_it_is_seen(
    app: Besieged,
) -> None:
    refuse(app)
    inbox, schedule = app.look("/inbox").text, app.look("/schedule").text
    attention = app.get("/api/tasks/needs-attention")

    assert 'href="/schedule#refused"' in inbox
    assert "Water &lt;b&gt;them&lt;/b&gt;" in inbox
    assert ENDLESS in schedule
    assert attention["events"] == [
        {
            "account": "work",
            "calendar": "work/Team",
            "uid": "a",
            "title": "Water <b>them</b>",
            "why": ENDLESS,
            "seen": False,
        }
    ]
    fields = [("account", "work"), ("calendar", "/team/"), ("path", "/a.ics")]
    answer = app.submit("/schedule/refused", fields)
    assert answer.status_code == 303
    assert 'href="/schedule#refused"' not in app.look("/inbox").text
    assert "Seen" in app.look("/schedule").text
    gone = app.submit("/schedule/refused", [*fields[:2], ("path", "/b.ics")])
    assert gone.status_code == 404


def test_what_calendars_start_is_listed_with_the_series(app: Besieged) -> None:
    now = app.clock.now()
    at = now + timedelta(hours=3)
    held = StoredResource("work", "/team/", "/a.ics", "1", "a", "", at)
    start = StoredOccurrence(uid="a", key="20260302T120000Z", start=at, title="Water", text="")
    follow(app, held, start)
    (event,) = app.get("/api/series")["events"]

    assert (event["title"], event["calendar"], event["repeats"]) == ("Water", "Team", True)
    assert event["taskId"] is None


# In the terminal ----------------------------------------------------------------------------------


def test_the_terminal_tries_a_way_though_no_remit_runs(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    tried, bad = seat.run("notices", "test", "conversation"), seat.run("notices", "test", "x")

    assert (tried.code, tried.out.strip()) == (0, "conversation: told.")
    assert (bad.code, "there is conversation, push" in bad.err) == (2, True)
    assert "This is a test notice" in seat.run("notices", "ls").out
    assert seat.run("notices", "ls", "-n", "0").code == 2


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


# Push ---------------------------------------------------------------------------------------------


def _said(endpoint: str = "https://push.example.org/one") -> JsonMap:
    return {"endpoint": endpoint, "keys": Phone().keys()}


def _as_browser(app: Served, cookie: str, method: str, body: Json = None) -> httpx2.Response:
    """As a page of ours asks."""
    headers = {"Cookie": cookie, "Origin": app.url, "Sec-Fetch-Site": "same-origin"}
    answer = app.client.request(method, f"{app.url}/api/push", json=body, headers=headers)
    app.page.check(method, "/api/push", answer)
    return answer


def _kept(app: Served) -> int:
    return len(app.read(callers.pushes, app.clock.now()))


def test_a_browser_turns_it_on_and_off(app: Besieged) -> None:
    cookie = app.cookie()
    before = _as_browser(app, cookie, "GET").json()
    on = _as_browser(app, cookie, "POST", _said())
    other = _as_browser(app, app.cookie(), "GET").json()
    after = _as_browser(app, cookie, "GET").json()
    off = _as_browser(app, cookie, "DELETE").json()

    assert (before["possible"], before["on"], len(before["publicKey"])) == (True, False, 87)
    assert (on.status_code, on.json()["on"]) == (200, True)
    assert (other["on"], after["on"], off["on"]) == (False, True, False)
    assert {each["publicKey"] for each in (before, other, after, off)} == {before["publicKey"]}
    assert _kept(app) == 0


def test_no_token_is_told_anything(app: Besieged) -> None:
    everything = app.secret("phone", "read", "write", "approve", "admin")
    agent = app.secret("nina", "read", "write", agent=True)
    for headers in (None, bearer(everything), bearer(agent)):
        for method, body in (("POST", _said()), ("DELETE", None)):
            answer = app.ask(method, "/api/push", body, headers=headers)
            assert answer.status_code == 403

    assert app.ask("GET", "/api/push", secret=agent).status_code == 403
    assert app.get("/api/push")["on"] is False
    assert _kept(app) == 0


def test_another_site_cannot_have_a_browser_told(app: Besieged) -> None:
    headers = {"Cookie": app.cookie(), "Origin": "https://evil.example"}
    answer = app.client.post(f"{app.url}/api/push", json=_said(), headers=headers)

    assert answer.status_code == 403
    assert _kept(app) == 0


@pytest.mark.parametrize("path", ["/api/sign-ins", "/sign-out"])
def test_who_is_signed_out_loses_it(app: Besieged, path: str) -> None:
    cookie = app.cookie()
    _as_browser(app, cookie, "POST", _said())
    assert _kept(app) == 1
    if path == "/sign-out":
        headers = {"Cookie": cookie, "Origin": app.url}
        app.client.post(app.url + path, headers=headers)
    else:
        (found,) = app.get(path)["signIns"]
        assert app.ask("DELETE", f"{path}/{found['id']}").is_success

    assert _kept(app) == 0
    assert _as_browser(app, cookie, "GET").status_code == 401


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
def test_what_is_no_subscription_is_refused_with_a_sentence(app: Besieged, said: Json) -> None:
    answer = _as_browser(app, app.cookie(), "POST", said)

    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].endswith(".")
    assert _kept(app) == 0


def test_the_key_survives_a_restart_and_stays_in_the_app(app: Besieged) -> None:
    told = app.get("/api/push")
    secrets = (app.home / "secrets").read_text()

    assert (app.home / "secrets").stat().st_mode & 0o077 == 0
    assert "push_key" in secrets
    assert str(told["publicKey"]) not in secrets
    assert secrets.split('"')[3] not in str(told)


def test_without_the_extra_page_and_api_say_how_to_get_it(tmp_path: Path) -> None:
    def without(app: App) -> App:
        gone = PushNotifier(app.push._around, there=False)
        return replace(app, push=gone)

    with Served(tmp_path, alter=without) as served:
        told = served.get("/api/push")
        served.client.get(str(served.post("/api/sign-ins")["url"]))
        page = served.client.get(f"{served.pages}/settings/notices").text
        served.client.cookies.clear()

    assert (told["possible"], told["publicKey"]) == (False, None)
    assert "pip install 'remit[push]'" in str(told["why"])
    assert "pip install &#39;remit[push]&#39;" in page
    assert "data-push=" not in page
