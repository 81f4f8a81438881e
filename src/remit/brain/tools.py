"""The tools offered to the brain: checks their arguments, and asks code or the owner for a ruling.

Arguments are checked against the plain part of JSON Schema. Other keywords (patterns, references,
anyOf) pass; the tool checks for itself.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Protocol, TypeAlias, TypeGuard, cast

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import outside
from remit.errors import BadInput, Conflict, NotFound
from remit.language.files import read_toml
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task

_MAX_DEPTH: Final = 12


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, tuple[Callable[[Json], bool], str]]] = {
    "string": (lambda value: isinstance(value, str), "text"),
    "integer": (lambda value: _is_number(value) and value == value // 1, "a whole number"),
    "number": (_is_number, "a number"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "array": (lambda value: isinstance(value, list), "a list"),
    "object": (lambda value: isinstance(value, dict), "an object"),
    "null": (lambda value: value is None, "null"),
}


def argument_problem(schema: JsonMap, args: JsonMap) -> str | None:
    """Return the first thing wrong with some arguments, or None."""
    return next(_problems(schema, args, "the arguments", 0), None)


def schema_size(schema: Json, depth: int = 0) -> tuple[int, int]:
    """Return how many parts a schema has, and how deep it is."""
    inner = list(schema.values()) if isinstance(schema, dict) else schema
    if not isinstance(inner, list) or depth > 2 * _MAX_DEPTH:
        return 1, depth
    sizes = [schema_size(part, depth + 1) for part in inner] or [(0, depth)]
    return 1 + sum(parts for parts, _ in sizes), max(deep for _, deep in sizes)


def _problems(schema: Json, value: Json, where: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    wrong = _type(schema, value, where) or _choice(schema, value, where)
    wrong = wrong or _bounds(schema, value, where)
    if wrong:
        yield wrong
    elif isinstance(value, dict):
        yield from _members(schema, value, where, depth)
    elif isinstance(value, list):
        for n, part in enumerate(value, 1):
            yield from _problems(schema.get("items"), part, f"{where}, number {n},", depth + 1)


def _members(schema: JsonMap, value: JsonMap, where: str, depth: int) -> Iterator[str]:
    known = schema.get("properties")
    parts = known if isinstance(known, dict) else {}
    needed = schema.get("required")
    for name in needed if isinstance(needed, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"{where:.80} must have {name!r:.60}."
    if schema.get("additionalProperties") is False:
        for name in sorted(value.keys() - parts.keys()):
            yield f"There is no argument {name!r:.60}; there is {', '.join(parts) or 'none'}."
    for name, part in value.items():
        yield from _problems(parts.get(name), part, name, depth + 1)


def _type(schema: JsonMap, value: Json, where: str) -> str | None:
    wanted = schema.get("type")
    names = wanted if isinstance(wanted, list) else [wanted]
    known = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if not known or len(known) < len(names) or any(fits(value) for fits, _ in known):
        return None
    return f"{where:.80} must be {' or '.join(word for _, word in known)}, not {value!r:.60}."


def _choice(schema: JsonMap, value: Json, where: str) -> str | None:
    choices = schema.get("enum")
    if not isinstance(choices, list) or value in choices:
        return None
    return f"{where:.80} is {value!r:.60}; it may be {', '.join(map(str, choices))[:200]}."


def _bounds(schema: JsonMap, value: Json, where: str) -> str | None:
    if isinstance(value, str):
        return _within(schema, "Length", len(value), where, " characters")
    if isinstance(value, list):
        return _within(schema, "Items", len(value), where, " parts")
    if _is_number(value):
        return _within(schema, "imum", value, where)
    return None


def _within(schema: JsonMap, end: str, size: float, where: str, unit: str = "") -> str | None:
    least, most = schema.get(f"min{end}"), schema.get(f"max{end}")
    if isinstance(least, int | float) and size < least:
        return f"{where:.80} must be at least {least}{unit}, not {size}."
    if isinstance(most, int | float) and size > most:
        return f"{where:.80} must be at most {most}{unit}, not {size}."
    return None


ASK_OWNER: Final = "ask_owner"
MAX_RESULT_CHARACTERS: Final = 50_000  # characters of one result


class UsableTool(Protocol):
    @property
    def tool(self) -> Tool: ...

    @property
    def may_repeat(self) -> bool:
        """Whether it is safe to run twice."""

    @property
    def warning(self) -> str:
        """What the owner must know before allowing it; mostly nothing."""

    def policy(self, task: Task) -> Policy: ...

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        """Run it. `BadInput`, `NotFound` and `Conflict` are shown to the brain as they are."""


class ToolSource(Protocol):
    """Tools offered by a server; the list is known only by asking."""

    @property
    def name(self) -> str:
        """The prefix of its tools' names, before two underscores."""

    async def able(self) -> Sequence[UsableTool]: ...

    @property
    def trouble(self) -> str:
        """Why it offers nothing, if it could not be asked."""

    async def close(self) -> None: ...


class ToolRuling(Struct, frozen=True):
    """How a call is handled."""

    policy: Policy
    may_repeat: bool = True
    wrong: str = ""  # why it is no call: the brain is told
    warning: str = ""  # what the owner must know before allowing it


