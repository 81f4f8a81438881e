"""Starts the background loops of an opened app."""

import logging
from typing import Final

from remit.errors import StepFailed
from remit.model.status import Reason
from remit.wiring import file_cleanup
from remit.wiring.app import App
from remit.wiring.app_context import StoreClock

_LOG: Final = logging.getLogger(__name__)


async def start(house: App) -> None:
    """Start the app. Of several processes the workers do this, each duty in one of them."""
    if house.settings.engine.is_shared:
        return
    await settle_accounts(house)
    # Missed slots are settled before the engine runs what is due.
    await house.repeater.start()
    await house.engine.start()
    await house.talk.start()


async def settle_accounts(house: App) -> None:
    """Let tasks continue that waited for a brain, once there is one, or for an account."""
    if house.thinks:
        await house.inbox.grant(Reason.AUTH, "a brain is there now")
    # The owner may have fixed an account before the start; a locked one is asked about again.
    for name in house.outfit.channels:
        await house.inbox.grant(Reason.AUTH, "Remit was started again", f"channel:{name}")


async def watch(house: App) -> None:
    """Start what only `remit up` runs, not short commands."""
    if isinstance(house.clock, StoreClock):
        house.background.start("clock of the database", house.clock.keep_correct)
    house.outfit.start()
    house.calendars.start()
    house.reflection.start(house.journal)
    await house.doors.start()
    house.recollection.start()
    house.herald.start()
    await house.leftovers.start(house.journal)
    house.deferred.start()
    file_cleanup.start(house)
    _examine_reader(house)


def _examine_reader(house: App) -> None:
    """Let a new model take the reading exam, in the background."""
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
