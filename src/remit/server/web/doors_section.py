"""The inbound part of the settings page: what came in by each way within a day."""

from datetime import timedelta
from typing import Final

from remit.server.call import Call
from remit.store import cues

_DAY: Final = timedelta(days=1)


async def door_sentences(call: Call) -> list[str]:
    """Return a sentence for each configured inbound way."""
    settings = call.house.doors.settings
    doors = [f"hook:{name}" for name in settings.hooks]
    doors += [*settings.doors, *(f"folder:{name}" for name in settings.folders)]
    if not doors:
        return []
    tally = await call.house.db.read(cues.tally, call.house.clock.now() - _DAY)
    return [_sentence(door.replace(":", " "), tally.get(door, {})) for door in doors]


def _sentence(door: str, fates: dict[cues.CueFate, int]) -> str:
    parts = ", ".join(f"{count:,} {fate.value}" for fate, count in fates.items())
    return f"{door}: {parts} in a day" if parts else f"{door}: nothing came in a day"
