"""Access tokens: renewed ahead, once at a time, written before use; an ended sign-in locks."""

import asyncio
import logging
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.channels.oauth import MAIL, client_of, tokens
from remit.channels.oauth.tokens import SignInEnded, TokenSource, parse_sign_in
from remit.errors import BadInput, Transient
from remit.settings.channels import OAuthSettings
from remit.system.background import Background, LoopState
from remit.testing import FrozenClock
from tests import forks
from tests.channels.oauth import renew_worker
from tests.channels.oauth.identity_server import IdentityServer
from tests.channels.oauth.signed_in import NAME, SignedIn
from tests.engine.lives import environ

TODO = "remit channels connect gmail"


class Account(SignedIn):
    """A sign-in in a home of its own."""

    def source(self) -> TokenSource:
        client = client_of(self.oauth, MAIL, self.kept.get)
        return TokenSource(client, self.kept, NAME, now=self.clock.now, keys=self.keys, todo=TODO)

    @property
    def stored(self) -> tokens.StoredSignIn:
        found = parse_sign_in(self.kept.get(NAME))
        assert found is not None
        return found


async def test_a_token_is_renewed_five_minutes_before_its_end_and_not_sooner(
    tmp_path: Path,
) -> None:
    async with IdentityServer() as server:
        account = Account(tmp_path, server)
        source, first = account.source(), account.stored
        account.clock.advance(timedelta(minutes=54))
        assert await asyncio.to_thread(source) == first.access
        assert server.asked == []
        account.clock.advance(timedelta(minutes=2))
        second = await asyncio.to_thread(source)
        assert second != first.access
        assert account.stored.access == second
        assert account.stored.refresh not in (first.refresh, ""), "the new one is stored"
        assert server.asks("/token")[0]["refresh_token"] == first.refresh


async def test_many_who_need_a_token_renew_it_once(tmp_path: Path) -> None:
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=1)
        sources = [account.source() for _ in range(8)]
        found = await asyncio.gather(*(asyncio.to_thread(each) for each in sources))
        assert len(set(found)) == 1
        assert len(server.asked) == 1


async def test_two_processes_that_need_a_token_at_once_renew_it_once(tmp_path: Path) -> None:
    """A provider that takes each refresh token once would answer the second that it is over."""
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=1)
        account.kept.put("t", account.kept.get(NAME))
        server.gate = asyncio.Event()
        words = ("-m", renew_worker.__name__, str(tmp_path), f"{server.root}/token")
        workers = [forks.start(*words, env=environ(), stdout=subprocess.PIPE) for _ in range(3)]
        for each in workers:
            assert each.stdout is not None
            assert await asyncio.to_thread(each.stdout.readline) == "begins\n"
        await server.waits.wait()
        server.gate.set()
        ends = await asyncio.gather(*(asyncio.to_thread(each.communicate) for each in workers))
        (token,) = {out for out, _ in ends}

    assert token.strip() in server.access
    assert len(server.asked) == 1


async def test_a_refused_token_is_renewed_unless_somebody_did_so_already(tmp_path: Path) -> None:
    async with IdentityServer(rotates=False) as server:
        account = Account(tmp_path, server)
        source, first = account.source(), account.stored
        second = await asyncio.to_thread(source.renew, first.access)
        assert second != first.access
        assert account.stored.refresh == first.refresh, "Google keeps the refresh token"
        assert await asyncio.to_thread(source.renew, first.access) == second
        assert len(server.asked) == 1


