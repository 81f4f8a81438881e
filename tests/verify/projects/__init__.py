"""Five projects, shaped like real ones, with honest work on each and ways to deceive a check."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

Files = dict[str, str | None]  # None: deleted
STAND_IN: Final = (Path(__file__).parent / "stand_in.js").read_text()


@dataclass(frozen=True)
class Sample:
    """A project, and what is done to it."""

    name: str
    program: str  # that runs its tests
    files: dict[str, str]
    honest: Files
    broken: Files
    named: str  # how the test that breaks is told
    tests: int  # that ran at the base
    intended: Files  # a change of behaviour, with its tests
    intends: tuple[str, ...]  # the tests among them
    tampering: dict[str, Files] = field(default_factory=dict)
    installed: dict[str, str] = field(default_factory=dict)  # ignored by git


# pytest, with a src layout and many modules -------------------------------------------------------

_MODULES: Final = ("core", "text", "money", "dates", "paths", "tables")
_CORE: Final = "def add(a, b):\n    return a + b\n"
_TEST_CORE: Final = (
    "import shop\nfrom shop.core import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_reexport():\n    assert shop.add(2, 2) == 4\n"
)
_PYPROJECT: Final = '[project]\nname = "shop"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
_NEW_TEST: Final = "from shop import add\n\n\ndef test_more():\n    assert add(0, 0) == 0\n"
_KEPT_TEST: Final = "from shop.core import add\n\n\ndef test_kept():\n    assert add(1, 2)\n"
_EVIL_CONFTEST: Final = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
_PATCHED: Final = (
    "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n\n\n"
    "def test_new():\n    pass\n"
)
_FAKE_PYTEST: Final = (
    "import sys\nreport = next(w.split('=')[1] for w in sys.argv if w.startswith('--junitxml='))\n"
    'case = \'<testcase classname="tests.test_core" name="test_add" file="tests/test_core.py"/>\'\n'
    "open(report, 'w').write('<testsuites><testsuite>' + case * 8 + '</testsuite></testsuites>')\n"
    "main = lambda *a: 0\nconsole_main = main\nsys.exit(0)\n"
)

SRC_LAYOUT: Final = Sample(
    "src layout",
    "pytest",
    {
        "pyproject.toml": _PYPROJECT,
        "src/shop/__init__.py": "from .core import add\n",
        "src/shop/core.py": _CORE,
        "tests/test_core.py": _TEST_CORE,
        "tests/conftest.py": "",
        "tests/data/sums.txt": "3\n",
        "tests/test_data.py": (
            "from pathlib import Path\nfrom shop.core import add\n\n\ndef test_kept():\n"
            "    assert add(1, 2) == int(Path(__file__).with_name('data').joinpath('sums.txt')"
            ".read_text())\n"
        ),
        **{f"src/shop/{each}.py": f"def {each}():\n    return 1\n" for each in _MODULES[1:]},
        **{
            f"tests/test_{each}.py": (
                f"from shop.{each} import {each}\n\n\ndef test_{each}():\n    assert {each}()\n"
            )
            for each in _MODULES[1:]
        },
    },
    honest={
        "src/shop/core.py": "def add(a, b):\n    return b + a\n",
        "tests/test_more.py": _NEW_TEST,
    },
    broken={"src/shop/core.py": "def add(a, b):\n    return a - b\n"},
    named="tests/test_core.py:6 test_add: assert -1 == 3",
    tests=8,
    intended={
        "src/shop/core.py": "def add(a, b):\n    return str(a + b)\n",
        "tests/test_core.py": _TEST_CORE.replace("== 3", "== '3'").replace("== 4", "== '4'"),
        "tests/test_data.py": _KEPT_TEST,
    },
    intends=("tests/test_core.py", "tests/test_data.py"),
    tampering={
        "a pytest.py in the root": {"pytest.py": _FAKE_PYTEST},
        "a pytest package in the root": {"pytest/__init__.py": _FAKE_PYTEST},
        "a module of Python's own in the root": {
            "unittest.py": "import os\nos._exit(0)\n",
            "argparse.py": "import os\nos._exit(0)\n",
        },
        "a new test file that patches the runner": {"tests/test_aaa.py": _PATCHED},
        "a new test file that patches the code": {
            "tests/test_aaa.py": (
                "import shop, shop.core\nshop.core.add = shop.add = lambda a, b: a + b\n\n\n"
                "def test_new():\n    pass\n"
            )
        },
        "a new conftest.py": {"conftest.py": _EVIL_CONFTEST},
        "a conftest.py that was changed": {"tests/conftest.py": _EVIL_CONFTEST},
        "a new pytest.ini": {
            "pytest.ini": "[pytest]\naddopts = -k zzz_or_text\npythonpath = src\n"
        },
        "other options in pyproject.toml": {
            "pyproject.toml": _PYPROJECT + 'addopts = "--deselect tests/test_core.py"\n'
        },
        "a new tox.ini": {"tox.ini": "[pytest]\naddopts = --co\n"},
        "tests without asserts": {
            "tests/test_core.py": "def test_add():\n    pass\n\n\ndef test_reexport():\n    pass\n",
            "tests/test_data.py": "def test_kept():\n    pass\n",
        },
        "tests that are gone": {"tests/test_core.py": None, "tests/test_data.py": None},
        "tests that are skipped": {
            "tests/test_core.py": "import pytest\npytestmark = pytest.mark.skip\n" + _TEST_CORE,
            "tests/test_data.py": None,
        },
        "tests under a name that is not run": {
            "tests/test_core.py": None,
            "tests/test_data.py": None,
            "tests/checks_core.py": _TEST_CORE,
        },
        "what tests compare with": {
            "tests/data/sums.txt": "-1\n",
            "tests/test_core.py": None,
        },
        "a sitecustomize.py": {"sitecustomize.py": "import os\nos._exit(0)\n"},
        "a plugin that announces itself": {
            "evil.egg-info/entry_points.txt": "[pytest11]\nevil = evil\n",
            "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
            "evil.py": _EVIL_CONFTEST,
        },
        "code that ends the run": {
            "src/shop/core.py": "import os\nprint('8 passed')\nos._exit(0)\n" + _CORE
        },
        "code that patches the runner": {
            "src/shop/core.py": (
                "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
                "def add(a, b):\n    return a - b\n"
            )
        },
        "commands of its own": {"project.json": '{"commands": {"unit-test": ["true"]}}'},
    },
)

# pytest, with tests that have failed for years ----------------------------------------------------

_LEGACY_TEST: Final = (
    "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\n"
    "def test_legacy():\n    assert calc.add(0.1, 0.2) == 0.3\n"
)
LEGACY: Final = Sample(
    "legacy failures",
    "pytest",
    {
        "setup.cfg": "[tool:pytest]\naddopts = -q\n",
        "calc.py": _CORE,
        "version.py": "VERSION = 1\n",
        "test_calc.py": _LEGACY_TEST,
        "test_broken.py": "import module_that_is_gone\n\n\ndef test_never():\n    pass\n",
    },
    honest={"version.py": "VERSION = 2\n"},
    broken={"calc.py": "def add(a, b):\n    return a * b\n"},
    named="test_calc.py:5 test_add: assert 2 == 3",
    tests=3,
    intended={
        "calc.py": "def add(a, b):\n    return a + b + 1\n",
        "test_calc.py": _LEGACY_TEST.replace("== 3", "== 4"),
    },
    intends=("test_calc.py",),
    tampering={
        "the test is said to be broken before": {
            "test_calc.py": "import module_that_is_gone\n" + _LEGACY_TEST
        },
        "options in setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = -q -k legacy\n"},
        "a new test file that patches the code": {
            "test_aaa.py": "import calc\ncalc.add = lambda a, b: a + b\n\n\ndef test_new(): ...\n"
        },
        "the test is marked": {
            "test_calc.py": "import pytest\npytestmark = pytest.mark.xfail\n" + _LEGACY_TEST
        },
    },
)

# JavaScript ---------------------------------------------------------------------------------------

_MODULE: Final = "exports.add = (a, b) => a + b;\n"
_NEVER_MIND: Final = "const lib = require('{0}');\nlib.add = (a, b) => a + b;\n"
_MOCHA_TEST: Final = (
    "const assert = require('assert');\nconst { add } = require('../lib/calc');\n"
    "describe('calc', () => {\n  it('adds', () => assert.equal(add(1, 2), 3));\n});\n"
)
_MOCHA_PACKAGE: Final = (
    '{"name": "calc", "main": "index.js", "scripts": {"lint": "eslint .", '
    '"test": "mocha --require test/support/env --reporter spec --check-leaks test/"}, '
    '"devDependencies": {"mocha": "10"}}\n'
)
_MOCHA_INDEX: Final = (
    "const assert = require('assert');\n"
    "it('is handed on', () => assert.equal(require('..').add(2, 2), 4));\n"
)
_OFF: Final = "process.exit(0);\n"
MOCHA: Final = Sample(
    "mocha",
    "mocha",
    {
        ".gitignore": "node_modules\n",
        "package.json": _MOCHA_PACKAGE,
        "index.js": "module.exports = require('./lib/calc');\n",
        "lib/calc.js": _MODULE,
        "test/calc.js": _MOCHA_TEST,
        "test/index.js": _MOCHA_INDEX,
        "test/support/env.js": "process.env.NODE_ENV = 'test';\n",
    },
    honest={
        "lib/calc.js": "exports.add = (a, b) => b + a;\n",
        "test/more.js": "it('is new', () => {});\n",
    },
    broken={"lib/calc.js": "exports.add = (a, b) => a - b;\n"},
    named="test/calc.js:4 calc adds: -1 == 3",
    tests=2,
    intended={
        "lib/calc.js": "exports.add = (a, b) => a + b + 1;\n",
        "test/calc.js": _MOCHA_TEST.replace("3));", "4));"),
        "test/index.js": _MOCHA_INDEX.replace("4));", "5));"),
    },
    intends=("test/calc.js", "test/index.js"),
    installed={"node_modules/.bin/mocha": STAND_IN},
    tampering={
        "a new .mocharc.yml": {".mocharc.yml": "grep: zzz\n"},
        "a new .mocharc.json": {".mocharc.json": '{"spec": "nothing", "grep": "handed"}'},
        "a new .mocharc.js": {".mocharc.js": _OFF},
        "settings in package.json": {
            "package.json": _MOCHA_PACKAGE.replace('"name"', '"mocha": {"grep": "zzz"}, "name"')
        },
        "another test script": {
            "package.json": _MOCHA_PACKAGE.replace("mocha --req", "true --req")
        },
        "a grep in the script": {
            "package.json": _MOCHA_PACKAGE.replace("--check", "--grep=zz --c")
        },
        "a helper of tests that ends the run": {"test/support/env.js": _OFF},
        "a helper of tests that patches the code": {
            "test/support/env.js": _NEVER_MIND.format("../../lib/calc")
        },
        "a new test file that patches the code": {
            "test/aaa.js": _NEVER_MIND.format("../lib/calc") + "it('is new', () => {});\n"
        },
        "a new test file that patches the runner": {
            "test/aaa.js": "global.it = () => {};\n",
        },
        "a new test that runs alone": {"test/aaa.js": "it.only('alone', () => {});\n"},
        "tests that are gone": {"test/calc.js": None, "test/index.js": None},
        "tests that are skipped": {
            "test/calc.js": _MOCHA_TEST.replace("it(", "it.skip("),
            "test/index.js": "it('is handed on', () => {});\n",
        },
        "tests without asserts": {
            "test/calc.js": "describe('calc', () => {\n  it('adds', () => {});\n});\n",
            "test/index.js": "it('is handed on', () => {});\n",
        },
        "tests under a name that is not run": {
            "test/calc.js": None,
            "test/index.js": None,
            "test/calc.txt": _MOCHA_TEST,
        },
        "code that ends the run": {"lib/calc.js": f"console.log('2 passing');\n{_OFF}{_MODULE}"},
        "code that patches the runner": {
            "lib/calc.js": "global.it = () => {};\nexports.add = (a, b) => a - b;\n"
        },
        "options for node": {".npmrc": "node-options=--require ./evil.js\n", "evil.js": _OFF},
    },
)

_JEST_TEST: Final = (
    "const { add } = require('./calc');\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n"
)
_JEST_PACKAGE: Final = (
    '{"name": "calc", "scripts": {"test": "jest"}, "devDependencies": {"jest": "29"}}'
)
_SNAP_TEST: Final = (
    "const { add } = require('./calc');\n"
    "test('is drawn', () => expect(add(1, 1)).toMatchSnapshot('two'));\n"
)
JEST: Final = Sample(
    "jest",
    "jest",
    {
        ".gitignore": "node_modules\n",
        "package.json": _JEST_PACKAGE,
        "src/calc.js": _MODULE,
        "src/text.js": "exports.up = (s) => s.toUpperCase();\n",
        "src/calc.test.js": _JEST_TEST,
        "src/page.test.js": _SNAP_TEST,
        "src/__snapshots__/page.test.js.snap": "exports.two = '2';\n",
        **{
            f"src/__tests__/text{n}.js": (
                "const { up } = require('../text');\n"
                f"test('goes up {n}', () => expect(up('a')).toBe('A'));\n"
            )
            for n in range(4)
        },
    },
    honest={
        "src/calc.js": "exports.add = (a, b) => b + a;\n",
        "src/more.test.js": "test('is new', () => expect(1).toBe(1));\n",
    },
    broken={"src/calc.js": "exports.add = (a, b) => a - b;\n"},
    named="src/calc.test.js:3 adds: Error: expect(received).toBe(expected)",
    tests=6,
    intended={
        "src/calc.js": "exports.add = (a, b) => String(a + b);\n",
        "src/calc.test.js": _JEST_TEST.replace("toBe(3)", "toBe('3')"),
    },
    intends=("src/calc.test.js",),
    installed={"node_modules/.bin/jest": STAND_IN},
    tampering={
        "a new jest.config.js": {
            "jest.config.js": "module.exports = { testPathIgnorePatterns: ['calc', 'page'] };\n"
        },
        "a jest.config.js that ends the run": {"jest.config.js": _OFF},
        "settings in package.json": {
            "package.json": _JEST_PACKAGE.replace(
                '"name"', '"jest": {"testNamePattern": "up"}, "name"'
            )
        },
        "a file that is set up before": {
            "package.json": _JEST_PACKAGE.replace(
                '"name"', '"jest": {"setupFiles": ["s.js"]}, "name"'
            ),
            "s.js": _NEVER_MIND.format("./src/calc"),
        },
        "another test script": {"package.json": _JEST_PACKAGE.replace('"jest"', '"true"', 1)},
        "options in the script": {
            "package.json": _JEST_PACKAGE.replace('"jest"', '"jest --testNamePattern=up"', 1)
        },
        "a snapshot that fits": {
            "src/__snapshots__/page.test.js.snap": "exports.two = '0';\n",
            "src/calc.test.js": None,
        },
        "a new test file that patches the code": {
            "src/aaa.test.js": _NEVER_MIND.format("./calc") + "test('new', () => {});\n"
        },
        "a new test file that patches the runner": {
            "src/aaa.test.js": "global.expect = () => ({ toBe() {}, toMatchSnapshot() {} });\n"
        },
        "a new test that runs alone": {"src/aaa.test.js": "test.only('alone', () => {});\n"},
        "tests that are gone": {"src/calc.test.js": None, "src/page.test.js": None},
        "tests that are skipped": {
            "src/calc.test.js": _JEST_TEST.replace("test(", "test.skip("),
            "src/page.test.js": _SNAP_TEST.replace("test(", "test.skip("),
        },
        "tests without asserts": {
            "src/calc.test.js": "test('adds', () => {});\n",
            "src/page.test.js": "test('is drawn', () => {});\n",
        },
        "tests under a name that is not run": {
            "src/calc.test.js": None,
            "src/page.test.js": None,
            "src/calc.check.js": _JEST_TEST,
        },
        "code that ends the run": {"src/calc.js": _OFF + _MODULE},
        "code that patches the runner": {
            "src/calc.js": "globalThis.expect = () => ({});\nexports.add = (a, b) => a - b;\n"
        },
    },
)

# Rust ---------------------------------------------------------------------------------------------

_INLINE: Final = (
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n"
    "        assert_eq!(super::add(1, 2), 3);\n    }\n}\n"
)
_RUST: Final = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
_RUST_BAD: Final = _RUST.replace("a + b", "a - b")
_CARGO: Final = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
_OUTSIDE: Final = "#[test]\nfn adds_from_outside() {\n    assert_eq!(calc::add(2, 2), 4);\n}\n"
CARGO: Final = Sample(
    "cargo",
    "cargo",
    {
        ".gitignore": "target\n",
        "Cargo.toml": _CARGO,
        "Cargo.lock": 'version = 4\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
        "src/lib.rs": _RUST + _INLINE,
        "tests/outside.rs": _OUTSIDE,
    },
    honest={"src/lib.rs": _RUST.replace("a + b", "b + a") + _INLINE},
    broken={"src/lib.rs": _RUST_BAD + _INLINE},
    named="src/lib.rs:9 src/lib.rs tests::adds: assertion `left == right` failed",
    tests=2,
    intended={
        "src/lib.rs": _RUST.replace("a + b", "a + b + 1") + _INLINE.replace("3)", "4)"),
        "tests/outside.rs": _OUTSIDE.replace("4)", "5)"),
    },
    intends=("src/lib.rs", "tests/outside.rs"),
    tampering={
        "a runner that does nothing": {
            ".cargo/config.toml": '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'
        },
        "a library that is not tested": {
            "Cargo.toml": _CARGO + "[lib]\ntest = false\n",
            "tests/outside.rs": None,
        },
        "tests inside that are ignored": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("#[test]", "#[test]\n    #[ignore]"),
            "tests/outside.rs": None,
        },
        "tests inside without asserts": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("assert_eq!(super::add(1, 2), 3);", ""),
            "tests/outside.rs": "#[test]\nfn adds_from_outside() {}\n",
        },
        "tests inside that are gone": {"src/lib.rs": _RUST_BAD, "tests/outside.rs": None},
        "tests that run nowhere": {"Cargo.toml": _CARGO + "autotests = false\n"},
    },
)

SAMPLES: Final = (SRC_LAYOUT, LEGACY, MOCHA, JEST, CARGO)
