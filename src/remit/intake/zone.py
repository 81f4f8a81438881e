"""The owner's time zone, and how a moment reads in it."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

LOCALTIME: Final = Path("/etc/localtime")
_FOLDER: Final = "zoneinfo"


class OwnerZone(Struct, frozen=True):
    """A zone, and who says that it is the owner's."""

    zone: ZoneInfo
    since: str


def owners(named: str, environ: Mapping[str, str], localtime: Path = LOCALTIME) -> OwnerZone:
    """The zone that the settings name, else the machine's own, else UTC."""
    for name, since in (
        (named, "from the settings"),
        (environ.get("TZ", "").removeprefix(":"), "from the variable TZ"),
        (_linked(localtime), "from this machine"),
    ):
        zone = _known(name)
        if zone is not None:
            return OwnerZone(zone, since)
    return OwnerZone(ZoneInfo("UTC"), "for this machine names none")


def shown(moment: datetime, zone: ZoneInfo) -> str:
    """A moment on the owner's clock, so that nobody can take it for another."""
    local = moment.astimezone(zone)
    offset = f"{local:%z}"
    return f"{local:%a %Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]} ({zone.key})"


def _linked(localtime: Path) -> str:
    """The name behind /etc/localtime, if it is a link into the machine's zones."""
    try:
        parts = localtime.resolve(strict=True).parts
    except OSError:
        return ""
    if _FOLDER not in parts:
        return ""
    return "/".join(parts[parts.index(_FOLDER) + 1 :])


def _known(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
