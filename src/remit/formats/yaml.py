"""A strict YAML reader with limits: each node knows its line, and aliases are refused.

The text is read once, event by event, and the tree is built without recursion, so a hostile file is
refused at the first line that breaks a rule.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import Json

if TYPE_CHECKING:
    import yaml

MAX_DEPTH: Final = 12
_TAG: Final = "tag:yaml.org,2002:"
_SCALARS: Final = ("str", "int", "float", "bool", "null", "timestamp")


class YamlPart(Struct):
    """A node of a file, with its first line."""

    file: str
    line: int
    value: "str | list[YamlPart] | dict[str, YamlPart] | None"
    field: str
    kind: str = "str"  # YAML's type of a scalar: str, int, float, bool, null, timestamp

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.bad("must be text that is not empty")
        return self.value

    def texts(self) -> tuple[str, ...]:
        return tuple(each.text() for each in self.items())

    def items(self) -> "list[YamlPart]":
        if not isinstance(self.value, list):
            raise self.bad("must be a list")
        return self.value

    def table(self, known: Collection[str] = ()) -> "dict[str, YamlPart]":
        """Return names and values; with `known`, no other name is allowed."""
        if not isinstance(self.value, dict):
            raise self.bad("must be a table of names and values")
        for name, part in self.value.items():
            if known and name not in known:
                raise part.bad(f"has {name!r:.60}; known are {', '.join(known)}")
        return self.value

    def to_json(self) -> Json:
        """Return the value with YAML's types; a time stays text."""
        if isinstance(self.value, list):
            return [each.to_json() for each in self.value]
        if isinstance(self.value, dict):
            return {name: each.to_json() for name, each in self.value.items()}
        if self.kind in ("str", "timestamp"):
            return self.value
        import yaml  # noqa: PLC0415 - a command that reads no YAML does not load it

        node = yaml.ScalarNode(_TAG + self.kind, self.value or "")
        try:
            found: Json = yaml.constructor.SafeConstructor().construct_object(node)
        except (ValueError, KeyError):
            raise self.bad(f"has {self.value!r:.20}, which is no {self.kind}") from None
        return found

    def bad(self, what: str) -> BadInput:
        return BadInput(f"{self.file}, line {self.line}: it {what}.", field=self.field)


def load_yaml(
    text: str, file: str, *, field: str, max_chars: int, quote_booleans: bool = False
) -> YamlPart:
    """Parse one document of plain values. An empty file is an empty table.

    With `quote_booleans`, a bare `no` or an empty value is refused instead of guessed.
    """
    import yaml  # noqa: PLC0415 - a command that reads no YAML does not load it

    top = YamlPart(file, 1, None, field)
    if len(text) > max_chars:
        raise top.bad(f"is too long; at most {max_chars:,} letters are read")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Tree(top, quote_booleans).build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.line + 1 if error.problem_mark else 1
        at = min(at, text.count("\n") + 1)  # libyaml puts an early end one line too far
        raise YamlPart(file, at, None, field).bad(f"is no YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise top.bad(f"is no YAML: {str(error).splitlines()[0]}") from None


class _OpenNode(Struct):
    """A list or table that is not closed yet."""

    part: YamlPart
    key: YamlPart | None = None

    def add(self, part: YamlPart) -> None:
        if isinstance(self.part.value, list):
            self.part.value.append(part)
            return
        table = self.part.table()
        if self.key is None:
            if part.text() in table:
                first = table[part.text()].line
                raise part.bad(f"has {part.text()!r:.60} twice; it stands in line {first} too")
            self.key = part
        else:
            # An error in a value is reported at its name: a table starts a line below.
            part.line = self.key.line
            table[self.key.text()] = part
            self.key = None


class _Tree:
    """Builds the nodes from events, refusing deep, aliased, tagged or duplicate ones."""

    def __init__(self, top: YamlPart, quote_booleans: bool) -> None:
        import yaml  # noqa: PLC0415 - as above

        self._yaml = yaml
        self._resolver = yaml.resolver.Resolver()
        self._top = top
        self._root: YamlPart | None = None
        self._open: list[_OpenNode] = []
        self._quote_booleans = quote_booleans

    def build(self, events: "Iterable[yaml.Event]") -> YamlPart:
        yaml = self._yaml
        for event in events:
            line = event.start_mark.line + 1 if event.start_mark else 1
            at = YamlPart(self._top.file, line, None, self._top.field)
            if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
                raise at.bad("points elsewhere; write it out instead")
            if isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event, at))
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event, at)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._add(self._open.pop().part)
            elif isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
                raise at.bad("is no YAML: a second document begins; one file holds one")
        return self._root or YamlPart(self._top.file, 1, {}, self._top.field)

    def _begin(self, event: "yaml.CollectionStartEvent", at: YamlPart) -> None:
        is_list = isinstance(event, self._yaml.SequenceStartEvent)
        kind = "seq" if is_list else "map"
        _check_tag(event.tag or _TAG + kind, (kind,), at)
        if len(self._open) >= MAX_DEPTH:
            raise at.bad("is nested too deep")
        at.value = [] if is_list else {}
        self._open.append(_OpenNode(at))

    def _scalar(self, event: "yaml.ScalarEvent", at: YamlPart) -> YamlPart:
        tag = event.tag
        if tag is None or tag == "!":
            scalar = self._yaml.ScalarNode
            tag = self._resolver.resolve(scalar, event.value, event.implicit)  # type: ignore[no-untyped-call]
        kind = _check_tag(tag, _SCALARS, at)
        if self._quote_booleans and kind == "bool":
            means = "true" if event.value.casefold() in ("yes", "on", "true") else "false"
            problem = f"has {event.value!r:.20}, which YAML takes for {means}"
            raise at.bad(f'{problem}; write "{event.value}" in quotes')
        if self._quote_booleans and kind == "null":
            raise at.bad("has nothing where a value belongs")
        at.value, at.kind = None if kind == "null" else event.value, kind
        return at

    def _add(self, part: YamlPart) -> None:
        if self._open:
            self._open[-1].add(part)
        else:
            self._root = part


def _check_tag(tag: str, allowed: Collection[str], at: YamlPart) -> str:
    kind = tag.removeprefix(_TAG)
    if kind not in allowed:
        raise at.bad(f"has the tag {tag!r:.60}; only plain values are read")
    return kind
