"""The published schemas: valid themselves, true of what we show, and never behind the code."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import cast

import pytest
from jsonschema import Draft202012Validator

import remit.model
from remit.model.codec import Json, JsonMap
from remit.model.contract import (
    ClauseOutcome,
    ContractType,
    GeneratedFrom,
    ItemStatus,
    Overall,
    Result,
    Timing,
)
from remit.model.delivery import DeliveryStatus
from remit.model.reply import AttemptOutcome
from remit.model.status import Reason, Status
from remit.model.task import Creator, Priority, SourceKind, Taint, TaskType
from remit.model.veto import ConditionKind, VetoKind
from remit.model.view import SCHEMA_VERSION, JsonView, show
from tests.model.examples import EXAMPLES, NEW
from tests.model.lifecycle_checks import S3_EDGES, S4_DIAGRAM
from tests.tables import for_each

SCHEMAS = Path(remit.model.__file__).parent / "schema"
GOLDEN = Path(__file__).parent / "golden"
NAMES = (
    *("task.s3", "task.s4", "work-plan"),
    *("verification-contract", "verification-results", "builder-state"),
)

S0_PLANS: list[JsonMap] = [
    {
        "work": [{"description": "Research family-friendly attractions in Bangkok"}],
        "delivery": [{"channel": "whatsapp"}],
    },
    {"work": [], "delivery": [{"channel": "whatsapp", "content": "Don't forget to call mom"}]},
]
S2_CONTRACT: JsonMap = {
    "type": "verifiable",
    "criteria": [
        {
            "activity": "unit-test",
            "description": "Toggle component renders and handles click",
            "pattern": "DarkModeToggle",
        },
        {
            "activity": "e2e",
            "description": "Settings page toggle changes theme",
            "timing": "immediate",
        },
        {"activity": "typecheck", "description": "No type errors introduced"},
    ],
    "generatedFrom": "auto",
    "generatedAt": "2026-02-28T10:00:00Z",
}

S3_WORDS = {word for edge in S3_EDGES for word in edge}
S4_WORDS = {word for edge in S4_DIAGRAM for word in edge}
DELIVERY_WORDS = {"pending", "completed", "failed", "needs_review"}
# Where each list of words stands, and where it comes from.
WORDS: list[tuple[str, str, type[StrEnum] | set[str]]] = [
    ("task.s3", "properties/type", TaskType),
    ("task.s3", "properties/sourceType", SourceKind),
    ("task.s3", "properties/status", S3_WORDS),
    ("task.s3", "properties/state", Status),
    ("task.s3", "properties/reason", Reason),
    ("task.s3", "properties/priority", Priority),
    ("task.s3", "properties/taint", Taint),
    ("task.s3", "properties/createdBy", Creator),
    ("task.s3", "$defs/item/properties/status", ItemStatus),
    ("task.s3", "$defs/delivery/properties/status", DELIVERY_WORDS),
    ("task.s3", "$defs/delivery/properties/state", DeliveryStatus),
    ("task.s3", "$defs/contract/properties/type", ContractType),
    ("task.s3", "$defs/contract/properties/generatedFrom", GeneratedFrom),
    ("task.s3", "$defs/criterion/properties/timing", Timing),
    ("task.s3", "$defs/results/properties/overall", Overall),
    ("task.s3", "$defs/results/properties/criteria/items/properties/status", Result),
    ("task.s3", "$defs/request/properties/clauses/items/properties/became", ClauseOutcome),
    ("task.s3", "$defs/vetoCue/properties/kind", VetoKind),
    ("task.s3", "$defs/condition/properties/kind", ConditionKind),
    ("task.s4", "properties/priority", Priority),
    ("task.s4", "properties/status", S4_WORDS),
    ("task.s4", "properties/cancel_reason", {"failed", "cancelled"}),
    ("work-plan", "$defs/item/properties/status", ItemStatus),
    ("work-plan", "$defs/delivery/properties/status", DELIVERY_WORDS),
    ("work-plan", "$defs/delivery/properties/state", DeliveryStatus),
    ("verification-contract", "properties/type", ContractType),
    ("verification-contract", "properties/generatedFrom", GeneratedFrom),
    ("verification-contract", "$defs/criterion/properties/timing", Timing),
    ("verification-results", "properties/overall", Overall),
    ("verification-results", "$defs/result/properties/status", Result),
    ("builder-state", "$defs/status", Status),
    ("builder-state", "$defs/contract/properties/type", ContractType),
    ("builder-state", "$defs/contract/properties/generatedFrom", GeneratedFrom),
    ("builder-state", "$defs/criterion/properties/timing", Timing),
    ("builder-state", "$defs/results/properties/overall", Overall),
    ("builder-state", "$defs/result/properties/status", Result),
    ("builder-state", "$defs/attempt/properties/outcome", AttemptOutcome),
]
every_schema = pytest.mark.parametrize("name", NAMES)


def test_every_schema_is_looked_at() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} == set(NAMES)


@every_schema
def test_a_schema_is_a_schema_and_names_itself_without_a_host(name: str) -> None:
    schema = _schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == f"urn:remit:{name.replace('.', ':')}:{SCHEMA_VERSION}"


@every_schema
def test_a_schema_lets_no_unknown_field_in(name: str) -> None:
    for place in _objects(_schema(name)):
        assert place.get("additionalProperties") is False
        assert (
            set(cast("list[str]", place["required"])) <= cast("JsonMap", place["properties"]).keys()
        )


@for_each(("name", "place", "words"), WORDS)
def test_the_words_of_a_schema_are_the_words_of_the_code(
    name: str, place: str, words: type[StrEnum] | set[str]
) -> None:
    assert set(_enum(_schema(name), place)) - {None} == set(words)


@every_schema
def test_no_list_of_words_is_left_unwatched(name: str) -> None:
    watched = [place for schema, place, _ in WORDS if schema == name]

    assert len(list(_enums(_schema(name)))) == len(watched)


def test_the_kinds_of_source_in_s4_are_the_kinds_of_source() -> None:
    source = cast("dict[str, str]", _at(_schema("task.s4"), "properties/source"))

    assert source["pattern"] == f"^({'|'.join(SourceKind)}):"


@for_each("view", JsonView)
def test_a_schema_knows_exactly_what_is_shown(view: JsonView) -> None:
    schema = _schema(f"task.{view}")

    assert (
        schema["required"] == list(cast("JsonMap", schema["properties"])) == list(show(NEW, view))
    )


@pytest.mark.parametrize("view", JsonView)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_golden_file_is_true_to_its_schema(name: str, view: JsonView) -> None:
    golden = json.loads((GOLDEN / f"{name}.{view}.json").read_text(encoding="utf-8"))

    assert _complaints(f"task.{view}", golden) == []


@pytest.mark.parametrize("view", JsonView)
@pytest.mark.parametrize("field", ["status", "priority"])
def test_a_word_nobody_knows_does_not_pass(view: JsonView, field: str) -> None:
    assert _complaints(f"task.{view}", {**show(NEW, view), field: "sort of"})


@for_each("view", JsonView)
def test_a_field_too_many_or_too_few_does_not_pass(view: JsonView) -> None:
    shown = show(NEW, view)

    assert _complaints(f"task.{view}", {**shown, "surprise": 1})
    for field in shown:
        rest = {name: part for name, part in shown.items() if name != field}
        assert _complaints(f"task.{view}", rest)


@for_each("plan", S0_PLANS)
def test_the_plans_of_s0_are_plans(plan: JsonMap) -> None:
    assert _complaints("work-plan", plan) == []


def test_the_contract_of_s2_is_a_contract() -> None:
    assert _complaints("verification-contract", S2_CONTRACT) == []
    assert _complaints("verification-contract", {"type": "verifiable"})


@for_each("name", EXAMPLES)
def test_what_a_task_shows_as_plan_and_contract_passes_as_one(name: str) -> None:
    shown = show(EXAMPLES[name], JsonView.S3)

    assert _complaints("work-plan", {key: shown[key] for key in ("work", "delivery")}) == []
    if shown["verificationContract"] is not None:
        assert _complaints("verification-contract", shown["verificationContract"]) == []


def _schema(name: str) -> JsonMap:
    return cast("JsonMap", json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


def _complaints(name: str, shown: Json) -> list[str]:
    return [error.message for error in Draft202012Validator(_schema(name)).iter_errors(shown)]


def _at(schema: Json, place: str) -> Json:
    for step in place.split("/"):
        schema = cast("JsonMap", schema)[step]
    return schema


def _enum(schema: Json, place: str) -> list[str | None]:
    return cast("dict[str, list[str | None]]", _at(schema, place))["enum"]


def _enums(schema: Json) -> Iterator[Json]:
    return (part["enum"] for part in _parts(schema) if "enum" in part)


def _objects(schema: Json) -> Iterator[JsonMap]:
    return (part for part in _parts(schema) if "properties" in part)


def _parts(schema: Json) -> Iterator[JsonMap]:
    match schema:
        case dict():
            yield schema
            for part in schema.values():
                yield from _parts(part)
        case list():
            for part in schema:
                yield from _parts(part)
        case _:
            return
