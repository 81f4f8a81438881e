"""Which test files a change concerns, by what imports what."""

from remit.verify.selection import select
from tests.tables import for_each, table

FILES = {
    "src/shop/__init__.py": "from .core import add\nfrom .text import up as upper\n",
    "src/shop/core.py": "def add(): ...\n",
    "src/shop/text.py": "from . import words\n",
    "src/shop/words.py": "",
    "src/shop/money/__init__.py": "",
    "src/shop/money/rates.py": "from ..core import (\n    add,  # sums\n)\n",
    "lib/page.js": "const core = require('./core');\n",
    "lib/core/index.js": "",
    "tests/conftest.py": "",
    "tests/money/conftest.py": "import shop.words\n",
    "tests/test_core.py": "from shop.core import add\n",
    "tests/test_package.py": "import shop\n\nshop.upper('a')\n",
    "tests/test_all.py": "from shop import *\n",
    "tests/money/test_rates.py": "import shop.money.rates as rates\n",
    "tests/money/test_more.py": "",
    "tests/test_none.py": "import os\n",
    "tests/test_other.py": "",
    "test/page.test.js": "import { page } from '../lib/page.js';\n",
    "test/other.test.js": "",
    "test/more.test.js": "",
    "pkg/calc.go": "",
    "pkg/calc_test.go": "",
}


@for_each(
    ("changed", "wanted"),
    table(__file__, "chosen"),
)  # fmt: skip
def test_tests_are_chosen_by_what_they_import(changed: list[str], wanted: list[str]) -> None:
    names = [*FILES, "README.md"]

    found = select(names, lambda name: FILES.get(name, ""), changed)

    assert list(found.files) == wanted
    assert bool(found.why_all) is not bool(wanted)


@for_each(
    ("changed", "why"),
    [
        (["tests/conftest.py"], "test files import conftest.py, so all tests ran."),
        (["src/shop/gone.py"], "A file was removed, so all tests ran."),
    ],
)
def test_all_tests_run_where_most_are_concerned_or_a_file_is_gone(
    changed: list[str], why: str
) -> None:
    few = {name: text for name, text in FILES.items() if not name.startswith(("test/", "pkg/"))}

    found = select(few, lambda name: few.get(name, ""), changed)

    assert found.files == ()
    assert found.why_all.endswith(why)
