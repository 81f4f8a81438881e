"""A small package: prices in a shop, with tests, types and a style."""

from pathlib import Path
from typing import Final

from tests.specialist.repository import repository

_RUFF: Final = """\
[project]
name = "shop"
version = "1"

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff.lint]
select = ["E", "F", "I"]
"""
_MYPY: Final = """
[tool.mypy]
strict = true
files = ["shop"]
"""
PRICE: Final = '''\
"""How prices are written."""


def written(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"
'''
_CHECKOUT: Final = '''\
"""What a basket comes to."""

from shop.price import written


def total(basket: list[int]) -> str:
    return written(sum(basket))
'''
_TEST_PRICE: Final = """\
from shop.price import written


def test_price_is_written_in_euros() -> None:
    assert written(1999) == "19.99 EUR"
"""
_TEST_CHECKOUT: Final = """\
from shop.checkout import total


def test_checkout_adds_up() -> None:
    assert total([100, 250]) == "3.50 EUR"
"""
README: Final = "# Shop\n\nPrices and baskets.\n"
FILES: Final = {
    "pyproject.toml": _RUFF,
    "README.md": README,
    "shop/__init__.py": "",
    "shop/price.py": PRICE,
    "shop/checkout.py": _CHECKOUT,
    "tests/test_price.py": _TEST_PRICE,
    "tests/test_checkout.py": _TEST_CHECKOUT,
}

# What may be done to it ---------------------------------------------------------------------------

GOOD: Final = PRICE.replace("cents: int", 'cents: int, currency: str = "EUR"').replace(
    'EUR"\n', '{currency}"\n'
)
NEW_TEST: Final = (
    _TEST_PRICE
    + """\

def test_price_is_written_in_another_currency() -> None:
    assert written(500, "USD") == "5.00 USD"
"""
)
WORSE: Final = GOOD.replace("{cents / 100:.2f}", "{cents}")  # a test fails
UNTIDY: Final = f"import os\n\n{GOOD}"  # the linter complains
UNTIDY_IN_OTHER_WAYS: Final = (  # each fails with other words
    UNTIDY,
    f"{GOOD}\n\nMOST = least\n",
    f"{GOOD}\n\nMOST = 1; LEAST = 0\n",
    f"{GOOD}\n\nMOST = 1\nNOTHING = MOST == None\n",
)
UNTYPED: Final = GOOD.replace("-> str", "-> int")  # so do the types


def sample(folder: Path, *, typed: bool = False) -> Path:
    """Make the repository, with one commit."""
    files = FILES | {"pyproject.toml": _RUFF + _MYPY} if typed else FILES
    return repository(folder, files)
