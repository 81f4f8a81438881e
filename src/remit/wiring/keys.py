"""Collects all secrets, so that none is shown or sent."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from remit.brain.secret import Secret
from remit.channels.registry import ChannelSecrets
from remit.settings import Settings
from remit.store.environment_secrets import SHORTEST, lines_of, secret_values
from remit.store.secrets import Secrets, machine_ring


def keys_of(settings: Settings) -> ChannelSecrets:
    """Return the channels' secrets; all current ones are known from the start."""
    used = settings.channels or settings.hooks
    ring = machine_ring() if used else None  # loads slowly
    keys = ChannelSecrets(Secrets(settings.home, ring), os.environ, settings.channels)
    keys.learn((*secret_values(os.environ), *_named_in(settings, os.environ)))
    keys.learn_all()
    return keys


def redacting(keys: ChannelSecrets) -> Callable[[str], str]:
    """Return a function that removes every known secret from a text, including renewed ones."""
    # Of a multi-line secret each line is known separately.
    hidden = [Secret(value) for value in keys.seen if len(value) >= SHORTEST and "\n" not in value]
    hide = keys.kept.hide.known
    return lambda text: reduce(lambda said, secret: secret.scrub(said), hidden, hide(text))


def _named_in(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the variables that the settings name as a key or token."""
    names = (settings.brain.key_env, *(each.token_env for each in settings.mcp.values()))
    for name in filter(None, names):
        yield from lines_of(environ.get(name, "").strip())
