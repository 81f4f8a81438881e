"""The house rules a linter cannot check: the map, sizes, names, what no file gives away."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [path for top in ("src", "tests", "bench") for path in sorted((ROOT / top).rglob("*.py"))]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

MOST_LINES_PER_FILE = 400
MOST_LINES_PER_FUNCTION = 40

# A name that ends so says nothing about what the thing is.
EMPTY_WORDS = ("manager", "service", "handler", "util", "helper", "base", "data", "info")
EMPTY_CLASS = re.compile(rf"({'|'.join(word.title() for word in EMPTY_WORDS)})s?$")
EMPTY_MODULE = re.compile(rf"(^|_)({'|'.join(EMPTY_WORDS)})s?$")

# Participles and riddles: nobody finds a class by one of these.
BANNED_NAMES = re.compile(
    "Beside|Came|Carrier|Course|Desk|Door|Heard|Herald|House|Kept|Landed|Left|Line|Meant|Mirror"
    "|Outfit|Purse|Said|Seat|Seen|Taken|Told|Twins|Wish|Woven"
)

# Names of parameters and variables that say nothing about the thing.
PARTICIPLES = {"said", "told", "came", "heard", "meant"}
RIDDLES = {"house", "desk", "minds", "glance"}
# A function says what it returns or does; these leave that open.
VAGUE_FUNCTION = re.compile(
    "_?(alike|apart|counted|decoded|drawn|encoded|expanded|filled|folded|heard|judged|made|marked"
    "|meant|moved|others|outstanding|placed|planned|reported|same|taken|together|told|updated)"
)

# All that a lock may say: a remark, pins, hashes, and who asked for what.
LOCK_LINE = re.compile(
    r"""(\#(?!.*//)[\w `'/*.,;:=-]+)?
      | [\w.-]+==[\w.!+-]+[ ]\\
      | [ ]{4}--hash=sha256:[0-9a-f]{64}([ ]\\)?
      | [ ]{4}\#[ ]([ ]{2}|via)([ ]?(-[rc][ ]requirements/)?[\w.\[\],-]+)?
    """,
    re.VERBOSE,
)

# A folder of somebody's machine; `tasks/work/` is none, for it does not start at the root.
MACHINE_PATH = re.compile(r"(?<![\w.~}>*-])/(?:home|Users|root|opt|srv|work|workspace)/[\w.-]+")
TEXT = {".cfg", ".css", ".html", ".in", ".js", ".json", ".lock", ".md", ".py", ".sql", ".toml"}
TEXT |= {".txt", ".yaml", ".yml", ""}


def test_the_map_in_the_docs_is_the_map_that_is_enforced() -> None:
    assert _drawn_layers() == _enforced_layers()


def test_the_locks_are_made_from_what_the_package_asks_for() -> None:
    asked = (ROOT / "requirements/runtime.in").read_text().splitlines()

    assert PROJECT["project"]["dependencies"] == [line for line in asked if line[0] != "#"]


def test_a_file_fits_in_the_head() -> None:
    long = {_name(path): lines for path in SOURCES if (lines := _lines(path)) > MOST_LINES_PER_FILE}

    assert long == {}


def test_the_code_keeps_the_rules_on_names_and_sizes() -> None:
    """One test, so that every file is parsed once."""
    broken, classes = list[str](), defaultdict[str, list[str]](list)
    for path in PYTHON:
        tree = ast.parse(path.read_text())
        broken += [f"{_name(path)}: {sentence}" for sentence in _broken_anywhere(path, tree)]
        if path.is_relative_to(ROOT / "src"):
            broken += [f"{_name(path)}: {sentence}" for sentence in _broken_in_source(tree)]
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    classes[node.name].append(f"{_name(path)}:{node.lineno}")
    for name, places in classes.items():
        if len(places) > 1 or BANNED_NAMES.fullmatch(name):
            broken.append(f"{name} in {' and '.join(places)}: give it a name of its own.")

    assert broken == []


def _broken_anywhere(path: Path, tree: ast.Module) -> Iterator[str]:
    if not ast.get_docstring(tree):
        yield "it has no headline."
    if EMPTY_MODULE.search(path.stem):
        yield "the name of the file says nothing."
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and EMPTY_CLASS.search(node.name):
            yield f"{node.name} in line {node.lineno} says nothing."


def _broken_in_source(tree: ast.Module) -> Iterator[str]:
    """Functions fit on the screen; no parameter and no variable is named by a participle."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if (node.end_lineno or node.lineno) - node.lineno >= MOST_LINES_PER_FUNCTION:
            yield f"{node.name} in line {node.lineno} is too long."
        if VAGUE_FUNCTION.fullmatch(node.name) and not _is_property(node):
            yield f"{node.name} in line {node.lineno} does not say what it returns or does."
        names = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        names |= {
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        for name in sorted(names & (PARTICIPLES | RIDDLES)):
            yield f"{name} in {node.name} (line {node.lineno}) does not say what the thing is."


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def test_a_lock_holds_names_versions_and_hashes_alone() -> None:
    assert LOCKS
    other = [
        f"{_name(path)}:{number} {line}"
        for path in LOCKS
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if not LOCK_LINE.fullmatch(line)
    ]

    assert other == []


def test_a_lock_pins_all_that_its_packages_ask_for() -> None:
    """The set-up resolves nothing, so what is missing in a lock would be missing in the venv."""
    missing = [
        f"{lock}.lock: {package} asks for {asked}"
        for lock in ("runtime", "build", "dev")
        for pins in [_pins(lock)]
        for package in pins
        for asked in map(Requirement, requires(package) or ())
        if asked.marker is None or asked.marker.evaluate({"extra": ""})
        if not _fits(asked, pins.get(canonicalize_name(asked.name)))
    ]

    assert missing == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    paths = [
        f"{_name(path)}:{number} {found[0]}"
        for path in _texts(ROOT)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (found := MACHINE_PATH.search(line))
    ]

    assert paths == []


def _pins(lock: str) -> dict[str, str]:
    """Return the version that a lock pins, by the name of the package."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    }


def _fits(asked: Requirement, version: str | None) -> bool:
    return version is not None and asked.specifier.contains(version, prereleases=True)


def _drawn_layers() -> list[list[str]]:
    """The first column of the table headed `layer`, top to bottom."""
    text = (ROOT / "docs/architecture.md").read_text()
    table = re.search(r"^\| *layer *\|.*\n\|[-:| ]+\|\n((?:\|.*\n?)+)", text, re.MULTILINE)
    assert table, "docs/architecture.md has no table whose first column is headed `layer`"
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table[1].splitlines()]


def _enforced_layers() -> list[list[str]]:
    """What import-linter is told, without the rooms that are not built yet."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [[room for room in re.findall(r"\w+", layer) if _stands(room)] for layer in layers]


def _stands(room: str) -> bool:
    package = ROOT / "src/remit"
    return (package / f"{room}.py").exists() or (package / room / "__init__.py").exists()


def _texts(folder: Path) -> Iterator[Path]:
    """The files somebody wrote: hidden folders are tools' own, but for .ci."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (path.name == ".ci" or path.name[0] not in "._"):
            yield from _texts(path)
        elif path.is_file() and path.suffix in TEXT and path.name != ".coverage":
            yield path


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
