"""The process of `remit serve`: the API and the pages, beside workers that do the work."""

from remit.cli.up_process import UpProcess
from remit.journal.telemetry import Telemetry
from remit.wiring import App, file_cleanup
from remit.wiring.app_context import StoreClock
from remit.wiring.reload import SettingsReload


class ServeProcess(UpProcess):
    async def _start(self, house: App, since: int, telemetry: Telemetry | None) -> None:
        del since, telemetry  # the workers write logs
        if isinstance(house.clock, StoreClock):
            house.background.start("clock of the database", house.clock.keep_correct)
        file_cleanup.start(house)  # of the copies on this machine
        self._reload = SettingsReload(house, self._settings, self._changed, refused=self._refused)
        self._reload.start()
