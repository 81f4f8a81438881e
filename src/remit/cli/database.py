"""Where the store is, for commands that need nothing else of the settings."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from remit.system.files import home_of

# A url in the section [store], or the section in one line.
_STORE_URL: Final = re.compile(
    rb"^\s*(\[store\](\n(?!\s*\[)[^\n]*)*?\n\s*url\b|store\b)", re.MULTILINE
)


def database_of(environ: Mapping[str, str]) -> Path | str:
    """Return where the store is; the settings are read only if they name one, to be quick."""
    home = home_of(environ)
    path = home / "settings.toml"
    written = path.read_bytes() if path.exists() else b""
    if "REMIT_STORE_URL" not in environ and not _STORE_URL.search(written):
        return home / "agent.db"
    from remit.settings import load  # noqa: PLC0415 - slow, and few need it

    return load(environ).database
