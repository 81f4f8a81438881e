"""Coding agents installed on this machine, and their settings as specialists."""

import shutil
from collections.abc import Iterator

from msgspec import Struct, convert

from remit.language.files import read_toml


class InstalledAgent(Struct, frozen=True):
    """An installed agent: its name, its protocol, and what it needs of the home."""

    name: str
    kind: str  # acp or command
    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def find(path: str | None) -> Iterator[InstalledAgent]:
    """Yield each agent found in the folders of `path`, in its best form."""
    found = set[str]()
    known = convert(read_toml("installed", __package__)["agents"], list[InstalledAgent])
    for agent in known:
        if agent.name not in found and shutil.which(agent.argv[0], path=path):
            found.add(agent.name)
            yield agent
