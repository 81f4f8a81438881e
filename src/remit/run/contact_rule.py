"""Writes an accepted contact rule into the contact book."""

from remit.model.contact_rule import ContactRule, rule_review
from remit.model.outcome import Done, Fail, Outcome, Wait
from remit.model.review import ReviewAnswer
from remit.ports import Steps
from remit.run.rooms import RunPorts


async def put_rule(rule: ContactRule, rooms: RunPorts, steps: Steps) -> Outcome:
    """Write exactly the accepted rule; without a yes nothing is written."""
    question = rule_review(steps.task, rule)
    decision = await steps.decided(question.key)
    if decision is None or decision.answer is not ReviewAnswer.APPROVE:
        return Wait(question)
    if rooms.put_rule is None:
        return Fail("There is no contact book here.")
    return Done(await steps.do("put_rule", rooms.put_rule, rule))
