"""What must become of each task of a frozen store, and the owner's decisions for that.

It is written into the manifest when a store is made: later versions are held to that, not to this.
"""

from typing import Final

from remit.model.codec import Json, JsonMap

ENDED: Final = ("completed", "failed", "cancelled")
# A slot of a series may run, run late or be skipped, depending on when the store is taken over.
SLOT: Final = ["ready", "completed", "cancelled"]


def fate_of(name: str, status: str) -> JsonMap:
    """`owner`: the decisions, in order; `becomes`: how it ends; `sends`: how many are sent."""
    said, becomes, sends = _FATES.get(name, ([], SLOT if status == "ready" else [status], 0))
    if name in _FATES or status in ENDED or status == "ready":
        return {"owner": list[Json](said), "becomes": list[Json](becomes), "sends": sends}
    raise AssertionError(f"Say in {__file__} what must become of {name!r}, which is {status}.")


_FATES: Final[dict[str, tuple[list[str], list[str], int]]] = {
    # Continues by itself.
    "thinking": ([], ["completed"], 0),
    "child": ([], ["completed"], 0),
    "waits for its next try": ([], ["completed"], 0),
    "one of two sent": ([], ["completed"], 1),
    "auth": ([], ["completed"], 1),
    # Continues after the owner's decision.
    "approval": (["approve"], ["completed"], 1),
    "input": (["answer:My passport is a French one"], ["completed"], 0),
    "deliverable": (["back:Use the tags"], ["completed"], 0),
    "verification": (["decline"], ["cancelled"], 0),
    "tool call": (["approve"], ["completed"], 0),
    "question about the request": (["answer:Anna Weber", "approve"], ["completed"], 1),
    "poison": (["approve"], ["completed"], 0),
    "in doubt, arrived": (["arrived"], ["completed"], 0),
    "in doubt, sent again": (["resend"], ["completed"], 1),
    "in doubt, dropped": (["drop"], ["failed"], 0),
    "in doubt, not asked yet": (["arrived"], ["completed"], 0),
    "verifying": (["approve"], ["completed"], 0),
    # Continues when the owner says so, or at its time.
    "paused before it began": (["resume", "run"], ["completed"], 0),
    "paused after it began": (["resume"], ["completed"], 0),
    "scheduled": (["run"], ["completed"], 0),
    "said for later": (["run"], ["completed"], 0),
    "second story": (["cancel"], ["cancelled"], 0),
}
