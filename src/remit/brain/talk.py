"""One exchange with a model: sent once, read to the end, judged by how it ended.

A state holds one run as JSON that later versions can still read: its messages, its usage, and the
tool calls it waits for. This module loads the vendors' library; `models` imports it with the first
request.
"""

import json
import math
from base64 import b64decode
from collections.abc import AsyncIterable, Iterable, Sequence
from typing import Final, TypeVar, cast

from msgspec.structs import replace
from pydantic import ValidationError
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    NativeOutput,
    RunContext,
    ToolDefinition,
    ToolOutput,
    capture_run_messages,
)
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    AgentStreamEvent,
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturn,
    UserPromptPart,
)
from pydantic_ai.toolsets import ExternalToolset
from pydantic_ai.usage import UsageLimits

from remit.brain import vendors
from remit.brain.choose import FilledForm, ModelConfig, ModelLimits
from remit.brain.progress import KEPT_CHARS, MAX_ANSWER_CHARS, TOO_LONG, hold_back, long_reply
from remit.errors import Permanent, Transient
from remit.model.codec import JsonMap, without_surrogates
from remit.model.reply import Ask, Prompt, Reply, Tool, ToolCall, ToolResult, Usage
from remit.ports import OnText

T = TypeVar("T")

_MAX_ARGUMENT_CHARACTERS: Final = 2000
HEALS: Final = 2  # how often a model is told what is wrong with a form it filled in


class SharedModelConnection:
    """A connection that any number of sessions may use at once."""

    def __init__(self, model: ModelConfig, limits: ModelLimits) -> None:
        self._model = model
        self._limits = limits
        self._access = vendors.connect(model, limits)
        self._agent = Agent(
            self._access.model,
            name="brain",
            model_settings=self._access.settings,
            retries={"tools": 0, "output": 0},
        )

    async def close(self) -> None:
        await self._access.close()

    async def say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply:
        """Ask once. A partial answer never counts as a whole one."""
        listener = _Listener(on_text) if on_text else None
        with capture_run_messages() as messages:
            try:
                result = await self._agent.run(
                    prompt.text or None,
                    instructions=prompt.rules or None,
                    output_type=[str, DeferredToolRequests] if prompt.tools else str,
                    toolsets=[_toolset(prompt.tools)] if prompt.tools else None,
                    deferred_tool_results=_results(prompt.results),
                    message_history=join_runs(prompt.earlier, prompt.recalled),
                    conversation_id=session,
                    event_stream_handler=listener.listen if listener else None,
                    usage_limits=UsageLimits(request_limit=1),
                    infer_name=False,
                )
            except Exception as error:  # noqa: BLE001 - all that a vendor throws is sorted
                if listener is not None and listener.is_full:
                    return long_reply(listener.beginning)
                return self._reply_without_answer(error, messages)
        if len(result.response.text or "") > MAX_ANSWER_CHARS:
            return replace(
                long_reply(without_surrogates(result.response.text or "")),
                usage=_usage([result.response]),
            )
        run = Conversation(
            messages=result.new_messages(), usage=result.usage, conversation_id=session
        )
        reply = self._read(result.response, result.output)
        return replace(reply, state=without_surrogates(dump_run(run)))

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> FilledForm[T] | Reply:
        """Have a form filled in; an invalid one goes back to the model, twice."""
        with capture_run_messages() as messages:
            try:
                result = await self._agent.run(
                    prompt.text,
                    output_type=_bound(form, self._model),
                    conversation_id=session,
                    retries={"output": HEALS},
                    usage_limits=UsageLimits(request_limit=1 + HEALS),
                    infer_name=False,
                )
            except Exception as error:  # noqa: BLE001 - as above
                last = _last(messages)
                if isinstance(error, UnexpectedModelBehavior) and last and _is_whole(last):
                    tries = f"{self._model} did not fill in the form in {1 + HEALS} tries."
                    raise Transient(tries) from None
                return self._reply_without_answer(error, messages)
        if not _is_whole(result.response):
            return self._read(result.response, result.response.text or "")
        return FilledForm(result.output, _usage(result.new_messages()))

    def _reply_without_answer(self, error: Exception, messages: Sequence[ModelMessage]) -> Reply:
        """Return the reply when there is no answer: a refusal is one too."""
        last = _last(messages)
        if isinstance(error, UnexpectedModelBehavior) and last:
            return self._read(last, last.text or "")
        sorted_ = vendors.classify_error(error, self._model)
        if isinstance(sorted_, Ask):
            return Reply("", ask=sorted_)
        raise sorted_ from None

    def _read(self, response: ModelResponse, output: str | DeferredToolRequests) -> Reply:
        """Return a reply by how the answer ended; only a complete one may be delivered."""
        details = response.provider_details or {}
        usage = _usage([response])
        text = without_surrogates(output if isinstance(output, str) else response.text or "")
        match response.finish_reason:
            case "stop" | "tool_call" if isinstance(output, DeferredToolRequests):
                return Reply(text, usage=usage, calls=tuple(_call(each) for each in output.calls))
            case "stop" if text.strip():
                return Reply(text, usage=usage)
            case "stop" | "tool_call":
                raise Transient(f"{self._model} answered with nothing.")
            case "length":
                why = f"it was cut off; [brain] token_limit is {self._limits.tokens}."
            case "content_filter":
                text = text or without_surrogates(str(details.get("refusal") or ""))
                why = f"{self._model} declined to answer."
            case None if details.get("finish_reason"):
                why = f"{self._model} ended it with {str(details['finish_reason'])[:40]!r}."
            case _:
                raise Transient(f"{self._model} broke off before its answer was whole.")
        return Reply(hold_back(text, why), usage=usage, flaw=f"The answer is not whole: {why}")


