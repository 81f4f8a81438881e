"""`remit up` with its own calendar: a phone writes, Remit works, and both see what is planned."""

import asyncio
import os
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from urllib.error import HTTPError

import pytest

from remit.calendar import entry, own_server
from remit.calendar.client import CalDavClient, CalendarLocation
from remit.model.codec import JsonMap
from remit.server.open_addresses import FeedRate
from remit.testing import START
from tests.calendar.caldav_servers import Server, answers
from tests.calendar.caldav_stage import Phone, event
from tests.cli.terminal import Terminal
from tests.cli.terminal import wait_until as until
from tests.ports import free_port


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the program that is tried has the machine's clock


def test_a_phone_writes_into_the_own_calendar_and_the_task_is_there(tmp_path: Path) -> None:
    seat, port = Terminal(tmp_path), free_port()
    environ = {"REMIT_CALENDAR_OWN": "true", "REMIT_CALENDAR_PORT": str(port)}
    with seat.up(**environ) as up:
        until(lambda: answers(port))
        until(lambda: _listed(seat, "Agenda"))
        secret = seat.run("calendar", "password").out.strip()
        told = seat.run("calendar", "url", "--json", **environ).json
        assert (told["url"], told["user"]) == (f"http://127.0.0.1:{port}/", "owner")
        asyncio.run(_write(CalendarLocation("phone", str(told["url"]), "owner", lambda: secret)))
        said = seat.run("calendar", "sync", **environ)
        assert said.code == 0, said.err
        assert _tasks(seat, "title") == ["Water the plants"]
        until(lambda: asyncio.run(_in_list(told["url"], secret)) == ["Water the plants"])
        assert secret not in (tmp_path / "home" / "agent.db").read_bytes().decode("latin-1")
        assert os.path.exists(f"/proc/{up.process.pid}")  # noqa: PTH110 - no file of ours
    until(lambda: not answers(port))


def _listed(seat: Terminal, name: str) -> bool:
    found = cast("list[JsonMap]", seat.run("calendar", "ls", "--json").json["calendars"])
    return any(each["name"] == name and each["marked"] for each in found)


def _tasks(seat: Terminal, what: str) -> list[str]:
    found = cast("list[JsonMap]", seat.run("ls", "--json").json["tasks"])
    return [str(each[what]) for each in found if each["status"] != "deleted"]


async def _write(place: CalendarLocation) -> None:
    dav = CalDavClient(place)
    await Phone(dav, own_server.AGENDA).write("a", event("a", now() + timedelta(hours=3)))
    await dav.close()


async def _in_list(url: object, secret: str) -> list[str]:
    dav = CalDavClient(CalendarLocation("phone", str(url), "owner", lambda: secret))
    paths = list((await dav.changes(own_server.TASKS, "")).etags)
    found = [entry.value(each.body, "SUMMARY") for each in await dav.fetch(own_server.TASKS, paths)]
    await dav.close()
    return found


def test_an_own_calendar_that_cannot_start_leaves_the_rest_working(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    taken = Server("xandikos", tmp_path / "other")
    taken.start()
    try:
        environ = {"REMIT_CALENDAR_OWN": "true", "REMIT_CALENDAR_PORT": str(taken.port)}
        with seat.up(**environ) as up:
            task = seat.add("Greet me", "--text", "Hello!")
            seat.until(task, "completed")
            assert up.process.stderr is not None
            said = ""
            while "Everything else works." not in said:  # it is said when it has been tried
                said = up.process.stderr.readline()
                assert said, "it ended without a word"
        assert f"port {taken.port} is taken" in said
    finally:
        taken.stop()


def test_the_feed_shows_what_is_planned_to_who_has_its_address(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with seat.up() as up:
        url = str(up.told["url"])
        seat.run("add", "Greet mum", "--as-is", "--in", "2h")
        address = str(seat.run("calendar", "feed", "--json").json["url"])
        assert address.startswith(f"{url}/feed/")  # where it listens, whatever the settings say
        secret = address.rpartition("/")[2]
        asked = urllib.request.Request(  # noqa: S310 - on loopback
            f"{url}/feed/{secret}", headers={"Host": "calendar.example.org"}
        )
        with urllib.request.urlopen(asked) as answer:  # noqa: S310
            text = answer.read().decode()
            assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
        assert text.count("BEGIN:VEVENT") == 1
        assert "SUMMARY:Greet mum" in text

        rotated = str(seat.run("calendar", "feed", "--rotate", "--json").json["url"])
        assert rotated != address
        guesses = (secret, "x.ics", ".ics", "%00.ics", "é.ics".encode().hex())
        for wrong in guesses * 10:  # more than it answers in a minute
            with pytest.raises(HTTPError) as refused:
                urllib.request.urlopen(f"{url}/feed/{wrong}")  # noqa: S310
            assert refused.value.code == 404
            refused.value.close()
        # Wrong guesses of others do not keep out who has the address.
        with urllib.request.urlopen(rotated) as answer:  # noqa: S310
            assert answer.status == 200


def test_another_server_is_added_marked_and_looked_at(tmp_path: Path) -> None:
    seat, server = Terminal(tmp_path), Server("radicale", tmp_path / "server")
    server.start()
    try:
        place = CalendarLocation(
            "phone", f"http://127.0.0.1:{server.port}/", "owner", lambda: "s3cret"
        )
        asyncio.run(_furnish(place))
        words = ("calendar", "add", "work", place.url, "--user", "owner", "--trusted")
        said = seat.run(*words, stdin="s3cret")
        assert (said.code, said.out) == (0, "Agenda\nAgent tasks\n"), said.err
        assert "s3cret" not in (seat.home / "settings.toml").read_text()
        assert seat.run(*words).code == 2

        assert seat.run("calendar", "sync").code == 0
        assert _tasks(seat, "title") == []
        assert seat.run("calendar", "mark", "Agenda").code == 0
        assert seat.run("calendar", "mark", "Nowhere").code == 3
        assert seat.run("calendar", "sync").code == 0
        assert _tasks(seat, "title") == ["Water the plants"]
        shown = seat.run("calendar").out
        assert "marked" in shown

        assert seat.run("calendar", "unmark", "work/Agenda").code == 0
        assert seat.run("calendar", "sync").code == 0
        assert _tasks(seat, "title") == []  # it is cancelled, and so not listed
    finally:
        server.stop()


async def _furnish(place: CalendarLocation) -> None:
    await own_server.create_calendars(place)
    await _write(place)


def test_so_many_requests_a_minute_are_let_through() -> None:
    pace = FeedRate(2)

    assert [pace.allows(START) for _ in range(3)] == [True, True, False]
    assert pace.allows(START + timedelta(minutes=1))
    # A clock that was set back shuts nobody out.
    assert pace.allows(START - timedelta(hours=1))
