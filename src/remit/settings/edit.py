"""Changes a few lines of settings.toml; comments and everything else stay."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from remit.errors import BadInput
from remit.system.files import locked, write_atomic

Value: TypeAlias = str | tuple[str, ...]

_TABLE: Final = re.compile(r"\s*\[")


def put(path: Path, table: str, values: Mapping[str, Value], default: str = "") -> None:
    """Write values of one table; a file that cannot be changed safely is left as it is."""
    rewrite(path, lambda text: written(text, table, values), default)


def rewrite(path: Path, change: Callable[[str], str], default: str = "") -> None:
    """Replace the file atomically by what `change` makes of its text.

    No other command of ours changes it meanwhile. If `change` raises, the file stays.
    """
    with locked(path.parent):
        text = path.read_text(encoding="utf-8") if path.exists() else default
        write_atomic(path.resolve(), change(text))


def written(text: str, table: str, values: Mapping[str, Value]) -> str:
    """Return the text with these values, verified by parsing it."""
    lines = text.splitlines()
    head = re.compile(rf"\s*\[{re.escape(table)}\]\s*(#.*)?")
    at = next((n for n, line in enumerate(lines) if head.fullmatch(line)), None)
    if at is None:
        lines += ["", f"[{table}]"]
        at = len(lines) - 1
    for key, value in values.items():
        _set(lines, at, key, _literal(value))
    changed = "\n".join(lines) + "\n"
    _check(text, changed, table, values)
    return changed


def _set(lines: list[str], head: int, key: str, literal: str) -> None:
    """Set it in its current line, in the line with the default, or in a new one."""
    after = (n for n in range(head + 1, len(lines)) if _TABLE.match(lines[n]))
    end = next(after, len(lines))
    for mark in ("", r"#\s*"):
        line = re.compile(rf"\s*{mark}{re.escape(key)}\s*=[^#]*(?P<remark>#.*)?")
        for n in range(head + 1, end):
            if found := line.fullmatch(lines[n]):
                lines[n] = f"{key} = {literal}  {found['remark'] or ''}".rstrip()
                return
    lines.insert(head + 1, f"{key} = {literal}")


def _literal(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _check(text: str, changed: str, table: str, values: Mapping[str, Value]) -> None:
    """Check that only these values differ."""
    wanted = {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }
    try:
        before, after = tomllib.loads(text), tomllib.loads(changed)
        fits = after == {**before, table: {**before.get(table, {}), **wanted}}
    except (tomllib.TOMLDecodeError, RecursionError):
        fits = False
    if not fits:
        sentence = (
            f"settings.toml is written so that [{table}] cannot be changed from here; do it there."
        )
        raise BadInput(sentence, field=table)
