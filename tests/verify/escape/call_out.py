"""Calls a listener on loopback, one by a path, one by an abstract name, and a name server."""

# ruff: noqa: PTH112, PTH208, T201 - a hostile script, for the sandbox alone

import os
import socket
import sys

port, path, name = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for family, address in (
    (socket.AF_INET, ("127.0.0.1", port)),
    (socket.AF_INET6, ("::1", port)),
    (socket.AF_INET, ("192.0.2.1", 53)),
    (socket.AF_UNIX, path),
    (socket.AF_UNIX, f"\0{name}"),
):
    with socket.socket(family) as line:
        line.settimeout(2)
        try:
            line.connect(address)
            line.sendall(b"GOT OUT")
            print("CONNECTED", address)
        except OSError as error:
            print(address, error)
print(os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else "no network")
print("TRIED")
