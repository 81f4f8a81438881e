"""The project part of the settings page: where code is worked on, and by whom. Read only."""

import asyncio
import os
from collections.abc import Mapping
from typing import Final

from remit.server.call import Call
from remit.settings import Settings
from remit.specialist import specialist_health
from remit.specialist.specialist_health import SpecialistHealth
from remit.wiring.kinds import kinds

MARKS: Final[Mapping[str, tuple[str, str, str]]] = {
    "ok": ("ok", "Ready", "done"),
    "warn": ("you", "Lacks something", "alert"),
    "fail": ("bad", "Cannot be used", "fail"),
}


async def projects_section(call: Call) -> dict[str, object]:
    settings = call.house.settings
    projects, people = await asyncio.to_thread(_look, settings, thinks=call.house.thinks)
    return {
        "projects": [(each, settings.projects[each.name]) for each in projects],
        "people": [(each, settings.specialists[each.name]) for each in people],
        "marks": MARKS,
    }


def _look(
    settings: Settings, *, thinks: bool
) -> tuple[list[SpecialistHealth], list[SpecialistHealth]]:
    people = specialist_health.specialists(settings.specialists, os.environ.get("PATH"))
    known = settings.projects, settings.specialists, kinds(settings)
    places = specialist_health.projects(*known, thinks=thinks)
    return list(places), list(people)
