"""Passes the work, or the owner's own text, through the gate."""

from remit import gate
from remit.gate import Author
from remit.model.reply import Deliverable, Hold, Reply
from remit.model.review import Review
from remit.ports import Steps
from remit.review import ask
from remit.run.rooms import GatedText, RunPorts


async def written(reply: Reply, rooms: RunPorts, steps: Steps) -> GatedText | Review:
    """Return the deliverable if the gate lets it pass; else the question to the owner."""
    most = rooms.courier.most(steps.task.delivery)
    found = Hold(reply.flaw) if reply.flaw else gate.judge(reply, most=most, known=rooms.known)
    return await _judged(found, reply, rooms, steps)


async def judge_unmarked_text(text: str, rooms: RunPorts, steps: Steps) -> GatedText | Review:
    """Return a text without tags if the gate lets it pass; else the question to the owner."""
    most = rooms.courier.most(steps.task.delivery)
    found = gate.judge_text(text, most=most, known=rooms.known)
    return await _judged(found, Reply(text), rooms, steps)


async def _judged(
    judged: Deliverable | Hold, reply: Reply, rooms: RunPorts, steps: Steps
) -> GatedText | Review:
    most, known = rooms.courier.most(steps.task.delivery), rooms.known
    author, text, tries = Author.BRAIN, "", 0
    while isinstance(judged, Hold):
        question = ask.held(steps.task, tries, judged, Reply(text) if tries else reply)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        # An owner who sends the same text again after the warning insists on it.
        before, text = text, decision.text or text
        author = Author.WARNED if tries and text == before else Author.OWNER
        judged = gate.judge_text(text, most=most, author=author, known=known)
        tries += 1
    return GatedText(judged.text, author, reply.asks_first and author is Author.BRAIN)
