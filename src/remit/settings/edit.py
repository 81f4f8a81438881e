"""Changes of settings.toml in place, at one stroke: its comments and everything else stay."""

from collections.abc import Callable, Mapping
from pathlib import Path

from remit.settings import check_text
from remit.system.files import locked, write_atomic


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
