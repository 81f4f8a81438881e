"""Asks the brain, runs the tools it calls until it answers, and passes the answer to the gate."""

from collections.abc import Callable, Collection, Sequence
from itertools import count

from msgspec import Struct

from remit import gate, review
from remit.gate import Author
from remit.model.contract import Plan, ReadSource
from remit.model.reply import (
    Ask,
    Deliverable,
    Exchange,
    Hold,
    Memory,
    Policy,
    Reply,
    ToolCall,
    ToolResult,
)
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Task
from remit.ports import Steps
from remit.run.attach import attach
from remit.run.run_ports import GatedText, RunPorts

MOST_TURNS = 50  # turns with tool calls before the owner is asked whether to continue
MOST_CALLS = 20  # in one turn
_SILENT = frozenset({"write_file", "list_files", "tick_item", "create_task"})  # not sources


class WorkedReply(Struct, frozen=True):
    """The brain's answer, and everything that was read for it."""

    reply: Reply
    read: tuple[ReadSource, ...] = ()


class WorkRequest(Struct, frozen=True):
    """What is worked on. `step` names the record of its turns, `place` starts its question keys.

    The default is the task itself; looking up a condition uses other names.
    """

    step: str = "execute_tool"
    place: str = ""
    of: Callable[[Task], Task] = lambda task: task


_TASK = WorkRequest()


async def work(
    plan: Plan, memory: Memory, rooms: RunPorts, steps: Steps, errand: WorkRequest = _TASK
) -> WorkedReply | Review:
    """Ask the brain, run the tools it calls, and repeat until there is an answer."""
    past: tuple[Exchange, ...] = ()
    while True:
        turn, instructions = len(past), errand.of(steps.task)
        results: tuple[ToolResult, ...] = ()
        name = f"{errand.step}:{turn}" if turn else errand.step
        think, tell = rooms.thinker.think, None if errand.place else steps.tell
        reply = await steps.look(
            name, think, instructions, plan, memory, past, tell, part=errand.place
        )
        steps.keep(spent=await rooms.thinker.spent(steps.task))
        asked = _question_of_reply(reply, plan)
        if asked is not None or reply.calls or errand.place:
            await steps.save()
        else:
            steps.owe()
        if asked is not None:
            question = review.question(steps.task, f"{errand.place}{turn}", asked)
            if await steps.decided(question.key) is None:
                return question
        elif reply.calls:
            used = await _use_all(turn, reply.calls, rooms, steps, errand.place)
            if isinstance(used, Review):
                return used
            results = used
        else:
            return WorkedReply(reply, _read(past, memory, steps.task))
        past = (*past, Exchange(reply, results))


def _read(past: Sequence[Exchange], memory: Memory, task: Task) -> tuple[ReadSource, ...]:
    """Return the sources: results of tools and recalled texts; failed calls give none."""
    done = [
        (call, result)
        for exchange in past
        for call, result in zip(exchange.reply.calls, exchange.results, strict=False)
        if not result.failed
    ]
    wrote = {str(call.args.get("path")) for call, _ in done if call.tool == "write_file"}
    sources = (_source(call, result) for call, result in done if _tells(call, wrote, task))
    recalled = (*memory.snippets, *memory.alike)
    return (*sources, *(ReadSource(each.title, each.text) for each in recalled))


def _source(call: ToolCall, result: ToolResult) -> ReadSource:
    if result.read_bytes:  # a page; a redirect may have led elsewhere than the call says
        return ReadSource(result.read_from, result.text)
    return ReadSource(_place(call), result.text, is_lead=bool(result.read_from))


def _tells(call: ToolCall, wrote: Collection[str], task: Task) -> bool:
    """Whether a call returned something to read that the brain had not written itself."""
    if call.tool == "read_file":
        return str(call.args.get("path")) not in wrote
    if call.tool == "read_task_log":  # without an id it is this task's log
        return str(call.args.get("task_id") or task.id) != task.id
    return call.tool not in _SILENT


def _place(call: ToolCall) -> str:
    """Return where it was read: the address or file argument, else the tool.

    Other arguments are the brain's own words and prove nothing.
    """
    for name in ("url", "uri", "path", "file"):
        if isinstance(found := call.args.get(name), str):
            return found
    return f"{call.tool}()"


def _question_of_reply(reply: Reply, plan: Plan) -> Ask | None:
    """Return what the owner must answer before the work can continue."""
    if reply.ask is None and reply.flaw is not None and not plan.delivery:
        return Ask(Reason.INPUT, f"{reply.flaw} Say how to go on, or decline.")
    return reply.ask


async def _use_all(
    turn: int, calls: Sequence[ToolCall], rooms: RunPorts, steps: Steps, before: str = ""
) -> tuple[ToolResult, ...] | Review:
    """Run the brain's calls one after the other; a finished call is never repeated."""
    if turn and turn % MOST_TURNS == 0:
        endless = review.endless(steps.task, turn, before)
        if await steps.decided(endless.key) is None:
            return endless
    results: list[ToolResult] = []
    for n, call in enumerate(calls):
        if n >= MOST_CALLS:
            why = f"Not done: at most {MOST_CALLS} calls at once."
            results.append(ToolResult(call.id, why, failed=True))
            continue
        place = f"{before}{turn}:{n}"
        wanted = await _check_call(place, call, rooms, steps)
        result = await _use(place, wanted, rooms, steps) if isinstance(wanted, ToolCall) else wanted
        if isinstance(result, Review):
            return result
        steps.keep(taint=result.taint)
        await steps.tell(done=() if before else result.done)
        results.append(result)
    return tuple(results)


