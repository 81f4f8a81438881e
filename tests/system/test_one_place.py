"""What only the shared ground may do, so that no room has a copy of its own."""

import re

from tests.measures import ROOT
from tests.tables import for_each

SOURCES = ROOT / "src/remit"


@for_each(
    ("pattern", "places"),
    [
        (r"\bkillpg\b", {"system/process.py"}),
        (r"\bdir_fd=", {"specialist/tree.py", "brain/workspace_tools.py", "system/files.py"}),
        (r"\b(mkstemp|O_EXCL)\b", {"system/files.py"}),
        (r"\bGIT_CONFIG_GLOBAL\b", {"system/git.py"}),
        (r"\bimport tomlkit\b", {"formats/toml_edit.py"}),
        (r'"--ro-bind-try"', {"specialist/process.py", "system/process.py"}),
    ],
)
def test_it_is_done_in_one_place(pattern: str, places: set[str]) -> None:
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if "testing" not in path.parts and re.search(pattern, path.read_text(encoding="utf-8"))
    }

    assert found == places
