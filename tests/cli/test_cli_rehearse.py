"""`remit rehearse`: what would happen is told, and nothing is stored."""

import json
from pathlib import Path

from tests.cli.terminal import Terminal

NOW = ("--now", "2026-03-02T10:00:00+01:00", "--tz", "Europe/Berlin")


def test_a_rehearsal_reads_on_the_clock_and_with_the_book_of_its_owner(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "contacts.yaml").write_text("- {name: Zoltan, channels: {email: z@example.org}}")
    words = ("rehearse", "extract", "Tell Zoltan tomorrow at 9: 'Hi'", "--json")
    said = seat.run(*words, "--now", "2026-03-02T10:00:00+01:00", REMIT_ZONE="Asia/Tokyo")

    assert said.code == 0
    (task,) = json.loads(said.out)["tasks"]
    assert task["scheduled_for"] == "2026-03-03T00:00:00.000Z"
    assert [(part["channel"], part["recipient"]) for part in task["delivery"]] == [
        ("email", "Zoltan")
    ]
    assert not (seat.home / "agent.db").exists()
