"""A world whose database is restored to a backup while its clock goes on."""

from pathlib import Path

from remit.model.review import RESTORED, Review
from remit.store import backup
from remit.store.after_restore import HeldTasks
from remit.testing import World


def save(world: World, folder: Path) -> Path:
    return backup.save(world.app.settings.database_file, folder, world.now, lambda _: None)


async def restore(world: World, saved: Path) -> HeldTasks:
    """Stop, restore, start: what `remit restore` does between two `remit up`."""
    await world._stack.aclose()
    held = backup.restore(saved, world.app.settings.database_file, world.now)
    await world.__aenter__()
    return held


async def asked(world: World) -> list[Review]:
    """Return the open questions about what may have run before the restore."""
    return [each for each in await world.waiting() if each.about == RESTORED]
