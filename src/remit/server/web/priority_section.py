"""The priority part of the settings page: the rules in force, and errors in their file."""

from remit.server.call import Call
from remit.settings.parts import PRIORITY


async def priority_section(call: Call) -> dict[str, object]:
    file, settings = call.house.priority, call.house.settings
    rules = file()
    return {
        "rules": rules,
        "complaint": file.complaint,
        "file": PRIORITY,
        "unasked": rules.asks_score and not settings.priority.score,
        "ageing": settings.engine.ageing // 60,
    }
