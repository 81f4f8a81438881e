"""From settings and secrets to channels: what is made, what is refused, what is never shown."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from remit.channels.apprise.sending import AppriseChannel
from remit.channels.mail.sending import EmailChannel
from remit.channels.registry import (
    ChannelRegistry,
    ChannelSecrets,
    ClosableChannel,
    build_channels,
    complaints,
    variable,
)
from remit.channels.webhook.sending import WebhookChannel
from remit.channels.whatsapp.bridge import BridgeChannel
from remit.channels.whatsapp.sending import WhatsAppChannel
from remit.contacts import ChannelName
from remit.errors import BadInput
from remit.model.delivery import Locked, Parcel, SendGuarantee
from remit.ports import ReconcilingChannel, ShapingChannel
from remit.settings import Settings, load
from remit.store.home import prepare
from remit.store.opening import Sqlite
from remit.store.secrets import Secrets
from remit.system.background import Background
from remit.testing import FrozenClock
from tests.tables import table

CANARY: Final = "EAAcanary99aa88bb77cc"
PARCEL: Final = Parcel("dlv-01JZ", None, "Good day.")
ALL: Final = Path(__file__).with_name("every_channel.toml").read_text("utf-8")


def read(home: Path, text: str) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return load({"REMIT_HOME": str(home)})


def kept_keys(home: Path, text: str, **environ: str) -> ChannelSecrets:
    return ChannelSecrets(Secrets(home), environ, read(home, text).channels)


@asynccontextmanager
async def fitted(
    home: Path, text: str, **environ: str
) -> AsyncIterator[tuple[ChannelRegistry, ChannelSecrets]]:
    keys, clock = kept_keys(home, text, **environ), FrozenClock()
    prepare(home / "agent.db")
    db = Sqlite(home / "agent.db")
    try:
        made = build_channels(keys, db, clock, Background(clock.now, clock.sleep))
        yield made, keys
        await made.close()
    finally:
        await db.close()


async def test_each_kind_becomes_its_channel_under_the_name_of_the_settings(tmp_path: Path) -> None:
    async with fitted(tmp_path, ALL) as (made, keys):
        channels = made.channels.values()

        assert [type(each) for each in channels] == [
            *(WhatsAppChannel, BridgeChannel, EmailChannel, WebhookChannel, AppriseChannel)
        ]
        assert [each.name for each in channels] == list(made.channels)
        assert made.ways[0] == ChannelName("ninas_whatsapp", "whatsapp", ("my phone",))
        assert [way.kind for way in made.ways[1:]] == ["whatsapp", "email", "webhook", "apprise"]
        assert list(made.hooks) == ["ninas_whatsapp"]
        assert complaints(keys, FrozenClock()) == {}


async def test_what_each_channel_keeps_and_can_do_is_what_the_courier_derives_from(
    tmp_path: Path,
) -> None:
    async with fitted(tmp_path, ALL) as (made, _):
        can = {
            name: (
                each.keeps,
                isinstance(each, ShapingChannel),
                isinstance(each, ReconcilingChannel),
            )
            for name, each in made.channels.items()
        }
        assert can == {
            "ninas_whatsapp": (SendGuarantee.NOTHING, True, True),
            "phone": (SendGuarantee.KEY, True, True),
            "post": (SendGuarantee.LOOKUP, False, True),
            "shop": (SendGuarantee.KEY, False, True),
            "push": (SendGuarantee.NOTHING, False, False),
        }
        closable = [isinstance(each, ClosableChannel) for each in made.channels.values()]
        assert closable.count(True) == 3


async def test_a_missing_secret_keeps_nothing_from_starting_and_locks_its_channel(
    tmp_path: Path,
) -> None:
    async with fitted(tmp_path, ALL) as (made, _):
        for name in ("ninas_whatsapp", "post", "shop", "push"):
            assert isinstance(await made.channels[name].send(PARCEL), Locked), name


def test_a_secret_is_what_is_kept_else_what_the_environment_says_as_it_is_now(
    tmp_path: Path,
) -> None:
    keys = kept_keys(tmp_path, ALL, WHATSAPP_TOKEN="from-environment-1")
    token = keys.token("whatsapp_token")

    assert token() == "from-environment-1"
    keys.kept.put("whatsapp_token", CANARY)
    assert token() == CANARY
    keys.kept.drop("whatsapp_token")
    assert token() == "from-environment-1"
    assert keys.token("")() == ""
    assert variable("mail.password-2") == "MAIL_PASSWORD_2"


async def test_every_secret_is_known_so_that_none_goes_out_and_none_is_shown(
    tmp_path: Path,
) -> None:
    Secrets(tmp_path).put("whatsapp_token", CANARY)
    Secrets(tmp_path).put("of_something_else", "another-canary-4455")
    async with fitted(tmp_path, ALL, HOOK_SECRET="whsec-from-outside") as (made, keys):
        pass

    keys.learn_all()
    assert keys.seen == {CANARY, "another-canary-4455", "whsec-from-outside"}
    keys.kept.put("whatsapp_token", "the-renewed-one-0123 the-old-one-of-before-9")
    assert keys.token("whatsapp_token")() in keys.seen
    assert {"the-renewed-one-0123", "the-old-one-of-before-9", CANARY} <= keys.seen
    assert CANARY not in keys.kept.hide(f"It said {CANARY}.")
    shown = repr(made) + repr(keys) + repr(keys.chosen)
    assert "canary" not in shown
    assert "whsec-from-outside" not in shown


def test_secrets_that_cannot_be_read_are_unknown_and_open_nothing(tmp_path: Path) -> None:
    Secrets(tmp_path).put("whatsapp_token", CANARY)
    (tmp_path / "secrets").chmod(0o644)
    keys = kept_keys(tmp_path, ALL)

    keys.learn_all()
    assert keys.seen == set()


@pytest.mark.parametrize(("text", "sentence"), table(__file__, "mistakes"))
def test_a_mistake_in_the_settings_is_refused_by_name(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, text)

    assert sentence.replace("{file}", str(tmp_path / "settings.toml")) in str(refused.value)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(("text", "sentence"), table(__file__, "impossible"))
async def test_what_a_channel_cannot_be_is_said_with_its_name(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as refused:
        async with fitted(tmp_path, text):
            pass

    assert sentence in str(refused.value)
    (wrong,) = complaints(kept_keys(tmp_path, text), FrozenClock()).values()
    assert str(refused.value).endswith(wrong)
