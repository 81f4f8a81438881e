"""The loop that everybody writes: 1,000 compiled patterns, tried one after the other."""

import re
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count

RULES = 1000


def run(size: int, home: Path) -> list[Measurement]:
    del home
    patterns = [re.compile(f"invoice number {n}\\b", re.IGNORECASE) for n in range(RULES)]
    spread = (n * RULES // size for n in range(size))
    titles = [f"Please pay invoice number {n} of the power company" for n in spread]
    found, watch = 0, Stopwatch()
    with watch:
        for title in titles:
            found += any(pattern.search(title) for pattern in patterns)
    require_count("ranked by a rule", found, size)
    rate = size / watch.wall_seconds
    return [
        Measurement(
            "tasks ranked by 1,000 rules",
            rate,
            "/s",
            size,
            watch.wall_seconds,
            watch.cpu_seconds,
            read_peak_bytes(),
        )
    ]
