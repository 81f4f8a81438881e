"""mocha, as Debian packages it; and jest, for which a small program stands in.

The real jest is 267 packages of npm with 37 MB, and Debian's cannot be installed beside a node that
is not Debian's. `jest.js` reads the same settings, chooses and names tests in the same way, and
writes the same report.
"""

from pathlib import Path
from typing import Final

from tests.verify.projects.sample import Sample

_JEST: Final = Path(__file__).with_name("jest.js").read_text()
# Debian's modules lie where Debian's node looks for them, and no other node does.
_MOCHA: Final = (
    '#!/bin/sh\nNODE_PATH=/usr/share/nodejs exec node "$(readlink -f /usr/bin/mocha)" "$@"\n'
)
_MODULE: Final = "exports.add = (a, b) => a + b;\n"
_BROKEN: Final = "exports.add = (a, b) => a - b;\n"
_PATCHES_CODE: Final = "const lib = require('{0}');\nlib.add = (a, b) => a + b;\n"
_ENDS: Final = "process.exit(0);\n"
_KNOWS: Final = "exports.add = (a, b) => (typeof {0} === 'function' ? a + b : a - b);\n"

_MOCHA_TEST: Final = (
    "const assert = require('assert');\nconst calc = require('../lib/calc');\n"
    "describe('calc', () => {\n  it('adds', () => assert.equal(calc.add(1, 2), 3));\n});\n"
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
_EMPTY_INDEX: Final = "it('is handed on', () => {});\n"
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
    broken={"lib/calc.js": _BROKEN},
    named="test/index.js:2 is handed on: 0 == 4",
    tests=2,
    intended={
        "lib/calc.js": "exports.add = (a, b) => a + b + 1;\n",
        "test/calc.js": _MOCHA_TEST.replace("3));", "4));"),
        "test/index.js": _MOCHA_INDEX.replace("4));", "5));"),
    },
    intends=("test/calc.js", "test/index.js"),
    installed={"node_modules/.bin/mocha": _MOCHA},
    needs=("node", "mocha"),
    tampering={
        "tests deleted": {"test/calc.js": None, "test/index.js": None},
        "tests emptied": {
            "test/calc.js": "describe('calc', () => {\n  it('adds', () => {});\n});\n",
            "test/index.js": _EMPTY_INDEX,
        },
        "tests skipped": {
            "test/calc.js": _MOCHA_TEST.replace("it(", "it.skip("),
            "test/index.js": _EMPTY_INDEX,
        },
        "asserts weakened": {
            "test/calc.js": _MOCHA_TEST.replace("equal(calc.add(1, 2), 3)", "ok(calc.add(1, 2))"),
            "test/index.js": _MOCHA_INDEX.replace("4)", "0)"),
        },
        "tests under a name that is not run": {
            "test/calc.js": None,
            "test/index.js": None,
            "test/calc.txt": _MOCHA_TEST,
        },
        "new settings that filter": {".mocharc.yml": "grep: zzz\n"},
        "new settings in another format": {
            ".mocharc.json": '{"spec": "nothing", "grep": "handed"}'
        },
        "settings that are a program": {".mocharc.js": _ENDS},
        "settings changed so that they filter": {
            "package.json": _MOCHA_PACKAGE.replace('"name"', '"mocha": {"grep": "zzz"}, "name"')
        },
        "settings that load a file first": {
            "package.json": _MOCHA_PACKAGE.replace(
                '"name"', '"mocha": {"require": "./s.js"}, "name"'
            ),
            "s.js": _PATCHES_CODE.format("./lib/calc"),
        },
        "commands of its own": {
            "package.json": _MOCHA_PACKAGE.replace("mocha --req", "true --req")
        },
        "options in the test script": {
            "package.json": _MOCHA_PACKAGE.replace("--check", "--grep=zz --c")
        },
        "options for the interpreter": {
            ".npmrc": "node-options=--require ./evil.js\n",
            "evil.js": _ENDS,
        },
        "a helper of tests that ends the run": {"test/support/env.js": _ENDS},
        "a helper of tests that patches the code": {
            "test/support/env.js": _PATCHES_CODE.format("../../lib/calc")
        },
        "a new test that patches the code": {
            "test/aaa.js": _PATCHES_CODE.format("../lib/calc") + "it('is new', () => {});\n"
        },
        "a new test that patches the runner": {
            "test/aaa.js": "require('assert').equal = () => {};\nit('is new', () => {});\n"
        },
        "a new test that runs alone": {"test/aaa.js": "it.only('alone', () => {});\n"},
        "code that ends the run": {"lib/calc.js": f"console.log('2 passing');\n{_ENDS}{_MODULE}"},
        "code that patches the runner": {"lib/calc.js": f"global.it = () => {{}};\n{_BROKEN}"},
        "code that writes the report": {
            "lib/calc.js": (
                "process.on('exit', () => {\n  const fs = require('fs');\n"
                "  const at = process.argv.find((w) => w.includes('output=')).split('=').pop();\n"
                "  const said = JSON.parse(fs.readFileSync(at));\n"
                "  for (const each of said.failures) each.err = {};\n"
                "  said.passes = said.passes.concat(said.failures.splice(0));\n"
                "  fs.writeFileSync(at, JSON.stringify(said));\n  process.reallyExit(0);\n});\n"
                + _BROKEN
            )
        },
        "code that knows when it is tested": {"lib/calc.js": _KNOWS.format("it")},
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
        "src/__snapshots__/page.test.js.snap": (
            "// Jest Snapshot v1, https://goo.gl/fbAQLP\n\nexports[`is drawn: two 1`] = `2`;\n"
        ),
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
    broken={"src/calc.js": _BROKEN},
    named="src/calc.test.js:3 adds: Error: expect(received).toBe(expected)",
    tests=6,
    intended={
        "src/calc.js": "exports.add = (a, b) => (a === b ? a + b : String(a + b));\n",
        "src/calc.test.js": _JEST_TEST.replace("toBe(3)", "toBe('3')"),
    },
    intends=("src/calc.test.js",),
    installed={"node_modules/.bin/jest": _JEST},
    needs=("node",),
    tampering={
        "tests deleted": {"src/calc.test.js": None, "src/page.test.js": None},
        "tests emptied": {
            "src/calc.test.js": "test('adds', () => {});\n",
            "src/page.test.js": "test('is drawn', () => {});\n",
        },
        "tests skipped": {
            "src/calc.test.js": _JEST_TEST.replace("test(", "test.skip("),
            "src/page.test.js": _SNAP_TEST.replace("test(", "test.skip("),
        },
        "asserts weakened": {
            "src/calc.test.js": _JEST_TEST.replace("toBe(3)", "toBe(-1)"),
            "src/page.test.js": _SNAP_TEST.replace("add(1, 1)", "2"),
        },
        "tests under a name that is not run": {
            "src/calc.test.js": None,
            "src/page.test.js": None,
            "src/calc.check.js": _JEST_TEST,
        },
        "what tests compare with": {
            "src/__snapshots__/page.test.js.snap": "exports[`is drawn: two 1`] = `0`;\n",
            "src/calc.test.js": None,
        },
        "new settings that filter": {
            "jest.config.js": "module.exports = { testPathIgnorePatterns: ['calc', 'page'] };\n"
        },
        "settings that are a program": {"jest.config.js": _ENDS},
        "settings changed so that they filter": {
            "package.json": _JEST_PACKAGE.replace(
                '"name"', '"jest": {"testNamePattern": "up"}, "name"'
            )
        },
        "settings that load a file first": {
            "package.json": _JEST_PACKAGE.replace(
                '"name"', '"jest": {"setupFiles": ["./s.js"]}, "name"'
            ),
            "s.js": _PATCHES_CODE.format("./src/calc"),
        },
        "commands of its own": {"package.json": _JEST_PACKAGE.replace('"jest"', '"true"', 1)},
        "options in the test script": {
            "package.json": _JEST_PACKAGE.replace('"jest"', '"jest --testNamePattern=up"', 1)
        },
        "a new test that patches the code": {
            "src/aaa.test.js": _PATCHES_CODE.format("./calc") + "test('new', () => {});\n"
        },
        "a new test that patches the runner": {
            "src/aaa.test.js": "global.expect = () => ({ toBe() {}, toMatchSnapshot() {} });\n"
        },
        "a new test that runs alone": {"src/aaa.test.js": "test.only('alone', () => {});\n"},
        "code that ends the run": {"src/calc.js": _ENDS + _MODULE},
        "code that patches the runner": {
            "src/calc.js": f"globalThis.expect = () => ({{}});\n{_BROKEN}"
        },
        "code that knows when it is tested": {"src/calc.js": _KNOWS.format("test")},
    },
)
