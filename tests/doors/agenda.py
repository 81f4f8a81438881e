"""Events in a calendar as a watch leaves them in the store, without a server."""

from zoneinfo import ZoneInfo

from remit.store import calendars, occurrences
from remit.store.calendars import Calendar, Resource
from remit.trigger.calendar import glean
from remit.trigger.calendar.expand import Reader
from remit.trigger.calendar.watch import Plugs, Watch
from remit.wiring import House


async def write(house: House, *bodies: str) -> None:
    """Put events into the calendar Agenda; what begins within a day has its task."""
    now, reader = house.clock.now(), Reader(ZoneInfo("UTC"))
    await house.db.write(calendars.note, Calendar("own", "/agenda/", "Agenda", marked=True))
    for n, body in enumerate(bodies):
        made = Resource("own", "/agenda/", f"/{n}.ics", '"1"', glean.uid(body), body, now)
        read = await reader.read(made, trusted=True, fresh=now, now=now)
        await house.db.write(occurrences.follow, read, now)
    plugs = Plugs(reader, house.intake.admit, house.background, frozenset({"own"}))
    watch = Watch((), house.db, house.clock, house.ids, plugs)
    await watch.give()
    await watch.close()
