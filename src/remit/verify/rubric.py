"""Rubrics of critics, from a file: each has a name and rules."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.formats.yaml import load_yaml
from remit.model.codec import Json, from_json

_MAX_CHARS: Final = 256_000


class Rubric(Struct, frozen=True):
    name: str
    reads: str  # what it is for
    rules: Mapping[str, str]


class _Written(Struct, frozen=True):
    """A rubric as in the file."""

    reads: str
    rules: dict[str, str]


@cache
def packaged() -> dict[str, Rubric]:
    """Return the built-in rubrics."""
    text = resources.files("remit.verify").joinpath("rubrics.yml").read_text(encoding="utf-8")
    return load(text, "rubrics.yml")


def load(text: str, name: str) -> dict[str, Rubric]:
    """Parse rubrics; an error names its rubric."""
    found = load_yaml(text, name, field=name, max_chars=_MAX_CHARS).to_json()
    if not isinstance(found, dict) or not found:
        raise BadInput(f"{name}: it must map names of critics to rubrics.", field=name)
    return {critic: _rubric(critic, each, name) for critic, each in found.items()}


def _rubric(critic: str, written: Json, name: str) -> Rubric:
    try:
        read = from_json(_Written, written)
    except BadInput as error:
        raise BadInput(f"{name}, {critic}: {error}", field=critic) from None
    if not read.rules:
        raise BadInput(f"{name}, {critic}: a rubric needs at least one rule.", field=critic)
    return Rubric(critic, read.reads, read.rules)
