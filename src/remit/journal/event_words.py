"""The words for what happened to a task; the terminal and the pages make their lines of them."""

from collections.abc import Callable, Mapping
from typing import Final

from remit.model import deferred
from remit.model.codec import JsonMap
from remit.model.run import EventKind

STEPS: Final = {
    "plan_step": "Planned the work",
    "retrieve_context": "Looked at earlier work",
    "execute_tool": "Thought it through",
    "look_for_change": "Looked whether something changed",
    "may": "Checked whether it may use a tool",
    "use": "Used a tool",
    "week_of_silence": "Looked when it last had something to say",
    "put_rule": "Wrote the rule down",
    "verify": "Checked the work against its contract",
    "agreed": "Agreed how to check that it is done",
    "workspace": "Opened a folder of its own for the work",
    "look": "Looked at what was changed",
    "contract": "Compared the contract with what was really changed",
    "rest": "Waits, because a specialist has reached a limit",
    "kept_at": "Noted when the work was saved",
    "keep_work": "Put the work on a branch of its own",
    "diff": "Wrote down what was changed",
    "publish": "Put the branch into your repository",
    "merge": "Started to merge it into your folder",
    "put_off": "Postponed the checks that wait for the end of the group",
    "owe": "Noted which files were accepted without proof",
    "tidy": "Removed the folder",
    "lesson": "Noted what became of a lesson",
}
DECIDED: Final = {
    "approve": "approved",
    "edit": "approved, in your own words",
    "back": "sent it back",
    "answer": "answered",
    "arrived": "said that it arrived",
    "resend": "said: send it again",
    "drop": "left it out",
    "decline": "declined",
    "readdress": "chose another recipient or channel",
}
# How Remit names what it decided itself, because the reason for the question was gone.
_BY_ITSELF: Final = (
    "a brain is there now",
    "Remit was started again",
    "was switched on",
    "was connected",
)
SETTLED: Final = {
    "accepted": "Sent",
    "retry": "Not sent yet",
    "refused": "Refused by the channel",
    "unknown": "Nobody knows whether it arrived",
}
STOP_REQUESTS: Final = {
    "pause": "You asked for a pause; it stops at the next boundary.",
    "cancel": "You cancelled it; it stops at the next boundary.",
    "delete": "You deleted it; it stops at the next boundary.",
}
CHANGES: Final = {
    "run now": "You said: run it now.",
    "edited": "You edited it.",
    "read": "Your words were read.",
    "followed": "Its event changed in the calendar.",
    "deleted": "You deleted it; it is hidden.",
    "vouched": "You vouched for what its session remembers.",
    "restored": "You took its deletion back.",
    "put off": "You put the question off.",
    "as you answered": "Your answer changed it.",
}
WITHDRAWN: Final = "You took that back; it goes on."


def step_note(data: JsonMap) -> str | None:
    """Return what a step says of itself: the page it read, or why another model answered."""
    source = data.get("read_from")
    if isinstance(source, str):
        is_search = source.startswith("search: ")
        return f"Searched the web for {source[8:]!r}." if is_search else f"Read {source}"
    note = data.get("fallback_note")
    return note if isinstance(note, str) else None


def went_on_by_itself(by: str) -> bool:
    """Whether Remit answered a question itself, under the owner's name."""
    return by.partition(": ")[2].endswith(_BY_ITSELF)


def decision(answer: str, by: str = "owner") -> str:
    """Return who decided what. Not all that is stored under the owner's name was the owner."""
    whose, _, how = by.partition(": ")
    if went_on_by_itself(by):
        return f"It went on by itself: {how}"
    if whose == "owner":
        return f"You {DECIDED.get(answer, answer)}{f' {how}' if how else ''}"
    return f"{by} {DECIDED.get(answer, answer)}"


def with_stop(text: str) -> str:
    """Add a full stop, if needed."""
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _calendar_noted(data: JsonMap) -> str:
    title = data.get("title") or data.get("uid") or "Something"
    return f"{title} in the calendar {data['account']}: {data['what']}, {data['why']}"


def _loop_failed(data: JsonMap) -> str:
    return f"The background loop “{data['loop']}” failed and was started again: {data['why']}"


def _update_sentence(data: JsonMap) -> str:
    what = str(data.get("what"))
    if "wish" in data:
        return STOP_REQUESTS.get(str(data["wish"]), WITHDRAWN)
    if what == "twin":
        return str(data.get("said"))
    if what == "slots skipped":
        slots = "1 run was" if data["slots"] == 1 else f"{data['slots']} runs were"
        return f"{slots} left out before this one: {data['why']}."
    if "task" in data:
        return f"A task it made is {data.get('to')}: {data.get('summary') or ''}"
    return deferred.deferred_sentence(data) or CHANGES.get(what, f"It was changed: {what}.")


def _settlement_sentence(data: JsonMap) -> str:
    answer, note = str(data["answer"]), data.get("note")
    text = SETTLED.get(answer, answer)
    return f"{text}: {note}" if note else text


def _split(data: JsonMap) -> str:
    parts = data.get("parts")
    return f"Goes out in {len(parts) if isinstance(parts, list) else 'some'} parts."


def _report_sentence(data: JsonMap) -> str:
    if data.get("answer") == "accepted":
        return "The provider says that it arrived."
    return f"The provider says no: {data.get('note') or 'no reason given'}"


def decision_sentence(data: JsonMap) -> str:
    """Return a decision with the owner's words as they are."""
    if data.get("closed"):
        return "The open question was closed: its task ended."
    text, words = data.get("text"), decision(str(data["answer"]), str(data.get("by", "owner")))
    return f"{words}: {text}" if text else f"{words}."


# Events that are told the same everywhere; a full stop is added where one is missing.
SENTENCES: Final[Mapping[EventKind, Callable[[JsonMap], str]]] = {
    EventKind.TURN_SAID: lambda data: f"Something was said in {data['conversation']}.",
    EventKind.STORE_RESTORED: lambda _: "The store was restored from a backup.",
    EventKind.PERMISSION_GIVEN: lambda data: (
        f"You said {data['policy']} for {data['contact']} on {data['channel']}."
    ),
    EventKind.CHANNEL_OFF: lambda data: f"{data['channel']} was switched off: {data['why']}",
    EventKind.CHANNEL_ON: lambda data: f"You switched {data['channel']} on again.",
    EventKind.CALENDAR_NOTED: _calendar_noted,
    EventKind.RULES_CHANGED: lambda data: f"{data['file']}: {data['why']}",
    EventKind.LOOP_FAILED: _loop_failed,
    EventKind.TASK_UPDATED: _update_sentence,
    EventKind.DELIVERY_CLAIMED: lambda data: f"Sends (try {data['attempt']}).",
    EventKind.DELIVERY_SETTLED: _settlement_sentence,
    EventKind.DELIVERY_SPLIT: _split,
    EventKind.DELIVERY_REPORTED: _report_sentence,
}
