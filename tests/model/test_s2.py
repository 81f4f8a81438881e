"""S2's own JSON: exactly its names, its golden file, and its schemas, to the letter of S2."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import cast

from hypothesis import given, settings
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import remit.model
from remit.model import view
from remit.model.codec import Json, JsonMap
from remit.model.contract import Contract, ContractType, Criterion, Timing, Verdict
from tests.model.examples import AT, COMPLETED, FAILED, NEW, RUNNING
from tests.model.values import values
from tests.soak import examples

SCHEMAS = Path(remit.model.__file__).parent / "schema"
GOLDEN = Path(__file__).parent / "golden_s2" / "builder-state.json"
REWRITE = os.environ.get("REMIT_WRITE_GOLDEN") == "1"
TASKS = (NEW, RUNNING, COMPLETED, FAILED)

# The schema of S2, as it stands there.
S2_CONTRACT: JsonMap = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["verifiable", "advisory", "skip"]},
        "criteria": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "activity": {"type": "string"},
                    "description": {"type": "string"},
                    "pattern": {"type": "string"},
                    "timing": {"type": "string", "enum": ["immediate", "deferred"]},
                },
                "required": ["activity", "description"],
            },
        },
        "generatedFrom": {"type": "string", "enum": ["auto", "user", "prd"]},
        "generatedAt": {"type": "string", "format": "date-time"},
    },
    "required": ["type", "criteria"],
}
S2_RESULTS: JsonMap = {
    "type": "object",
    "properties": {
        "overall": {"type": "string", "enum": ["pass", "fail", "pending"]},
        "criteria": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "activity": {"type": "string"},
                    "status": {"type": "string", "enum": ["pass", "fail", "skipped"]},
                    "error": {"type": "string"},
                    "attempts": {"type": "integer"},
                },
            },
        },
        "completedAt": {"type": "string", "format": "date-time"},
    },
}


def complaints(schema: JsonMap, shown: Json) -> list[str]:
    return [error.message for error in Draft202012Validator(schema).iter_errors(shown)]


def ours(name: str) -> JsonMap:
    return cast("JsonMap", json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


@settings(max_examples=examples(100))
@given(values(Contract))
def test_every_contract_is_one_of_s2(contract: Contract) -> None:
    told = view.s2_contract(contract)

    assert complaints(S2_CONTRACT, told) == []
    assert complaints(ours("verification-contract"), told) == []


@settings(max_examples=examples(100))
@given(values(Verdict))
def test_every_verdict_is_one_of_s2(verdict: Verdict) -> None:
    told = view.s2_results(verdict)

    assert complaints(S2_RESULTS, told) == []
    if all(finding.attempts >= 0 for finding in verdict.findings):
        assert complaints(ours("verification-results"), told) == []


def test_the_builders_state_is_the_golden_file() -> None:
    told = view.builder_state(TASKS, AT + timedelta(minutes=1), project="beaches")
    if REWRITE:
        GOLDEN.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == told
    assert complaints(ours("builder-state"), told) == []


def test_contract_and_results_stand_on_the_task_and_advice_in_a_list() -> None:
    told = cast("dict[str, list[JsonMap]]", view.builder_state(TASKS, AT))

    assert cast("JsonMap", told["currentTask"])["taskId"] == RUNNING.id
    done = told["tasks"][2]
    assert complaints(S2_CONTRACT, done["verificationContract"]) == []
    assert complaints(S2_RESULTS, done["verificationResults"]) == []
    assert done["attempts"] == 2
    assert [each["taskId"] for each in told["advisoryTasks"]] == [FAILED.id]
    assert not {"verificationContract", "verificationResults", "project"} & told.keys()


def test_without_work_there_is_no_current_task() -> None:
    assert "currentTask" not in view.builder_state([NEW], AT)


def test_a_time_is_said_where_there_is_a_choice() -> None:
    lint = Criterion("lint", "x")
    late = replace(lint, timing=Timing.DEFERRED)
    told = view.s2_contract(Contract(ContractType.SKIP, (lint, late)))
    criteria = cast("list[JsonMap]", told["criteria"])

    assert [each.get("timing") for each in criteria] == [None, "deferred"]
