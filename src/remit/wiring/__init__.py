"""Builds the app from settings. The only package that knows every concrete class."""

from remit.wiring.app import CHANNELS, App, opened
from remit.wiring.app_context import WallClock
from remit.wiring.minds import brain_of
from remit.wiring.running import start, watch

__all__ = ["CHANNELS", "App", "WallClock", "brain_of", "opened", "start", "watch"]
