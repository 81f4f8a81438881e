"""The process in which Apprise runs: one order on stdin, one report on stdout, then it ends.

    {"address": "ntfys://…", "body": "…", "private": false, "until": null}
    sending
    {"sent": true, "trail": [200]}

`trail` lists how each request ended: a status, 0 if no byte was sent, -1 if no answer came.
Whatever Apprise prints or logs is discarded, because it may contain keys.
"""

import importlib
import ipaddress
import json
import os
import socket
import ssl
import sys
from collections.abc import Callable
from functools import wraps
from typing import Final, Protocol, TypeAlias, cast

from remit.channels.apprise.sending import SENDING
from remit.system import address_rules, first_byte

Found: TypeAlias = tuple[object, object, object, object, tuple[object, ...]]

_NO_BYTE: Final = 0
_NO_ANSWER: Final = -1
_DEPTH: Final = 8


class ApprisePlugin(Protocol):
    service_name: str
    body_maxlen: int
    protocol: object  # the schemes without TLS: none, one or several

    def __len__(self) -> int: ...


class BlockedHostError(socket.gaierror):
    """The name resolves to a place that may not be contacted."""


class NetworkWatch:
    """Records outgoing requests, and blocks those to internal addresses."""

    def __init__(self, *, private: bool, until: float | None = None) -> None:
        """`until`: after that no request begins, because its claim is too old."""
        self.trail: list[int] = []
        self.barred: str | None = None
        self._private = private
        self._until = until

    def guard(self) -> None:
        """Check every name that is resolved from now on."""
        look_up = cast("Callable[..., list[Found]]", socket.getaddrinfo)

        @wraps(look_up)
        def checked(*words: object, **named: object) -> list[Found]:
            found = look_up(*words, **named)
            for *_, where in found:
                address = ipaddress.ip_address(str(where[0]).partition("%")[0])
                kind = address_rules.reserved_kind(address, private=self._private)
                if kind is not None:
                    self.barred = f"The target's address leads to one that is {kind}."
                    raise BlockedHostError(socket.EAI_FAIL, "barred")
            return found

        socket.getaddrinfo = checked  # type: ignore[assignment]

    def watch(self) -> None:
        """Record every request from now on."""
        adapter = importlib.import_module("requests.adapters").HTTPAdapter
        send: Callable[..., object] = adapter.send

        @wraps(send)
        def watched(*words: object, **named: object) -> object:
            mark = len(self.trail)
            if self._until is not None and first_byte.now() > self._until:
                self.trail.append(_NO_BYTE)
                raise OSError("too late")
            self.trail.append(_NO_ANSWER)
            try:
                answer = send(*words, **named)
            except Exception as error:
                self.trail[mark] = _NO_BYTE if _before_a_byte(error) else _NO_ANSWER
                raise
            self.trail[mark] = int(getattr(answer, "status_code", _NO_ANSWER))
            return answer

        adapter.send = watched


def _before_a_byte(error: BaseException) -> bool:
    """Whether it failed before any byte: no name, no connection, no trust."""
    early = importlib.import_module("urllib3.exceptions")
    found: object = error
    for _ in range(_DEPTH):
        if isinstance(found, early.NewConnectionError | early.ConnectTimeoutError):
            return True
        if isinstance(found, ssl.SSLCertVerificationError):
            return True
        inner = getattr(found, "reason", None)
        words = getattr(found, "args", ())
        found = inner if isinstance(inner, BaseException) else next(iter(words), None)
        if not isinstance(found, BaseException):
            break
    return False


def work(order: dict[str, object], begin: Callable[[], None]) -> dict[str, object]:
    """Load the address, check it, and only then let Apprise send."""
    try:
        apprise = importlib.import_module("apprise")
    except ImportError:
        return {"lacks": True}
    address, body = str(order["address"]), str(order["body"])
    private = order.get("private") is True
    asset = apprise.AppriseAsset(
        http_redirects=False, storage_mode="memory", async_mode=False, allow_templates=False
    )
    service: ApprisePlugin | None = apprise.Apprise.instantiate(address, asset=asset)
    if service is None:
        return {"wrong": "Apprise cannot read the target's address, or lacks a package for it."}
    wrong = _wrong(service, address, body, private=private)
    if wrong is not None:
        return {"wrong": wrong}
    until = order.get("until")
    wire = NetworkWatch(private=private, until=until if isinstance(until, float) else None)
    wire.guard()
    wire.watch()
    begin()
    sender = apprise.Apprise(asset=asset)
    sender.add(service)
    sent = bool(sender.notify(body=body, body_format="text"))
    return {"sent": sent, "trail": wire.trail, "barred": wire.barred}


def _wrong(service: ApprisePlugin, address: str, body: str, *, private: bool) -> str | None:
    if len(service) != 1:
        return f"The target's address has {len(service)} targets; make one address for each."
    if len(body) > service.body_maxlen:
        return (
            f"The text has {len(body)} characters; {service.service_name} takes "
            f"{service.body_maxlen}. Shorten it."
        )
    open_schemes = service.protocol
    listed = open_schemes if isinstance(open_schemes, tuple | list) else (open_schemes,)
    if address.partition("://")[0] in listed and not private:
        return "The target's address is without TLS; take the one that ends in s."
    return None


def main() -> None:
    """Talk to the parent process; all other output is discarded."""
    ours = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    order = json.loads(sys.stdin.buffer.read())

    def begin() -> None:
        ours.write(SENDING)

    report = work(order, begin)
    ours.write(json.dumps(report).encode())
    ours.close()


if __name__ == "__main__":
    main()
