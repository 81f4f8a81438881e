"""The mailbox: a doubt is settled by what is found there, and by nothing that is not."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.channels.mail import letter, mailbox
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.imap import ImapClient
from remit.channels.mail.letter import MailContent, MailSender
from remit.channels.mail.letter_head import address
from remit.channels.mail.mailbox import (
    BouncedMail,
    Mailbox,
    ReturnedMail,
    SentFolderMark,
    SentFolderPolicy,
)
from remit.channels.mail.sending import EmailChannel
from remit.errors import BadInput
from remit.model.delivery import Accepted, Parcel, Refused, SendRetry, Unknown
from remit.model.ids import DeliveryId
from remit.testing import START, FrozenClock, SleepyClock
from tests.channels.mail.mail import PASSWORD, SERVERS, USER, Authority, Box, Scripted, box
from tests.live.loopback import HOST
from tests.live.proxy import Cut, Fault, Proxy
from tests.tables import for_each

DOMAIN: Final = "example.test"
NINA: Final = MailSender(address(USER, "Nina"))
ID: Final = "<dlv-01JZ@example.test>"
OLD: Final = timedelta(hours=1)
AUTHORITATIVE: Final = SentFolderPolicy(("Sent",), authoritative_after=timedelta(minutes=30))


@pytest.fixture(scope="module", params=SERVERS)
def plain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Box]:
    with box(None, tmp_path_factory.mktemp("imap"), request.param) as found:
        found.make("Sent")
        yield found


def opened(
    port: int,
    filing: SentFolderPolicy | None = None,
    *,
    password: str = PASSWORD,
    security: Security = Security.NONE,
    ca_file: Path | None = None,
    patience: float = 100.0,
) -> Mailbox:
    account = SmtpAccount(HOST, port, security, USER, lambda: password, ca_file)
    return Mailbox(account, DOMAIN, filing, patience=patience)


def asking(port: int, filing: SentFolderPolicy | None = None) -> EmailChannel:
    """A channel that sends nothing, and can look into the mailbox."""
    account = SmtpAccount(HOST, port, Security.NONE)
    return EmailChannel(account, NINA, FrozenClock(), mailbox=opened(port, filing))


def written(key: str) -> bytes:
    return letter.compose(MailContent(key, address("hanan@example.test"), "Hi."), NINA, START).wire


# Is it among the sent ones ------------------------------------------------------------------------


async def test_a_doubt_is_settled_by_the_letter_that_came_back(plain: Box) -> None:
    channel = asking(plain.port)
    parcel = Parcel("dlv-BACK", "hanan@example.test", "Hi.")
    back = report(original="<dlv-BACK@example.test>", status="4.4.7")

    await asyncio.to_thread(plain.put, "INBOX", back)
    assert await channel.find(parcel) is None  # it may yet arrive
    await asyncio.to_thread(plain.put, "INBOX", back.replace(b"4.4.7", b"5.1.1"))
    assert await channel.find(parcel) == BOUNCED.answer


async def test_a_letter_that_came_back_settles_nothing_if_two_may_be_out(plain: Box) -> None:
    channel = asking(plain.port)
    parcel = Parcel("dlv-TWICE", "hanan@example.test", "Hi.", attempt=2, alone=False)
    back = report(original="<dlv-TWICE@example.test>")
    await asyncio.to_thread(plain.put, "INBOX", back)

    assert await channel.find(parcel) is None
    assert isinstance(await channel.find(replace(parcel, alone=True)), Refused)
    await asyncio.to_thread(plain.put, "Sent", written("dlv-TWICE"))
    assert isinstance(await channel.find(parcel), Accepted), "one of them left, and is filed"


async def test_a_server_that_files_each_letter_says_that_one_never_left(plain: Box) -> None:
    channel = asking(plain.port, AUTHORITATIVE)
    without = EmailChannel(SmtpAccount(HOST, plain.port, Security.NONE), NINA, FrozenClock())
    early = Parcel("dlv-NEVER", "hanan@example.test", "Hi.", sent_at=START)
    late = replace(early, key="dlv-LATE", sent_at=START - OLD)

    assert AUTHORITATIVE.authoritative_after is not None
    assert channel.grace == AUTHORITATIVE.authoritative_after.total_seconds()
    assert without.grace == 0, "nobody could see what became"
    assert await without.find(late) is None
    assert await channel.find(early) is None, "it may be filed still"
    assert isinstance(await channel.find(late), SendRetry)
    assert await asking(plain.port).find(late) is None


@pytest.mark.parametrize("answer", ["lost by us", "lost by a process before"])
async def test_a_clock_that_is_set_ahead_proves_no_letter_unsent(plain: Box, answer: str) -> None:
    """Otherwise a letter that is filed a moment later would be sent once more."""
    clock = SleepyClock()
    parcel = Parcel("dlv-AHEAD", "hanan@example.test", "Hi.", sent_at=START)
    async with Scripted(says={".": "999 what"}) as server:
        account = SmtpAccount(HOST, server.port, Security.NONE)
        channel = EmailChannel(account, NINA, clock, mailbox=opened(plain.port, AUTHORITATIVE))
        if answer == "lost by us":
            assert isinstance(await channel.send(parcel), Unknown)
        else:
            assert await channel.find(parcel) is None
    await asyncio.sleep(0)
    clock.suspend(OLD)  # it is an hour later now, and nobody has waited
    assert await channel.find(parcel) is None
    clock.advance(timedelta(minutes=30))
    await asyncio.sleep(0)
    assert isinstance(await channel.find(parcel), SendRetry)
    await channel.close()


async def test_only_the_very_id_counts_and_not_one_that_contains_it(plain: Box) -> None:
    await asyncio.to_thread(plain.put, "Sent", written("dlv-LONGER"))
    found = opened(plain.port)

    assert await found.lookup("<dlv-LONGER@example.test>", OLD) == Accepted(
        "<dlv-LONGER@example.test>"
    )
    for like in ("<dlv-LONG@example.test>", "<LONGER@example.test>", "<dlv-LONGER@example>"):
        assert isinstance(await found.lookup(like, OLD), Unknown)


async def test_a_letter_that_is_not_there_proves_nothing_unless_the_operator_says_so(
    plain: Box,
) -> None:
    absent = "<dlv-ABSENT@example.test>"

    assert isinstance(await opened(plain.port).lookup(absent, OLD), Unknown)
    sure = opened(plain.port, AUTHORITATIVE)
    assert isinstance(await sure.lookup(absent, timedelta(minutes=29)), Unknown)
    assert isinstance(await sure.lookup(absent, timedelta(minutes=30)), SendRetry)
    with pytest.raises(BadInput, match="may be filed late"):
        SentFolderPolicy(authoritative_after=timedelta(minutes=1))


async def test_a_folder_that_is_not_there_is_no_proof(plain: Box) -> None:
    filing = SentFolderPolicy(("Nowhere",), authoritative_after=timedelta(minutes=30))
    assert isinstance(await opened(plain.port, filing).lookup(ID, OLD), Unknown)


async def test_no_failure_of_the_mailbox_says_a_thing_about_the_letter(plain: Box) -> None:
    for fault in (Fault(down=0), Fault(down=30), Fault(up=30), Fault(down=0, how=Cut.SILENCE)):
        async with Proxy(plain.port, fault) as proxy:
            found = opened(proxy.port, AUTHORITATIVE, patience=1.0)
            assert isinstance(await found.lookup(ID, OLD), Unknown), fault
            assert isinstance(await found.bounces(None), Unknown), fault
    async with Scripted("* OK hello", says={}) as server:
        found = opened(server.port, AUTHORITATIVE, patience=1.0)
        assert isinstance(await found.lookup(ID, OLD), Unknown)


async def test_a_wrong_password_is_a_doubt_and_is_seen_nowhere(
    plain: Box, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for password in ("wrong-canary-1234", PASSWORD):
        found = opened(plain.port, password=password)
        answer = await found.lookup("<dlv-NONE@example.test>", OLD)

        assert isinstance(answer, Unknown)
        assert password not in f"{answer!r} {found._box.account!r} {caplog.text}"
    assert isinstance(await opened(plain.port, password="").lookup(ID, OLD), Unknown)
    with pytest.raises(BadInput, match="needs a user"):
        Mailbox(SmtpAccount(HOST, 143, Security.NONE), DOMAIN)


async def test_a_mailbox_is_opened_over_a_private_line_alone(plain: Box, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    stranger = Authority(other)
    with box(authority, tmp_path) as found:
        found.make("Sent")
        found.put("Sent", written("dlv-PRIVATE"))
        message_id = "<dlv-PRIVATE@example.test>"
        for security, port in ((Security.STARTTLS, found.port), (Security.TLS, None)):
            async with Proxy(plain.port, tls=authority.server()) as proxy:
                good = opened(port or proxy.port, security=security, ca_file=authority.file)
                bad = opened(port or proxy.port, security=security, ca_file=stranger.file)
                if security is Security.TLS:
                    await asyncio.to_thread(plain.put, "Sent", written("dlv-PRIVATE"))

                assert await good.lookup(message_id, OLD) == Accepted(message_id)
                refused = await bad.lookup(message_id, OLD)
                assert isinstance(refused, Unknown)
                assert "certificate not trusted" in refused.why
    # One that offers no STARTTLS is told no password.
    assert isinstance(
        await opened(plain.port, security=Security.STARTTLS, ca_file=authority.file).lookup(
            ID, OLD
        ),
        Unknown,
    )


# What came back -----------------------------------------------------------------------------------


def report(
    *,
    original: str = ID,
    action: str = "failed",
    envelope: str = "",
    kind: str = "message/rfc822",
    status: str = "5.1.1",
) -> bytes:
    """A report as a server writes it."""
    head = f"Message-ID: {original}\r\nSubject: Parks\r\n"
    return (
        "Return-Path: <>\r\n"
        "From: Mail Delivery System <MAILER-DAEMON@office.example.test>\r\n"
        "To: nina@example.test\r\nSubject: Undelivered Mail\r\nAuto-Submitted: auto-replied\r\n"
        "Message-ID: <report@office.example.test>\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n\r\n"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\n"
        f"Reporting-MTA: dns; office.example.test\r\n{envelope}\r\n"
        f"Final-Recipient: rfc822; hanan@example.test\r\nAction: {action}\r\n"
        f"Status: {status}\r\nDiagnostic-Code: smtp; 550 no\x07 such user\r\n\r\n"
        f"--b\r\nContent-Type: {kind}\r\n\r\n{head}\r\n\r\n--b--\r\n"
    ).encode()


BOUNCED: Final = BouncedMail(DeliveryId("dlv-01JZ"), "5.1.1 550 no such user", "hanan@example.test")


@for_each(
    ("raw", "found"),
    [
        (report(), BOUNCED),
        (report(kind="text/rfc822-headers"), BOUNCED),
        (
            report(original="<else@where.test>", envelope="Original-Envelope-Id: dlv-01JZ\r\n"),
            BOUNCED,
        ),
        (
            report(original="<x@y.test>").replace(
                b"Return-Path", b"In-Reply-To: " + ID.encode() + b"\r\nX"
            ),
            BOUNCED,
        ),
        (
            report(status="4.4.7"),
            replace(BOUNCED, why="4.4.7 550 no such user", for_good=False),
        ),
        (b"", None),
        (report(action="delayed"), None),
        (report(action="delivered"), None),
        (report(original="<dlv-01JZ@other.test>"), None),
        (report(original="<dlv 01JZ@example.test>"), None),
        (report().replace(b"multipart/report", b"multipart/mixed"), None),
        (report().replace(b"message/delivery-status", b"text/plain"), None),
        (report().replace(b"=delivery-status", b"=disposition-notification"), None),
        (written("dlv-01JZ"), None),
    ],
)
def test_a_letter_that_came_back_is_known_by_its_id_or_its_envelope_and_nothing_else_is(
    raw: bytes, found: BouncedMail | None
) -> None:
    assert mailbox.read_bounce(raw, DOMAIN) == found
    assert BOUNCED.answer == Refused("The letter came back: 5.1.1 550 no such user.")


@given(raw=st.binary(max_size=300), cut=st.integers(0, 900), at=st.integers(0, 900))
def test_no_mail_is_so_broken_that_it_breaks_the_reader(raw: bytes, cut: int, at: int) -> None:
    whole = report()
    mailbox.read_bounce(raw, DOMAIN)
    found = mailbox.read_bounce(whole[:at] + raw + whole[cut:], DOMAIN)
    assert found is None or found.why.isprintable()


def test_a_mail_without_bottom_reports_nothing() -> None:
    nest = b"Content-Type: message/rfc822\r\n\r\n" * 3000
    assert mailbox.read_bounce(report().replace(b"Sorry.", nest), DOMAIN) in (None, BOUNCED)
    assert mailbox.read_bounce(nest, DOMAIN) is None


async def test_what_came_back_is_read_once_and_in_its_order(plain: Box) -> None:
    found = opened(plain.port)
    first = await found.bounces(None)
    assert isinstance(first, ReturnedMail)
    for mail in (written("dlv-MINE"), report(), report(action="delayed")):
        await asyncio.to_thread(plain.put, "INBOX", mail)

    second = await found.bounces(first.mark)
    assert isinstance(second, ReturnedMail)
    assert second.bounces == (BOUNCED,)
    assert not second.more
    third = await found.bounces(second.mark)
    assert third == ReturnedMail((), second.mark)
    # An inbox that was numbered anew is read anew: better twice than never.
    other = await found.bounces(SentFolderMark(second.mark.validity + 1, second.mark.uid))
    assert isinstance(other, ReturnedMail)
    assert BOUNCED in other.bounces


class Star:
    """A server that, as the protocol has it, counts its last mail to every range up to the end."""

    asked: str = ""

    def select_folder(self, _: str, readonly: bool = False) -> dict[bytes, object]:
        assert readonly
        return {b"UIDVALIDITY": 7}

    def search(self, criteria: Sequence[str]) -> list[int]:
        self.asked = criteria[-1]
        return [12]


def test_the_last_mail_is_not_read_again_though_every_range_matches_it() -> None:
    star = Star()
    found = mailbox._read_returned_mail(
        cast(ImapClient, star), "INBOX", SentFolderMark(7, 12), DOMAIN
    )

    assert star.asked == "13:*"
    assert found == ReturnedMail((), SentFolderMark(7, 12))


async def test_a_full_inbox_is_read_in_bounded_pieces(
    plain: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_MAX_READ", 2)
    found = opened(plain.port)
    start = await found.bounces(None)
    assert isinstance(start, ReturnedMail)
    keys = [f"dlv-{n}" for n in range(5)]
    for key in keys:
        await asyncio.to_thread(plain.put, "INBOX", report(original=f"<{key}@example.test>"))

    assert await _all(found, start.mark) == keys
    # Of an inbox that was empty nothing is skipped either, however much came at once.
    assert (await _all(found, SentFolderMark(start.mark.validity, 0)))[-5:] == keys


async def _all(found: Mailbox, mark: SentFolderMark) -> list[str]:
    seen: list[str] = []
    more = True
    while more:
        piece = await found.bounces(mark)
        assert isinstance(piece, ReturnedMail)
        assert len(piece.bounces) <= 2
        seen += [each.delivery_id for each in piece.bounces]
        mark, more = piece.mark, piece.more
    return seen
