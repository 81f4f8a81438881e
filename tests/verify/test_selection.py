"""Which test files a change concerns; what wavers, what an error says, what a summary claims."""

from hypothesis import given
from hypothesis import strategies as st

from remit.model.contract import DEFERRED, Finding, Result, Verdict
from remit.verify import command, suite_judge, verdict_summary
from remit.verify.selection import select
from remit.verify.suite_runs import CheckOutcome
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


@for_each(("changed", "wanted"), table(__file__, "chosen"))  # fmt: skip
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


# What wavers, what an error says, and what a summary claims ---------------------------------------


@for_each(
    ("runs", "result", "attempts"),
    [("ppp", Result.PASS, 3), ("fpp", Result.FAIL, 1), ("ppf", Result.FAIL, 3)],
)
async def test_what_wavers_must_pass_three_times_in_a_row(
    runs: str, result: Result, attempts: int
) -> None:
    left = list(runs)

    async def once() -> CheckOutcome:
        passes = left.pop(0) == "p"
        return CheckOutcome(Result.PASS) if passes else CheckOutcome(Result.FAIL, "it fell over")

    found, often = await command.run_flaky(once)

    assert (found.result, often) == (result, attempts)
    if runs == "ppf":
        assert found.error == "It passed 2 of 3 times in a row. it fell over"


def test_what_differs_from_run_to_run_is_left_out_of_an_error() -> None:
    first = suite_judge.output_excerpt(
        "it failed", "x <A object at 0x7f1234567890>\n1 failed in 0.12s\n"
    )
    second = suite_judge.output_excerpt(
        "it failed", "x <A object at 0x7fabcdef0123>\n1 failed in 3.40s\n"
    )

    assert first == second == "it failed:\nx <A object at 0x…>\n1 failed in …"


@given(output=st.text(), why=st.text(max_size=200))
def test_an_error_is_never_longer_than_may_be_told(output: str, why: str) -> None:
    assert len(suite_judge.output_excerpt(why, output)) <= suite_judge.MAX_CHARACTERS


def test_a_summary_claims_no_more_than_was_seen() -> None:
    verdict = Verdict(
        (
            Finding("lint", Result.PASS),
            Finding("unit-test", Result.FAIL, "no"),
            Finding("e2e", Result.SKIPPED, DEFERRED),
            Finding("critic", Result.SKIPPED, "no model"),
        )
    )

    assert verdict_summary(verdict) == ("1 of 4 passed, 1 failed, 1 left for later, 1 not checked.")
