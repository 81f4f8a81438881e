"""Projects within a project, such as `backend/` in Python and `frontend/` in JavaScript."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname
from typing import Final

from remit.model.contract import is_test
from remit.verify.project_files import ProjectFiles
from remit.verify.runners import SUFFIXES

_MARKERS: Final = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini"),
    "node": ("package.json",),
    "go": ("go.mod",),
    "rust": ("Cargo.toml",),
}
_MAX_DEPTH: Final = 3
_MAX_PROJECTS: Final = 30
_MAX_TEXTS: Final = 200  # Rust files that are read for a test
# What lies here is shown or used, and not tested with the project.
_APART: Final = re.compile(
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
    markers = _MARKERS[language]
    folders = {dirname(name) for name in files.names if basename(name) in markers}
    return {
        each
        for each in folders - {""}
        if each.count("/") < _MAX_DEPTH and not _APART.search(each) and not is_test(f"{each}/x")
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


def outside(files: ProjectFiles, language: str) -> Iterator[str]:
    """Yield the files that no nested project of this language has."""
    folders = tuple(f"{each}/" for each in marked_folders(files, language))
    return (name for name in files.names if not name.startswith(folders))
