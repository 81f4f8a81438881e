"""Tries a section of the settings out, as the file says it now, and says what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from remit.brain.models import ModelBrain
from remit.channels.registry import channel_states
from remit.errors import NotFound, RemitError
from remit.model.reply import Prompt
from remit.operations.operation import SectionResult
from remit.ports import Clock
from remit.settings import Settings
from remit.settings.forms import form_for
from remit.settings.parts import SearchProvider
from remit.settings.sections import load_home
from remit.store.secrets import secrets_of
from remit.wiring.app_context import WallClock, keys_of
from remit.wiring.readers import brain_of, model_choice

_SECONDS: Final = 120.0
_QUESTION: Final = "This is a test of the connection. Answer with the one word: ready."
_FINE: Final = "This part of the settings is valid."


class SectionTests:
    """Tries sections out, and says when none is being tried: a restart waits for that."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._running: set[asyncio.Event] = set()

    async def idle(self) -> None:
        while self._running:
            await next(iter(self._running)).wait()

    async def run(self, section: str) -> SectionResult:
        """Return what came of a test; whatever is wrong is a sentence, not an error."""
        settings = await asyncio.to_thread(load_home, self._home)
        if not form_for(section, settings).exists:
            raise NotFound("section", f"{section!r:.60}")
        done = asyncio.Event()
        self._running.add(done)
        try:
            return await self._try(settings, *section.partition(".")[::2])
        except (RemitError, OSError, TimeoutError) as error:
            return SectionResult(False, str(error) or type(error).__name__)
        finally:
            self._running.discard(done)
            done.set()

    async def _try(self, settings: Settings, table: str, name: str) -> SectionResult:
        if table == "channels":
            return await asyncio.to_thread(_channel, settings, name, self._clock)
        test = _TESTS.get(table)
        return await test(settings, name) if test else SectionResult(True, _FINE)


def _channel(settings: Settings, name: str, clock: Clock) -> SectionResult:
    state = channel_states(keys_of(settings), clock, {}, settings.home)[name]
    return SectionResult(state.verdict != "fail" and state.ready, f"{name}: {state.said}.")


async def _brain(settings: Settings, _: str) -> SectionResult:
    found = await asyncio.to_thread(model_choice, settings)
    if not found.ready:
        return SectionResult(settings.brain.kind in ("none", "scripted"), found.sentence)
    brain = await asyncio.to_thread(brain_of, settings)
    assert isinstance(brain, ModelBrain)  # noqa: S101 - a model is ready
    try:
        async with asyncio.timeout(_SECONDS):
            reply = await brain.think(Prompt(_QUESTION), session="settings-test")
    except TimeoutError:
        return SectionResult(False, f"{brain.label} did not answer within {_SECONDS:.0f} seconds.")
    finally:
        await brain.close()
    wrong = reply.ask.question if reply.ask else reply.flaw
    return SectionResult(not wrong, wrong or f"{brain.label} answered: {reply.text.strip():.80}")


async def _web(settings: Settings, _: str) -> SectionResult:
    if settings.web.search is SearchProvider.NONE:
        return SectionResult(True, "No search provider; tasks read the pages that they are given.")
    from remit.brain.web_tools import search_web  # noqa: PLC0415

    keys = await asyncio.to_thread(keys_of, settings)
    found = await search_web(settings.web, keys.token(settings.web.key), "test")
    if isinstance(found, str):
        return SectionResult(False, found)
    first = found[0].partition("\n")[0] if found else ""
    text = f"{settings.web.search} found {len(found)} pages. {first:.80}".strip()
    return SectionResult(bool(found), text if found else f"{settings.web.search} found nothing.")


async def _calendar(settings: Settings, name: str) -> SectionResult:
    from remit.calendar.client import CalDavClient  # noqa: PLC0415 - for who has an account
    from remit.wiring.calendar import place_of  # noqa: PLC0415 - as above

    keys = await asyncio.to_thread(keys_of, settings)
    place = place_of(name, settings.calendars[name], secrets_of(settings.home), keys, WallClock())
    dav = CalDavClient(place)
    try:
        found = sorted(each.name for each in await dav.calendars())
    finally:
        await dav.close()
    missing = [each for each in settings.calendars[name].calendars if each not in found]
    if missing:
        text = f"There is no calendar {', '.join(missing)}; there are {', '.join(found) or 'none'}."
        return SectionResult(False, text)
    return SectionResult(True, f"The account answers. Calendars: {', '.join(found) or 'none'}.")


async def _folder(settings: Settings, name: str) -> SectionResult:
    path = Path(settings.folders[name].path)
    there = await asyncio.to_thread(path.is_dir)
    return SectionResult(there, f"{path} {'is there' if there else 'is no folder here'}.")


async def _project(settings: Settings, name: str) -> SectionResult:
    return await asyncio.to_thread(_look_at_project, Path(settings.projects[name].path))


def _look_at_project(path: Path) -> SectionResult:
    under_git = (path.expanduser() / ".git").exists()
    if not path.expanduser().is_dir():
        return SectionResult(False, f"{path} is no folder here.")
    text = "is there, under git" if under_git else "is not under git; `git init` there, and commit"
    return SectionResult(under_git, f"{path} {text}.")


async def _hook(settings: Settings, name: str) -> SectionResult:
    kept = keys_of(settings)
    found = bool(kept.get(settings.hooks[name].secret))
    text = "has its secret" if found else "has no secret yet; `remit hooks rotate` makes one"
    return SectionResult(found, f"The hook {text}. Programs call /hooks/in/{name}.")


_TESTS: Final[Mapping[str, Callable[[Settings, str], Awaitable[SectionResult]]]] = {
    "brain": _brain,
    "web": _web,
    "calendars": _calendar,
    "folders": _folder,
    "projects": _project,
    "hooks": _hook,
}
