"""The projects in a folder and their test runners: how each is recognised, and how it is started.

`tools.toml` says how the output of a runner is read.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import basename, dirname
from typing import Final, TypeAlias

from msgspec import Struct, convert

from remit.language.files import read_toml
from remit.model.contract import is_test
from remit.verify.project_files import ProjectFiles, Toolchain
from remit.verify.selection import SCRIPTS

Argv: TypeAlias = tuple[str, ...]
FILES: Final = "{files}"


class CheckCommand(Struct, frozen=True):
    """How one activity is checked, and where that comes from."""

    argv: Argv
    origin: str
    detected: bool = False  # its origin is the tool itself
    names: bool = False  # the pattern must be a plain name, because the tool interprets more
    reader: str = ""  # how single tests are read; empty: only a count may be found
    everything: Argv = ()  # what `{files}` means if no files are chosen
    by_folder: bool = False  # it takes the folders of the files
    language: str = ""  # whose files it checks; empty: any
    folder: str = ""  # where it runs: a project within the project
    also: "tuple[CheckCommand, ...]" = ()  # more commands of the same activity; each must pass
    lacks: "tuple[MissingTool, ...]" = ()  # others that the project mentions

    @property
    def all_commands(self) -> "tuple[CheckCommand, ...]":
        return (self, *self.also)

    @property
    def selects(self) -> bool:
        return FILES in self.argv

    @property
    def title(self) -> str:
        return f"{self.origin} in {self.folder}" if self.folder else self.origin

    def concerns(self, name: str) -> bool:
        return _concerns(self, name)


class MissingTool(Struct, frozen=True):
    """The project mentions a tool that is not installed."""

    why: str
    language: str = ""
    folder: str = ""

    def concerns(self, name: str) -> bool:
        return _concerns(self, name)


SUFFIXES: Final[Mapping[str, Argv]] = {
    "python": (".py", ".pyi"),
    "node": SCRIPTS,
    "go": (".go",),
    "rust": (".rs",),
}


def _concerns(way: CheckCommand | MissingTool, name: str) -> bool:
    """Whether a file is written in its language and lies in its folder."""
    inside = not way.folder or name.startswith(f"{way.folder}/")
    return inside and name.endswith(SUFFIXES.get(way.language, ("",)))


class RunnerProgram(Struct, frozen=True):
    """A test runner, as tools.toml describes it."""

    name: str
    words: Argv
    reader: str = "report"
    start: Argv = ()
    everything: Argv = ()
    options: frozenset[str] = frozenset()
    by_folder: bool = False


# The runner is imported before the project's folder is on the path; only then is it added, as
# `python -m pytest` does: no file of the work can shadow the runner.
_SAFE_START: Final = (
    "import os, sys, {0}; sys.argv[0] = '{0}'; sys.path.insert(0, os.getcwd()); {1}"
)
_PYTEST_MAIN: Final = _SAFE_START.format("pytest", "sys.exit(pytest.main())")
_UNITTEST_MAIN: Final = _SAFE_START.format("unittest", "unittest.main(module=None)")
_PYTEST: Final = (
    *("-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--maxfail=0"),
    *("-o", "junit_family=xunit1", "--junitxml={report}", "-k{pattern}"),
)
RUNNERS: Final[Mapping[str, RunnerProgram]] = {
    each.name: each
    for each in convert(read_toml("tools", "remit.verify")["runners"], list[RunnerProgram])
}
_WRAPPERS: Final = frozenset({"npx", "cross-env", "c8", "nyc", "env", "dotenv", "--"})
_MAX_TESTS_READ: Final = 20
_ASSIGNMENT: Final = re.compile(r"[A-Z_][A-Z0-9_]*=.*")


def python_tests(files: ProjectFiles, tools: Toolchain, *words: str) -> CheckCommand | MissingTool:
    """Return pytest; or unittest, if pytest is missing and the tests do not need it."""
    found = tools.find("pytest")
    if found is not None:
        python = found.with_name("python")
        safe = (str(python), "-I", "-c", _PYTEST_MAIN) if python.is_file() else (str(found),)
        argv = (*safe, *_PYTEST, *(w for w in words if w.startswith("-")), FILES)
        everything = tuple(w for w in words if not w.startswith("-"))
        return CheckCommand(argv, "pytest", True, True, "report", everything)
    python3 = tools.find("python") or tools.find("python3")
    if python3 is None or not _is_unittest(files):
        return MissingTool("the project has tests for pytest, which is not installed")
    folder = next((each for each in ("tests", "test") if files.any(f"{each}/*.py")), ".")
    apart = folder != "." and not files.has(f"{folder}/__init__.py")
    top = folder if apart else "."
    argv = (str(python3), "-I", "-c", _UNITTEST_MAIN, "discover", "-v", "-s", folder, "-t", top)
    return CheckCommand(argv, "unittest", detected=True, reader="unittest")


def is_python_test(name: str) -> bool:
    """Whether pytest or unittest runs a file of this name, if nothing is set up."""
    last = basename(name)
    return last.endswith(".py") and (last.startswith("test") or last.endswith("_test.py"))


def _is_unittest(files: ProjectFiles) -> bool:
    texts = [files.text(name) for name in files.names if name.endswith(".py") and is_test(name)]
    asks = any(re.search(r"^\s*(?:import|from) pytest\b", text, re.MULTILINE) for text in texts)
    return not asks and any("unittest" in text for text in texts)


def script_tests(
    script: str, needs: Mapping[str, object], tools: Toolchain, *, own: bool = False
) -> CheckCommand | MissingTool | None:
    """Return the runner that package.json's test script starts, with its arguments.

    Without a script it is a runner among the dependencies, or Node's `own` if a test uses it; None
    if there is none.
    """
    for piece in re.split(r"&&|;|\|\||\n", script):
        found = _in_script(piece, tools)
        if found is not None:
            return found
    if script and "no test specified" not in script:  # what `npm init` writes
        return detected_command(tools, "npm", "run", "--silent", "test")
    needed = next((each for each in ("vitest", "jest", "mocha") if each in needs), None)
    needed = needed or ("node" if own else None)
    return runner_command(RUNNERS[needed], tools) if needed else None


def uses_node_test(files: ProjectFiles) -> bool:
    """Whether the first tests in JavaScript import Node's own runner."""
    tests = sorted(name for name in files.names if name.endswith(SCRIPTS) and is_test(name))
    return any("node:test" in files.text(name) for name in tests[:_MAX_TESTS_READ])


