"""The owner's guidelines: read when they change, told with every thought, never half."""

import os
from pathlib import Path

import pytest

from remit.brain.prompt import (
    DEFAULT_GUIDELINES,
    GUIDELINES_FILE,
    MAX_GUIDELINES_CHARACTERS,
    GuidelinesFile,
)
from remit.cli.remit_client import furnish
from remit.errors import BadInput
from remit.settings import Settings
from remit.testing import World, script
from tests.tables import for_each


def write(path: Path, text: str | bytes) -> None:
    """Change the file so that its time differs, however coarse the disk's clock is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))


def test_a_change_counts_from_the_next_thought_on_and_comments_are_not_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / GUIDELINES_FILE
    told = GuidelinesFile(path)
    assert told() == ""

    rest = "Prices in euros.\n\n  # this, for it is indented\nBe brief."
    for text, heard in (
        ("One.", "One."),
        (f"# not this\n{rest}\n\n".replace("euros.", "euros.  "), rest),
    ):
        write(path, text)
        assert told() == heard
    path.unlink()
    assert told() == ""


@for_each("bad", [b"\xff\xfe", b"x" * (MAX_GUIDELINES_CHARACTERS + 1)])
def test_what_cannot_be_told_is_refused_at_the_start_and_later_the_last_good_words_hold(
    tmp_path: Path, bad: bytes
) -> None:
    path = tmp_path / GUIDELINES_FILE
    write(path, "One.")
    told = GuidelinesFile(path)
    assert told() == "One."
    write(path, bad)

    assert told() == "One."
    with pytest.raises(BadInput, match=r"guidelines\.txt"):
        GuidelinesFile(path)
    write(path, "Mended.")
    assert told() == "Mended."


def test_the_first_start_makes_a_file_that_tells_nothing_and_keeps_one_that_is_there(
    tmp_path: Path,
) -> None:
    furnish(Settings(home=tmp_path))
    assert (tmp_path / GUIDELINES_FILE).read_text() == DEFAULT_GUIDELINES
    assert GuidelinesFile(tmp_path / GUIDELINES_FILE)() == ""

    write(tmp_path / GUIDELINES_FILE, "Mine.")
    furnish(Settings(home=tmp_path))
    assert GuidelinesFile(tmp_path / GUIDELINES_FILE)() == "Mine."


async def test_the_brain_of_a_running_app_hears_a_change(tmp_path: Path) -> None:
    brain = script([{"reply": "<deliverable>x</deliverable>"}])
    async with World(tmp_path, brain=brain) as world:
        await world.add("One")
        await world.run()
        write(tmp_path / GUIDELINES_FILE, "Prices in euros.")
        await world.add("Two")
        await world.run()

    before, after = brain.heard
    assert "Prices in euros." not in before
    assert after.index("Prices in euros.") < after.index("## Output format")