class Toolbox:
    """All tools of the brain."""

    def __init__(
        self,
        able: Iterable[UsableTool] = (),
        shelves: Iterable[ToolSource] = (),
        redact: Callable[[str], str] = str,
    ) -> None:
        self._able = {each.tool.name: each for each in able}
        self._shelves = {shelf.name: shelf for shelf in shelves}
        self._redact = redact  # removes secrets

    @property
    def names(self) -> tuple[str, ...]:
        """The names of tools and servers; no server is contacted for this."""
        return (*self._able, *self._shelves)

    async def offered(self, task: Task) -> tuple[Tool, ...]:
        """Return the tools on offer: all that are not denied."""
        others = await asyncio.gather(*(shelf.able() for shelf in self._shelves.values()))
        able = [*self._able.values(), *chain.from_iterable(others)]
        return tuple(each.tool for each in able if each.policy(task) is not Policy.DENY)

    def asks_owner(self, call: ToolCall) -> str | None:
        question = call.args.get("question")
        named = call.tool == ASK_OWNER and ASK_OWNER in self._able
        if not named or not isinstance(question, str) or not question.strip():
            return None
        options = call.args.get("options")
        choices = [str(each) for each in options] if isinstance(options, list) else []
        return question + "".join(f"\n- {choice}" for choice in choices)

    async def rule(self, task: Task, call: ToolCall) -> ToolRuling:
        """Return the ruling on a call; an invalid one costs the owner no question."""
        able = await self._find(call)
        if able is None:
            return ToolRuling(Policy.ALLOW)  # `use` says that it does not exist
        wrong = argument_problem(able.tool.schema, call.args) or ""
        policy = able.policy(task)
        if isinstance(able, OwnTool) and not wrong:
            policy = await able.policy_for(task, call)
        return ToolRuling(policy, able.may_repeat, wrong, able.warning)

    async def edited(self, call: ToolCall, text: str) -> ToolCall | str:
        """Return the call with the owner's arguments, or what is wrong with them."""
        try:
            args: JsonMap = json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"What you wrote is not JSON ({error})."
        if not isinstance(args, dict):
            return "Arguments are a JSON object."
        able = await self._find(call)
        wrong = argument_problem(able.tool.schema, args) if able else None
        return wrong or ToolCall(call.id, call.tool, args)

    async def begin(self, task: Task) -> int:
        """Return the lease under which it begins."""
        return task.lease

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        """Run it; the result is bounded, and marked unless it is the owner's own."""
        able = await self._find(call)
        if able is None:
            return ToolResult(call.id, self._unknown_tool(call), failed=True)
        try:
            result = await able.use(task, call)
        except (BadInput, NotFound, Conflict) as error:
            return ToolResult(call.id, str(error), failed=True)
        if result.doubt:
            return result
        text = _shorten_result(self._redact(result.text))
        if result.taint is not Taint.OWNER and not result.raw:
            text = outside.mark(text, f"the tool {call.tool}")
        return replace(result, text=text)

    async def close(self) -> None:
        """Stop whatever was started for a server."""
        await asyncio.gather(*(shelf.close() for shelf in self._shelves.values()))

    async def _find(self, call: ToolCall) -> UsableTool | None:
        own = self._able.get(call.tool)
        shelf = self._shelves.get(call.tool.partition("__")[0])
        if own or shelf is None:
            return own
        return next((each for each in await shelf.able() if each.tool.name == call.tool), None)

    def _unknown_tool(self, call: ToolCall) -> str:
        shelf = self._shelves.get(call.tool.partition("__")[0])
        why = f" {shelf.trouble}" if shelf and shelf.trouble else ""
        return f"There is no tool {call.tool!r:.60}.{why}"


def _shorten_result(text: str) -> str:
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    left_out = len(text) - MAX_RESULT_CHARACTERS
    return f"{text[:MAX_RESULT_CHARACTERS]}\n(The other {left_out} characters are left out.)"


Work: TypeAlias = Callable[[Task, ToolCall], Awaitable[ToolResult]]
CallPolicy: TypeAlias = Callable[[Task, ToolCall], Awaitable[Policy]]


TOOLS: Final = {
    name: Tool.read(name, table)
    for name, table in cast("Mapping[str, JsonMap]", read_toml("tools", "remit.brain")).items()
}


class OwnTool(Struct, frozen=True):
    """A built-in tool. Each of them is safe to run twice."""

    tool: Tool
    set_to: Policy
    work: Work
    asks_if_tainted: bool = False  # allowed only while the task's taint is the owner's
    may_repeat: bool = True
    warning: str = ""
    for_call: CallPolicy | None = None  # may be stricter for some calls

    def policy(self, task: Task) -> Policy:
        strict = self.asks_if_tainted and task.taint is not Taint.OWNER
        return Policy.ASK if strict and self.set_to is Policy.ALLOW else self.set_to

    async def policy_for(self, task: Task, call: ToolCall) -> Policy:
        policy = self.policy(task)
        if self.for_call is None or policy is not Policy.ALLOW:
            return policy
        return await self.for_call(task, call)

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        return await self.work(task, call)


def text_argument(call: ToolCall, name: str, default: str = "") -> str:
    value = call.args.get(name, default)
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {value!r:.60}.", field=name)
    return value


def number_argument(call: ToolCall, name: str, default: int) -> int:
    value = call.args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} must be a whole number, not {value!r:.60}.", field=name)
    return int(value)
