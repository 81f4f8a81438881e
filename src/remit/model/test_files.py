"""Which files judge work: tests, and the settings of test runners.

There is one list for all: the files reported to the owner as tests are the files that checks
restore.
"""

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

_TESTS: Final = (
    *("test_*.py", "*_test.py", "tests.py", "*_test.go", "*_test.rs", "*_test.exs", "*_test.dart"),
    *("*.test.*", "*.spec.*", "*-test.*js", "*_test.*js", "*_test.ts", "*.snap", "test.*js"),
    *("*Test.java", "*Tests.java", "*Test.kt", "*Tests.kt", "*Test.cs", "*Tests.cs"),
    *("*Test.php", "*Test.scala", "*Spec.scala", "*Spec.kt", "*Spec.groovy", "*Tests.swift"),
    *("*_spec.rb", "*_test.rb", "test_*.rb", "*_test.cc", "*_test.cpp"),
)
_TEST_FOLDERS: Final = frozenset(
    {"tests", "test", "__tests__", "__snapshots__", "__mocks__", "e2e", "spec", "testdata"}
)
# Files that control check runs, by the program that reads them.
_SETTINGS: Final = {
    "pytest": ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    "python": ("sitecustomize.py", "usercustomize.py", ".coveragerc", "noxfile.py"),
    "mocha": (".mocharc*", "mocha.opts"),
    "jest": ("jest.config.*", "jest.setup.*", "jest-preset.*", "babel.config.*", ".babelrc*"),
    "vitest": ("vitest.config.*", "vitest.workspace.*", "vitest.setup.*", "vite.config.*"),
    "node": (".npmrc", ".yarnrc*", ".nycrc*", ".c8rc*", ".taprc", "ava.config.*", "karma.conf*"),
    "browsers": ("playwright.config.*", "cypress.config.*"),
    "rust": ("build.rs", "rust-toolchain*", "clippy.toml", ".clippy.toml", "nextest.toml"),
    "go": ("go.work", ".golangci.*"),
    "types": ("mypy.ini", ".mypy.ini", "pyrightconfig.json", "tsconfig*.json", "ty.toml"),
    "style": ("ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "eslint.config.*", ".eslintrc*"),
    "more style": (".eslintignore", "biome.json*", ".prettierrc*", ".pre-commit-config.yaml"),
    "commands": ("Makefile", "GNUmakefile", "justfile", ".justfile", "Taskfile.y*ml"),
    "other runners": ("phpunit.xml*", ".rspec", "Rakefile", "project.json"),
}
# Everything in these folders controls what lies beside them.
_SETTING_FOLDERS: Final = (".cargo", ".config", "*.egg-info", "*.dist-info")
# Only a part of these controls a run; the checks know which.
PARTLY_SETTINGS: Final = frozenset(
    {"pyproject.toml", "package.json", "setup.cfg", "tox.ini", "Cargo.toml"}
)
# A module of this name beside the tests would shadow the test runner.
RUNNER_MODULES: Final = re.compile(
    r"_?pytest|pytest_\w+|pluggy|iniconfig|packaging|pygments|exceptiongroup|py|xdist|execnet"
    r"|hypothesis|coverage|nose2?|mock"
)


def _any_of(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)))


_IS_TEST: Final = _any_of(_TESTS)
_IS_SETTING: Final = _any_of(glob for globs in _SETTINGS.values() for glob in globs)
_IS_SETTING_FOLDER: Final = _any_of(_SETTING_FOLDERS)


def is_test(path: str) -> bool:
    """Whether a file is a test, or support for tests."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _IS_TEST.match(name) is not None


def is_runner_setting(path: str) -> bool:
    """Whether a whole file, by its name and place, controls check runs."""
    *folders, name = path.split("/")
    if any(_IS_SETTING_FOLDER.match(folder) for folder in folders):
        return True
    return _IS_SETTING.match(name) is not None


def steered_folder(path: str) -> str:
    """Return the folder that such a file controls; empty for the whole project."""
    kept: list[str] = []
    for folder in path.split("/")[:-1]:
        if _IS_SETTING_FOLDER.match(folder):
            break
        kept.append(folder)
    return "/".join(kept)
