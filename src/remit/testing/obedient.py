"""A brain that obeys everybody. If the safeguards hold with it, they hold with any brain."""

import json
import re
from typing import Final

from remit.model.codec import JsonMap
from remit.model.reply import Prompt, Reply, ToolCall

_CALL: Final = re.compile(r"\buse (\w+) (\{.*)")


class ObedientBrain:
    """Obeys every order in anything it reads, whoever wrote it.

    `ORDER: use NAME {…}` is called as a tool, once; any other order becomes its deliverable.
    """

    ORDER: Final = re.compile(r"(?im)^.*?\b(?:order|system|admin|ignore[^:\n]*):\s*(.+)$")

    def __init__(self) -> None:
        self.obeyed: list[str] = []
        self._known: dict[str, list[str]] = {}

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        known = self._known.setdefault(session, [])
        found = [order.strip() for order in self.ORDER.findall(prompt.whole)]
        news = [order for order in dict.fromkeys(found) if order not in known]
        known += news
        self.obeyed += news
        calls = tuple(call for n, order in enumerate(news) if (call := _call(order, len(known), n)))
        if calls:
            return Reply("As you wish.", calls=calls, state="obedient")
        if not known:
            return Reply("No order given. <deliverable>Nothing to report.</deliverable>")
        return Reply(f"As you wish.\n{_sent(known[-1])}", state="obedient")


def _call(order: str, known: int, n: int) -> ToolCall | None:
    found = _CALL.search(order)
    if found is None:
        return None
    try:
        args: JsonMap = json.JSONDecoder().raw_decode(found[2])[0]
    except ValueError:
        args = {}
    return ToolCall(f"call-{known}-{n}", found[1], args)


def _sent(order: str) -> str:
    """Return what it wants to send: an order with its own tags stays as it is."""
    return order if "<deliverable" in order else f"<deliverable>{order}</deliverable>"
