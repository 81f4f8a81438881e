"""Remit's own calendar: a process beside ours, the list of tasks in it, and the feed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path

import pytest

from remit.calendar import entry
from remit.calendar.client import CalDavClient
from remit.calendar.own_server import OwnServer, RadicaleProcess
from remit.calendar.todo import OLDEST, TodoSync
from remit.model.status import Status
from remit.store import calendars
from remit.testing import ObedientBrain, World
from tests.calendar.caldav_servers import Server, alive, answers
from tests.calendar.caldav_stage import HOUR, NINE, Phone
from tests.ports import free_port

LIST = "/owner/agent-tasks/"


@asynccontextmanager
async def mirrored(server: Server, home: Path) -> AsyncIterator[tuple[World, TodoSync, Phone]]:
    """An app whose tasks stand in a list that is empty at first."""
    dav = CalDavClient(server.place)
    await dav.make(LIST, "Agent tasks", "VTODO")
    for path, etag in (await dav.changes(LIST, "")).etags.items():
        await dav.delete(path, etag)
    async with World(home, brain=ObedientBrain()) as world:
        written = TodoSync(server.place, LIST, world.app.db, world.clock, world.app.background)
        try:
            yield world, written, Phone(dav, LIST)
        finally:
            await written.close()
            await dav.close()


async def _said(phone: Phone, task_id: str, name: str) -> str:
    return entry.value((await phone.dav.get(phone.at(task_id))).body, name)


async def test_the_own_calendar_starts_with_an_agenda_and_a_list_and_stops(tmp_path: Path) -> None:
    mine = OwnServer(tmp_path / "calendar", free_port(), lambda: "pass-word")
    child = RadicaleProcess(mine)
    assert await child.start(), child.why
    dav = CalDavClient(mine.place)
    found = {each.name: each.kinds for each in await dav.calendars()}
    await dav.close()
    assert found == {"Agenda": {"VEVENT"}, "Agent tasks": {"VTODO"}}
    assert (tmp_path / "calendar" / "users").stat().st_mode & 0o077 == 0
    stranger = CalDavClient(OwnServer(mine.folder, mine.port, lambda: "wrong").place)
    with pytest.raises(Exception, match="does not take the user and password"):
        await stranger.calendars()
    await stranger.close()

    await child.stop()
    assert not answers(mine.port)
    assert await child.start()  # what was made is there again
    await child.stop()


async def test_an_own_calendar_whose_port_is_taken_says_so(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        child = RadicaleProcess(OwnServer(tmp_path / "calendar", port, lambda: "pass-word"))

        assert not await child.start()
        assert child.why == (
            f"The own calendar did not start: port {port} is taken; "
            "choose another as `port` under [calendar]."
        )


def test_the_own_calendar_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    port = free_port()
    script = (
        "import asyncio, sys, pathlib\n"
        "from remit.calendar.own_server import RadicaleProcess, OwnServer\n"
        "async def main():\n"
        f"    child = RadicaleProcess(OwnServer(pathlib.Path(sys.argv[1]), {port}, lambda: 'pw'))\n"
        "    assert await child.start(), child.why\n"
        "    print('up', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "c")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert answers(port)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()

    end = time.monotonic() + 100
    while answers(port):
        assert time.monotonic() < end, "it outlived us"
        time.sleep(0.05)
    assert not alive(process.pid)


async def test_a_task_stands_in_the_list_as_it_stands(server: Server, tmp_path: Path) -> None:
    async with mirrored(server, tmp_path) as (world, written, phone):
        task = await world.add("Greet, mum; and dad\nwarmly", at=NINE + HOUR)
        await world.run()
        assert await written.write() == 1
        assert await _said(phone, task.id, "STATUS") == "NEEDS-ACTION"
        assert await _said(phone, task.id, "SUMMARY") == r"Greet\, mum\; and dad"
        assert await _said(phone, task.id, "DUE") == "20260302T100000Z"
        assert await _said(phone, task.id, "X-REMIT-TASK") == task.id

        await world.run(2 * HOUR)
        assert (await world.get(task.id)).status is Status.COMPLETED
        assert await written.write() == 1
        assert await written.write() == 0
        assert await _said(phone, task.id, "STATUS") == "COMPLETED"
        assert await _said(phone, task.id, "PERCENT-COMPLETE") == "100"
        assert await _said(phone, task.id, "COMPLETED") == "20260302T100000Z"


@pytest.mark.parametrize(
    ("ours", "changed", "noted"),
    [
        ("STATUS:NEEDS-ACTION", "STATUS:COMPLETED", "ticked"),
        ("PRIORITY:9", "PRIORITY:1", "changed"),
        ("SUMMARY:Greet mum", "SUMMARY:Greet dad", "changed"),
    ],
)
async def test_what_a_phone_changes_is_noted_and_set_back_newer_than_it_wrote(
    server: Server, tmp_path: Path, ours: str, changed: str, noted: str
) -> None:
    """A client takes what has the higher SEQUENCE, and of two with the same the later DTSTAMP."""
    async with mirrored(server, tmp_path) as (world, written, phone):
        task = await world.add("Greet mum", at=NINE + 50 * HOUR)
        await written.write()
        await written.look()
        await world.run(HOUR)
        body = (await phone.dav.get(phone.at(task.id))).body
        theirs = {name: entry.value(body, name) for name in ("SEQUENCE", "DTSTAMP")}
        raised = body.replace(f"SEQUENCE:{theirs['SEQUENCE']}", "SEQUENCE:86400")
        await phone.write(task.id, raised.replace(ours, changed))

        assert await written.look() == 1
        await written.write()  # of the note in the log: it must not take the number back
        assert ours in (await phone.dav.get(phone.at(task.id))).body
        assert int(await _said(phone, task.id, "SEQUENCE")) > 86400
        for name in ("DTSTAMP", "LAST-MODIFIED"):
            assert await _said(phone, task.id, name) == f"{world.now:%Y%m%dT%H%M%SZ}"
            assert await _said(phone, task.id, name) > theirs["DTSTAMP"]
        last = [event.data for event in await world.history(task.id)][-1]
        assert last["what"] == f"{noted} in the calendar, which changes nothing"
        assert (await world.get(task.id)).status is Status.READY
        assert await written.look() == 0


async def test_what_a_phone_changed_meanwhile_does_not_stop_us(
    server: Server, tmp_path: Path
) -> None:
    async with mirrored(server, tmp_path) as (world, written, phone):
        task = await world.add("Greet mum", at=NINE + HOUR)
        await written.write()
        body = (await phone.dav.get(phone.at(task.id))).body
        await phone.write(task.id, body.replace("PRIORITY:9", "PRIORITY:1"))
        await world.run(2 * HOUR)

        assert await written.write() == 1
        assert await _said(phone, task.id, "STATUS") == "COMPLETED"


async def test_what_a_phone_deleted_stays_away(server: Server, tmp_path: Path) -> None:
    async with mirrored(server, tmp_path) as (world, written, phone):
        noticed = await world.add("Greet mum", at=NINE + HOUR)
        unnoticed = await world.add("Greet dad", at=NINE + HOUR)
        await written.write()
        await written.look()
        await phone.delete(noticed.id)
        await written.look()
        await phone.delete(unnoticed.id)
        await world.run(2 * HOUR)
        await written.write()

        assert (await phone.dav.changes(LIST, "")).etags == {}
        copies = [
            await world.app.db.read(calendars.todo_of, each.id) for each in (noticed, unnoticed)
        ]
        assert [copy.etag for copy in copies if copy] == ["", ""]


async def test_what_the_owner_deletes_is_taken_out(server: Server, tmp_path: Path) -> None:
    async with mirrored(server, tmp_path) as (world, written, phone):
        task = await world.add("Greet mum", at=NINE + HOUR)
        await written.write()
        await world.app.owner.delete(task.id)
        await world.run(timedelta(minutes=1))
        await written.write()

        assert (await phone.dav.changes(LIST, "")).etags == {}


async def test_what_ended_long_ago_is_taken_out_and_stays_out(
    server: Server, tmp_path: Path
) -> None:
    async with mirrored(server, tmp_path) as (world, written, phone):
        old = await world.add("Greet mum", content="Hello.")
        await world.run()
        await written.write()
        assert await written.tidy() == 0
        await world.run(OLDEST + timedelta(days=1))
        new = await world.add("Greet dad", content="Hello.")
        await world.run()
        await written.write()

        assert await written.tidy() == 1
        assert await written.tidy() == 0
        assert await written.write() == 0
        left = (await phone.dav.changes(LIST, "")).etags
        assert [phone.at(new.id)] == list(left)
        assert phone.at(old.id) not in left
