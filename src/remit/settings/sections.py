"""Changes a section of settings.toml, with its secrets in the secret store.

The new text is checked as a whole before anything is written; its comments stay.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol, cast

from msgspec import Struct

from remit.errors import BadInput, NotFound
from remit.formats import parse_toml
from remit.settings import DEFAULT_FILE, Settings, check_text, load
from remit.settings.channels import OAuthSettings
from remit.settings.forms import CHANNELS, MANY, SectionForm, SettingField, form_for
from remit.system.files import locked, write_atomic

FILE: Final = "settings.toml"
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SHOWN_PATH: Final = Path(FILE)  # a message names no folder of this machine
_PREFIX: Final = {"hooks": "hook"}


class SecretStore(Protocol):
    def names(self) -> tuple[str, ...]: ...

    def put(self, name: str, value: str) -> None: ...

    def drop(self, name: str) -> None: ...


class SectionStore(Struct, frozen=True):
    """The settings file of a home, and its secrets."""

    home: Path
    secrets: SecretStore

    @property
    def path(self) -> Path:
        return self.home / FILE

    def settings(self) -> Settings:
        """What the file and the environment say now."""
        return load_home(self.home)

    def change(
        self, section: str, fields: Mapping[str, object], key_names: Mapping[str, str] | None = None
    ) -> SectionForm:
        """Write what was said of a section; what is not said stays as it is.

        `key_names` has the secret's name for a field that is not in the file.
        """
        form = form_for(section, self.settings(), str(fields.get("kind") or ""))
        if "." in section:
            _check_name(form.name)
        values, given = form.parse(fields)
        named = {each.name: self._secret_name(form, each, given) for each in _secrets(form)}
        stored = {each.name for each in form.fields if each.stored}
        values |= {name: secret for name, secret in named.items() if secret and name in stored}
        text, named = self._text(), named | dict(key_names or {})
        tables = {form.table: _changed_values(form, text, {**form.fixed, **values})}
        with_values(text, tables, _SHOWN_PATH)  # before a secret is stored
        for name, value in given.items():
            self.secrets.put(named[name], value)
        set_values(self.path, tables, DEFAULT_FILE)
        return form

    def remove(self, section: str) -> SectionForm:
        """Take a section out, with its secrets and with what names it elsewhere."""
        form = form_for(section, self.settings())
        if not form.removable:
            raise NotFound("section", f"{section!r:.60}")
        mine = set(_secret_names(form))
        rewrite(self.path, lambda text: check_text(_remove_section(text, form), _SHOWN_PATH))
        gone = mine.intersection(self.secrets.names()).difference(names_in_use(self.settings()))
        for name in gone:
            self.secrets.drop(name)
        return form

    def _text(self) -> str:
        with locked(self.home):
            return self.path.read_text(encoding="utf-8") if self.path.exists() else DEFAULT_FILE

    def _secret_name(self, form: SectionForm, field: SettingField, given: Mapping[str, str]) -> str:
        """Return the name of a secret; empty if it is neither there nor given."""
        if now := form.now.get(field.name):
            return str(now)
        table = form.section.partition(".")[0]
        made = f"{_PREFIX[table]}_{form.name}" if table in _PREFIX else f"{form.name}_{field.name}"
        return made if field.name in given or field.required_secret else ""


def _changed_values(
    form: SectionForm, text: str, values: Mapping[str, object]
) -> dict[str, object]:
    """Return the values that the file must say: those it says already, and those of no default."""
    there: object = parse_toml(text)
    for part in filter(None, form.table.split(".")):
        there = there.get(part) if isinstance(there, Mapping) else None
    found = there if isinstance(there, Mapping) else {}
    defaults = {field.name: field.default for field in form.fields}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name in found or value != defaults.get(name)
    }


def load_home(home: Path) -> Settings:
    """Read the settings of a home, as the environment changes them."""
    return load({**os.environ, "REMIT_HOME": str(home)})


def check_new_section(
    settings: Settings, section: str, tables: Mapping[str, Mapping[str, object]]
) -> None:
    """Refuse a section whose name is none or is taken, or that the settings would not take."""
    table, _, name = section.partition(".")
    _check_name(name)
    if name in getattr(settings, table):
        raise BadInput(f"{name} is there already; choose another name.", field="name")
    path = settings.home / FILE
    text = path.read_text(encoding="utf-8") if path.exists() else DEFAULT_FILE
    with_values(text, tables, _SHOWN_PATH)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        sentence = f"{name!r:.40} is no name: use small letters, digits and _, as in work."
        raise BadInput(sentence, field="name")


def told_there(settings: Settings, section: str) -> dict[str, dict[str, object]]:
    """What is asked, and what failed, is told on a new channel, too: the change of `[notices]`."""
    table, _, name = section.partition(".")
    if table != CHANNELS:
        return {}
    ways = {each: getattr(settings.notices, each) for each in ("question", "failed", "lost")}
    return {"notices": {kind: [*dict.fromkeys((*value, name))] for kind, value in ways.items()}}


def _secrets(form: SectionForm) -> tuple[SettingField, ...]:
    return tuple(field for field in form.fields if field.kind == "secret")


def _secret_names(form: SectionForm) -> Iterable[str]:
    """Yield the secrets that a section names, also for its sign-in."""
    yield from (str(form.now.get(field.name) or "") for field in _secrets(form))
    if isinstance(signs_in := form.now.get("oauth"), OAuthSettings):
        yield from (signs_in.token, signs_in.client_secret)


def _remove_section(text: str, form: SectionForm) -> str:
    from remit.formats import toml_edit  # noqa: PLC0415 - only who writes waits for tomlkit

    text = toml_edit.remove_table(text, form.section)
    if not form.section.startswith(f"{CHANNELS}."):
        return text
    text = toml_edit.remove_table(text, f"doors.{form.name}")
    notices = cast("Mapping[str, object]", parse_toml(text).get("notices", {}))
    named = {
        kind: [way for way in ways if way != form.name]
        for kind, ways in notices.items()
        if isinstance(ways, list) and form.name in ways
    }
    return toml_edit.set_values(text, {"notices": named}) if named else text


def names_in_use(settings: Settings) -> Iterable[str]:
    """Yield the names of the secrets that channels, hooks and calendars use."""
    for table in (CHANNELS, *MANY):
        for name in getattr(settings, table):
            yield from _secret_names(form_for(f"{table}.{name}", settings))


def set_values(path: Path, tables: Mapping[str, Mapping[str, object]], default: str = "") -> None:
    """Write values of some tables, by their dotted names; what could not be read is refused."""
    rewrite(path, lambda text: with_values(text, tables, path), default)


def with_values(text: str, tables: Mapping[str, Mapping[str, object]], path: Path) -> str:
    """What `set_values` would write."""
    from remit.formats import toml_edit  # noqa: PLC0415 - only who writes waits for tomlkit

    return check_text(toml_edit.set_values(text, tables), path)


def remove_table(path: Path, name: str) -> None:
    """Take a table out, by its dotted name."""
    from remit.formats import toml_edit  # noqa: PLC0415 - as above

    rewrite(path, lambda text: check_text(toml_edit.remove_table(text, name), path))


def rewrite(path: Path, change: Callable[[str], str], default: str = "") -> None:
    """Replace the file by what `change` makes of its text.

    No other command of ours changes it meanwhile. If `change` raises, the file stays.
    """
    with locked(path.parent):
        text = path.read_text(encoding="utf-8") if path.exists() else default
        write_atomic(path.resolve(), change(text))
