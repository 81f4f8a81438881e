"""What a regular expression does in the gate's place: the one that the first design used."""

import re
from pathlib import Path

from bench.measure import Measurement
from bench.ours.gate import measure

PAIR = re.compile(r"<deliverable>([\s\S]*?)</deliverable>")


def run(size: int, home: Path) -> list[Measurement]:
    del home
    return [*measure(PAIR.search, size)]
