"""Resource limits of a check: time, memory, processes, files. The kernel enforces them."""

from typing import Final

from msgspec import Struct

MB: Final = 1024 * 1024
_CORE: Final = 0  # a core dump would contain memory
_OPEN: Final = 4096


class SandboxLimits(Struct, frozen=True):
    seconds: float = 600  # on the wall, for the whole of it
    cpu: int = 600  # seconds, of each process
    memory: int = 2048  # MB that one process may hold of its own
    addresses: int = 64 * 1024  # MB that one process may name; runtimes reserve far more
    processes: int = 512  # and threads, of all together
    file: int = 512  # MB that one file may have
    room: int = 1024  # MB for the workspace; it lies in memory and goes with the sandbox
    scratch: int = 256  # MB for temporary files
    output: int = 1  # MB of output kept, the last part
    report: int = 64  # MB per report

    @property
    def words(self) -> tuple[str, ...]:
        """Return the arguments of `prlimit`; child processes cannot raise the limits."""
        return (
            f"--cpu={self.cpu}",
            f"--data={self.memory * MB}",
            f"--as={self.addresses * MB}",
            f"--nproc={self.processes}",
            f"--fsize={self.file * MB}",
            f"--nofile={_OPEN}",
            f"--core={_CORE}",
        )