async def test_the_new_refresh_token_is_stored_before_the_access_token_is_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash at the write: the old one is still stored, and the owner is asked at the worst."""
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=1)
        before = account.stored

        def broken(*_: object) -> str:
            raise OSError("no space left")

        with monkeypatch.context() as patch:
            patch.setattr(account.kept, "change", broken)
            with pytest.raises(OSError, match="no space"):
                await asyncio.to_thread(account.source())
        assert account.stored == before
        with pytest.raises(SignInEnded, match="Run `remit channels connect gmail`"):
            await asyncio.to_thread(account.source())


async def test_an_ended_sign_in_is_asked_about_once_and_counts_again_after_a_new_one(
    tmp_path: Path,
) -> None:
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=1)
        server.refresh.clear()  # the owner revoked it
        for _ in range(3):
            with pytest.raises(SignInEnded, match="no longer accepts the sign-in"):
                await asyncio.to_thread(account.source())
        assert len(server.asked) == 1
        assert account.stored.ended
        again = account.sign_in(server)
        assert await asyncio.to_thread(account.source()) == again.access


async def test_a_sign_in_of_the_owner_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=1)
        server.gate = asyncio.Event()
        waiting = asyncio.create_task(asyncio.to_thread(account.source()))
        await server.waits.wait()
        again = account.sign_in(server)
        server.gate.set()
        assert await waiting == again.access
        assert account.stored.refresh == again.refresh


ANSWERS: Final[dict[str, tuple[int, dict[str, object], type[Exception]]]] = {
    "a busy provider": (503, {}, Transient),
    "a flood": (429, {"error": "slow_down"}, Transient),
    "no token": (200, {"token_type": "Bearer"}, Transient),
    "a line end": (200, {"token_type": "Bearer", "access_token": "a\r\nX: y"}, Transient),
    "another kind of token": (200, {"token_type": "mac", "access_token": "abc"}, Transient),
    "a page": (400, {}, Transient),
    "an unknown client": (401, {"error": "invalid_client"}, SignInEnded),
    "an ended sign-in": (400, {"error": "invalid_grant"}, SignInEnded),
    "a consent that is missing": (400, {"error": "interaction_required"}, SignInEnded),
}


async def test_what_a_token_endpoint_answers_is_an_honest_outcome(tmp_path: Path) -> None:
    async with IdentityServer() as server:
        for what, (status, body, error) in ANSWERS.items():
            server.says["/token"] = [(status, {**body, "error_description": "canary-words"})]
            account = Account(tmp_path, server, life=1)
            account.clock.advance(timedelta(seconds=2))
            with pytest.raises(error) as caught:
                await asyncio.to_thread(account.source())
            assert "canary" not in str(caught.value), what


async def test_while_the_provider_is_away_a_token_is_used_to_its_end(tmp_path: Path) -> None:
    async with IdentityServer() as server:
        account = Account(tmp_path, server, life=60)
        server.says["/token"] = [(503, {}), (503, {})]
        assert await asyncio.to_thread(account.source()) == account.stored.access
        account.clock.advance(timedelta(minutes=2))
        with pytest.raises(Transient):
            await asyncio.to_thread(account.source())


async def test_no_token_is_in_a_log_and_old_ones_are_not_kept_for_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with IdentityServer() as server:
        account = Account(tmp_path, server)
        source = account.source()
        hide = account.kept.hide
        seen = [await asyncio.to_thread(source)]
        for _ in range(4):
            seen.append(await asyncio.to_thread(source.renew, seen[-1]))
        assert seen[-1] not in hide(f"it said {seen[-1]}")
        assert account.stored.refresh not in hide.known(account.stored.refresh)
        assert not set(seen[:2]) & account.keys.seen
        assert "canary" not in caplog.text
        assert "canary" not in repr(account.stored) + repr(source) + repr(account.keys)


async def test_a_running_remit_renews_by_itself_and_tells_of_an_end_once(tmp_path: Path) -> None:
    async with IdentityServer() as server:
        account, told = Account(tmp_path, server), list[str]()
        asleep = asyncio.Event()

        class Clock(FrozenClock):
            async def sleep(self, seconds: float) -> None:
                asleep.set()
                await super().sleep(seconds)

        account.clock = clock = Clock()

        async def report(state: LoopState) -> None:
            told.append(f"{state.name}: {state.error}")

        async def look(after: timedelta) -> None:
            asleep.clear()
            clock.advance(after)
            await asleep.wait()

        background = Background(clock.now, clock.sleep, report)
        tokens.SignInWatch([("gmail", account.source())], clock, background).start()
        await asleep.wait()
        before = account.stored
        await look(timedelta(minutes=56))
        assert account.stored.access != before.access
        server.refresh.clear()
        for _ in range(4):
            await look(timedelta(minutes=56))
        assert len(told) == 1
        assert told[0].startswith("sign-in gmail: SignInEnded: Google no longer accepts")
        assert "Run `remit channels connect gmail`" in told[0]
        await background.close()


def test_settings_that_cannot_work_are_named() -> None:
    good = OAuthSettings(provider="google", client_id="x", client_secret="y", token="t")
    wrong = {
        "provider": "yahoo",
        "client_id": " ",
        "client_secret": "",
        "token_url": "http://oauth.example.org/token",
        "authorize_url": "https://user:pass@example.org/",
    }
    for name, value in wrong.items():
        fields = {key: getattr(good, key) for key in good.__struct_fields__} | {name: value}
        with pytest.raises(BadInput, match=name):
            client_of(OAuthSettings(**fields), MAIL, lambda _: "")
    with pytest.raises(BadInput, match="for calendar it may be google"):
        client_of(OAuthSettings(provider="microsoft", client_id="x", token="t"), "calendar", str)
