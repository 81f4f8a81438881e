"""The protocols of three vendors: one answer, in the form of each."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

PIECE: Final = 4096  # at most so many characters in one event of a stream


class Api(StrEnum):
    ANTHROPIC = "/v1/messages"
    CHAT = "/v1/chat/completions"
    RESPONSES = "/v1/responses"


class End(StrEnum):
    """How an answer ends."""

    OWN = "own"
    LIMIT = "limit"
    REFUSAL = "refusal"
    NONE = "none"  # the stream just stops


@dataclass(frozen=True, slots=True)
class Tag:
    """What tells one answer from another."""

    number: int
    model: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model. The arguments are as it wrote them, good or bad."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    text: str = ""
    end: End = End.OWN
    call: Call | None = None
    thinking: str = ""  # only with Anthropic
    more: tuple[Call, ...] = ()  # in the same turn as `call`

    def tagged(self, tag: Tag) -> Iterator[tuple[int, Call, Tag]]:
        """Yield every call, each with a unique number."""
        for n, call in enumerate((self.call, *self.more) if self.call else ()):
            yield n, call, replace(tag, number=tag.number + 1000 * n)


def whole(api: Api, answer: Answer, tag: Tag) -> bytes:
    """The answer as one JSON body."""
    body = {
        Api.ANTHROPIC: _anthropic,
        Api.CHAT: _chat,
        Api.RESPONSES: _response,
    }[api](answer, tag)
    return json.dumps(body).encode()


def pieces(api: Api, answer: Answer, tag: Tag) -> Iterator[bytes]:
    """The answer as a stream of server-sent events."""
    events = {
        Api.ANTHROPIC: _anthropic_events,
        Api.CHAT: _chat_events,
        Api.RESPONSES: _response_events,
    }[api](answer, tag)
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
    if api is Api.CHAT and answer.end is not End.NONE:
        yield b"data: [DONE]\n\n"


def complaint(api: Api, kind: str, message: str) -> bytes:
    """The body of an error."""
    error: dict[str, Json] = {"type": kind, "message": message}
    if api is Api.ANTHROPIC:
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
    return json.dumps({"error": {**error, "code": kind, "param": None}}).encode()


def _cut(text: str) -> Iterator[str]:
    """Yield pieces, as a model streams: at least two, so that it can break off in between."""
    size = max(1, min(PIECE, (len(text) + 2) // 3))
    return (text[start : start + size] for start in range(0, len(text), size))


# Anthropic ----------------------------------------------------------------------------------------

_STOP: Final = {End.OWN: "end_turn", End.LIMIT: "max_tokens", End.REFUSAL: "refusal"}


def _anthropic(answer: Answer, tag: Tag) -> dict[str, Json]:
    content: list[Json] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": "c2ln"})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    content += [_tool_use(call, own) for _, call, own in answer.tagged(tag)]
    stop: Json = "tool_use" if answer.call else _STOP.get(answer.end)
    return {**_envelope(tag), "content": content, "stop_reason": stop}


def _tool_use(call: Call, tag: Tag) -> dict[str, Json]:
    try:
        arguments: Json = json.loads(call.arguments)
    except ValueError:
        arguments = {"not": "what was asked for"}  # this vendor never sends broken JSON here
    return {
        "type": "tool_use",
        "id": f"toolu_{tag.number}",
        "name": call.tool,
        "input": arguments if isinstance(arguments, dict) else {},
    }


def _envelope(tag: Tag) -> dict[str, Json]:
    return {
        "id": f"msg_{tag.number}",
        "type": "message",
        "role": "assistant",
        "model": tag.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 10},
    }


def _anthropic_events(answer: Answer, tag: Tag) -> Iterator[dict[str, Json]]:
    yield {"type": "message_start", "message": _envelope(tag)}
    index = 0
    if answer.text:
        yield from _block(index, {"type": "text", "text": ""}, "text_delta", "text", answer.text)
        index += 1
    for n, call, own in answer.tagged(tag):
        start = {**_tool_use(call, own), "input": {}}
        yield from _block(index + n, start, "input_json_delta", "partial_json", call.arguments)
    if answer.end is End.NONE:
        return
    stop: Json = "tool_use" if answer.call else _STOP[answer.end]
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 10},
    }
    yield {"type": "message_stop"}


def _block(
    index: int, start: dict[str, Json], kind: str, field: str, text: str
) -> Iterator[dict[str, Json]]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for piece in _cut(text):
        delta: dict[str, Json] = {"type": kind, field: piece}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


# OpenAI, chat -------------------------------------------------------------------------------------

_FINISH: Final = {End.OWN: "stop", End.LIMIT: "length", End.REFUSAL: "stop"}
_USED: Final[dict[str, Json]] = {
    "prompt_tokens": 20,
    "completion_tokens": 10,
    "total_tokens": 30,
}


def _chat(answer: Answer, tag: Tag) -> dict[str, Json]:
    refused = answer.end is End.REFUSAL
    message: dict[str, Json] = {
        "role": "assistant",
        "content": None if refused else answer.text,
        "refusal": answer.text if refused else None,
    }
    if answer.call:
        message["tool_calls"] = [_chat_call(n, call, own) for n, call, own in answer.tagged(tag)]
    finish: Json = "tool_calls" if answer.call else _FINISH.get(answer.end)
    return {
        **_chat_frame(tag, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _USED,
    }


def _chat_call(n: int, call: Call, tag: Tag) -> dict[str, Json]:
    return {
        "index": n,
        "id": f"call_{tag.number}",
        "type": "function",
        "function": {"name": call.tool, "arguments": call.arguments},
    }


def _chat_frame(tag: Tag, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{tag.number}",
        "object": kind,
        "created": 1_790_000_000,
        "model": tag.model,
    }


def _chat_events(answer: Answer, tag: Tag) -> Iterator[dict[str, Json]]:
    frame = _chat_frame(tag, "chat.completion.chunk")
    said = "refusal" if answer.end is End.REFUSAL else "content"
    for piece in _cut(answer.text):
        delta: dict[str, Json] = {"role": "assistant", said: piece}
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    for n, call, own in answer.tagged(tag):
        delta = {"tool_calls": [_chat_call(n, call, own)]}
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    if answer.end is End.NONE:
        return
    finish: Json = "tool_calls" if answer.call else _FINISH[answer.end]
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield {**frame, "choices": [], "usage": _USED}


# OpenAI, responses --------------------------------------------------------------------------------


def _response(answer: Answer, tag: Tag) -> dict[str, Json]:
    output: list[Json] = []
    if answer.text:
        output.append(_message(answer, tag))
    output += [_response_call(call, own) for _, call, own in answer.tagged(tag)]
    cut = answer.end is End.LIMIT
    return {
        **_response_frame(tag),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": output,
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 30,
        },
    }


def _response_frame(tag: Tag) -> dict[str, Json]:
    return {
        "id": f"resp_{tag.number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": tag.model,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _message(answer: Answer, tag: Tag) -> dict[str, Json]:
    part: dict[str, Json] = {"type": "output_text", "text": answer.text, "annotations": []}
    if answer.end is End.REFUSAL:
        part = {"type": "refusal", "refusal": answer.text}
    return {
        "type": "message",
        "id": f"item_{tag.number}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _response_call(call: Call, tag: Tag) -> dict[str, Json]:
    return {
        "type": "function_call",
        "id": f"fc_{tag.number}",
        "call_id": f"call_{tag.number}",
        "name": call.tool,
        "arguments": call.arguments,
        "status": "completed",
    }


def _response_events(answer: Answer, tag: Tag) -> Iterator[dict[str, Json]]:
    for order, event in enumerate(_unnumbered(answer, tag)):
        yield {**event, "sequence_number": order}


def _unnumbered(answer: Answer, tag: Tag) -> Iterator[dict[str, Json]]:
    yield {"type": "response.created", "response": _response_frame(tag)}
    item: dict[str, Json] = {"item_id": f"item_{tag.number}", "output_index": 0, "content_index": 0}
    if answer.text:
        empty: dict[str, Json] = {**_message(answer, tag), "status": "in_progress"}
        empty["content"] = []
        yield {"type": "response.output_item.added", "output_index": 0, "item": empty}
        said = "refusal" if answer.end is End.REFUSAL else "output_text"
        for piece in _cut(answer.text):
            yield {"type": f"response.{said}.delta", **item, "delta": piece, "logprobs": []}
        if answer.end is End.NONE:
            return
        last = "refusal" if said == "refusal" else "text"
        yield {"type": f"response.{said}.done", **item, last: answer.text, "logprobs": []}
        done = _message(answer, tag)
        yield {"type": "response.output_item.done", "output_index": 0, "item": done}
    for n, wanted, own in answer.tagged(tag):
        call = _response_call(wanted, own)
        yield {"type": "response.output_item.added", "output_index": n + 1, "item": call}
        yield {"type": "response.output_item.done", "output_index": n + 1, "item": call}
    kind = "response.incomplete" if answer.end is End.LIMIT else "response.completed"
    yield {"type": kind, "response": _response(answer, tag)}
