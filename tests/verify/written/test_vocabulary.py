"""The words of the checks are data: every language has every list, and a list is a pattern."""

import re
import tomllib
from pathlib import Path

from remit.language.files import LANGUAGES
from remit.verify.written import wording
from tests.tables import for_each

FOLDER = Path(wording.__file__).parent
FILES = {code: tomllib.loads((FOLDER / f"words_{code}.toml").read_text()) for code in LANGUAGES}
LISTS = [f"{table}.{key}" for table, keys in FILES["en"].items() for key in keys]


@for_each("code", LANGUAGES)
def test_every_language_has_every_list(code: str) -> None:
    assert [f"{table}.{key}" for table, keys in FILES[code].items() for key in keys] == LISTS


@for_each("name", LISTS)
def test_every_list_is_used_and_finds_its_own_words(name: str) -> None:
    code = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    table, key = name.split(".")
    plain = [each for each in wording.word_list(name) if not set(each) & set("*#~^()-")]

    assert name in code or f"{table}.{{" in code, f"no check reads the list {name}"
    assert all(wording.pattern(name).search(each) for each in plain)
    assert all(each == each.lower() and each.strip() == each for each in plain), key


@for_each(
    ("entry", "found", "not_found"),
    [
        ("total*", ["totals", "In total."], ["subtotal"]),
        ("sin matrícula", ["sin matrícula", "SIN MATRICULA"], ["sinmatricula"]),
        ("(very |)good", ["very good", "good"], ["goods"]),
        ("# (km|m)", ["3 km", "1,5m"], ["a km", "3 kmh"]),
        ("put ~ here", ["put here", "put the name of it here"], ["put all of this text over here"]),
        ("^who", ["who came"], ["and who came"]),
        ("o'clock", ["o’clock"], ["clock"]),
    ],
)
def test_an_entry_is_written_without_knowing_regular_expressions(
    entry: str, found: list[str], not_found: list[str]
) -> None:
    shape = re.compile(wording.any_word([entry]), re.IGNORECASE)

    assert [each for each in (*found, *not_found) if shape.search(each)] == found
