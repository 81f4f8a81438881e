"""The app as a short command opens it: built no further than its one operation needs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from remit.brain.think import NoBrain
from remit.model.delivery import Delivery
from remit.model.review import Review
from remit.model.task import Task
from remit.settings import Settings
from remit.wiring.foundation import Foundation, open_foundation

if TYPE_CHECKING:
    from remit.channels.push import PushNotifier
    from remit.converse import ConversationLoop
    from remit.delivery.notice_sender import NoticeSender
    from remit.wiring.app import App
    from remit.wiring.inbound_triggers import CalendarRegistry, InboundTriggers
    from remit.wiring.notices import NoticePreferences
    from remit.wiring.reflection import ReflectionLoop
    from remit.wiring.section_tests import SectionTests


class QuickApp:
    """The parts of the app; `whole` is built when something beyond intake and owner is needed."""

    # Of the whole: see `__getattr__`.
    talk: "ConversationLoop"
    push: "PushNotifier"
    herald: "NoticeSender"
    calendars: "CalendarRegistry"
    doors: "InboundTriggers"
    reflection: "ReflectionLoop"
    wishes: "NoticePreferences"
    section_tests: "SectionTests"

    def __init__(self, base: Foundation) -> None:
        self._base = base
        self.settings, self.db, self.clock = base.settings, base.db, base.clock
        self.zone, self.ids, self.intake = base.zone, base.ids, base.intake
        self.outfit, self.recollection, self.journal = base.outfit, base.recollection, base.journal
        self.owner, self.inbox, self.permits = base.owner, base.inbox, base.permits
        base.ear.approve_by(self._approve)

    @cached_property
    def whole(self) -> "App":
        from remit.wiring.app import build  # noqa: PLC0415 - every room

        return build(self._base)

    def _approve(self, task: Task, delivery: Delivery) -> Review | None:
        _ = self.whole  # it replaces this method
        return self._base.ear.approve(task, delivery)

    def __getattr__(self, name: str) -> object:
        if name not in type(self).__annotations__:
            raise AttributeError(name)
        found: object = getattr(self.whole, name)
        return found

    # A short command has no engine that would look for work, unless it waits for a task.

    @property
    def engine(self) -> "QuickApp":
        return self

    def nudge(self) -> None:
        if "whole" in self.__dict__:
            self.whole.engine.nudge()

    def heed(self, task: Task) -> None:
        if "whole" in self.__dict__:
            self.whole.engine.heed(task)

    async def close(self) -> None:
        if "whole" in self.__dict__:
            from remit.wiring.app import closers  # noqa: PLC0415 - it is loaded

            for close in closers(self.whole):
                await close()


@asynccontextmanager
async def open_quick_app(settings: Settings, *, works: bool) -> AsyncIterator[QuickApp]:
    """Lock the directory and open the store.

    Only what `works` needs a brain; a broken script must not prevent a pause.
    """
    async with open_foundation(settings, brain=None if works else NoBrain()) as base:
        app = QuickApp(base)
        try:
            yield app
        finally:
            await app.close()
