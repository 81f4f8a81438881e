"""Which secrets there are, and that none of them is ever shown or sent."""

import os
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

from remit.brain.secret import Secret
from remit.deliver.ways import Keys
from remit.settings import Settings
from remit.store.secrets import Secrets, machine_ring

_SHORT: Final = 8  # characters; what is shorter cannot be told from any other word


def keys_of(settings: Settings) -> Keys:
    """What names of secrets stand for; all that there are now are known from the start."""
    used = settings.channels or settings.hooks
    ring = machine_ring() if used else None  # it loads slowly
    keys = Keys(Secrets(settings.home, ring), os.environ, settings.channels)
    keys.learn(secrets_in(os.environ))
    keys.learn_all()
    return keys


def redacting(keys: Keys) -> Callable[[str], str]:
    """Takes every secret that this process knows out of a text, one that was renewed as well."""
    hidden = [Secret(value) for value in keys.seen if len(value) >= _SHORT]
    hide = keys.kept.hide.known
    return lambda text: reduce(lambda said, secret: secret.scrub(said), hidden, hide(text))


def secrets_in(environ: Mapping[str, str]) -> frozenset[str]:
    """Every key and token that this process knows: none of them may ever go out."""
    ends = ("_API_KEY", "_TOKEN", "_SHORT", "_PASSWORD")
    return frozenset(value for name, value in environ.items() if name.endswith(ends) and value)
