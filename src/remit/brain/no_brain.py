"""No brain: what needs one waits for the owner, with a sentence that says what to set."""

from remit.model.reply import Ask, Prompt, Reply
from remit.model.status import Reason


class NoBrain:
    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        question = (
            "This needs a language model, and none is set. Set one under [brain] in settings.toml "
            '(today: kind = "scripted"), start Remit again, then approve.'
        )
        return Reply("", ask=Ask(Reason.AUTH, question))
