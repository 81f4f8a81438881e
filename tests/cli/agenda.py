"""Calendar events as a watch leaves them in the store, without a server."""

from zoneinfo import ZoneInfo

from remit.calendar import entry
from remit.calendar.expand import CalendarReader
from remit.calendar.watch import CalendarWatch, CalendarWatchPorts
from remit.store import calendars, occurrences
from remit.store.calendars import StoredCalendar, StoredResource
from remit.wiring import App


async def write(app: App, *bodies: str) -> None:
    """Put events into the calendar Agenda; what begins within a day gets its task."""
    now, reader = app.clock.now(), CalendarReader(ZoneInfo("UTC"))
    await app.db.write(calendars.note, StoredCalendar("own", "/agenda/", "Agenda", marked=True))
    for n, body in enumerate(bodies):
        made = StoredResource("own", "/agenda/", f"/{n}.ics", '"1"', entry.uid(body), body, now)
        read = await reader.read(made, trusted=True, fresh=now, now=now)
        await app.db.write(occurrences.follow, read, now)
    plugs = CalendarWatchPorts(reader, app.intake.admit, app.background, frozenset({"own"}))
    watch = CalendarWatch((), app.db, app.clock, app.ids, plugs)
    await watch.give()
    await watch.close()
