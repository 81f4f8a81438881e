"""One client for everything that writes: through the running Remit, or directly into the file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final, Protocol

from remit.brain import guidelines
from remit.cli import clock
from remit.cli.order import MessageOrder, TaskOrder
from remit.cli.watch import EventWatch
from remit.errors import HomeLocked, Unreachable
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.edit import Edit
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.reply import Policy
from remit.model.review import ReviewAnswer
from remit.model.task import Task
from remit.settings import DEFAULT_FILE, Settings, rules
from remit.store import home
from remit.system.files import locked, write_atomic

PATIENCE: Final = 5.0  # seconds for a Remit that is just starting, or just ending
NOBODY: Final = "No Remit runs here now; the work starts with `remit up`."
_PAUSE: Final = 0.1
_FIRST_FILES: Final = (
    ("settings.toml", DEFAULT_FILE),
    (guidelines.FILE, guidelines.DEFAULT_FILE),
)


class RemitClient(Protocol):
    """What the owner may do, whoever does it. What came of it is read from the file."""

    @property
    def serves(self) -> bool:
        """Whether a Remit runs that will go on with the work by itself."""

    def add(self, order: TaskOrder) -> TaskId: ...

    def hear(self, saying: MessageOrder) -> JsonMap:
        """Have words read; what became of them is told as a receipt has it."""

    def decide(
        self, review: ReviewId, answer: ReviewAnswer, text: str | None, *, always: bool = False
    ) -> None: ...

    def later(self, review: ReviewId, hours: int) -> None:
        """Put a question off for some hours; it comes back by itself."""

    def edit(self, task: TaskId, change: Edit) -> None: ...

    def pause(self, task: TaskId) -> None: ...

    def undo(self, task: TaskId) -> None: ...

    def resume(self, task: TaskId) -> None: ...

    def cancel(self, task: TaskId) -> None: ...

    def run(self, task: TaskId) -> TaskId:
        """Start now; which task that is: of a series it is another one."""

    def delete(self, task: TaskId) -> None: ...

    def retry(self, task: TaskId, key: str) -> TaskId: ...

    def vouch(self, task: TaskId) -> None: ...

    def order_series(self, series: SeriesId, verb: str, said: JsonMap) -> JsonMap:
        """Pause, resume, end, skip, move or set a series; how it stands then."""

    def look_back(self) -> TaskId:
        """Look at what ended, now; which task does."""

    def revert_rules(self, change: int | None, *, force: bool) -> JsonMap:
        """Take a change of the rules or guidelines back; what was changed by that."""

    def permit(self, contact: str, channel: str, policy: Policy) -> JsonMap:
        """Say once and for all whether someone is written to; what holds now is told."""

    def switch_on(self, channel: str) -> JsonMap:
        """Use a channel again that was switched off; what came of it is told."""

    def sync_calendars(self) -> int:
        """Look at every calendar now; how many accounts answered."""

    def start_cue(self, name: str) -> JsonMap:
        """Begin what came in and was kept; what became of it."""

    def test_notice(self, way: str) -> JsonMap:
        """Tell over one way that this is a test; what came of it."""

    def recall_state(self) -> JsonMap:
        """How the index of tasks stands."""

    def rebuild_recall(self, told: Callable[[float], None]) -> JsonMap:
        """Make the index anew, and return when it is; `told` hears what part of it is done."""

    def turn_recall_off(self) -> JsonMap:
        """Delete the index, and keep none from now on."""

    def find_like(self, like: str, limit: int) -> JsonMap:
        """Tasks like one, or like some words."""

    def make_token(
        self, name: str, scopes: frozenset[Scope], *, agent: bool, days: int | None
    ) -> JsonMap:
        """A program's way in, with the secret that is shown once."""

    def revoke_token(self, token_id: str) -> JsonMap: ...

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Return when nothing more will happen to the task without its owner."""


@contextmanager
def opened(settings: Settings, *, works: bool = False) -> Iterator[RemitClient]:
    """Open the door; `works` says that tasks may have to be run in this process."""
    furnish(settings)
    with ExitStack() as stack:
        yield _enter(settings, works, stack)


def rehearse(settings: Settings, saying: MessageOrder) -> JsonMap:
    """What would become of some words, with the book and the channels that are here."""
    if home.is_locked(settings.home):
        with opened(settings) as way:
            return way.hear(saying)
    from remit.cli.rehearse import read  # noqa: PLC0415 - the whole reader

    return read(settings, saying.text, at=saying.scheduled_for, repeats=saying.repeats)


def furnish(settings: Settings) -> None:
    """Make the directory on first use, with settings that explain themselves."""
    with locked(settings.home):
        for name, text in _FIRST_FILES:
            if not (path := settings.home / name).exists():
                write_atomic(path, text)
        rules.furnish(settings.home)


def _enter(settings: Settings, works: bool, stack: ExitStack) -> RemitClient:
    # Each way costs its own imports, so each is loaded when it is taken.
    until = clock.seconds() + PATIENCE
    while True:
        if not home.is_locked(settings.home):
            from remit.cli import in_process  # noqa: PLC0415 - the whole house

            with suppress(HomeLocked):
                return stack.enter_context(in_process.entered(settings, works=works))
        from remit.cli import remote  # noqa: PLC0415 - a web client

        found = remote.reach(settings.home)
        if isinstance(found, remote.RemoteClient):
            stack.callback(found.close)
            return found
        if clock.seconds() >= until:
            raise Unreachable(str(settings.home), found)
        clock.pause(_PAUSE)
