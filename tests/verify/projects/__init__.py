"""Five projects like real ones, with honest work on each and ways to deceive a check."""

from typing import Final

from tests.verify.projects.javascript import JEST, MOCHA
from tests.verify.projects.python import LEGACY, SRC_LAYOUT
from tests.verify.projects.rust import CARGO
from tests.verify.projects.sample import KINDS, KINDS_EACH, Files, Sample

__all__ = ["KINDS", "KINDS_EACH", "SAMPLES", "Files", "Sample"]

SAMPLES: Final = (SRC_LAYOUT, LEGACY, MOCHA, JEST, CARGO)
