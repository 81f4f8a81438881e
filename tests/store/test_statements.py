"""The statements: each is read, named once, run by somebody, and found by who runs it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.errors import StoreTrouble
from remit.store.database import FOLDER, load_statements, statements
from tests.tables import for_each

MODULES = sorted(FOLDER.glob("*.py"))
FILES = sorted(FOLDER.glob("*.sql"))
ONE = "-- name: one\nSELECT 1;\n"
WRONG = {
    "two of one name in a file": (
        {"a.sql": ONE + ONE},
        "a.sql: there are two statements named 'one'.",
    ),
    "two of one name in two files": (
        {"a.sql": ONE, "b.sql": ONE},
        "b.sql: there are two statements named 'one'.",
    ),
    "a statement without a name": (
        {"a.sql": "SELECT 1;\n" + ONE},
        "a.sql: its first statement has no line `-- name: …`.",
    ),
    "a name without a statement": (
        {"a.sql": ONE + "-- name: two\n"},
        "a.sql: the statement 'two' is empty or has no `;`.",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_cannot_be_meant_is_refused_at_the_start(tmp_path: Path, what: str) -> None:
    files, sentence = WRONG[what]
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(StoreTrouble, match=re.escape(sentence)):
        load_statements(tmp_path)


def test_every_statement_that_is_run_exists_and_every_one_that_exists_is_run() -> None:
    named = {name for module in MODULES for name in _constants(module)}
    run = {name for module in MODULES for name in _run(module)}

    assert run - set(statements()) == set()
    assert set(statements()) - named == set()


@for_each("path", FILES)
def test_a_file_of_statements_stands_beside_the_module_that_runs_them(path: Path) -> None:
    named = re.findall(r"^-- name: (\w+)$", path.read_text(), re.MULTILINE)

    assert set(named) & set(_constants(path.with_suffix(".py")))


def test_a_block_is_one_statement() -> None:
    bare = {name: re.sub(r"--.*|'[^']*'", "", sql) for name, sql in statements().items()}

    assert [name for name, sql in bare.items() if sql.count(";") != 1] == []
    assert [name for name, sql in statements().items() if "-- name" in sql] == []


def _constants(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _run(module: Path) -> Iterator[str]:
    """The names that a module hands to its transaction."""
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="tx"), attr="one" | "all" | "run"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name
            case _:
                pass
