"""One turn of work: render the prompt, ask the brain, keep the whole reply.

Without a configured brain, `NoBrain` makes each task wait and says what to configure.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import command, progress, prompt
from remit.brain.budget import Budget, MeteredBrain
from remit.brain.choose import NO_MODEL
from remit.brain.models import ModelBrain
from remit.brain.progress import ProgressCallback, ProgressListener, limit_reply
from remit.brain.prompt import PromptContext, Reachable
from remit.brain.tools import Toolbox
from remit.model.contract import Plan
from remit.model.reply import Ask, Exchange, Memory, Prompt, Reply, Tool, ToolResult
from remit.model.status import Reason
from remit.model.task import Task, TaskBudget
from remit.ports import Brain, Channel, FileChannel, LiveBrain, implements


class NoBrain:
    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply("", ask=Ask(Reason.AUTH, NO_MODEL))


States: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[str]]]  # their states


class ThinkContext(Struct, frozen=True):
    """What every request needs."""

    who: str = ""  # who the brain is, and whom it works for
    now: Callable[[], datetime] | None = None  # the time in the owner's zone
    guidelines: Callable[[], str] = str
    redact: Callable[[str], str] = str  # removes secrets from a text
    reachable: Callable[[], tuple[Reachable, ...]] = tuple  # who can be reached on which channel


_LONG_CHARS: Final = 20_000  # longer replies are parsed in a thread
_NOWHERE: Final = ThinkContext()


class Thinker:
    def __init__(
        self,
        brain: Brain,
        channels: Mapping[str, Channel],
        around: ThinkContext = _NOWHERE,
        *,
        tools: Toolbox | None = None,
        states: States | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._brain = brain
        self._channels = channels
        self._around = around
        self._tools = tools or Toolbox()
        self._states = states
        self._budget = budget

    async def think(
        self,
        task: Task,
        plan: Plan,
        memory: Memory,
        past: Sequence[Exchange] = (),
        tell: ProgressCallback | None = None,
        *,
        part: str = "",
    ) -> Reply:
        """Run one turn, continuing from the turns before it.

        `part` names something found out for a task apart from its work; it is paid for separately,
        too.
        """
        if command.is_for(task):
            return command.turn(task, plan, past)
        words = await self._words(task, plan, memory, past)
        say = partial(self._say, words, task, len(plan.work), tell)
        meter = self._meter
        if self._budget is None or meter is None:
            return await say()
        # A later leg pays again, and the earlier leg's cost stays counted.
        key = f"{task.id}:{part}{task.round}:{len(past)}:{task.lease}"
        asked = past[-1].reply.ask if past else None
        granted = asked is not None and (asked.about or "").startswith("budget")
        estimate = await meter.estimate(words)
        thought = await self._budget.pay(key, task, estimate, say, granted=granted)
        return Reply("", ask=thought) if isinstance(thought, Ask) else thought

    @property
    def has_brain(self) -> bool:
        """Whether a brain is set up."""
        return not isinstance(self._brain, NoBrain)

    async def spent(self, task: Task) -> TaskBudget | None:
        """Return what a task's requests have cost in all its rounds; None if they are free."""
        if self._budget is None or self._meter is None:
            return None
        return await self._budget.spent(task)

    @property
    def _meter(self) -> MeteredBrain | None:
        """The brain, if its requests cost something."""
        brain = self._brain
        return brain if implements(brain, MeteredBrain) and brain.metered else None

    async def _say(
        self, words: Prompt, task: Task, items: int, tell: ProgressCallback | None
    ) -> Reply:
        reply = limit_reply(await self._aloud(words, task, items, tell))
        # A brain that does not stream says in its reply what is done.
        if len(reply.text) < _LONG_CHARS:
            ticked = progress.ticked_items(reply.text, items)
        else:
            ticked = await asyncio.to_thread(progress.ticked_items, reply.text, items)
        done = {*reply.done, *ticked}
        return replace(reply, done=tuple(sorted(done)))

    async def _aloud(
        self, words: Prompt, task: Task, items: int, tell: ProgressCallback | None
    ) -> Reply:
        now = self._around.now
        if tell is None or now is None or not implements(self._brain, LiveBrain):
            return await self._brain.think(words, session=task.session_id)
        async with ProgressListener(tell, items, now, self._around.redact) as listener:
            return await self._brain.think_aloud(
                words, session=task.session_id, on_text=listener.hear
            )

    async def _words(
        self, task: Task, plan: Plan, memory: Memory, past: Sequence[Exchange]
    ) -> Prompt:
        tools = await self._offered_tools(task)
        now = self._around.now() if self._around.now else None
        words = prompt.render(task, plan, memory, self._prompt_context(plan, tools), now)
        states = [exchange.reply.state for exchange in past if exchange.reply.state]
        results = _results(past)
        if states:
            text = "" if results else prompt.continuation(task, now)
            words = replace(words, text=text, results=results)
        earlier = await self._states(memory.runs) if self._states and memory.runs else ()
        return replace(words, earlier=(*earlier, *states), tools=tools)

    async def _offered_tools(self, task: Task) -> tuple[Tool, ...]:
        """Return the tools on offer, for a brain that can call any."""
        if isinstance(self._brain, ModelBrain) and not self._brain.has_tools:
            return ()
        return await self._tools.offered(task)

    def _prompt_context(self, plan: Plan, tools: Sequence[Tool]) -> PromptContext:
        names = dict.fromkeys(delivery.channel for delivery in plan.delivery)
        guidance = (self._channels[name].guidance for name in names if name in self._channels)
        offered = {tool.name for tool in tools}
        carries = [self._carries(name) for name in names] if prompt.WRITE_FILE in offered else []
        reachable = self._around.reachable() if plan.delivery else ()
        who, guidelines = self._around.who, self._around.guidelines()
        ticks = prompt.TICK_ITEM in offered
        advice = tuple(guidance)
        return PromptContext(who, guidelines, advice, ticks, reachable, tuple(carries))

    def _carries(self, name: str) -> str:
        """Return what files a channel takes, in a sentence."""
        channel: object = self._channels.get(name)
        if not implements(channel, FileChannel):
            return f"{name} carries no files: put everything into the words."
        return f"{name} carries files of up to {channel.files.each // 1_000_000} MB each."


def _results(past: Sequence[Exchange]) -> tuple[ToolResult, ...]:
    """Return the results of the last turn that left a state."""
    spoken = [exchange for exchange in past if exchange.reply.state]
    return spoken[-1].results if spoken else ()
