"""Five projects like real ones, with honest work on each and ways to deceive a check.

Each is a YAML file; a file that is null is deleted.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.tables import read_yaml

Files = dict[str, str | None]  # None: deleted
_FOLDER: Final = Path(__file__).parent
_NAMES: Final = ("src_layout", "legacy_failures", "mocha", "jest", "cargo")
# Each kind of deception is tried on every project to whose runner it applies, and on each project
# at least 15.
KINDS: Final = tuple((_FOLDER / "kinds.txt").read_text().splitlines())
KINDS_EACH: Final = 15


@dataclass(frozen=True)
class Sample:
    """A project, and what is done to it."""

    name: str
    program: str  # runs its tests
    files: dict[str, str]
    honest: Files
    broken: Files
    named: str  # how the broken test is reported
    tests: int  # that ran at the base
    intended: Files  # a change of behaviour, with its tests
    intends: list[str]  # the tests among them
    tampering: dict[str, Files] = field(default_factory=dict)  # by its kind
    installed: dict[str, str] = field(default_factory=dict)  # ignored by git
    needs: tuple[str, ...] = ()  # programs of requirements/debian.txt


def _load(name: str) -> Sample:
    sample = Sample(**read_yaml((_FOLDER / f"{name}.yaml").read_text("utf-8")))
    if name == "jest":
        sample.installed["node_modules/.bin/jest"] = (_FOLDER / "jest.js").read_text()
    return sample


SAMPLES: Final = tuple(map(_load, _NAMES))