def _bound(form: type[T], model: ModelConfig) -> ToolOutput[T] | NativeOutput[T]:
    """Return a form as tool arguments, or as the answer itself for a model without tools."""
    if model.has_tools:
        return ToolOutput(form, name="answer", max_retries=HEALS)
    return NativeOutput(form, name="answer", template=False)


def _last(messages: Sequence[ModelMessage]) -> ModelResponse | None:
    """Return the answer that a run ended with, if any."""
    last = messages[-1] if messages else None
    return last if isinstance(last, ModelResponse) else None


def _is_whole(response: ModelResponse) -> bool:
    return response.finish_reason in ("stop", "tool_call")


def _toolset(tools: Sequence[Tool]) -> ExternalToolset[object]:
    """Return tools that are not run during the request: the calls come back, and code decides."""
    return ExternalToolset(
        [
            ToolDefinition(
                name=tool.name, description=tool.says, parameters_json_schema=dict(tool.schema)
            )
            for tool in tools
        ]
    )


def _results(results: Sequence[ToolResult]) -> DeferredToolResults | None:
    if not results:
        return None
    return DeferredToolResults(calls={result.call: _result(result) for result in results})


def _result(result: ToolResult) -> str | ToolReturn:
    if result.picture is None:
        return result.text
    picture = BinaryContent(b64decode(result.picture.content), media_type=result.picture.type)
    return ToolReturn(result.text, content=[result.text, picture])


def _call(part: ToolCallPart) -> ToolCall:
    """Return the model's call; arguments that are no JSON object become none and are refused."""
    try:
        args = cast("JsonMap", part.args_as_dict())
        if len(json.dumps(args, allow_nan=False).encode()) > MAX_ANSWER_CHARS:
            args = {"unreadable": TOO_LONG}
    except (ValueError, AssertionError, RecursionError):
        args = {"unreadable": without_surrogates(str(part.args))[:_MAX_ARGUMENT_CHARACTERS]}
    return ToolCall(part.tool_call_id, part.tool_name, args)


class _Listener:
    """Passes on what a model streams, and stops one that says too much."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._size = 0
        self.beginning = ""

    @property
    def is_full(self) -> bool:
        return self._size > MAX_ANSWER_CHARS

    async def listen(self, _: RunContext[object], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            self._size += _length(event)
            if self.is_full:
                raise Transient(TOO_LONG)  # closes the stream; `say` makes a reply of it
            match event:
                case PartStartEvent(part=TextPart(content=piece)):
                    pass
                case PartDeltaEvent(delta=TextPartDelta(content_delta=piece)):
                    pass
                case _:
                    continue
            if piece:
                if len(self.beginning) < KEPT_CHARS:
                    self.beginning += without_surrogates(piece)
                await self._on_text(without_surrogates(piece))


def _length(event: AgentStreamEvent) -> int:
    """Return how many characters came with an event: text, reasoning or call arguments."""
    part: object = None
    if isinstance(event, PartStartEvent):
        part = event.part
    elif isinstance(event, PartDeltaEvent):
        part = event.delta
    lines = (
        getattr(part, name, None) for name in ("content", "content_delta", "args", "args_delta")
    )
    return sum(len(each) for each in lines if isinstance(each, str))


def _usage(messages: Iterable[ModelMessage]) -> Usage:
    responses = [message for message in messages if isinstance(message, ModelResponse)]
    tokens = [response.usage.total_tokens for response in responses]
    cents = math.ceil(sum(_price(response) for response in responses) * 100)
    return Usage(
        tokens=sum(tokens),
        cents=cents,
        requests=len(responses),
        context=tokens[-1] if tokens else 0,
        asked=sum(response.usage.input_tokens for response in responses),
        answered=sum(response.usage.output_tokens for response in responses),
        cached=sum(response.usage.cache_read_tokens for response in responses),
    )


def _price(response: ModelResponse) -> float:
    """Return the price in dollars; 0 if unknown."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return 0


_VERSION: Final = 1


def dump_run(run: Conversation) -> str:
    """Return a run as text for the store."""
    inner = ConversationTypeAdapter.dump_python(run, mode="json")
    return json.dumps({"version": _VERSION, "run": inner}, ensure_ascii=False)


def load_run(state: str) -> Conversation:
    """Parse a stored run; an unreadable one is refused."""
    try:
        outer = json.loads(state)
        if outer["version"] == _VERSION:
            return ConversationTypeAdapter.validate_python(outer["run"])
        why = f"it has version {outer['version']}"
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        why = type(error).__name__
    raise Permanent(f"What an earlier run left cannot be read by this Remit ({why}).")


def join_runs(states: Iterable[str], recalled: str = "") -> list[ModelMessage]:
    """Return the messages of earlier runs, oldest first, after the recalled text.

    States of another kind of brain are ignored: a series may have changed its brain.
    """
    first = [ModelRequest([UserPromptPart(recalled)])] if recalled else []
    ours = (state for state in states if state.startswith("{"))
    return [*first, *(message for state in ours for message in load_run(state).messages)]
