"""pytest, with a src layout and many modules; and pytest, with tests that have failed for years."""

from typing import Final

from tests.verify.projects.sample import Files, Sample

_MODULES: Final = ("core", "text", "money", "dates", "paths", "tables")
_CORE: Final = "def add(a, b):\n    return a + b\n"
_BROKEN: Final = "def add(a, b):\n    return a - b\n"
_TEST_CORE: Final = (
    "import shop\nfrom shop.core import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_reexport():\n    assert shop.add(2, 2) == 4\n"
)
_PYPROJECT: Final = '[project]\nname = "shop"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
_NEW_TEST: Final = "from shop import add\n\n\ndef test_more():\n    assert add(0, 0) == 0\n"
_KEPT_TEST: Final = "from shop.core import add\n\n\ndef test_kept():\n    assert add(1, 2)\n"
_EVIL_CONFTEST: Final = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
_ENDS: Final = "import os\nos._exit(0)\n"
_PATCHES_RUNNER: Final = (
    "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
)
_NEW: Final = "\n\ndef test_new():\n    pass\n"
_FAKE_PYTEST: Final = (
    "import sys\nreport = next(w.split('=')[1] for w in sys.argv if w.startswith('--junitxml='))\n"
    'case = \'<testcase classname="tests.test_core" name="test_add" file="tests/test_core.py"/>\'\n'
    "open(report, 'w').write('<testsuites><testsuite>' + case * 8 + '</testsuite></testsuites>')\n"
    "main = lambda *a: 0\nconsole_main = main\nsys.exit(0)\n"
)
_WRITES_REPORT: Final = (
    "import atexit, sys\n\n\ndef _done():\n"
    "    at = next(w.split('=')[1] for w in sys.argv if w.startswith('--junitxml='))\n"
    "    text = open(at).read().replace('<failure', '<system-out').replace('</failure', "
    "'</system-out')\n    open(at, 'w').write(text)\n    import os; os._exit(0)\n\n\n"
    "atexit.register(_done)\n"
)
_KNOWS: Final = (
    "import os\n\n\ndef add(a, b):\n"
    "    return a + b if 'PYTEST_CURRENT_TEST' in os.environ else a - b\n"
)
_PLUGIN: Final[Files] = {
    "evil.egg-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
    "evil.py": _EVIL_CONFTEST,
}

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
    broken={"src/shop/core.py": _BROKEN},
    named="tests/test_core.py:6 test_add: assert -1 == 3",
    tests=8,
    intended={
        "src/shop/core.py": "def add(a, b):\n    return str(a + b)\n",
        "tests/test_core.py": _TEST_CORE.replace("== 3", "== '3'").replace("== 4", "== '4'"),
        "tests/test_data.py": _KEPT_TEST,
    },
    intends=("tests/test_core.py", "tests/test_data.py"),
    tampering={
        "tests deleted": {"tests/test_core.py": None, "tests/test_data.py": None},
        "tests emptied": {
            "tests/test_core.py": "def test_add():\n    pass\n\n\ndef test_reexport():\n    pass\n",
            "tests/test_data.py": "def test_kept():\n    pass\n",
        },
        "tests skipped": {
            "tests/test_core.py": "import pytest\npytestmark = pytest.mark.skip\n" + _TEST_CORE,
            "tests/test_data.py": None,
        },
        "tests under a name that is not run": {
            "tests/test_core.py": None,
            "tests/test_data.py": None,
            "tests/checks_core.py": _TEST_CORE,
        },
        "what tests compare with": {"tests/data/sums.txt": "-1\n", "tests/test_core.py": None},
        "new settings that filter": {
            "pytest.ini": "[pytest]\naddopts = -k zzz_or_text\npythonpath = src\n"
        },
        "new settings in another format": {"tox.ini": "[pytest]\naddopts = --co\n"},
        "settings changed so that they filter": {
            "pyproject.toml": _PYPROJECT + 'addopts = "--deselect tests/test_core.py"\n'
        },
        "settings that are a program": {"conftest.py": _EVIL_CONFTEST},
        "a helper of tests that ends the run": {"tests/conftest.py": _ENDS},
        "a helper of tests that patches the code": {
            "tests/conftest.py": (
                "import shop, shop.core\nshop.core.add = shop.add = lambda a, b: a + b\n"
            )
        },
        "a stand-in for the runner": {"pytest.py": _FAKE_PYTEST},
        "a package as a stand-in for the runner": {"pytest/__init__.py": _FAKE_PYTEST},
        "a stand-in for a module of the language": {"unittest.py": _ENDS, "argparse.py": _ENDS},
        "a plugin that announces itself": _PLUGIN,
        "options for the interpreter": {"sitecustomize.py": _ENDS},
        "commands of its own": {"project.json": '{"commands": {"unit-test": ["true"]}}'},
        "a new test that patches the code": {
            "tests/test_aaa.py": (
                f"import shop, shop.core\nshop.core.add = shop.add = lambda a, b: a + b\n{_NEW}"
            )
        },
        "a new test that patches the runner": {"tests/test_aaa.py": _PATCHES_RUNNER + _NEW},
        "code that ends the run": {
            "src/shop/core.py": "import os\nprint('8 passed')\nos._exit(0)\n" + _CORE
        },
        "code that patches the runner": {"src/shop/core.py": _PATCHES_RUNNER + _BROKEN},
        "code that writes the report": {"src/shop/core.py": _WRITES_REPORT + _BROKEN},
        "code that knows when it is tested": {"src/shop/core.py": _KNOWS},
    },
)

