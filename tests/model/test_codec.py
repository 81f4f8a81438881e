"""What is written as JSON is read back the same, and what is not ours is refused by name."""

import json
from collections.abc import Hashable
from datetime import UTC, datetime, timedelta, timezone
from typing import cast, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import (
    Json,
    JsonMap,
    from_json,
    moment,
    needed_fields,
    stamp,
    text_of,
    to_json,
)
from remit.model.contract import Verdict, WorkItem
from remit.model.delivery import Delivery, SendRetry
from remit.model.task import Task
from tests.model.values import FREE, JSON, MOMENTS, hints_of, records, simplest, values
from tests.soak import examples
from tests.tables import for_each

few = settings(max_examples=examples(40))
_WRONG: tuple[Json, ...] = ({"no": 1}, [[]], 1.5, "2026-02-30", True)
every_record = pytest.mark.parametrize("kind", records(), ids=lambda kind: kind.__name__)


@every_record
@few
@given(data=st.data())
def test_what_is_written_is_read_back_the_same(kind: type[Struct], data: st.DataObject) -> None:
    value = data.draw(values(kind))

    assert from_json(kind, json.loads(text_of(to_json(value)))) == value


@for_each("kind", records())
def test_a_field_nobody_knows_is_refused_by_name(kind: type[Struct]) -> None:
    told = {**_told(kind), "surprise": 1}

    with pytest.raises(BadInput, match=rf"^{kind.__name__} has no field 'surprise'\.$") as bad:
        from_json(kind, told)

    assert bad.value.field == "surprise"


@for_each("kind", records())
def test_a_field_that_is_missing_is_named(kind: type[Struct]) -> None:
    told = _told(kind)
    for name in kind.__struct_fields__:
        rest = {each: part for each, part in told.items() if each != name}
        if name not in needed_fields(kind):
            from_json(kind, rest)
            continue
        sentence = rf"^{kind.__name__} lacks the field '{name}'\.$"
        with pytest.raises(BadInput, match=sentence) as bad:
            from_json(kind, rest)
        assert bad.value.field == name


@for_each("kind", records())
def test_a_field_of_a_wrong_kind_is_named(kind: type[Struct]) -> None:
    told, hints = _told(kind), hints_of(kind)
    for name in kind.__struct_fields__:
        if hints[name] == FREE:
            continue
        for wrong in _WRONG:
            if _fits(hints[name], wrong):
                continue
            with pytest.raises(BadInput, match=rf"^{kind.__name__}\.{name}\b") as bad:
                from_json(kind, {**told, name: wrong})
            assert bad.value.field


@for_each("data", [None, 5, "task", [], True])
def test_what_is_no_object_is_no_task(data: Json) -> None:
    with pytest.raises(BadInput, match="Task must be an object, not "):
        from_json(Task, data)


@for_each(
    ("told", "sentence"),
    [
        (
            {"channel": "email", "status": "posted"},
            "Delivery.status is 'posted'; it may be pending, sending, sent, refused, unknown.",
        ),
        ({"channel": 7}, "Delivery.channel must be text, not 7."),
        (
            {"channel": "email", "sent_at": 7},
            "Delivery.sent_at must be a time like 2026-02-22T15:30:00Z, not 7.",
        ),
        (
            {"channel": "email", "sent_at": "at noon"},
            "Delivery.sent_at: 'at noon' is not a time; write it like 2026-02-22T15:30:00Z.",
        ),
    ],
)
def test_a_refusal_says_what_would_be_right(told: JsonMap, sentence: str) -> None:
    with pytest.raises(BadInput) as bad:
        from_json(Delivery, told)

    assert str(bad.value) == sentence


def test_a_mistake_deep_inside_is_found_by_its_place() -> None:
    told: Json = {"findings": [{"activity": "lint", "result": "pass", "attempts": True}]}

    with pytest.raises(BadInput, match=r"^Verdict\.findings\[0\]\.attempts must be a whole number"):
        from_json(Verdict, told)


def test_a_refusal_is_never_longer_than_a_glance() -> None:
    with pytest.raises(BadInput) as bad:
        from_json(WorkItem, {"description": ["x" * 10_000]})

    assert len(str(bad.value)) < 120


def test_a_whole_number_may_stand_for_a_number_as_long_as_nothing_is_lost() -> None:
    assert from_json(SendRetry, {"why": "busy", "after": 3}) == SendRetry("busy", 3.0)
    with pytest.raises(BadInput, match=r"Retry\.after must be a number"):
        from_json(SendRetry, {"why": "busy", "after": 10**400})


def test_a_value_with_two_possible_kinds_is_left_to_its_reader() -> None:
    class Loose(Struct, frozen=True):
        either: int | str

    assert from_json(Loose, {"either": "x"}) == Loose("x")


@given(JSON)
def test_equal_values_give_equal_text(value: Json) -> None:
    turned = _turned(value)

    assert text_of(value) == text_of(turned)
    assert json.loads(text_of(value)) == value


@given(MOMENTS, st.integers(-23, 23))
def test_a_moment_is_the_same_moment_wherever_it_is_written(at: datetime, hours: int) -> None:
    elsewhere = at.astimezone(timezone(timedelta(hours=hours)))

    assert stamp(elsewhere) == stamp(at)
    assert moment(stamp(at)) == moment(elsewhere.isoformat()) == at


@given(MOMENTS, MOMENTS)
def test_moments_sort_as_their_text_does(one: datetime, other: datetime) -> None:
    assert (one < other) is (stamp(one) < stamp(other))


@for_each("text", ["", "tomorrow", "2026-02-30T00:00:00Z", "0001-01-01T00:00+10:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a time; write it like 2026-02-22T15:30:00Z"):
        moment(text)


@for_each("text", ["2026-02-22", "2026-02-22T15:30:00", "0001-01-01T00:00"])
def test_a_time_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"has no offset; write it like .*\+01:00 or end it in Z"):
        moment(text)


def test_a_moment_is_written_in_utc_to_the_millisecond() -> None:
    assert stamp(datetime(2026, 2, 22, 15, 30, 0, 999, tzinfo=UTC)) == "2026-02-22T15:30:00.000Z"


def _told(kind: type[Struct]) -> JsonMap:
    return cast("JsonMap", to_json(simplest(kind)))


def _fits(hint: Hashable, wrong: Json) -> bool:
    """Whether the wrong value happens to be a right one for a field of this kind."""
    plain = [getattr(part, "__supertype__", part) for part in (hint, *get_args(hint))]
    return type(wrong) in plain or (isinstance(wrong, dict) and get_origin(hint) is dict)


def _turned(value: Json) -> Json:
    match value:
        case dict():
            return {key: _turned(value[key]) for key in reversed(value)}
        case list():
            return [_turned(part) for part in value]
        case _:
            return value
