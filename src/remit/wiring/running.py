"""Starts the background loops of an opened app."""

import logging
from typing import Final

from remit.errors import StepFailed
from remit.model.status import Reason
from remit.wiring.app import App

_LOG: Final = logging.getLogger(__name__)


async def start(house: App) -> None:
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


async def watch(house: App, url: str) -> None:
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
    _examine_reader(house)


def _examine_reader(house: App) -> None:
    """Have a model that is new here take the reading exam, beside everything else."""
    model = house.model_reader
    if model is None or not model.needs_exam:
        return

    async def examine() -> None:
        try:
            result = await model.take_exam(house.clock.now())
        except StepFailed as silent:
            _LOG.warning("%s Until it does, messages are read without a model.", silent)
        else:
            _LOG.info("%s", result.sentence)

    house.background.start("reader exam", examine)
