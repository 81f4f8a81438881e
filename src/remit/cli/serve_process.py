"""The process of `remit serve`: the API and the pages, beside workers that do the work."""

from remit.cli.up_process import UpProcess
from remit.journal.telemetry import Telemetry
from remit.wiring import App
from remit.wiring.reload import SettingsReload
from remit.wiring.running import start_upkeep


class ServeProcess(UpProcess):
    async def _start(self, house: App, since: int, telemetry: Telemetry | None) -> None:
        del since, telemetry  # the workers write logs
        start_upkeep(house)
        self._reload = SettingsReload(house, self._settings, self._changed, refused=self._refused)
        self._reload.start()
