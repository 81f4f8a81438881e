"""Letters in a row go over one line; one that broke meanwhile is no doubt and no lost letter."""

import asyncio
from typing import Final

from remit.channels.mail import account as mail_account
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailSender
from remit.channels.mail.letter_head import address
from remit.channels.mail.sending import EmailChannel
from remit.model.delivery import Accepted, Parcel, Refused, SendRetry, Unknown
from remit.testing import FrozenClock
from tests.channels.mail.mail import PASSWORD, USER, PostOffice, Scripted
from tests.live.loopback import HOST
from tests.live.proxy import Fault, Proxy

NINA: Final = MailSender(address(USER, "Nina"))


def channel(port: int, idle: float = 60.0) -> EmailChannel:
    return EmailChannel(SmtpAccount(HOST, port, Security.NONE), NINA, FrozenClock(), idle=idle)


def letter(n: int) -> Parcel:
    return Parcel(f"dlv-{n}", "hanan@example.test", f"Letter {n}.")


async def test_letters_in_a_row_go_over_one_line_each_as_it_is() -> None:
    async with PostOffice() as office, Proxy(office.port) as proxy:
        post = channel(proxy.port)
        answers = [await post.send(letter(n)) for n in range(5)]
        await post.close()
        await office.quiet()

    assert answers == [Accepted(f"<dlv-{n}@example.test>") for n in range(5)]
    assert [str(mail.parsed["Message-ID"]) for mail in office.accepted] == [
        f"<dlv-{n}@example.test>" for n in range(5)
    ]
    assert [mail.to for mail in office.accepted] == [("hanan@example.test",)] * 5
    assert proxy.connections == 1


async def test_letters_at_the_same_time_have_a_line_each_and_few_are_kept() -> None:
    many = mail_account.MAX_IDLE_CONNECTIONS + 4
    async with PostOffice() as office, Proxy(office.port) as proxy:
        post = channel(proxy.port)
        answers = await asyncio.gather(*(post.send(letter(n)) for n in range(many)))
        assert all(isinstance(answer, Accepted) for answer in answers)
        assert len(post._connections._idle_ones) <= mail_account.MAX_IDLE_CONNECTIONS
        await post.close()
        await office.quiet()

    assert len(office.accepted) == many


async def test_a_line_that_broke_meanwhile_is_replaced_and_nothing_is_in_doubt() -> None:
    async with PostOffice() as office:
        async with Proxy(office.port) as proxy:
            post = channel(proxy.port)
            assert isinstance(await post.send(letter(1)), Accepted)
            for said in (b"", b"421 4.4.2 Timeout\r\n"):
                for desk in tuple(office._open):
                    assert isinstance(desk.transport, asyncio.WriteTransport)
                    desk.transport.write(said)
                    desk.transport.close()
                await office.quiet()
                assert isinstance(await post.send(letter(2)), Accepted)
            await post.close()
        assert proxy.connections == 3

    assert len(office.accepted) == 3, "each letter once"


async def test_a_server_that_hangs_up_at_the_next_letter_is_called_again() -> None:
    async with PostOffice() as office:
        post = channel(office.port)
        assert isinstance(await post.send(letter(1)), Accepted)
        office.says["MAIL"] = "421 4.7.0 Too many letters"
        answer = await post.send(letter(2))
        assert isinstance(answer, SendRetry), (
            "a new line is hung up as well, and then it is put off"
        )
        del office.says["MAIL"]
        assert isinstance(await post.send(letter(2)), Accepted)
        await post.close()

    assert len(office.accepted) == 2


async def test_a_no_on_a_kept_line_is_a_no_and_is_asked_once() -> None:
    async with PostOffice() as office, Proxy(office.port) as proxy:
        post = channel(proxy.port)
        await post.send(letter(1))
        office.says["MAIL"] = "550 5.7.1 Not from you"
        answer = await post.send(letter(2))
        await post.close()

    assert isinstance(answer, Refused)
    assert proxy.connections == 1


async def test_a_cut_on_a_kept_line_is_a_doubt_only_after_the_letter_was_given() -> None:
    """At every byte of what the server says to the second letter."""
    async with PostOffice() as office, Proxy(office.port) as good:
        post = channel(good.port)
        await post.send(letter(1))
        first = good.down
        await post.send(letter(2))
        said = bytes(good.said)[first:]
        await post.close()
    begun = said.index(b"\n", said.index(b"354")) + 1
    # At the very end of the go-on the letter may be given yet, or not: both are true.
    for n in (each for each in range(1, len(said)) if each != begun):
        async with PostOffice() as office, Proxy(office.port) as proxy:
            post = channel(proxy.port)
            await post.send(letter(1))
            proxy.fault = Fault(down=proxy.down + n)
            answer = await post.send(letter(2))
            await post.close()
            kind = SendRetry if n < begun else Unknown
            assert type(answer) is kind, (n, answer)
            assert len(office.accepted) == 1 + (n > begun), n


async def test_a_renewed_password_opens_a_line_of_its_own() -> None:
    held = [PASSWORD]
    async with Scripted(extensions=("AUTH PLAIN",)) as server:
        account = SmtpAccount(HOST, server.port, Security.NONE, USER, lambda: held[0])
        post = EmailChannel(account, NINA, FrozenClock())
        for password in (PASSWORD, PASSWORD, "renewed-Pass-2!"):
            held[0] = password
            assert isinstance(await post.send(letter(1)), Accepted)
        await post.close()

    assert len([line for line in server.heard if line.startswith("AUTH")]) == 2


async def test_a_line_is_left_when_nobody_uses_it_or_it_has_carried_enough() -> None:
    async with PostOffice() as office:
        post = channel(office.port, idle=0.01)
        await post.send(letter(1))
        await office.quiet()
        await post.close()
    async with PostOffice() as office, Proxy(office.port) as proxy:
        post = channel(proxy.port)
        for n in range(mail_account.MAX_LETTERS_PER_CONNECTION + 1):
            assert isinstance(await post.send(letter(n)), Accepted)
        await post.close()

    assert proxy.connections == 2
