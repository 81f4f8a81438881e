"""A calendar on a real server: the first look at all of it, and a look when nothing changed.

The server is a Radicale on loopback; `CPU ms` is ours alone, `wall` has the server's part in it.
"""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Final

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count
from remit.calendar.client import CalDavClient
from remit.calendar.watch import CalendarAccount
from remit.store import calendars
from tests.calendar.caldav_servers import Server
from tests.calendar.caldav_stage import DAY, NINE, Stage, event, staged

PATH: Final = "/owner/agenda/"
POLLS: Final = 20
_REPEATS: Final = 9  # one of so many events repeats


def run(size: int, home: Path) -> list[Measurement]:
    server = Server("radicale", home / "server")
    _fill(home / "server" / "collections" / "collection-root" / "owner" / "agenda", size)
    server.start()
    try:
        return asyncio.run(_measured(server, home / "house", size))
    finally:
        server.stop()


async def _measured(server: Server, home: Path, size: int) -> list[Measurement]:
    await _warm(server)
    account = CalendarAccount(server.place, lambda found: found.path == PATH, trusted=True)
    async with staged(home, account) as stage:
        first = await _timed(stage, 1)
        (found,) = await stage.world.app.db.read(calendars.list_calendars)
        require_count("resources", found.resources, size)
        idle = await _timed(stage, POLLS)
        return [
            _row(f"first look at {size:,} events", first, 1),
            _row("a look when nothing changed", idle, POLLS),
        ]


async def _warm(server: Server) -> None:
    """Let the server see its files once: it had not written them itself."""
    dav = CalDavClient(server.place, seconds=600.0)
    await dav.changes(PATH, "")
    await dav.close()


async def _timed(stage: Stage, times: int) -> Stopwatch:
    watch = Stopwatch()
    for _ in range(times):
        stage.world.clock.advance(timedelta(minutes=1))
        with watch:
            why = await stage.watch.look()
        require_count(f"accounts that answered ({why})", sum(not each for each in why.values()), 1)
    return watch


def _row(name: str, watch: Stopwatch, times: int) -> Measurement:
    return Measurement(
        name=name,
        value=watch.cpu_seconds * 1000 / times,
        unit="CPU ms",
        count=times,
        wall_seconds=watch.wall_seconds,
        cpu_seconds=watch.cpu_seconds,
        rss_bytes=read_peak_bytes(),
        better="less",
        facts={"wall ms each": round(watch.wall_seconds * 1000 / times, 1)},
    )


def _fill(folder: Path, size: int) -> None:
    """So many events, in the server's own files: by PUT it would take longer than all else."""
    folder.mkdir(parents=True)
    named = {"tag": "VCALENDAR", "D:displayname": "Agenda"}
    (folder / ".Radicale.props").write_text(json.dumps(named))
    for n in range(size):
        rule = ("RRULE:FREQ=WEEKLY",) if n % _REPEATS == 0 else ()
        body = event(f"event-{n}", NINE + (n % 400 - 200) * DAY, f"Event {n}", *rule)
        (folder / f"{n}.ics").write_bytes(body.encode())
