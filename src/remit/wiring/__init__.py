"""Builds the whole from settings. The only room that knows every concrete class."""

from remit.wiring.ground import WallClock
from remit.wiring.house import CHANNELS, House, opened
from remit.wiring.minds import brain_of
from remit.wiring.running import start, watch

__all__ = ["CHANNELS", "House", "WallClock", "brain_of", "opened", "start", "watch"]
