"""The `remit` of a played docs page: it is forked, so that no command imports everything anew."""

import json
import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests import faked_clocks, forks

# What `remit` is on a played page: a process that has imported everything is forked and gets the
# arguments, folder, environment and streams. Only `remit up` is a fresh one: it outlives its page,
# and is ended by its process group.
REMIT: Final = """\
#!/bin/sh
case "$1" in
  up) exec {remit} "$@" ;;
  *) exec {python} -S -E {client} {door} "$@" ;;
esac
"""
CLIENT: Final = """\
import json, os, socket, sys
door, *words = sys.argv[1:]
with socket.socket(socket.AF_UNIX) as line:
    line.connect(door)
    order = {"words": words, "cwd": os.getcwd(), "env": dict(os.environ)}
    socket.send_fds(line, [b"x"], [0, 1, 2])
    line.sendall(json.dumps(order).encode())
    line.shutdown(socket.SHUT_WR)
    code = int(line.recv(16))
os._exit(code)
"""


class Forker:
    """Answers each `remit` of a shell with a forked process."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="remit-")  # a socket's address must be short
        self.door = Path(self._folder.name) / "door"
        self._listens = socket.socket(socket.AF_UNIX)
        self._listens.bind(str(self.door))
        self._listens.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def write_client(self, tools: Path) -> None:
        """Put a `remit` among the programs of a shell."""
        here, client = Path(sys.executable), tools / "client.py"
        client.write_text(CLIENT)
        script = REMIT.format(
            remit=here.with_name("remit"), python=here, client=client, door=self.door
        )
        (tools / "remit").write_text(script)
        (tools / "remit").chmod(0o755)

    def close(self) -> None:
        self._listens.shutdown(socket.SHUT_RDWR)
        self._listens.close()
        self._folder.cleanup()

    def _serve(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                line, _ = self._listens.accept()
                threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line, suppress(BrokenPipeError):
            _, streams, _, _ = socket.recv_fds(line, 1, 3)
            order = json.loads(b"".join(iter(partial(line.recv, 65536), b"")))
            stdin, stdout, stderr = streams
            process = forks.start(
                *("-m", "remit.cli.main", *order["words"]),
                env={name: value for name, value in order["env"].items() if _is_passed_on(name)},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=order["cwd"],
            )
            for each in streams:
                os.close(each)
            line.sendall(str(process.wait()).encode())


def _is_passed_on(name: str) -> bool:
    return not name.startswith("PYTHON") or name in faked_clocks.variables()
