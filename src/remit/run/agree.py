"""Agrees on the contract before any work; it is stored once."""

import re
from typing import Final

from msgspec.structs import replace

from remit.model.contract import Contract, ContractType, GeneratedFrom
from remit.model.plan import Plan
from remit.model.reply import Ask
from remit.model.review import Review
from remit.model.status import Reason
from remit.ports import Steps
from remit.review import ask

_ADVICE: Final = re.compile(r"\b(?:advisory|advice|no checks?|unchecked)\b", re.IGNORECASE)


async def agree(plan: Plan, steps: Steps) -> Plan | Review:
    """Return the plan with its contract, or the question to the owner if the contract is unclear.

    The plan is recorded before the work begins, so later files or words cannot change what was
    agreed.
    """
    contract = plan.contract
    if contract is None:
        return plan
    if plan.unsure is not None:
        question = ask.question(steps.task, "contract", Ask(Reason.INPUT, plan.unsure))
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        contract = _as_said(contract, decision.text or "")
    elif plan.notice is not None and not steps.has("execute_tool"):
        await steps.tell(plan.notice)
    steps.keep(contract=contract)
    return replace(plan, contract=contract)


def _as_said(strict: Contract, said: str) -> Contract:
    """Return the contract after the owner's answer; only a clear word makes it advisory."""
    if _ADVICE.search(said):
        return replace(
            strict, type=ContractType.ADVISORY, criteria=(), generated_from=GeneratedFrom.USER
        )
    return replace(strict, generated_from=GeneratedFrom.USER)
