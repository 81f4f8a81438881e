"""Reads at the start what is otherwise read at first use.

While an upgrade replaces the package, its folder may be missing for some seconds and then holds
another version; a running process must need neither. Modules that nothing has imported yet are
copied into a file without a name, so they take no memory until they are used.
"""

import marshal
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, ModuleType
from typing import Final, cast

import remit
from remit.language.files import read_toml
from remit.plan import activities, priority
from remit.recall import static
from remit.settings import Settings, forms
from remit.store.database import statements
from remit.verify import critic

_LEFT_OUT: Final = ("remit.cli", "remit.testing")  # separate programs


def preload(settings: Settings) -> None:
    """Read every statement and rule of the package, and copy the modules it may need."""
    statements()
    priority.default_rules()
    activities.default_activities()
    critic.packaged_rubrics()
    static.open_files()
    forms.form_words()
    sys.meta_path.insert(0, ModuleCopies(settings.home))


class ModuleCopies:
    """Finds the modules that were not imported at the start, in the copy that was made then."""

    def __init__(self, home: Path) -> None:
        # Open as long as the process runs.
        self._file = TemporaryFile(dir=home, buffering=0)  # noqa: SIM115
        self._specs: dict[str, ModuleSpec] = {}
        self._add(remit.__path__, "remit.")

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return self._specs.get(name)

    def _add(self, folders: Sequence[str], prefix: str) -> None:
        for found in pkgutil.iter_modules(folders, prefix):
            spec = found.module_finder.find_spec(found.name, None)
            if found.name.startswith(_LEFT_OUT) or spec is None:
                continue
            if found.name not in sys.modules and isinstance(spec.loader, SourceFileLoader):
                spec.loader = self._copy(spec.loader)
                self._specs[found.name] = spec
            for folder in spec.submodule_search_locations or ():
                for data in Path(folder).glob("*.toml"):
                    read_toml(data.stem, found.name)
                self._add([folder], f"{found.name}.")

    def _copy(self, loader: SourceFileLoader) -> "ModuleCopy":
        code = marshal.dumps(loader.get_code(loader.name))
        start = self._file.tell()
        self._file.write(code)
        return ModuleCopy(loader, self._file.fileno(), start, len(code))


class ModuleCopy(SourceFileLoader):
    """Loads one module from the copy."""

    def __init__(self, original: SourceFileLoader, file: int, start: int, size: int) -> None:
        super().__init__(original.name, original.path)
        self._place = file, size, start

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return cast("CodeType", marshal.loads(os.pread(*self._place)))  # noqa: S302 - our own
