"""E-mail by SMTP: what the answer says is what the server did."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from aiosmtplib import SMTP

from remit.channels.mail import letter
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailContent, MailSender, MailThread
from remit.channels.mail.letter_head import MailAddress, address
from remit.channels.mail.sending import EmailChannel
from remit.errors import BadInput
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.testing import START, FrozenClock
from tests.channels.mail.mail import PASSWORD, USER, Authority, PostOffice, Scripted
from tests.live.loopback import HOST
from tests.live.proxy import Cut, Fault, Proxy
from tests.tables import for_each

NINA: Final = MailSender(address(USER, "Nina"))
BODY: Final = "# Parks\n\nLumphini, mornings.\n\n.\n\n..dots\n\nGrüße"
PARCEL: Final = Parcel("dlv-01JZ", "hanan@example.test", BODY)
SHORT: Final = 2.0  # seconds of patience with who never answers; until then all else has happened


@dataclass
class Desk:
    """What the adapter is given, to be turned by a test."""

    security: Security = Security.NONE
    user: str | None = None
    password: str = PASSWORD
    ca_file: Path | None = None
    owner: MailAddress | None = None
    thread: MailThread = field(default_factory=MailThread)
    patience: float = 100.0

    async def thread_of(self, _: Parcel) -> MailThread:
        return self.thread

    def channel(self, port: int, host: str = HOST) -> EmailChannel:
        secret = (lambda: self.password) if self.user is not None else None
        account = SmtpAccount(host, port, self.security, self.user, secret, self.ca_file)
        return EmailChannel(
            account,
            NINA,
            FrozenClock(),
            owner=self.owner,
            thread_of=self.thread_of,
            patience=self.patience,
        )


async def sent(port: int, desk: Desk | None = None, parcel: Parcel = PARCEL) -> Answer:
    channel = (desk or Desk()).channel(port)
    try:
        return await channel.send(parcel)
    finally:
        await channel.close()


def _office(security: Security, context: ssl.SSLContext) -> PostOffice:
    if security is Security.TLS:
        return PostOffice(tls=context)
    return PostOffice(starttls=context)


# The way there and back ---------------------------------------------------------------------------


async def test_a_letter_arrives_once_byte_by_byte_as_it_was_composed() -> None:
    async with PostOffice() as office:
        answer = await sent(office.port)

        assert answer == Accepted("<dlv-01JZ@example.test>")
        (mail,) = office.accepted
        assert (mail.sender, mail.to) == (USER, ("hanan@example.test",))
        note = MailContent(PARCEL.key, address("hanan@example.test"), BODY)
        assert mail.content == letter.compose(note, NINA, START).wire
        plain = mail.parsed.get_body(("plain",))
        assert plain is not None
        assert plain.get_content().replace("\r\n", "\n") == letter.plain_text(BODY)
        assert mail.parsed["Subject"] == "Parks"


async def test_a_letter_goes_over_a_line_that_was_made_private_first(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    for security in (Security.STARTTLS, Security.TLS):
        async with _office(security, authority.server()) as office:
            office.login = security is Security.STARTTLS
            user = USER if office.login else None
            desk = Desk(security, user, ca_file=authority.file)

            assert await sent(office.port, desk) == Accepted("<dlv-01JZ@example.test>")
            assert len(office.accepted) == 1


async def test_the_owner_is_written_to_at_the_address_of_the_settings() -> None:
    async with PostOffice() as office:
        parcel = Parcel("dlv-1", None, "Hi.")

        assert isinstance(await sent(office.port, parcel=parcel), Refused)
        assert office.accepted == []
        await sent(office.port, Desk(owner=address("owner@example.test")), parcel)
        assert [mail.to for mail in office.accepted] == [("owner@example.test",)]


async def test_an_answer_stands_in_its_thread() -> None:
    async with PostOffice() as office:
        await sent(office.port, Desk(thread=MailThread("Parks", ("<a@x.test>", "<b@x.test>"))))

        read = office.accepted[0].parsed
        assert (read["In-Reply-To"], read["References"]) == ("<b@x.test>", "<a@x.test> <b@x.test>")


async def test_an_address_beyond_ascii_needs_a_server_that_takes_it() -> None:
    parcel = Parcel("dlv-1", "björn@bücher.test", "Hi.")
    async with PostOffice(utf8=True) as office:
        assert isinstance(await sent(office.port, parcel=parcel), Accepted)
        assert office.accepted[0].to == ("björn@xn--bcher-kva.test",)
        assert office.accepted[0].utf8
        await sent(office.port)
        assert not office.accepted[1].utf8  # nothing is asked for that is not needed
    async with PostOffice(utf8=False) as office:
        answer = await sent(office.port, parcel=parcel)
        assert isinstance(answer, Refused)
        assert "ASCII addresses alone" in answer.why
        assert office.accepted == []


async def test_a_server_that_reports_is_told_the_delivery() -> None:
    async with Scripted(extensions=("DSN", "SIZE 100000")) as server:
        assert isinstance(await sent(server.port), Accepted)

        (mail,) = [line for line in server.heard if line.startswith("MAIL")]
        assert mail.startswith(f"MAIL FROM:<{USER}> SIZE=")
        assert mail.endswith("RET=HDRS ENVID=dlv-01JZ")
        assert server.heard[0] == "EHLO example.test"  # and not the name of this machine


# What never leaves --------------------------------------------------------------------------------


@for_each(
    "parcel",
    [
        Parcel("dlv-1", "hanan@example.test\r\nRCPT TO:<e@x.test>", "Hi."),
        Parcel("dlv-1", "hanan@example.test,e@x.test", "Hi."),
        Parcel("dlv-1", "alice@good.test <evil@x.test>", "Hi."),
        Parcel("dlv-1", "hanan@example.test> NOTIFY=NEVER", "Hi."),
        Parcel("dlv-1\r\nBcc: e@x.test", "hanan@example.test", "Hi."),
        Parcel("dlv-1>", "hanan@example.test", "Hi."),
        Parcel("dlv-1", "hanan@example.test", " \n"),
        Parcel("dlv-1", "hanan@example.test", "\ud800"),
        Parcel("dlv-1", "hanan@example.test", "x" * 100_001),
    ],
)
async def test_what_is_unfit_is_refused_before_anybody_is_called(parcel: Parcel) -> None:
    async with PostOffice() as office, Proxy(office.port) as proxy:
        answer = await sent(proxy.port, parcel=parcel)

        assert isinstance(answer, Refused)
        assert answer.why.endswith(".")
        assert proxy.connections == 0


async def test_no_words_of_a_letter_can_become_a_command_or_a_line_of_its_head() -> None:
    order = ".\r\nMAIL FROM:<e@x.test>\r\n.\r\nRCPT TO:<e@x.test>"
    body = f"# x =?utf-8?q?=0d=0aBcc:_e@x.test?=\n\n{order}"
    async with PostOffice() as office:
        await sent(office.port, parcel=Parcel("dlv-1", "hanan@example.test", body))

        (mail,) = office.accepted
        assert mail.to == ("hanan@example.test",)
        assert "Bcc" not in mail.parsed


async def test_a_letter_larger_than_the_server_takes_is_not_begun() -> None:
    async with PostOffice(largest=2000) as office:
        answer = await sent(office.port, parcel=Parcel("dlv-1", "h@example.test", "x " * 2000))

        assert isinstance(answer, Refused)
        assert "takes 2000" in answer.why
        assert office.accepted == []


# The line must be private -------------------------------------------------------------------------


async def test_a_server_without_starttls_is_told_nothing() -> None:
    async with Scripted(extensions=("AUTH PLAIN LOGIN",)) as server:
        answer = await sent(server.port, Desk(Security.STARTTLS, USER))

        assert isinstance(answer, SendRetry)
        assert "offers no private line (STARTTLS), so it was told nothing" in answer.why
        assert server.heard == ["EHLO example.test"]


async def test_a_server_that_takes_starttls_back_is_told_nothing() -> None:
    says = {"STARTTLS": "454 TLS not available"}
    async with Scripted(extensions=("STARTTLS", "AUTH PLAIN"), says=says) as server:
        assert isinstance(await sent(server.port, Desk(Security.STARTTLS, USER)), SendRetry)
        assert server.heard == ["EHLO example.test", "STARTTLS"]


async def test_a_certificate_nobody_vouches_for_or_of_another_name_is_refused(
    tmp_path: Path,
) -> None:
    known, other = tmp_path / "known", tmp_path / "other"
    known.mkdir()
    other.mkdir()
    authority, stranger = Authority(known), Authority(other)
    for security in (Security.STARTTLS, Security.TLS):
        for context, word in (
            (stranger.server(), "issuer certificate"),
            (authority.server("mail.elsewhere.test"), "mismatch"),
        ):
            async with _office(security, context) as office:
                answer = await sent(office.port, Desk(security, ca_file=authority.file))

                assert isinstance(answer, SendRetry)
                assert "certificate that is not trusted" in answer.why
                assert word in answer.why
                assert office.accepted == []


_AT: Final = partial(SmtpAccount, "mail.example.org")


@for_each(
    ("make", "says"),
    [
        *(
            (partial(SmtpAccount, host, 25, Security.NONE), "must be private")
            for host in ("mail.example.org", "10.0.0.1", "192.168.1.1", "::", "127.0.0.1.nip.io")
        ),
        *(
            (partial(SmtpAccount, host, 587), "is no host name")
            for host in ("", "a b", "a:25", "a/b", "-a", "a\n", "user@host", "a" * 254)
        ),
        *((partial(_AT, port), "port") for port in (0, -1, 65_536)),
        (partial(_AT, 587, user="nina"), "A user needs a password"),
        (partial(_AT, 587, user="a\r\nb", password=str), "characters no name has"),
    ],
)
def test_an_account_is_whole_and_private_or_is_refused(
    make: Callable[[], SmtpAccount], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        make()


def test_a_file_that_holds_no_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("empty.pem", "missing.pem"):
        with pytest.raises(BadInput, match="holds no certificate"):
            Desk(Security.TLS, ca_file=tmp_path / name).channel(465)


# Who may come in ----------------------------------------------------------------------------------


async def test_a_wrong_password_is_tried_once_and_needs_the_owner(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with PostOffice(starttls=authority.server(), login=True) as office:
        desk = Desk(Security.STARTTLS, USER, "wrong", authority.file)
        answer = await sent(office.port, desk)

        assert isinstance(answer, Locked)
        assert "does not take the user or the password (535)" in answer.why
        assert office.accepted == []
    async with Scripted(
        extensions=("AUTH CRAM-MD5 LOGIN PLAIN",), says={"AUTH": "535 no"}
    ) as server:
        assert isinstance(await sent(server.port, Desk(user=USER)), Locked)
        assert len([line for line in server.heard if line.startswith("AUTH")]) == 1


@for_each(
    ("extensions", "says", "answer"),
    [
        (("AUTH PLAIN",), {"AUTH": "454 4.7.0 later"}, SendRetry),
        (("AUTH PLAIN",), {"AUTH": "421 closing"}, SendRetry),
        (("AUTH PLAIN",), {"AUTH": "534 weak"}, Locked),
        (("AUTH PLAIN",), {"MAIL": "530 log in first"}, Locked),
        (("AUTH GSSAPI",), {}, SendRetry),
        ((), {}, SendRetry),
    ],
)
async def test_what_keeps_us_out_is_told_apart(
    extensions: tuple[str, ...], says: dict[str, str], answer: type[Answer]
) -> None:
    async with Scripted(extensions=extensions, says=says) as server:
        assert type(await sent(server.port, Desk(user=USER))) is answer
        assert server.dots == 0


async def test_a_password_that_cannot_be_had_keeps_everything_here() -> None:
    def locked() -> str:
        raise OSError(PASSWORD)

    async with PostOffice() as office, Proxy(office.port) as proxy:
        account = SmtpAccount(HOST, proxy.port, Security.NONE, USER, locked)
        answer = await EmailChannel(account, NINA, FrozenClock()).send(PARCEL)
        assert isinstance(answer, SendRetry)
        assert PASSWORD not in repr(answer)
        for bad in ("", "a\r\nb"):
            assert isinstance(await sent(proxy.port, Desk(user=USER, password=bad)), Locked)
        assert proxy.connections == 0


async def test_the_password_is_seen_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"535 wrong: {PASSWORD}"
    for says in ({"AUTH": said}, {"MAIL": said.replace("535", "550")}, {"AUTH": said[4:]}):
        async with Scripted(extensions=("AUTH PLAIN",), says=says) as server:
            channel = Desk(user=USER).channel(server.port)
            answer = await channel.send(PARCEL)
            assert not isinstance(answer, Accepted)
            seen = f"{answer!r} {channel!r} {channel._account!r} {caplog.text}"
            assert PASSWORD[:8] not in seen


# What the server says -----------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["MAIL", "RCPT", "DATA", "."])
@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("421", SendRetry),
        ("450", SendRetry),
        ("451", SendRetry),
        ("452", SendRetry),
        ("550", Refused),
        ("554", Refused),
    ],
)
async def test_a_refusal_at_any_stage_is_told_apart_and_nothing_is_sent(
    at: str, code: str, answer: type[Answer]
) -> None:
    async with Scripted(says={at: f"{code} because\x07 of\tthis"}) as server:
        found = await sent(server.port)

        assert type(found) is answer
        assert isinstance(found, SendRetry | Refused)
        assert f"({code} because of this)" in found.why
        assert server.dots == (at == ".")
        assert len([line for line in server.heard if line.startswith("MAIL")]) == 1


@for_each(
    ("says", "answer", "dots"),
    [
        ({"greeting": "554 no service"}, SendRetry, 0),
        ({"greeting": "421 too many"}, SendRetry, 0),
        ({"greeting": "HTTP/1.1 400 Bad Request"}, SendRetry, 0),
        ({"EHLO": "502 what", "HELO": "502 what"}, SendRetry, 0),
        ({"DATA": "250 what"}, SendRetry, 0),
        ({".": "354 what"}, Unknown, 1),
        ({".": "999 what"}, Unknown, 1),
        ({".": "yes"}, Unknown, 1),
        ({".": "250-yes\r\n250 queued"}, Accepted, 1),
        ({".": "251 yes"}, Accepted, 1),
        ({".": "250 " + "x" * 40_000}, Unknown, 1),
    ],
)
async def test_what_is_neither_yes_nor_no_is_a_doubt_only_after_the_last_dot(
    says: dict[str, str], answer: type[Answer], dots: int
) -> None:
    greeting = says.pop("greeting", "220 script")
    async with Scripted(greeting, says=says) as server:
        assert type(await sent(server.port)) is answer
        assert server.dots == dots


@for_each(
    "says", [{"RCPT": "250 OK\r\n354 go on\r\n250 taken"}, {"DATA": "354 go on\r\n250 taken"}]
)
async def test_a_yes_that_was_said_before_the_letter_was_given_does_not_count(
    says: dict[str, str],
) -> None:
    async with Scripted(says={**says, ".": "554 no"}) as server:
        assert isinstance(await sent(server.port), SendRetry)
        assert server.dots == 0


async def test_a_server_that_is_not_there_is_tried_again_later() -> None:
    async with PostOffice() as office:
        port = office.port
    assert isinstance(await sent(port), SendRetry)
    answer = await Desk(Security.TLS).channel(465, "nowhere.invalid").send(PARCEL)
    assert isinstance(answer, SendRetry)


# The line breaks ----------------------------------------------------------------------------------


async def _whole() -> tuple[int, bytes]:
    """How many bytes a good exchange sends, and what the server says in it."""
    async with PostOffice() as office, Proxy(office.port) as proxy:
        assert isinstance(await sent(proxy.port), Accepted)
        return proxy.up, bytes(proxy.said)


async def test_a_line_cut_on_the_way_up_never_leaves_a_letter_that_was_said_not_to() -> None:
    up, _ = await _whole()
    end = up - len(b"QUIT\r\n")  # of the letter
    points = {*range(0, end, 61), *range(end - 6, end)}
    doubts = 0
    for n in sorted(points):
        async with PostOffice() as office, Proxy(office.port, Fault(up=n)) as proxy:
            answer = await sent(proxy.port)
            await office.quiet()

            assert isinstance(answer, SendRetry | Unknown), (n, answer)
            assert office.accepted == [], n
            assert proxy.connections == 1
            doubts += isinstance(answer, Unknown)
    assert 0 < doubts < len(points)


async def test_a_line_cut_on_the_way_down_is_a_doubt_exactly_after_the_letter_was_given() -> None:
    _, said = await _whole()
    go_on, taken = said.index(b"354"), said.index(b"250 2.0.0")
    begun, told = said.index(b"\n", go_on) + 1, said.index(b"\n", taken) + 1
    for n in sorted({*range(0, begun, 17), begun - 1, *range(begun + 1, told + 1), told}):
        async with PostOffice() as office, Proxy(office.port, Fault(down=n)) as proxy:
            answer = await sent(proxy.port)
            await office.quiet()

            if n < begun:
                assert isinstance(answer, SendRetry), (n, answer)
            elif n < told:
                assert isinstance(answer, Unknown), (n, answer)
            else:
                assert isinstance(answer, Accepted), (n, answer)
            assert len(office.accepted) == (n > begun), n
            assert proxy.connections == 1


async def test_a_line_that_falls_silent_is_given_up_and_told_apart() -> None:
    up, said = await _whole()
    go_on, taken = said.index(b"354"), said.index(b"250 2.0.0")

    async def falls_silent(fault: Fault, answer: type[Answer], accepted: int) -> None:
        async with PostOffice() as office, Proxy(office.port, fault) as proxy:
            found = await sent(proxy.port, Desk(patience=SHORT))

            assert type(found) is answer, fault
            assert len(office.accepted) == accepted, fault

    await asyncio.gather(
        falls_silent(Fault(down=0, how=Cut.SILENCE), SendRetry, 0),
        falls_silent(Fault(down=go_on, how=Cut.SILENCE), SendRetry, 0),
        falls_silent(Fault(up=40, how=Cut.SILENCE), SendRetry, 0),
        falls_silent(Fault(up=up - 40, how=Cut.SILENCE), Unknown, 0),
        falls_silent(Fault(down=taken + 2, how=Cut.SILENCE), Unknown, 1),
    )


class Narrow(EmailChannel):
    """The same over a line that holds little, so that most of a letter waits for its turn."""

    def _smtp(self) -> SMTP:
        plug = socket.socket()
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        plug.connect((HOST, self._account.port))
        return SMTP(sock=plug, timeout=None, start_tls=False, local_hostname="example.test")


async def test_a_letter_that_never_left_us_whole_is_no_doubt() -> None:
    long = Parcel("dlv-1", "hanan@example.test", "\U0001f333 " * 50_000)
    for how in Cut:
        fault = Fault(up=4000, how=how)
        async with PostOffice(largest=10_000_000) as office, Proxy(office.port, fault) as proxy:
            proxy.narrow()
            account = SmtpAccount(HOST, proxy.port, Security.NONE)
            answer = await Narrow(account, NINA, FrozenClock(), patience=SHORT).send(long)

            assert isinstance(answer, SendRetry), how
            assert office.accepted == []
    async with PostOffice(largest=10_000_000) as office:
        account = SmtpAccount(HOST, office.port, Security.NONE)
        assert isinstance(await Narrow(account, NINA, FrozenClock()).send(long), Accepted)


async def test_a_slow_line_is_as_good_as_a_fast_one() -> None:
    for fault in (Fault(drip=True), Fault(delay=0.01)):
        async with PostOffice() as office, Proxy(office.port, fault) as proxy:
            assert isinstance(await sent(proxy.port), Accepted)
            assert len(office.accepted) == 1


async def test_a_private_line_that_is_cut_is_told_apart_as_well(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    desk = Desk(Security.STARTTLS, USER, ca_file=authority.file)
    async with PostOffice(starttls=authority.server(), login=True) as office:
        async with Proxy(office.port) as good:
            assert isinstance(await sent(good.port, desk), Accepted)
        office.accepted.clear()
        for n in range(0, good.down, max(good.down // 40, 1)):
            async with Proxy(office.port, Fault(down=n)) as proxy:
                answer = await sent(proxy.port, desk)
            await office.quiet()

            if not isinstance(answer, Unknown):
                assert len(office.accepted) == isinstance(answer, Accepted), (n, answer)
            office.accepted.clear()


async def test_a_send_that_is_called_off_leaves_no_second_letter_and_no_open_line() -> None:
    async with PostOffice() as office, Proxy(office.port, Fault(down=0, how=Cut.SILENCE)) as proxy:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT):
                await sent(proxy.port)

        assert (proxy.connections, office.accepted) == (1, [])
