"""The owner's time zone, and moments on the owner's clock."""

import os
from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from os.path import realpath
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

LOCALTIME: Final = "/etc/localtime"
_FOLDER: Final = "zoneinfo"


class OwnerZone(Struct, frozen=True):
    """A zone, and where it comes from."""

    zone: ZoneInfo
    since: str


def find_owner_zone(
    named: str,
    environ: Mapping[str, str] = os.environ,
    localtime: str | PathLike[str] = LOCALTIME,
) -> OwnerZone:
    """Return the zone in the settings, else the machine's, else UTC."""
    for name, since in (
        (named, "from the settings"),
        (environ.get("TZ", "").removeprefix(":"), "from the variable TZ"),
        (_linked_zone(localtime), "from this machine"),
    ):
        zone = _find_zone(name)
        if zone is not None:
            return OwnerZone(zone, since)
    return OwnerZone(ZoneInfo("UTC"), "for this machine names none")


def show_moment(moment: datetime, zone: ZoneInfo) -> str:
    """Return a moment on the owner's clock, unambiguously."""
    local = moment.astimezone(zone)
    offset = f"{local:%z}"
    return f"{local:%a %Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]} ({zone.key})"


def _linked_zone(localtime: str | PathLike[str]) -> str:
    """Return the zone that /etc/localtime links to, if it is a link."""
    try:
        parts = realpath(localtime, strict=True).split("/")
    except OSError:
        return ""
    if _FOLDER not in parts:
        return ""
    return "/".join(parts[parts.index(_FOLDER) + 1 :])


def _find_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