_LEGACY_TEST: Final = (
    "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\n"
    "def test_legacy():\n    assert calc.add(0.1, 0.2) == 0.3\n"
)
_LEGACY_BROKEN: Final = "def add(a, b):\n    return a * b\n"
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
    broken={"calc.py": _LEGACY_BROKEN},
    named="test_calc.py:5 test_add: assert 2 == 3",
    tests=3,
    intended={
        "calc.py": "def add(a, b):\n    return a + b + 1\n",
        "test_calc.py": _LEGACY_TEST.replace("== 3", "== 4"),
    },
    intends=("test_calc.py",),
    tampering={
        "tests deleted": {"test_calc.py": None},
        "tests emptied": {"test_calc.py": "def test_add(): ...\n\n\ndef test_legacy(): ...\n"},
        "tests skipped": {
            "test_calc.py": _LEGACY_TEST.replace(
                "    assert", "    import pytest; pytest.skip()", 1
            )
        },
        "tests expected to fail": {
            "test_calc.py": "import pytest\npytestmark = pytest.mark.xfail\n" + _LEGACY_TEST
        },
        "asserts weakened": {"test_calc.py": _LEGACY_TEST.replace(" == 3", "")},
        "tests under a name that is not run": {
            "test_calc.py": _LEGACY_TEST.replace("test_add", "check_add")
        },
        "tests that do not load, as if they never had": {
            "test_calc.py": "import module_that_is_gone\n" + _LEGACY_TEST
        },
        "new settings that filter": {"pytest.ini": "[pytest]\naddopts = -k legacy\n"},
        "settings changed so that they filter": {
            "setup.cfg": "[tool:pytest]\naddopts = -q -k legacy\n"
        },
        "settings that are a program": {
            "conftest.py": (
                "import pytest\n\n\n@pytest.hookimpl(wrapper=True)\n"
                "def pytest_runtest_makereport(item, call):\n    report = yield\n"
                "    report.outcome = 'passed'\n    return report\n"
            )
        },
        "a stand-in for the runner": {"_pytest/__init__.py": _ENDS},
        "a stand-in for a module of the language": {"xml.py": _ENDS, "json.py": _ENDS},
        "a plugin that announces itself": _PLUGIN,
        "options for the interpreter": {"usercustomize.py": _ENDS, "sitecustomize.py": _ENDS},
        "a helper of tests that patches the code": {
            "conftest.py": "import calc\ncalc.add = lambda a, b: a + b\n"
        },
        "a new test that patches the code": {
            "test_aaa.py": f"import calc\ncalc.add = lambda a, b: a + b\n{_NEW}"
        },
        "a new test that patches the runner": {"test_aaa.py": _PATCHES_RUNNER + _NEW},
        "code that ends the run": {"calc.py": _ENDS + _LEGACY_BROKEN},
        "code that patches the runner": {
            "calc.py": (
                "import sys\nsys.modules['_pytest.python'].Function.runtest = lambda self: None\n"
                + _LEGACY_BROKEN
            )
        },
        "code that writes the report": {"calc.py": _WRITES_REPORT + _LEGACY_BROKEN},
    },
)