async def _check_call(
    place: str, call: ToolCall, rooms: RunPorts, steps: Steps
) -> ToolCall | ToolResult | Review:
    """Return the call to run, or a result for the brain instead, or the question."""
    asked = rooms.tools.asks_owner(call)
    if asked is not None:
        question = review.question(steps.task, place, Ask(Reason.INPUT, asked))
        decision = await steps.decided(question.key)
        return question if decision is None else ToolResult(call.id, decision.text or "")
    # The ruling is recorded: a task that has read more since is not judged again.
    ruling = await steps.look(f"may:{place}", rooms.tools.rule, steps.task, call)
    if ruling.wrong:
        return ToolResult(call.id, ruling.wrong, failed=True)
    match ruling.policy:
        case Policy.ALLOW:
            return call
        case Policy.DENY:
            return ToolResult(call.id, f"{call.tool} is not allowed here.", failed=True)
        case Policy.ASK:
            return await _ask_for_call(place, call, ruling.warning, rooms, steps)


async def _ask_for_call(
    place: str, call: ToolCall, problem: str, rooms: RunPorts, steps: Steps
) -> ToolCall | ToolResult | Review:
    """Return the call as the owner allows it: unchanged, with other arguments, or not at all."""
    for tries in count():
        question = review.call(steps.task, f"{place}:{tries}", call, problem)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        if decision.answer is ReviewAnswer.DROP:
            return ToolResult(call.id, f"The owner said no. {decision.text or ''}".strip(), True)
        if decision.answer is ReviewAnswer.APPROVE:
            return call
        edited = await rooms.tools.edited(call, decision.text or "")
        if isinstance(edited, ToolCall):
            return edited
        problem = f"{edited} "
    raise AssertionError  # pragma: no cover - count() does not end


async def _use(place: str, call: ToolCall, rooms: RunPorts, steps: Steps) -> ToolResult | Review:
    """Run a call. One that must not run twice is recorded as begun, as a send is claimed."""
    name = f"use:{place}"
    ruling = await steps.look(f"may:{place}", rooms.tools.rule, steps.task, call)
    if ruling.may_repeat:
        return await steps.do(name, rooms.tools.use, steps.task, call)
    for tries in count():
        begun = await steps.do(f"{name}:begin:{tries}", rooms.tools.begin, steps.task)
        why = "Remit stopped in the middle of it."
        if begun == steps.task.lease or steps.has(f"{name}:{tries}"):
            result = await steps.do(f"{name}:{tries}", rooms.tools.use, steps.task, call)
            if not result.doubt:
                return result
            why = result.text
        question = review.begun(steps.task, f"{place}:{tries}", call, why)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        if decision.answer is ReviewAnswer.ARRIVED:
            return ToolResult(call.id, "The owner says that it was done; its result is lost.")
        if decision.answer is ReviewAnswer.DROP:
            return ToolResult(call.id, "The owner left it out.", failed=True)
    raise AssertionError  # pragma: no cover - count() does not end


async def gate_reply(reply: Reply, rooms: RunPorts, steps: Steps) -> GatedText | Review:
    """Return the deliverable if the gate lets it pass; else the question to the owner."""
    most = rooms.courier.most(steps.task.delivery)
    found = Hold(reply.flaw) if reply.flaw else gate.judge(reply, most=most, known=rooms.known)
    return await _judge_reply(found, reply, rooms, steps)


async def judge_unmarked_text(text: str, rooms: RunPorts, steps: Steps) -> GatedText | Review:
    """Return a text without tags if the gate lets it pass; else the question to the owner."""
    most = rooms.courier.most(steps.task.delivery)
    found = gate.judge_text(text, most=most, known=rooms.known)
    return await _judge_reply(found, Reply(text), rooms, steps)


async def _judge_reply(
    judged: Deliverable | Hold, reply: Reply, rooms: RunPorts, steps: Steps
) -> GatedText | Review:
    most, known = rooms.courier.most(steps.task.delivery), rooms.known
    author, text, tries = Author.BRAIN, "", 0
    while True:
        if isinstance(judged, Deliverable):
            step = f"attach_files:{tries}"
            judged = await attach(judged.text, rooms.attacher, steps, step=step)
        if isinstance(judged, Deliverable):
            break
        question = review.held(steps.task, tries, judged, Reply(text) if tries else reply)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        # An owner who sends the same text again after the warning insists on it.
        before, text = text, decision.text or text
        author = Author.WARNED if tries and text == before else Author.OWNER
        judged = gate.judge_text(text, most=most, author=author, known=known)
        tries += 1
    return GatedText(judged.text, author, reply.asks_first and author is Author.BRAIN)
