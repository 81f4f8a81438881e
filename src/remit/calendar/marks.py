"""Which calendars start work: those named in the settings, and the owner's later changes.

`remit calendar mark` and `unmark` store their choice in a file that overrides the settings. The
file is read at every look, so a running Remit needs no notification.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from remit.calendar import client
from remit.errors import StoreTrouble
from remit.system.files import PRIVATE, locked, write_atomic

FILE: Final = "calendars.json"


def read(home: Path) -> dict[str, dict[str, bool]]:
    """Return for each account the marked (true) and unmarked (false) names."""
    path = home / FILE
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(_is_said(each) for each in found.values()):
        raise StoreTrouble(
            f"{path} is damaged: it must be an object of accounts, each with names that are true "
            "or false. Mend it, or remove it and mark your calendars again."
        )
    return found


def put(home: Path, account: str, name: str, *, marked: bool) -> None:
    """Store the owner's choice for one calendar."""
    with locked(home):
        said = read(home)
        said.setdefault(account, {})[name] = marked
        text = json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True)
        write_atomic(home / FILE, text, mode=PRIVATE)


def is_marked(
    found: client.RemoteCalendar, named: Collection[str], said: Mapping[str, bool]
) -> bool:
    """Whether a calendar starts work; it may be named by name or by path."""
    called = (found.name, found.path.rstrip("/").rpartition("/")[2], found.path)
    for each in called:
        if each in said:
            return said[each]
    return any(each in named for each in called)


def _is_said(names: object) -> bool:
    return isinstance(names, dict) and all(isinstance(each, bool) for each in names.values())
