"""YAML read strictly: every piece knows its line, and nothing stands for something else."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import yaml

from remit.errors import BadInput

MOST: Final = 256_000  # letters
_DEEPEST: Final = 12
_PLAIN: Final = frozenset(
    f"tag:yaml.org,2002:{kind}"
    for kind in ("str", "int", "float", "bool", "timestamp", "map", "seq")
)
_NULL: Final = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file, with where it stands."""

    file: str
    line: int
    value: "str | list[Part] | dict[str, Part] | None"

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.bad("must be text that is not empty")
        return self.value

    def texts(self) -> tuple[str, ...]:
        return tuple(each.text() for each in self.items())

    def items(self) -> "list[Part]":
        if not isinstance(self.value, list):
            raise self.bad("must be a list")
        return self.value

    def table(self, known: Collection[str] = ()) -> "dict[str, Part]":
        """Names and values; with `known`, no other name may stand there."""
        if not isinstance(self.value, dict):
            raise self.bad("must be a table of names and values")
        for name, part in self.value.items():
            if known and name not in known:
                raise part.bad(f"has {name!r:.60}; known are {', '.join(known)}")
        return self.value

    def bad(self, what: str) -> BadInput:
        return BadInput(f"{self.file}, line {self.line}: it {what}.", field="activities")


def read(text: str, file: str) -> Part:
    """A file as parts; what is not plain YAML is refused in one sentence."""
    top = Part(file, 1, None)
    if len(text) > MOST:
        raise top.bad(f"is too long; at most {MOST:,} letters are read")
    try:
        _refuse_tricks(text, file)
        return _tree(yaml.compose(text, Loader=yaml.SafeLoader), file)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Part(file, at, None).bad(f"is no YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise top.bad(f"is no YAML: {str(error).splitlines()[0]}") from None


def _refuse_tricks(text: str, file: str) -> None:
    """A few aliases can stand for millions of pieces, and depth can end a process."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Part(file, line, None).bad("points elsewhere; write it out instead")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise Part(file, line, None).bad("is nested too deep")


def _tree(node: yaml.Node | None, file: str) -> Part:
    if node is None:
        return Part(file, 1, {})
    line = node.start_mark.line + 1
    if node.tag == _NULL:
        return Part(file, line, None)
    if node.tag not in _PLAIN:
        raise Part(file, line, None).bad(
            f"has the tag {node.tag!r:.60}; only plain values are read"
        )
    if isinstance(node, yaml.SequenceNode):
        return Part(file, line, [_tree(each, file) for each in node.value])
    if isinstance(node, yaml.MappingNode):
        return Part(file, line, dict(_pairs(node, file)))
    return Part(file, line, str(node.value))


def _pairs(node: yaml.MappingNode, file: str) -> Iterator[tuple[str, Part]]:
    seen: dict[str, int] = {}
    for key, value in node.value:
        name = _tree(key, file)
        if name.text() in seen:
            raise name.bad(
                f"has {name.text()!r:.60} twice; it stands in line {seen[name.text()]} too"
            )
        seen[name.text()] = name.line
        yield name.text(), Part(file, name.line, _tree(value, file).value)
