"""A mail server and a mailbox on loopback, and an authority of our own.

    async with PostOffice() as office:
        …
        assert [mail.to for mail in office.accepted] == [("hanan@example.test",)]

Real SMTP and IMAP over real sockets. What the office accepted is what a person would have got.
"""

import asyncio
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import imapclient  # type: ignore[import-untyped]
import trustme
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.channels.mail import dovecot
from tests.live.loopback import HOST, Listener
from tests.ports import free_port

USER: Final = "nina@example.test"
PASSWORD: Final = "canary-7f3a91c4-Pass!"


class Authority:
    """Signs certificates for our servers; only clients with its file trust them."""

    def __init__(self, folder: Path) -> None:
        self._ca = trustme.CA()
        self.file = folder / "authority.pem"
        self._ca.cert_pem.write_to_path(str(self.file))

    def server(self, name: str = HOST) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._ca.issue_cert(name).configure_cert(context)
        return context

    def files(self, folder: Path, name: str = HOST) -> tuple[Path, Path]:
        """Write a certificate and its key as files."""
        cert, key = folder / "cert.pem", folder / "key.pem"
        made = self._ca.issue_cert(name)
        made.private_key_pem.write_to_path(str(key))
        for n, blob in enumerate(made.cert_chain_pems):
            blob.write_to_path(str(cert), append=n > 0)
        return cert, key


@dataclass(frozen=True, slots=True)
class Mail:
    """What a person would get, and the recipients of the envelope."""

    sender: str
    to: tuple[str, ...]
    content: bytes
    utf8: bool

    @property
    def parsed(self) -> EmailMessage:
        found = message_from_bytes(self.content, policy=SMTP_POLICY)
        assert isinstance(found, EmailMessage)
        return found


@dataclass
class PostOffice:
    """A real SMTP server. `says` replaces its normal answer to a command."""

    starttls: ssl.SSLContext | None = None
    tls: ssl.SSLContext | None = None
    login: bool = False
    utf8: bool = True
    largest: int = 1_000_000
    says: dict[str, str] = field(default_factory=dict)
    accepted: list[Mail] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)  # the commands, in their order
    _open: set["_Desk"] = field(default_factory=set)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._idle.set()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._desk, HOST, 0, ssl=self.tls)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for desk in tuple(self._open):
            if isinstance(desk.transport, asyncio.WriteTransport):
                desk.transport.abort()
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def quiet(self) -> None:
        """Wait until nobody is connected any more."""
        await self._idle.wait()

    def _desk(self) -> "_Desk":
        return _Desk(
            self,
            data_size_limit=self.largest,
            enable_SMTPUTF8=self.utf8,
            hostname="office.example.test",
            tls_context=self.starttls,
            require_starttls=self.starttls is not None,
            auth_required=self.login,
            auth_require_tls=self.starttls is not None,
            authenticator=self._opens if self.login else None,
            loop=asyncio.get_running_loop(),
        )

    def _opens(self, _: SMTP, __: Session, ___: Envelope, ____: str, given: object) -> AuthResult:
        assert isinstance(given, LoginPassword)
        good = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=good, handled=False)

    async def handle_MAIL(  # noqa: N802 - the library's name
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        if "MAIL" in self.says:
            return self.says["MAIL"]
        envelope.mail_from = address
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        said = self.says.get("RCPT", "250 2.1.5 OK")
        if said.startswith("2"):
            envelope.rcpt_tos.append(address)
        return said

    async def handle_DATA(  # noqa: N802 - the library's name
        self, _: SMTP, __: Session, envelope: Envelope
    ) -> str:
        said = self.says.get(".", "250 2.0.0 OK: queued")
        if said.startswith("2"):
            content = envelope.original_content or b""
            to = tuple(envelope.rcpt_tos)
            self.accepted.append(Mail(str(envelope.mail_from), to, content, envelope.smtp_utf8))
        return said


class _Desk(SMTP):
    """One conversation."""

    def __init__(self, office: PostOffice, **kwargs: object) -> None:
        super().__init__(office, **kwargs)  # type: ignore[arg-type]
        self._office = office

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._office._open.add(self)
        self._office._idle.clear()
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._office._open.discard(self)
        if not self._office._open:
            self._office._idle.set()


@dataclass
class Scripted(Listener):
    """A server that gives a scripted answer to each line."""

    greeting: str = "220 script.example.test"
    extensions: tuple[str, ...] = ()
    says: dict[str, str] = field(default_factory=dict)  # by the first word of a line
    heard: list[str] = field(default_factory=list)
    dots: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{self.greeting}\r\n".encode())
        while line := (await reader.readline()).decode("utf-8", "replace").rstrip():
            self.heard.append(line)
            word = line.split()[0].upper()
            writer.write(f"{self._answer(word)}\r\n".encode("utf-8", "surrogateescape"))
            if word == "DATA" and "DATA" not in self.says:
                await reader.readuntil(b"\r\n.\r\n")
                self.dots += 1
                writer.write(f"{self.says.get('.', '250 OK')}\r\n".encode())

    def _answer(self, word: str) -> str:
        if word in self.says:
            return self.says[word]
        if word == "EHLO":
            return "\r\n".join(
                ("250-script", *(f"250-{each}" for each in self.extensions), "250 OK")
            )
        return {"DATA": "354 go on", "QUIT": "221 bye", "AUTH": "235 in"}.get(word, "250 OK")


# The mailbox --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """A real IMAP server in its own process, with a user and two folders."""

    port: int
    connect: Callable[[], "imapclient.IMAPClient"]

    def put(self, folder: str, content: bytes, at: datetime | None = None) -> None:
        """File a mail, as a server does; `at` is when it came."""
        with self.connect() as imap:
            imap.append(folder, content, msg_time=at)

    def make(self, folder: str) -> None:
        with self.connect() as imap:
            imap.create_folder(folder)


# The available servers; the mailbox tests run with each of them.
SERVERS: Final = ("pymap", *(["dovecot"] if dovecot.PROGRAM.exists() else []))


@contextmanager
def box(authority: Authority | None, folder: Path, server: str = "pymap") -> Iterator[Box]:
    """Run an IMAP server until the end. With an authority it requires STARTTLS."""
    port = free_port()
    pair = authority.files(folder) if authority else None
    context = ssl.create_default_context(cafile=authority.file) if authority else None

    def connect() -> "imapclient.IMAPClient":
        imap = imapclient.IMAPClient(HOST, port=port, ssl=False, timeout=100)
        if context is not None:
            imap.starttls(context)
        imap.login(USER, PASSWORD)
        return imap

    run = (
        dovecot.started(port, PASSWORD, pair) if server == "dovecot" else _pymap(port, pair, folder)
    )
    with run as process:
        _await_port(port, process)
        yield Box(port, connect)


@contextmanager
def _pymap(
    port: int, pair: tuple[Path, Path] | None, folder: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    private = ["--cert", str(pair[0]), "--key", str(pair[1])] if pair else ["--no-tls"]
    user = ["dict", "--demo-user", USER, "--demo-password", PASSWORD]
    start = "import sys; from pymap.main import main; sys.exit(main())"
    with (folder / "imap.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", start, "--host", HOST, "--port", str(port), *private, *user],
            stdout=log,
            stderr=log,
            env={"PATH": os.environ.get("PATH", "")},
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _await_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the port answers; fail if the process has ended."""
    while process.poll() is None:
        with suppress(OSError), socket.create_connection((HOST, port), timeout=5) as plug:
            if plug.recv(4) == b"* OK":
                return
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    raise AssertionError("the IMAP server ended before it could be asked")
