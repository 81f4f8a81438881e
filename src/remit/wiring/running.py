"""Sets a house to work that was opened."""

from remit.model.status import Reason
from remit.wiring.house import House


async def start(house: House) -> None:
    """Go to work. What waited for a brain goes on by itself once there is one."""
    if house.thinks:
        await house.inbox.grant(Reason.AUTH, "a brain is there now")
    # Whoever put an account right starts anew; one that is still locked is asked about again.
    for name in house.outfit.channels:
        await house.inbox.grant(Reason.AUTH, "Remit was started again", f"channel:{name}")
    # What was missed is settled before the engine runs what is due.
    await house.repeater.start()
    await house.engine.start()
    await house.talk.start()


async def watch(house: House, url: str) -> None:
    """Start what only `remit up` runs: a command that works for a moment looks for nothing."""
    house.outfit.start()
    house.calendars.start()
    house.reflection.start(house.journal)
    await house.doors.start()
    house.recollection.start()
    house.wishes.url = url
    house.herald.start()
    await house.leftovers.start(house.journal)
    house.deferred.start()
