"""The measures of the code, printed by `make house`: sizes, duplicate names, equal lines."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
EQUAL_LINES = 6


def public_classes(folder: Path) -> dict[str, list[str]]:
    """Return the places of every public top-level class under a folder, by name."""
    places = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno}")
    return dict(places)


def doubled_names(classes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the names that more than one class has, with their places."""
    return {name: places for name, places in sorted(classes.items()) if len(places) > 1}


def long_functions(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MAX_FUNCTION_LINES
    ]


def equal_pairs(files: Iterable[Path]) -> int:
    """Return how many pairs of places share six or more equal lines; longer ones count once."""
    windows = defaultdict(list)
    for number, path in enumerate(files):
        lines = [line for line in map(str.strip, _text(path).splitlines()) if len(line) > 1]
        for at in range(len(lines) - EQUAL_LINES + 1):
            windows[tuple(lines[at : at + EQUAL_LINES])].append((number, at))
    pairs = {
        (one, other)
        for places in windows.values()
        for index, one in enumerate(places)
        for other in places[index + 1 :]
    }
    return sum(((a, m - 1), (b, n - 1)) not in pairs for (a, m), (b, n) in pairs)


def measures() -> Iterator[tuple[str, int]]:
    """Yield each measure with its number, in the order of the table."""
    source = ROOT / "src"
    modules = sorted(source.rglob("*.py"))
    classes = public_classes(source)
    doubled = doubled_names(classes)
    yield "public top-level classes", sum(map(len, classes.values()))
    yield "of these, classes whose name another one has", sum(map(len, doubled.values()))
    yield "modules", len(modules)
    sql = [path for path in source.rglob("*.sql") if "migrations" not in path.parts]
    yield "SQL files, migrations apart", len(sql)
    for top in ("src", "tests"):
        files = sorted((ROOT / top).rglob("*.py"))
        yield f"Python lines in {top}", sum(map(_lines, files))
        yield f"Python statements in {top}", sum(map(_statements, files))
    yield f"functions over {MAX_FUNCTION_LINES} lines", len(long_functions(source))
    yield (
        f"files over {MAX_FILE_LINES} lines",
        sum(_lines(path) > MAX_FILE_LINES for path in modules),
    )
    yield f"pairs of places with {EQUAL_LINES} or more equal lines in src", equal_pairs(modules)
    docs = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    yield "words in README.md and docs", sum(len(_text(path).split()) for path in docs)


def _tree(path: Path) -> ast.Module:
    return ast.parse(_text(path))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _lines(path: Path) -> int:
    return len(_text(path).splitlines())


def _statements(path: Path) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(_tree(path)))


if __name__ == "__main__":
    for name, number in measures():
        sys.stdout.write(f"{number:>8,}  {name}\n")
