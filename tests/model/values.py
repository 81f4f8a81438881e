"""Any value of any type of the model, for hypothesis."""

import importlib
import pkgutil
from collections.abc import Hashable
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

import remit.model
from remit.model.caller import Caller
from remit.model.codec import Json, text_of
from remit.model.delivery import Parcel
from remit.model.delivery_moves import DeliveryMove
from remit.model.likeness import IndexedTask
from remit.model.status import Move
from remit.model.task_file import FileContent

# The tables are code, compared with the database and the documentation; bytes of files and vectors
# are stored by other means.
_NEVER_STORED = frozenset({Caller, DeliveryMove, FileContent, IndexedTask, Move, Parcel})
FREE = get_type_hints(text_of)["value"]  # what `Json` says: anything

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MOMENTS = st.datetimes(datetime(1, 1, 10), datetime(9999, 12, 20), timezones=st.just(UTC)).map(  # noqa: DTZ001 - hypothesis adds the zone
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
_SCALARS: dict[object, st.SearchStrategy[object]] = {
    str: TEXT,
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: MOMENTS,
}
_SIMPLEST: dict[object, object] = {
    str: "",
    int: 0,
    float: 0.0,
    bool: False,
    datetime: datetime(2026, 2, 22, 15, 30, tzinfo=UTC),
}
_EMPTY: dict[object, object] = {tuple: (), dict: {}}


def records() -> list[type[Struct]]:
    """Return every value of the model that is stored somewhere."""
    names = [f"remit.model.{module.name}" for module in pkgutil.iter_modules(remit.model.__path__)]
    found = {
        value
        for name in names
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == name
    }
    return sorted(found - _NEVER_STORED, key=lambda kind: kind.__name__)


@cache
def values(kind: Hashable) -> st.SearchStrategy[object]:
    """Any value of a type, built from its annotations alone."""
    plain = getattr(kind, "__supertype__", kind)
    if get_origin(plain) is not None:
        return _composed(plain)
    if isinstance(plain, type) and issubclass(plain, Struct):
        return _record(plain)
    if isinstance(plain, type) and issubclass(plain, StrEnum):
        return st.sampled_from(plain)
    return _SCALARS[plain]


def simplest(kind: Hashable) -> object:
    """Return the simplest value of a type: no text, empty lists, None where possible."""
    plain = getattr(kind, "__supertype__", kind)
    if get_origin(plain) is not None:
        return _EMPTY.get(get_origin(plain))
    if isinstance(plain, type) and issubclass(plain, Struct):
        hints = hints_of(plain)
        return plain(**{name: simplest(hint) for name, hint in hints.items()})
    if isinstance(plain, type) and issubclass(plain, StrEnum):
        return next(iter(plain))
    return _SIMPLEST[plain]


def hints_of(kind: type) -> dict[str, Hashable]:
    return get_type_hints(kind, localns={"Json": Json})


def _composed(kind: Hashable) -> st.SearchStrategy[object]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind == FREE:
        return JSON
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, JSON, max_size=3)
    return st.one_of(*(st.none() if arg is NoneType else values(arg) for arg in inner))


def _record(kind: type[Struct]) -> st.SearchStrategy[object]:
    hints = hints_of(kind)
    fields = {name: values(hints[name]) for name in kind.__struct_fields__}
    return st.fixed_dictionaries(fields).map(lambda given: kind(**given))
