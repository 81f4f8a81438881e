"""A port that is free, and stays so until it is used.

A port the system picks is lost as soon as it is released: any process on this machine may get it.
These are where the system never picks, and no two test processes get the same one.
"""

import socket
from itertools import count
from typing import Final

HOST: Final = "127.0.0.1"
_FIRST: Final = 20_000
_MANY: Final = 10_000  # Linux picks from 32768 on, others from 49152 on


def free_port() -> int:
    """Return a number that is ours until this process ends."""
    for port in count(_FIRST):
        # Nothing here uses UDP: holding the number there reserves it.
        held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            assert port < _FIRST + _MANY, "no port is free"
            held.bind((HOST, port))
            with socket.socket() as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((HOST, port))
        except OSError:
            held.close()
        else:
            held.detach()  # it stays open
            return port
    raise AssertionError
