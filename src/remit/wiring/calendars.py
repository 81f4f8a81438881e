"""The calendar registry; the calendar code is loaded only when it is used."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from remit.settings import Settings
from remit.wiring.calendar_ports import IntakeParts

if TYPE_CHECKING:
    from remit.wiring.calendar import CalendarWatches


class CalendarRegistry:
    """Calendars are watched by `remit up` only, not by short commands."""

    def __init__(self, joined: IntakeParts) -> None:
        self._joined = joined
        self._made: CalendarWatches | None = None

    def start(self) -> None:
        """Start in the background: nothing waits for a calendar."""
        settings = self._joined.ground.settings
        if settings.calendar.own or settings.calendars:
            self._watched().start()

    async def apply(self, settings: Settings) -> None:
        """Switch to the accounts of new settings."""
        await self.close()
        self._made = None
        self._joined = replace(self._joined, ground=replace(self._joined.ground, settings=settings))
        self.start()
        if self._made is None:
            await self.look()  # drops the starts of removed accounts

    async def look(self) -> dict[str, str | None]:
        """Ask every account now; return the error of each."""
        return await self._watched().look()

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    def _watched(self) -> "CalendarWatches":
        if self._made is None:
            from remit.wiring.calendar import CalendarWatches  # noqa: PLC0415 - what speaks HTTP and XML

            self._made = CalendarWatches(self._joined)
        return self._made
