"""Resource limits of a check: time, memory, processes, files. The kernel enforces them."""

from typing import Final

from msgspec import Struct

MB: Final = 1024 * 1024
_CORE: Final = 0  # a core dump would contain memory
_OPEN: Final = 4096


class SandboxLimits(Struct, frozen=True):
    seconds: float = 600  # wall time of the whole run
    cpu: int = 600  # seconds per process
    memory: int = 2048  # MB of private memory per process
    addresses: int = (
        64 * 1024
    )  # MB of address space per process; runtimes reserve far more than they use
    processes: int = 512  # processes and threads together
    file: int = 512  # MB per file
    room: int = 1024  # MB for the workspace, in memory
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