def _in_script(piece: str, tools: Toolchain) -> CheckCommand | MissingTool | None:
    try:
        words = shlex.split(piece)
    except ValueError:
        return None
    given = list[str]()
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _WRAPPERS):
        word = words.pop(0)
        given += [word] if _ASSIGNMENT.fullmatch(word) else []
    runner = RUNNERS.get(Path(words[0]).name) if words else None
    if runner is None or (runner.name == "node" and "--test" not in words):
        return None
    shell = r"[$`<>|&]" if runner.name == "mocha" else r"[$`<>|&*?]"  # mocha expands globs itself
    if any(re.search(shell, word) for word in words):
        return None
    rest = [word for word in words[1:] if word not in runner.start and word != "--watch"]
    return runner_command(runner, tools, rest, given)


def runner_command(
    runner: RunnerProgram, tools: Toolchain, words: Sequence[str] = (), environ: Sequence[str] = ()
) -> CheckCommand | MissingTool:
    """Return how a runner is started, with a script's words and variables."""
    found = tools.find(runner.name)
    if found is None:
        return MissingTool(f"the project's tests run with {runner.name}, which is not installed")
    options, places = _sort_words(words, runner.options)
    program = ("env", *environ, str(found)) if environ else (str(found),)
    argv = (*program, *runner.start, *options, *runner.words)
    everything = (*places, *runner.everything)
    return CheckCommand(argv, runner.name, True, False, runner.reader, everything, runner.by_folder)


def _sort_words(words: Sequence[str], valued: frozenset[str]) -> tuple[Argv, Argv]:
    """Return a script's options with their values, and the paths it names."""
    options, places, takes = list[str](), list[str](), False
    for word in words:
        if word.startswith("-") or takes:
            options.append(word)
            takes = word in valued
        else:
            places.append(word)
    return tuple(options), tuple(places)


def detected_command(tools: Toolchain, program: str, *words: str) -> CheckCommand | MissingTool:
    found = tools.find(program)
    if found is None:
        return MissingTool(f"the project uses {program}, which is not installed")
    return CheckCommand((str(found), *words), program, detected=True)


def reader_of(argv: Sequence[str]) -> str:
    """Return how the output of a configured command is read."""
    if any("{report}" in word for word in argv):
        return "report"
    names = [Path(word).name for word in argv]
    if names[:1] == ["cargo"]:
        return "cargo"
    return "go" if names[:1] == ["go"] and "-json" in argv else ""


# Projects within a project, such as `backend/` in Python and `frontend/` in JavaScript ------------

_PROJECT_FILES: Final = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini"),
    "node": ("package.json",),
    "go": ("go.mod",),
    "rust": ("Cargo.toml",),
}
_MAX_DEPTH: Final = 3
_MAX_PROJECTS: Final = 30
_MAX_TEXTS: Final = 200  # Rust files that are read for a test
# What lies here is shown or used, and not tested with the project.
_NOT_TESTED: Final = re.compile(
    r"(?:^|/)(?:\..*|node_modules|vendor|third_party|docs?|examples?|templates?|fixtures?|testdata)"
    r"(?:/|$)"
)


def nested_projects(files: ProjectFiles, language: str) -> tuple[str, ...]:
    """Return folders that have a project of this language with tests, none inside another."""
    tests = [name for name in files.names if has_suffix(name, language) and is_test(name)]
    found: list[str] = []
    for folder in sorted(marked_folders(files, language), key=lambda each: (each.count("/"), each)):
        inside = any(folder.startswith(f"{each}/") for each in found)
        tested = language == "rust" or any(name.startswith(f"{folder}/") for name in tests)
        if tested and not inside:
            found.append(folder)
    return tuple(sorted(found[:_MAX_PROJECTS]))


def marked_folders(files: ProjectFiles, language: str) -> set[str]:
    """Return the folders below the root that have a project file of a language."""
    markers = _PROJECT_FILES[language]
    folders = {dirname(name) for name in files.names if basename(name) in markers}
    return {
        each
        for each in folders - {""}
        if each.count("/") < _MAX_DEPTH
        and not _NOT_TESTED.search(each)
        and not is_test(f"{each}/x")
    }


def has_tests(files: ProjectFiles, language: str) -> bool:
    """Whether there is a test in a language: a file, or in Rust within one."""
    named = [name for name in files.names if has_suffix(name, language)]
    if any(is_test(name) for name in named):
        return True
    texts = named[:_MAX_TEXTS] if language == "rust" else ()
    return any("#[test]" in files.text(name) or "```" in files.text(name) for name in texts)


def has_suffix(name: str, language: str) -> bool:
    return name.endswith(SUFFIXES[language])


def files_outside(files: ProjectFiles, language: str) -> Iterator[str]:
    """Yield the files that no nested project of this language has."""
    folders = tuple(f"{each}/" for each in marked_folders(files, language))
    return (name for name in files.names if not name.startswith(folders))
