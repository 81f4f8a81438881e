"""How a channel stands, as far as its settings and secrets show it."""

from msgspec import Struct

from remit.channels.registry import ChannelSecrets
from remit.errors import RemitError
from remit.settings.channels import ChannelSettings


class ChannelHealth(Struct, frozen=True):
    """`verdict` is ok, warn or fail; `said` goes on after the name of the channel."""

    verdict: str
    said: str
    todo: str = ""


def channel_health(
    name: str, section: ChannelSettings, keys: ChannelSecrets, wrong: str | None = None
) -> ChannelHealth:
    """`wrong` is what `setup.complaints` says about it."""
    if wrong is not None:
        return ChannelHealth("fail", wrong, f"Mend [channels.{name}] in settings.toml.")
    try:
        missing = [secret for secret in section.secrets if secret and not keys.get(secret)]
    except RemitError as error:
        return ChannelHealth("fail", str(error))
    if missing:
        said = f"lacks {', '.join(missing)}: nothing goes out before it is set"
        return ChannelHealth("warn", said, f"remit secrets set {missing[0]}")
    if warning := section.warning(name):
        return ChannelHealth("warn", *warning)
    return ChannelHealth("ok", section.ready(name))
