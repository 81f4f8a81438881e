"""The text of priority rules as parts, read fast and strictly.

A thousand rules take more than a second with the reader of `sheet`, which is written for small
files; here the parser of libyaml does it, and there is no yes and no among the values.
"""

from collections.abc import Iterator
from typing import Final

import yaml

from remit.errors import BadInput
from remit.plan.sheet import Part

MOST: Final = 512_000  # letters
_DEEPEST: Final = 12
_TAG: Final = "tag:yaml.org,2002:"
_TEXTS: Final = frozenset(_TAG + kind for kind in ("str", "int", "float", "timestamp"))
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(text: str, file: str) -> Part:
    """A file as parts; what is not plain YAML is refused in one sentence."""
    top = Part(file, 1, None)
    if len(text) > MOST:
        raise top.bad(f"is too long; at most {MOST:,} letters are read")
    try:
        _refuse_tricks(text, file)
        return _tree(yaml.compose(text, Loader=_LOADER), file)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Part(file, at, None).bad(f"is no YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise top.bad(f"is no YAML: {str(error).splitlines()[0]}") from None


def _refuse_tricks(text: str, file: str) -> None:
    """A few aliases can stand for millions of pieces, and depth can end a process."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
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
    part = Part(file, node.start_mark.line + 1, None)
    if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
        return Part(file, part.line, dict(_pairs(node, file)))
    if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
        return Part(file, part.line, [_tree(each, file) for each in node.value])
    if isinstance(node, yaml.ScalarNode) and node.tag in _TEXTS:
        return Part(file, part.line, str(node.value))
    raise _untold(node, part)


def _untold(node: yaml.Node, part: Part) -> BadInput:
    """Norway is `no`, and YAML says false: whoever means the letters puts them in quotes."""
    said = str(node.value) if isinstance(node, yaml.ScalarNode) else ""
    if node.tag == _TAG + "bool":
        means = "true" if said.casefold() in ("yes", "on", "true") else "false"
        return part.bad(f'has {said!r:.20}, which YAML takes for {means}; write "{said}" in quotes')
    if node.tag == _TAG + "null":
        return part.bad("has nothing where a value belongs")
    return part.bad(f"has the tag {node.tag!r:.60}; only plain values are read")


def _pairs(node: yaml.MappingNode, file: str) -> Iterator[tuple[str, Part]]:
    seen: dict[str, int] = {}
    for key, value in node.value:
        name = _tree(key, file)
        said = name.text()
        if said in seen:
            raise name.bad(f"has {said!r:.60} twice; it stands in line {seen[said]} too")
        seen[said] = name.line
        yield said, _tree(value, file)
