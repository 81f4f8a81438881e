"""The API's own description held against the API, by requests that nobody thought of."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from remit.server import app as pages_app
from remit.server import openapi
from tests.server.served import TOKEN, Answer, Served
from tests.soak import SOAK, only_in_soak

# Every check is on. What the schema admits is never refused as unreadable (422). It may still be
# refused as things stand: nobody is called so (404), a time has passed (409), no such ETag (412).
SETTINGS = """
hooks = "hooks.py"
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412"]
"""
# One key for two different requests is refused, and rightly: each request gets a key of its own.
HOOKS = """
import re, uuid, schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    key = case.headers and case.headers.get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch("[!-~]{1,200}", key):
        case.headers["Idempotency-Key"] = f"{key}-{uuid.uuid4()}"
"""
HOW_LONG = (
    ("--phases=examples,coverage,fuzzing", "--max-examples=5")
    if SOAK
    else ("--phases=examples,fuzzing", "--max-examples=1")
)
LIMIT_SECONDS = 5400 if SOAK else 400  # a quarter of a minute on a machine that does nothing else
# What providers call (/hooks/) is left out: it is believed by its signature alone, and no generator
# has the secret. In `make soak` in parts, so that each has its time.
PARTS = {"all": "^/(api|healthz|openapi)"}
if SOAK:
    talk = "conversations|messages|tokens|sign-ins|invitations"
    PARTS = {
        "tasks": "^/api/tasks",
        "talk": f"^/api/({talk})",
        "nouns": f"^/(api/(?!tasks|{talk})|healthz|openapi)",
    }


@pytest.mark.soak
@pytest.mark.timeout(LIMIT_SECONDS + 20)
@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_found_against_the_description_of_the_api(tmp_path: Path, part: str) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(SETTINGS)
    (tmp_path / "hooks.py").write_text(HOOKS)
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
                *HOW_LONG,
                "--generation-deterministic",
                f"--include-path-regex={PARTS[part]}",
                "--warnings=off",
                "--no-color",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )

    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert "No issues found" in found.stdout or "passed" in found.stdout


def test_every_schema_can_be_made_a_type_of_by_the_makers_of_clients() -> None:
    """What openapi-python-client and openapi-typescript need, found by trying both.

    Of a named choice the first makes nothing, nor of whatever holds one; two schemas of one title
    are one class to it; and a dot in a name is no part of a name.
    """
    document = cast("Answer", openapi.document(pages_app.table(1, debug=True), 1))
    schemas = document["components"]["schemas"]
    titles = [str(each.get("title", name)) for name, each in schemas.items()]
    named = {
        found.rpartition("/")[2]
        for found in re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))
    }
    choices = [name for name, each in schemas.items() if each.keys() & {"anyOf", "oneOf", "allOf"}]

    assert choices == []
    assert [name for name in schemas if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)] == []
    assert sorted({each for each in titles if titles.count(each) > 1}) == []
    assert named <= {*schemas}
    for name in ("Task", "TaskS4", "TaskDetail", "TaskPage"):
        assert schemas[name]["type"] == "object", name


def test_what_is_refused_as_empty_is_no_valid_request() -> None:
    schemas = cast("Answer", openapi.document(pages_app.table(1, debug=True), 1))["components"][
        "schemas"
    ]
    recipient = schemas["NewDelivery"]["properties"]["recipient"]["anyOf"][0]
    work = schemas["NewTask"]["properties"]["work"]["items"]["anyOf"][0]
    item = schemas["NewItem"]["properties"]["description"]

    assert [each.get("pattern") for each in (recipient, work, item)] == [r"\S"] * 3


READS_BACK = """
import json, sys
from made import models
for name, body in json.load(sys.stdin):
    read = getattr(models, name).from_dict(body)
    assert read.to_dict().keys() == body.keys(), name
    assert not getattr(read, "additional_properties", {}), name  # each field has its type
    assert getattr(read, "id", None) == body.get("id"), name
"""


@only_in_soak
def test_a_client_that_a_program_made_of_the_description_reads_what_is_answered(
    still: Served, tmp_path: Path
) -> None:
    """By openapi-python-client. A warning says that it left something out."""
    task = still.add("Water the plants")
    (tmp_path / "openapi.json").write_text(json.dumps(still.get("/openapi.json")))
    programs = Path(sys.executable).parent
    made = subprocess.run(
        [
            *(programs / "openapi-python-client", "generate", "--meta=none", "--fail-on-warning"),
            *("--path", tmp_path / "openapi.json", "--output-path", tmp_path / "made"),
        ],
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [
        ("TaskDetail", still.get(f"/api/tasks/{task}")),
        ("TaskDetailS4", still.get(f"/api/tasks/{task}?view=s4")),
        ("TaskPage", still.get("/api/tasks")),
        ("SeriesPage", still.get("/api/series")),
    ]
    read = subprocess.run(
        [sys.executable, "-c", READS_BACK],
        cwd=tmp_path,
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        check=False,
    )

    assert made.returncode == 0, made.stdout + made.stderr
    assert read.returncode == 0, read.stderr


def test_no_route_is_left_out_of_the_parts(still: Served) -> None:
    untried = [
        path
        for path in still.page.paths
        if not any(re.match(part, path) for part in PARTS.values())
    ]

    assert {path.split("/")[1] for path in untried} <= {"hooks"}
