"""Every wrong field of a body gets a sentence that says what would be right."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct, field
from msgspec.structs import fields

from remit.formats.struct_fields import WrongFields, parse_struct
from remit.model.codec import JsonMap
from tests.tables import table


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Leg(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    how_long: Annotated[int, Meta(ge=1, le=5)]
    colour: Colour = Colour.RED


class Table(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=4)]
    shape: Literal["round", "square"] | None = None
    legs: list[Leg] = field(default_factory=list)
    owners: Annotated[tuple[str, ...], Meta(max_length=2)] = ()
    folds: bool = False


@pytest.mark.parametrize(("data", "sentences"), table(__file__, "wrong"))
def test_each_wrong_field_has_a_sentence(data: JsonMap, sentences: list[str]) -> None:
    with pytest.raises(WrongFields) as refused:
        parse_struct(Table, fields(Table), data)

    assert [sentence for _, sentence in refused.value.found] == sentences


def test_a_whole_number_may_have_a_point() -> None:
    made = parse_struct(Table, fields(Table), {"name": "a", "legs": [{"howLong": 3.0}]})

    assert made.legs == [Leg(3)]


def test_a_form_sends_only_text() -> None:
    sent: JsonMap = {"name": "a", "owners": "Anna", "folds": "true"}

    assert parse_struct(Table, fields(Table), sent, strict=False) == Table(
        "a", owners=("Anna",), folds=True
    )


def test_what_is_given_is_no_field_of_the_body() -> None:
    sent = [each for each in fields(Leg) if each.name != "how_long"]

    assert parse_struct(Leg, sent, {}, {"how_long": 2}) == Leg(2)
    with pytest.raises(WrongFields, match="There is no field 'howLong'"):
        parse_struct(Leg, sent, {"howLong": 3}, {"how_long": 2})
