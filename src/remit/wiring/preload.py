"""Loads at the start what is otherwise loaded at first use.

While an upgrade replaces the package, its folder may be missing for some seconds and then holds
another version; a running process must need neither.
"""

import importlib
import pkgutil
from contextlib import suppress
from importlib.resources import files
from typing import Final

import remit
from remit.language.files import read_toml
from remit.plan import activities, priority
from remit.recall import static
from remit.store.database import statements
from remit.verify import critic

# Separate programs, and modules that are slow or large and rarely needed: a step that needs one
# while the folder is missing fails and is retried.
_LEFT_OUT: Final = (
    "remit.cli",
    "remit.testing",
    "remit.brain.failures",
    "remit.brain.history",
    "remit.brain.llama",
    "remit.brain.talk",
    "remit.brain.vendors",
    "remit.journal.collector",
    "remit.recall.edge",
    "remit.recall.server",
    "remit.specialist.acp",
)


def preload() -> None:
    """Load every statement and rule of the package, and import its modules."""
    statements()
    priority.default()
    activities.default()
    critic.packaged()
    static.open_files()
    _import(remit.__path__, "remit.")


def _import(path: list[str], prefix: str) -> None:
    for found in pkgutil.iter_modules(path, prefix):
        if not found.name.startswith(_LEFT_OUT):
            with suppress(ImportError):  # its extra is not installed
                module = importlib.import_module(found.name)
                if found.ispkg:
                    _import(list(module.__path__), f"{found.name}.")
                    _read_data(found.name)


def _read_data(package: str) -> None:
    for found in files(package).iterdir():
        name, _, suffix = found.name.rpartition(".")
        if suffix == "toml":
            read_toml(name, package)
