"""Three projects, with programs that work on them: one is fixed, one is not."""

import json
import sys
from pathlib import Path
from typing import Final

from remit.model.codec import Json, JsonMap
from tests.specialist.repository import repository
from tests.stories.shop.sample import FILES, GOOD, NEW_TEST, PRICE

ADD: Final = "Add a currency option to the price formatter"
STUCK: Final = "Round prices the Swiss way"
ADVICE: Final = "Investigate why the checkout is slow"
FOUND: Final = "Each basket line asks for its price once more: 71 % of the time goes there."
_MENDED: Final = {"shop/price.py": GOOD, "tests/test_price.py": NEW_TEST}
_TURNS: Final[dict[str, JsonMap]] = {
    "claude": {"write": {"shop/price.py": PRICE + "\n# TODO currency\n"}, "say": "Nearly there."},
    "codex": {"write": dict[str, Json](_MENDED), "say": "A currency can be named; EUR stays."},
    "gemini": {"write": {"shop/price.py": PRICE + "\n# TODO Swiss\n"}, "say": "It rounds now."},
    "aider": {"say": FOUND},
}
_PEOPLE: Final = {"shop": ("claude", "codex"), "shed": ("gemini",), "notes": ("aider",)}
# A specialist: it writes its files and prints its text, whatever the prompt is.
_PROGRAM: Final = """\
import json, pathlib, sys
turn = json.loads(pathlib.Path(sys.argv[1]).read_text())
sys.stdin.read()
for name, text in turn.get("write", {}).items():
    pathlib.Path(name).write_text(text)
print(turn["say"])
"""
# These checks are quick, and still run in the sandbox.
_CHECKS: Final = """\
commands.typecheck = ["true"]
commands.lint = ["grep", "-q", "def written", "shop/price.py"]
commands.unit-test = ["sh", "-c", "! grep -n TODO shop/price.py", "{pattern}"]
"""


def settings(folder: Path) -> str:
    """Return the part of settings.toml; repositories and programs go into the folder."""
    told = ""
    for name, people in _PEOPLE.items():
        repo = repository(folder / name, FILES)
        told += f'[projects.{name}]\npath = "{repo}"\nspecialists = {json.dumps(people)}\n'
        told += _CHECKS
    program = folder / "specialist.py"
    program.write_text(_PROGRAM)
    for name, turn in _TURNS.items():
        script = folder / f"{name}.json"
        script.write_text(json.dumps(turn))
        argv = json.dumps([sys.executable, str(program), str(script)])
        told += f'[specialists.{name}]\nkind = "command"\nargv = {argv}\n'
    return told
