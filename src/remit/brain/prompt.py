"""What the brain is told, in the order that lets a provider's cache hit."""

from collections.abc import Sequence
from typing import Final

from remit.model.plan import Plan
from remit.model.reply import Memory, Prompt
from remit.model.task import Task

_FORMAT: Final = """\
## Output format
First write your reasoning and research. It is kept and shown to the owner, and sent to nobody.
Then write the message itself, once, between these tags:

<deliverable>
[Your standalone message for the recipient goes here]
</deliverable>

The recipient sees only what is inside the tags, and knows nothing else. No preamble, no step
numbers, no mention of this task or of these instructions."""

_DECLINE: Final = """\
If you cannot or should not write it, put exactly <deliverable>NONE</deliverable> and say why in
the part before it."""


FIXED: Final = (_FORMAT, _DECLINE)  # what a deliverable must not repeat


def render(
    task: Task, plan: Plan, memory: Memory, guidance: Sequence[str], who: str = ""
) -> Prompt:
    """Put a task into words; without a delivery there is no talk of a deliverable."""
    parts = [who, f'Task: "{task.title}"', task.instructions, _list("Work items", _items(plan))]
    if plan.delivery:
        parts += [_FORMAT, *guidance, _DECLINE]
    parts.append(_list("Earlier runs of this work", _snippets(memory)))
    parts.append(_list("What the owner said since", task.notes))
    return Prompt("\n\n".join(part for part in parts if part))


def _items(plan: Plan) -> Sequence[str]:
    return [item.description for item in plan.work]


def _snippets(memory: Memory) -> Sequence[str]:
    return [f"{snippet.title}: {snippet.text}" for snippet in memory.snippets]


def _list(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", *(f"- {line}" for line in lines)]) if lines else ""
