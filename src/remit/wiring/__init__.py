"""Builds the app from settings. The only package that knows every concrete class.

A name is imported when it is first used, so that a command loads only the parts that it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from remit.wiring.app import App, opened
    from remit.wiring.app_context import WallClock
    from remit.wiring.foundation import CHANNELS
    from remit.wiring.readers import brain_of
    from remit.wiring.running import start, watch

__all__ = ["CHANNELS", "App", "WallClock", "brain_of", "opened", "start", "watch"]

_MODULES: Final = {
    "App": "app",
    "CHANNELS": "foundation",
    "WallClock": "app_context",
    "brain_of": "readers",
    "opened": "app",
    "start": "running",
    "watch": "running",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"remit.wiring has no {name}.")
    found: object = getattr(import_module(f"remit.wiring.{_MODULES[name]}"), name)
    return found
