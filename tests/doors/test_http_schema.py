"""The API's own description held against the API, by requests that nobody thought of."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.served import TOKEN, Served

# Every check is on. What can be read may still be refused with a sentence: that a time has passed,
# that nobody is called so, that a filter is not known; no schema can say that.
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412", "422"]
"""
# In parts, so that each has its time. What providers call (/hooks/) is in none: it is believed by
# its signature alone, and no generator has the secret.
PARTS = {
    "tasks": "^/api/tasks",
    "talk": "^/api/(conversations|messages|tokens|sign-ins|invitations)",
    "nouns": "^/(api/(?!tasks|conversations|messages|tokens|sign-ins|invitations)|healthz|openapi)",
}


@pytest.mark.slow
@pytest.mark.timeout(420)  # a quarter of a minute on a machine that does nothing else
@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_found_against_the_description_of_the_api(tmp_path: Path, part: str) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(SETTINGS)
    with Served(tmp_path / "home") as served:
        served.add("Water the plants")
        served.post("/api/messages", {"text": "Remind me every day at 08:30 to stretch"})
        found = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                f"--config-file={config}",
                "run",
                f"{served.url}/openapi.json",
                f"--header=Authorization: Bearer {TOKEN}",
                "--checks=all",
                "--phases=examples,coverage,fuzzing",
                "--max-examples=5",
                "--generation-deterministic",
                f"--include-path-regex={PARTS[part]}",
                "--warnings=off",
                "--no-color",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )

    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert "No issues found" in found.stdout or "passed" in found.stdout


def test_no_route_is_left_out_of_the_parts(still: Served) -> None:
    untried = [
        path
        for path in still.page.paths
        if not any(re.match(part, path) for part in PARTS.values())
    ]

    assert {path.split("/")[1] for path in untried} <= {"hooks"}
