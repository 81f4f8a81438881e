"""The process that holds the weights of a local model and answers on loopback.

It is a separate process because loading blocks for seconds and native code may crash. It reads once
from stdin what to load, prints its address on stdout, and ends when stdin closes, so it cannot
outlive its parent.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

HOST: Final = "127.0.0.1"
_BATCH: Final = 128  # tokens read at once; a closed connection is noticed between batches


class LoadRequest(Struct, frozen=True):
    name: str
    path: str
    sha256: str
    key: str  # every request must carry it, for any program on this machine could ask
    threads: int
    context: int

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


class LoadResult(Struct, frozen=True):
    """Where the model answers, or what is wrong: with its file (`damaged`), or otherwise."""

    address: str = ""
    damaged: str = ""
    failed: str = ""

    @classmethod
    def load(cls, line: bytes) -> "LoadResult":
        """Parse what the process said; a dead one said nothing."""
        return cls(**json.loads(line)) if line else cls(failed="its process ended")


def main() -> None:
    # Whatever the library may print, only our one line goes to the parent process.
    replies = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    server, loaded = _load(LoadRequest(**json.loads(sys.stdin.buffer.readline())))
    replies.write(json.dumps(asdict(loaded)).encode() + b"\n")
    replies.flush()
    if server is not None:
        sys.stdin.buffer.read()
    # An orderly shutdown would first finish the current answer, which nobody wants.
    os._exit(0)


def _load(order: LoadRequest) -> tuple[object, LoadResult]:
    try:
        with Path(order.path).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return None, LoadResult(damaged=error.strerror or type(error).__name__)
    if found != order.sha256:
        return None, LoadResult(damaged="its hash is not the one that is known")
    try:
        return _serve(order)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent process is told
        return None, LoadResult(failed=f"{type(error).__name__}: {error}")


def _serve(order: LoadRequest) -> tuple[object, LoadResult]:
    import xllamacpp  # noqa: PLC0415 - an extra: most do without

    wanted = xllamacpp.CommonParams()
    wanted.model.path = order.path
    wanted.model_alias = {order.name}  # otherwise its path would be its name in everything stored
    wanted.hostnames = [HOST]
    wanted.port = 0
    wanted.api_keys = [order.key]
    wanted.n_ctx = order.context
    wanted.n_parallel = 1
    wanted.n_batch = wanted.n_ubatch = _BATCH
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = order.threads
    # Qwen's recommended values. Without a penalty a small model repeats one word for ever.
    wanted.sampling.temp, wanted.sampling.top_p, wanted.sampling.top_k = 0.7, 0.8, 20
    wanted.sampling.penalty_repeat = 1.1
    wanted.cache_ram_mib = 0  # otherwise gigabytes
    wanted.offline = True
    wanted.ui = wanted.endpoint_slots = False
    wanted.cors_origins = f"http://{HOST}"
    wanted.verbosity = -1
    server = xllamacpp.Server(wanted)
    address = str(server.listening_address)
    if not address.startswith(f"http://{HOST}:"):
        return None, LoadResult(failed=f"it listens on {address}")
    return server, LoadResult(address)


if __name__ == "__main__":
    main()
