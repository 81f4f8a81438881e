"""Mail with access tokens: SMTP by XOAUTH2, and the mailbox of a real Dovecot."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import imapclient  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace

from remit.channels import ChannelContext
from remit.channels.mail import EmailSettings
from remit.channels.mail.imap import ImapConnection, MailboxAccount
from remit.channels.mail.sending import EmailChannel, build, imap_account
from remit.channels.oauth.tokens import SignInEnded
from remit.model.delivery import Accepted, Answer, Locked, Parcel, SendRetry
from tests.channels.mail import dovecot
from tests.channels.mail.mail import Authority, PostOffice, _await_port
from tests.channels.oauth.identity_server import USER, IdentityServer
from tests.channels.oauth.signed_in import SignedIn
from tests.channels.oauth.token_office import SaslOffice, TokenOffice
from tests.live.loopback import HOST
from tests.ports import free_port

PARCEL = Parcel("del-01", "anna@example.test", "# Hello\n\nGood day.")


class Post(SignedIn):
    """A mail channel that is signed in at the provider."""

    def __init__(self, home: Path, server: IdentityServer, *, smtp: int = 9, imap: int = 9) -> None:
        super().__init__(home, server)
        if not (home / "authority.pem").exists():
            Authority(home)
        self.section = EmailSettings(
            host=HOST,
            port=smtp,
            ca_file=str(home / "authority.pem"),
            sender=USER,
            user=USER,
            oauth=self.oauth,
            imap_host=HOST,
            imap_port=imap,
            imap_security="none",
        )
        assert self.section.problem() == ""
        self.context = ChannelContext("gmail", self.keys, self.clock)

    @property
    def channel(self) -> EmailChannel:
        return build(self.section, self.context)

    @property
    def mailbox(self) -> ImapConnection:
        return ImapConnection(MailboxAccount(imap_account(self.section, self.context)))

    async def send(self) -> Answer:
        channel = self.channel
        try:
            return await channel.send(PARCEL)
        finally:
            await channel.close()


def _office(home: Path, knows: Callable[[str], bool]) -> TokenOffice:
    return TokenOffice(starttls=Authority(home).server(), knows=knows)


async def test_what_a_login_answers_is_certain_and_nothing_is_sent(tmp_path: Path) -> None:
    """Before any byte of the letter it is locked, or tried again; never in doubt."""
    async with IdentityServer() as server, _office(tmp_path, lambda _: False) as office:
        post = Post(tmp_path, server, smtp=office.port)
        refused = await post.send()
        assert isinstance(refused, Locked)
        assert "Run `remit channels connect gmail` and sign in as nina@example.test" in refused.why
        assert len(set(office.shown)) == 2, "the old token, and one new one"
        assert set(office.replies) == {b""}, "the reason of a refusal is answered by an empty line"
        server.refresh.clear()
        ended = await post.send()
        assert isinstance(ended, Locked)
        assert "no longer accepts the sign-in" in ended.why
        post.sign_in(server)
        server.says["/token"] = [(503, {})]
        assert isinstance(await post.send(), SendRetry)
        assert office.accepted == []
        assert "canary" not in refused.why + ended.why


async def test_a_server_without_the_mechanism_gets_no_token(tmp_path: Path) -> None:
    private = Authority(tmp_path).server()
    async with IdentityServer() as server, PostOffice(starttls=private, login=True) as office:
        answer = await Post(tmp_path, server, smtp=office.port).send()
        assert isinstance(answer, SendRetry)
        assert office.accepted == []


@contextmanager
def _dovecot(introspection: str, place: Path | None = None) -> Iterator[int]:
    port = free_port()
    with dovecot.started(port, "unused-password", None, introspection, place) as process:
        _await_port(port, process)
        yield port


async def test_a_letter_goes_out_by_a_token_that_dovecot_itself_has_checked(tmp_path: Path) -> None:
    """As behind Postfix: the bytes of the login are Dovecot's to judge."""
    async with IdentityServer() as server:
        place = Path(mkdtemp(prefix="mail-"))  # a short name, as a socket needs it
        private = Authority(tmp_path).server()
        with _dovecot(f"{server.root}/introspect", place):
            async with SaslOffice(starttls=private, sasl=place / "sasl") as office:
                post = Post(tmp_path, server, smtp=office.port)
                assert isinstance(await post.send(), Accepted)
                server.access.clear()  # refused, renewed once, and sent once
                assert isinstance(await post.send(), Accepted)
                assert office.verdicts == ["OK", "FAIL", "OK"]
                server.access.clear()
                server.refresh.clear()
                ended = await post.send()
                assert isinstance(ended, Locked)
                assert "remit channels connect gmail" in ended.why
                post.sign_in(server)
                post.section = replace(post.section, user="eve@example.test")
                assert isinstance(await post.send(), Locked), "the token of another"
                assert len(office.accepted) == 2
                assert set(office.verdicts[3:]) == {"FAIL"}


async def test_dovecot_opens_the_mailbox_for_an_access_token_and_for_no_other(
    tmp_path: Path,
) -> None:
    async with IdentityServer() as server:
        with _dovecot(f"{server.root}/introspect") as port:
            post = Post(tmp_path, server, imap=port)
            await asyncio.to_thread(_open, post.mailbox)
            assert server.asks("/token") == []
            server.access.clear()  # the first is refused, and renewed once
            await asyncio.to_thread(_open, post.mailbox)
            assert len(server.asks("/token")) == 1
            server.access.clear()
            server.refresh.clear()
            with pytest.raises(SignInEnded, match="remit channels connect gmail"):
                await asyncio.to_thread(_open, post.mailbox)
            post.sign_in(server)
            server.access.clear()
            server.life = 0
            server.says["/introspect"] = [(200, {"active": False})] * 4
            with pytest.raises(imapclient.exceptions.LoginError):
                await asyncio.to_thread(_open, post.mailbox)


def _open(mailbox: ImapConnection) -> None:
    try:
        mailbox.open()
        mailbox.client.select_folder("INBOX", readonly=True)
    finally:
        mailbox.close()
