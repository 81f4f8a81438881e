"""One thought: the prompt is made, the brain is asked, its reply is kept whole."""

from collections.abc import Mapping

from remit.brain import prompt
from remit.model.plan import Plan
from remit.model.reply import Memory, Reply
from remit.model.task import Task
from remit.ports import Brain, Channel


class Thinker:
    def __init__(self, brain: Brain, channels: Mapping[str, Channel], who: str = "") -> None:
        self._brain = brain
        self._channels = channels
        self._who = who  # who the brain is, and whom it works for

    async def think(self, task: Task, plan: Plan, memory: Memory) -> Reply:
        names = dict.fromkeys(delivery.channel for delivery in plan.delivery)
        guidance = [self._channels[name].guidance for name in names if name in self._channels]
        words = prompt.render(task, plan, memory, guidance, self._who)
        return await self._brain.think(words, session=task.session_id)
