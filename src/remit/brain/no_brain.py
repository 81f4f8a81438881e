"""The brain when none is set up: each task waits for the owner and says what to configure."""

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
