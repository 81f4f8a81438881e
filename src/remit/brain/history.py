"""The messages of one model run as JSON that later versions can still read.

A state holds one run: its messages, its usage, and the tool calls it waits for. This module loads
the vendors' library.
"""

import json
from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from remit.errors import Permanent

_VERSION: Final = 1


def dump(run: Conversation) -> str:
    """Return a run as text for the store."""
    inner = ConversationTypeAdapter.dump_python(run, mode="json")
    return json.dumps({"version": _VERSION, "run": inner}, ensure_ascii=False)


def load(state: str) -> Conversation:
    """Parse a stored run; an unreadable one is refused."""
    try:
        outer = json.loads(state)
        if outer["version"] == _VERSION:
            return ConversationTypeAdapter.validate_python(outer["run"])
        why = f"it has version {outer['version']}"
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        why = type(error).__name__
    raise Permanent(f"What an earlier run left cannot be read by this Remit ({why}).")


def join(states: Iterable[str], recalled: str = "") -> list[ModelMessage]:
    """Return the messages of earlier runs, oldest first, after the recalled text.

    States of another kind of brain are ignored: a series may have changed its brain.
    """
    first = [ModelRequest([UserPromptPart(recalled)])] if recalled else []
    ours = (state for state in states if state.startswith("{"))
    return [*first, *(message for state in ours for message in load(state).messages)]
