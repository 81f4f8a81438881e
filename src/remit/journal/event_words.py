"""The words for what happened to a task; the terminal and the pages make their lines of them."""

from typing import Final

STEPS: Final = {
    "plan_step": "Planned the work",
    "retrieve_context": "Looked at earlier work",
    "execute_tool": "Thought it through",
    "verify": "Checked the work against its contract",
    "agreed": "Wrote down how one will tell that it is done",
    "workspace": "Opened a folder for the work alone",
    "look": "Looked at what was changed",
    "contract": "Held the contract against what was really changed",
    "rest": "Leaves alone for a while who has reached a limit",
    "kept_at": "Noted when the work was kept",
    "keep_work": "Put the work on a branch of its own",
    "diff": "Drew what was changed",
    "publish": "Put the branch into your repository",
    "merge": "Went to bring it into your folder",
    "put_off": "Put off what is checked when its group ends",
    "owe": "Noted which files were taken unproven",
    "tidy": "Cleared the folder away",
    "lesson": "Wrote down what became of a lesson",
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
}
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
}
WITHDRAWN: Final = "You took that back; it goes on."


def decision(answer: str) -> str:
    return f"You {DECIDED.get(answer, answer)}"


def change(what: str) -> str:
    return CHANGES.get(what, f"You changed it: {what}.")
