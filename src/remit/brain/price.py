"""Estimates the highest cost of a model request before it is made."""

import math
from typing import Final

from remit.brain.choose import ModelConfig, Vendor
from remit.model.codec import text_of
from remit.model.reply import Prompt, Usage

# English has four bytes per token, Chinese about three: the estimate is rather too high.
_BYTES: Final = 3
_PRICED: Final = {
    Vendor.ANTHROPIC: "anthropic",
    Vendor.OPENAI_CHAT: "openai",
    Vendor.OPENAI_RESPONSES: "openai",
}


def reckon(prompt: Prompt, answer: int) -> Usage:
    """Return the tokens of the whole prompt and of the longest answer; one request."""
    said = (prompt.whole, *prompt.earlier, *(each.name + each.says for each in prompt.tools))
    schemas = (text_of(each.schema) for each in prompt.tools)
    size = sum(len(text.encode("utf-8", "replace")) for text in (*said, *schemas))
    return Usage(tokens=math.ceil(size / _BYTES) + answer, requests=1)


def cents(model: ModelConfig, asked: int, answered: int) -> int:
    """Return what these tokens cost, rounded up; 0 if no price is known.

    It loads the vendors' library; callers have loaded it already.
    """
    if model.vendor not in _PRICED:
        return 0
    from pydantic_ai.messages import ModelResponse  # noqa: PLC0415 - see above
    from pydantic_ai.usage import RequestUsage  # noqa: PLC0415

    usage = RequestUsage(input_tokens=asked, output_tokens=answered)
    told = ModelResponse(
        parts=[],
        usage=usage,
        model_name=model.name,
        provider_name=_PRICED[model.vendor],
        provider_url=model.base_url,
    )
    try:
        return math.ceil(told.cost().total_price * 100)
    except (LookupError, ValueError, AssertionError):
        return 0
