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
from remit.settings import Settings, forms
from remit.store.database import statements
from remit.verify import critic

# Separate programs, and modules that are slow or large and rarely needed: a step that needs one
# while the folder is missing fails and is retried.
_LEFT_OUT: Final = (
    "remit.cli",
    "remit.testing",
    "remit.brain.llama",
    "remit.brain.talk",
    "remit.brain.vendors",
    "remit.journal.collector",
    "remit.recall.edge",
    "remit.recall.server",
    "remit.recall.vectors",
    "remit.specialist.acp",
)
# What only these settings use; a changed one takes effect at the next start, or imports it then.
_FOR_POSTGRES: Final = (
    "remit.engine.dispatcher",
    "remit.engine.temporal",
    "remit.store.postgres",
    "remit.wiring.worker",
)
_FOR_PROJECTS: Final = (
    "remit.verify.command",
    "remit.verify.ground",
    "remit.verify.project",
    "remit.verify.re",
    "remit.verify.runners",
    "remit.verify.sandbox",
    "remit.verify.suite",
)


def preload(settings: Settings) -> None:
    """Load every statement and rule of the package, and import the modules it may need."""
    statements()
    priority.default()
    activities.default()
    critic.packaged()
    static.open_files()
    forms.form_words()
    unused = (
        *_LEFT_OUT,
        *(() if settings.projects else _FOR_PROJECTS),
        *(() if settings.store.url else _FOR_POSTGRES),
    )
    _import(remit.__path__, "remit.", unused)


def _import(path: list[str], prefix: str, unused: tuple[str, ...]) -> None:
    for found in pkgutil.iter_modules(path, prefix):
        if not found.name.startswith(unused):
            with suppress(ImportError):  # its extra is not installed
                module = importlib.import_module(found.name)
                if found.ispkg:
                    _import(list(module.__path__), f"{found.name}.", unused)
                    _read_data(found.name)


def _read_data(package: str) -> None:
    for found in files(package).iterdir():
        name, _, suffix = found.name.rpartition(".")
        if suffix == "toml":
            read_toml(name, package)
