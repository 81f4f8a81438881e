"""Changes of a TOML text that keep its comments, its order and its layout.

    set_values(text, {"notices": {"done": ["push"]}, "hooks.shop": {"secret": "hook_shop"}})
    remove_table(text, "hooks.shop")

A key that a comment shows with its default is set in that line. The table "" is what stands above
all tables. The result is read back, and a
change that would make anything else different is refused.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from typing import TypeAlias, cast

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Table

from remit.errors import BadInput
from remit.formats import parse_toml

TomlTable: TypeAlias = Mapping[str, object]
_Tree: TypeAlias = MutableMapping[str, object]


def set_values(text: str, tables: Mapping[str, TomlTable]) -> str:
    """The text with values of some tables changed; a table that is not there is added."""
    wanted = _parse(text)
    for name, values in tables.items():
        wanted = _merge_tables(wanted, _nest_values(name, values))

    def edit(text: str) -> str:
        document = tomlkit.parse(_fill_shown_defaults(text, tables))
        added = ""
        for name, values in tables.items():
            table = _table_at(document, name)
            if table is None:
                added += f"\n{tomlkit.dumps(_nest_values(name, values))}"
            else:
                table.update({key: values[key] for key in values if table.get(key) != values[key]})
        return f"{tomlkit.dumps(document).rstrip()}\n{added}" if added else tomlkit.dumps(document)

    return _edit_checked(text, ", ".join(tables), edit, wanted)


def remove_table(text: str, name: str) -> str:
    """The text without a table."""
    above, _, last = name.rpartition(".")

    def without(tree: _Tree) -> _Tree:
        table = _table_at(tree, above)
        if table is not None:
            table.pop(last, None)
        return tree

    return _edit_checked(
        text, name, lambda text: tomlkit.dumps(without(tomlkit.parse(text))), without(_parse(text))
    )


def _parse(text: str) -> _Tree:
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"This is not valid TOML: {error}. Fix that line.") from None


def _edit_checked(text: str, name: str, edit: Callable[[str], str], wanted: _Tree) -> str:
    try:
        changed = edit(text).strip("\n") + "\n"
        if _comparable(parse_toml(changed)) == _comparable(wanted):
            return changed
    except (tomllib.TOMLDecodeError, TOMLKitError, TypeError, AttributeError, RecursionError):
        pass
    sentence = f"The file is written so that [{name}] cannot be changed from here; do it there."
    raise BadInput(sentence, field=name)


def _table_at(tree: _Tree, name: str) -> _Tree | None:
    for part in filter(None, name.split(".")):
        if part not in tree:
            return None
        tree = cast("_Tree", tree[part])
    return tree


def _nest_values(name: str, values: TomlTable) -> _Tree:
    tree = dict(values)
    for part in reversed([part for part in name.split(".") if part]):
        tree = {part: tree}
    return tree


def _merge_tables(tree: TomlTable, values: TomlTable) -> _Tree:
    merged = dict(tree)
    for key, value in values.items():
        below = tree.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = _merge_tables(below, value)
        else:
            merged[key] = value
    return merged


def _fill_shown_defaults(text: str, tables: Mapping[str, TomlTable]) -> str:
    """Turn each `# key = default  # remark` of a key to be set into a line that sets it."""
    document = tomlkit.parse(text)
    for name, values in tables.items():
        table = _table_at(document, name)
        if not isinstance(table, Table | TOMLDocument):
            continue
        body = table.body if isinstance(table, TOMLDocument) else table.value.body
        lines = [item.as_string() for _, item in body if isinstance(item, Comment)]
        for key in (each for each in values if each not in table):
            shows = re.compile(rf"#\s*{re.escape(key)}\s*=")
            line = next(filter(shows.match, lines), None)
            if line and text.count(line) == 1:
                text = text.replace(line, _fill_line(line, key, values[key]))
            elif not name:  # after the first table it would belong to that
                text = f"{tomlkit.dumps({key: values[key]})}{text}"
    return text


def _fill_line(line: str, key: str, value: object) -> str:
    try:
        shown = tomlkit.parse(line.removeprefix("#").lstrip())
    except TOMLKitError:  # a sentence that only begins so
        return line
    shown[key] = value
    return tomlkit.dumps(shown)


def _comparable(value: object) -> object:
    """A value without empty tables, which may come and go with their last entry."""
    if isinstance(value, Mapping):
        plain = {key: _comparable(each) for key, each in value.items()}
        return {key: each for key, each in plain.items() if each != {}}
    return [_comparable(each) for each in value] if isinstance(value, list | tuple) else value
