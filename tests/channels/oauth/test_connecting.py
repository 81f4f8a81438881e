"""Signing in: the redirect to this machine, the device code, and who tries to get between."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

import httpx2
import pytest

from remit.channels.oauth import MAIL, OAuthClient, client_of, connecting
from remit.channels.oauth.connecting import LoopbackRedirect, SignInAttempt
from remit.channels.oauth.tokens import DeviceCode, TokenGrant
from remit.errors import BadInput
from remit.settings.channels import OAuthSettings
from remit.testing import START
from tests.channels.oauth.identity_server import (
    CLIENT,
    SECRET,
    USER,
    USER_CODE,
    IdentityServer,
    query,
)
from tests.tables import for_each

CALLBACK: Final = "http://127.0.0.1:7316/oauth/callback"


def client(server: IdentityServer, provider: str = "google") -> OAuthClient:
    settings = OAuthSettings(
        provider=provider,
        client_id=CLIENT,
        client_secret="client" if server.secret else "",
        token="t",
        authorize_url=f"{server.root}/authorize",
        token_url=f"{server.root}/token",
        device_url=f"{server.root}/devicecode" if provider == "microsoft" else "",
    )
    return client_of(settings, MAIL, lambda _: SECRET)


def attempt(server: IdentityServer, key: str = "sig-1", redirect: str = CALLBACK) -> SignInAttempt:
    whose = client(server)
    return connecting.begin(whose, "gmail", redirect, user=USER, key=key, now=START)


async def consent(url: str) -> str:
    """The owner signs in at the provider; return where that sends the browser."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        return str((await browser.get(url)).headers["location"])


async def get(url: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as browser:
        return await browser.get(url, headers=headers)


async def test_the_redirect_brings_the_tokens_and_nothing_else_ends_the_wait() -> None:
    async with IdentityServer() as server, LoopbackRedirect(client(server)) as here:
        made = attempt(server, redirect=here.address)
        asked = query(made.url)
        assert asked["code_challenge_method"] == "S256"
        assert asked["login_hint"] == USER
        assert made.verifier not in made.url
        waiting = asyncio.create_task(here.wait(made))
        back = await consent(made.url)
        forged = {
            "another state": back.replace(made.state, "x" * 64),
            "no state": here.address + "?code=stolen",
            "the state twice": f"{back}&state={made.state}",
            "another path": back.replace("/oauth/callback", "/oauth/callback/x"),
        }
        for what, url in forged.items():
            assert (await get(url)).status_code == 400, what
        named = await get(back, {"host": "evil.example.org"})
        assert named.status_code == 400, "another name for this machine"
        assert not waiting.done()
        answer = await get(back)
        assert (answer.status_code, answer.text) == (200, "Signed in. You can close this page.")
        assert answer.headers["referrer-policy"] == "no-referrer"
        grant = await connecting.finish(made, await waiting)
        assert grant.access in server.access
        assert (await get(back)).status_code == 400, "it counts once"


async def test_a_code_counts_once_with_its_verifier_and_for_its_redirect() -> None:
    async with IdentityServer() as server:
        mine, other = attempt(server), attempt(server, redirect=CALLBACK.replace("7316", "9999"))
        stolen = query(await consent(other.url))["code"]
        with pytest.raises(BadInput, match="used before"):
            await connecting.finish(mine, {"state": mine.state, "code": stolen})
        came = query(await consent(mine.url))
        assert isinstance(await connecting.finish(mine, came), TokenGrant)
        with pytest.raises(BadInput, match="used before"):
            await connecting.finish(mine, came)
        assert len(server.refresh) == 1


async def test_an_attempt_is_of_one_session_counts_once_and_ends() -> None:
    async with IdentityServer() as server:
        open_: dict[str, SignInAttempt] = {}
        mine, theirs = attempt(server, "sig-1"), attempt(server, "sig-2")
        for each in (mine, theirs):
            connecting.keep_attempt(open_, each)
        take = connecting.take_attempt
        for state, key in ((theirs.state, "sig-1"), (mine.state, "sig-2"), ("x", "sig-1")):
            with pytest.raises(BadInput, match="not the sign-in that Remit waits for"):
                take(open_, state, key, START)
        assert take(open_, mine.state, "sig-1", START) == mine
        with pytest.raises(BadInput, match="not the sign-in"):
            take(open_, mine.state, "sig-1", START)
        with pytest.raises(BadInput, match="too long"):
            take(open_, theirs.state, "sig-2", START + timedelta(minutes=10))
        for number in range(30):
            connecting.keep_attempt(open_, attempt(server, f"sig-{number}"))
        assert len(open_) == 20, "a flood is bounded"


async def test_nothing_that_a_provider_writes_is_shown() -> None:
    async with IdentityServer(declines=True) as server:
        made = attempt(server)
        came = query(await consent(made.url))
        assert "canary" in came["error_description"]
        for error, said in {
            came["error"]: "You declined there",
            "<b>canary</b>": "a reason that Remit does not know",
        }.items():
            with pytest.raises(BadInput, match=said) as caught:
                await connecting.finish(made, came | {"error": error})
            assert "canary" not in str(caught.value)


async def test_an_answer_of_another_provider_is_refused() -> None:
    async with IdentityServer() as server:
        google = client_of(
            OAuthSettings(provider="google", client_id="x", client_secret="y", token="t"), MAIL, str
        )
        made = connecting.begin(google, "g", CALLBACK, user="", key="", now=START)
        came = {"state": made.state, "code": "4/abc", "iss": server.root}
        with pytest.raises(BadInput, match="Another provider answered"):
            await connecting.finish(made, came)


async def test_without_a_refresh_token_nothing_is_connected() -> None:
    async with IdentityServer(gives_refresh=False) as server:
        made = attempt(server)
        with pytest.raises(BadInput, match="no refresh token"):
            await connecting.finish(made, query(await consent(made.url)))


@for_each(
    ("errors", "said", "pauses"),
    [
        (["authorization_pending", "slow_down", "authorization_pending"], "", [1, 1, 6, 6]),
        (["authorization_pending", "access_denied"], "You declined", [1, 1]),
        (["authorization_declined"], "You declined", [1]),
        (["expired_token"], "not typed in in time", [1]),
        (["authorization_pending"] * 9, "not typed in in time", [1, 1, 1]),
    ],
)
async def test_a_device_code_is_asked_about_as_the_standard_says(
    errors: list[str], said: str, pauses: list[int]
) -> None:
    slept, shown = list[float](), list[DeviceCode]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with IdentityServer(
        secret="", device=errors, device_life=3 if "time" in said else 900
    ) as server:
        asking = connecting.sign_in_by_device(client(server, "microsoft"), shown.append, sleep)
        if said:
            with pytest.raises(BadInput, match=said):
                await asking
        else:
            assert (await asking).access in server.access
        assert slept == pauses
        assert [each.user_code for each in shown] == [USER_CODE]
        assert "client_secret" not in urlencode(server.asks("/token")[0])


async def test_a_provider_that_is_away_is_asked_less_often() -> None:
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with IdentityServer(secret="") as server:
        server.says["/token"] = [(503, {}), (500, {})]
        await connecting.sign_in_by_device(client(server, "microsoft"), lambda _: None, sleep)
        assert slept == [1, 2, 4]
