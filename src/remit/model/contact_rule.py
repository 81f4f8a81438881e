"""A contact rule that the owner's words ask for: a proposal until it is accepted."""

from typing import Final, cast

from msgspec import Struct

from remit.model.codec import JsonMap, sha256, text_of
from remit.model.permit import QuietTimes
from remit.model.review import CONTACT_RULE, Review
from remit.model.status import Reason, Status
from remit.model.task import Task

RULE: Final = "rule"  # the agent of a task that only writes a rule into the contact book
_CONTEXT: Final = "contact_rule"


class ContactRule(Struct, frozen=True):
    """A person gets no messages at these times."""

    name: str
    quiet: QuietTimes

    @property
    def context(self) -> JsonMap:
        """The rule as the task's context stores it."""
        return {_CONTEXT: {"name": self.name, "quiet": [*self.quiet.texts]}}

    @property
    def digest(self) -> str:
        """The digest of exactly what is accepted."""
        return sha256(text_of(self.context).encode()).hex()


def rule_of(task: Task) -> ContactRule | None:
    """Return the rule that a task proposes; None if it proposes none."""
    kept = task.context.get(_CONTEXT)
    if task.assigned_agent != RULE or not isinstance(kept, dict):
        return None
    texts = cast("list[str]", kept["quiet"])
    return ContactRule(str(kept["name"]), QuietTimes.parse(texts))


def rule_review(task: Task, rule: ContactRule, sentence: str = "") -> Review:
    """Make the review for a rule the owner asked for; the answer is bound to its digest."""
    times = ", ".join(rule.quiet.texts)
    return Review(
        task_id=task.id,
        key=f"{task.round}:rule:{rule.digest}",
        reason=Reason.APPROVAL,
        question=sentence or f"Shall this be a rule from now on: {rule.name} gets nothing {times}?",
        evidence=f"contacts.yaml, {rule.name}: quiet: {times}",
        about=CONTACT_RULE,
        digest=rule.digest,
        resume_to=Status.RUNNING,
    )
