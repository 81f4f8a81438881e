"""The surroundings of a frozen store: settings, brain script, contacts and project.

A store holds none of their addresses and secrets, so whoever takes it over writes them anew.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.channels.webhook.calls import SECRET
from tests.cli.terminal import Terminal
from tests.live.providers import Providers
from tests.specialist.repository import repository

FROZEN: Final = Path(__file__).parents[1] / "data" / "frozen"
ENVIRON: Final = {"HOOK_ORDERS": SECRET}  # a hook's secret may stand in the environment
CONTACTS: Final = """\
- name: Anna Weber
  channels: {phone: "972501111111", post: anna@example.test}
- name: Ben
  channels: {phone: "972502222222"}
"""
# What is slow while the store is made is quick when it is taken over: the first words differ.
_SLOW: Final = """\
- when: never ends
  seconds: 600
  reply: <deliverable>At last.</deliverable>
- when: takes a while
  seconds: 3
  reply: <deliverable>It took a while.</deliverable>
- when: out of order
  fail: transient
- when: forgets the tags
  reply: I wrote it, but where are the tags?
- when: which day
  reply: <deliverable>The practice is closed.</deliverable>
"""
_SCRIPT: Final = """\
- when: 'My passport is'
  reply: <deliverable>With this passport you need no visa.</deliverable>
- when: asks about the passport
  ask: Which passport do you hold?
- when: hopeless
  fail: permanent
- when: 'note.txt'
  reply: <deliverable>The note is written.</deliverable>
- when: writes a note
  use: {tool: write_file, args: {path: note.txt, text: Remember the milk.}}
- when: 'is made, to start now'
  reply: <deliverable>Two others do the work.</deliverable>
- when: hands it on
  use:
    - {tool: create_task, args: {title: First child, instructions: This never ends.}}
    - {tool: create_task, args: {title: Second child, instructions: Find two parks.}}
- reply: I thought about it. <deliverable>Done as asked.</deliverable>
"""
_SETTINGS: Final = """\
zone = "UTC"
[brain]
kind = "scripted"
[engine]
stop_limit = 1
[deliver]
undo = 0
[schedule]
stagger = 1
[tools]
write_file = "ask"
[hooks.orders]
secret = "hook_orders"
text = "Say in one line what was ordered."
title = "/order/name"
[specialists.hand]
kind = "command"
argv = ["sh", "-c", "echo 'total = 1' > $(mktemp note_XXXXXX.py)"]
sandbox = false
[projects.store]
path = "{project}"
specialists = ["hand"]
commands.typecheck = ["true"]
commands.lint = {lint}
commands.unit-test = ["sh", "-c", "true", "{{pattern}}"]
commands.e2e = ["true"]
"""


def furnish(seat: Terminal, providers: Providers, *, slow: bool) -> None:
    """Write the owner's files: settings, contacts, the brain's script."""
    lint = '["sleep", "4"]' if slow else '["true"]'
    settings = _SETTINGS.format(project=project(seat), lint=lint)
    (seat.home / "settings.toml").write_text(settings + providers.settings())
    (seat.home / "brain.yml").write_text((_SLOW if slow else "") + _SCRIPT)
    if not (seat.home / "contacts.yaml").exists():
        (seat.home / "contacts.yaml").write_text(CONTACTS)


def project(seat: Terminal) -> Path:
    return seat.home.parent / "store"


def make_project(seat: Terminal) -> None:
    repository(project(seat), {"cart.py": "total = 0\n"})


def relocate(root: Path, was: str) -> None:
    """Correct absolute paths in a store and its worktrees after it was moved.

    Moving a home with unfinished work is not supported; a test has to do it.
    """
    home = root / "home"
    for path in (p for p in (home / "worktrees").rglob("*") if p.is_file() and not p.is_symlink()):
        raw = path.read_bytes()
        if was.encode() in raw:
            path.write_bytes(raw.replace(was.encode(), str(root).encode()))
    with closing(sqlite3.connect(home / "agent.db")) as connection, connection:
        connection.execute("UPDATE steps SET output = replace(output, ?, ?)", (was, str(root)))
    left = [p.name for p in home.rglob("*") if p.is_file() and was.encode() in p.read_bytes()]
    # An unused page of the database may still contain it.
    assert set(left) <= {"agent.db", "agent.db-wal"}, left
