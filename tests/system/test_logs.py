"""What is logged again and again is counted, not repeated."""

import logging

import pytest

from remit.system import background
from remit.system.background import MAX_ALIKE, RepeatFilter


def test_of_many_alike_a_few_pass_in_a_minute_and_the_next_says_how_many_did_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, passing = [0.0], RepeatFilter()
    monkeypatch.setattr("remit.system.background.time.monotonic", lambda: passing._begun + now[0])

    def said(line: int) -> str | None:
        record = logging.LogRecord("x", logging.WARNING, "a.py", line, "no %s", ("room",), None)
        return record.getMessage() if passing.filter(record) else None

    heard = [said(1) for _ in range(100)]
    other = said(2)
    now[0] = background.WINDOW_SECONDS
    later = [said(1), said(1)]

    assert heard == ["no room"] * MAX_ALIKE + [None] * (100 - MAX_ALIKE)
    assert other == "no room"
    assert later == ["no room (90 more like this were left out.)", "no room"]
