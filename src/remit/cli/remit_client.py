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

PATIENCE: Final = 5.0  # seconds for a Remit that is starting or ending
NOBODY: Final = "No Remit runs here now; the work starts with `remit up`."
_PAUSE: Final = 0.1
_FIRST_FILES: Final = (
    ("settings.toml", DEFAULT_FILE),
    (guidelines.FILE, guidelines.DEFAULT_FILE),
)


class RemitClient(Protocol):
    """The owner's operations, wherever they run. Results are read from the file."""

    @property
    def serves(self) -> bool:
        """Whether a Remit runs that will continue the work."""

    def add(self, order: TaskOrder) -> TaskId: ...

    def hear(self, saying: MessageOrder) -> JsonMap:
        """Have words read; return the receipt."""

    def decide(
        self, review: ReviewId, answer: ReviewAnswer, text: str | None, *, always: bool = False
    ) -> None: ...

    def later(self, review: ReviewId, hours: int) -> None:
        """Postpone a question for some hours; it comes back by itself."""

    def edit(self, task: TaskId, change: Edit) -> None: ...

    def pause(self, task: TaskId) -> None: ...

    def undo(self, task: TaskId) -> None: ...

    def resume(self, task: TaskId) -> None: ...

    def cancel(self, task: TaskId) -> None: ...

    def run(self, task: TaskId) -> TaskId:
        """Start now; return the task, for a series a new one."""

    def delete(self, task: TaskId) -> None: ...

    def retry(self, task: TaskId, key: str) -> TaskId: ...

    def vouch(self, task: TaskId) -> None: ...

    def order_series(self, series: SeriesId, verb: str, said: JsonMap) -> JsonMap:
        """Pause, resume, end, skip, move or set a series; return its state."""

    def look_back(self) -> TaskId:
        """Start a reflection; return its task."""

    def revert_rules(self, change: int | None, *, force: bool) -> JsonMap:
        """Revert a change of the rules or guidelines; return what changed."""

    def permit(self, contact: str, channel: str, policy: Policy) -> JsonMap:
        """Set a permission; return what applies now."""

    def switch_on(self, channel: str) -> JsonMap:
        """Switch a channel on again; return the result."""

    def sync_calendars(self) -> int:
        """Ask every calendar now; return how many accounts answered."""

    def start_cue(self, name: str) -> JsonMap:
        """Start a stored cue; return what became of it."""

    def test_notice(self, way: str) -> JsonMap:
        """Send a test notice over one way; return the result."""

    def recall_state(self) -> JsonMap:
        """Return the state of the index."""

    def rebuild_recall(self, told: Callable[[float], None]) -> JsonMap:
        """Rebuild the index and wait for it; `told` gets the share that is done."""

    def turn_recall_off(self) -> JsonMap:
        """Delete the index, and keep none from now on."""

    def find_like(self, like: str, limit: int) -> JsonMap:
        """Tasks like one, or like some words."""

    def make_token(
        self, name: str, scopes: frozenset[Scope], *, agent: bool, days: int | None
    ) -> JsonMap:
        """Create a program's token; the secret is returned once."""

    def revoke_token(self, token_id: str) -> JsonMap: ...

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Return when nothing more will happen to the task without the owner."""


@contextmanager
def opened(settings: Settings, *, works: bool = False) -> Iterator[RemitClient]:
    """Open a client; `works`: tasks may have to run in this process."""
    furnish(settings)
    with ExitStack() as stack:
        yield _enter(settings, works, stack)


def rehearse(settings: Settings, saying: MessageOrder) -> JsonMap:
    """Return what would become of some words, with the contacts and channels here."""
    if home.is_locked(settings.home):
        with opened(settings) as way:
            return way.hear(saying)
    from remit.cli.rehearse import read  # noqa: PLC0415 - the whole reader

    return read(settings, saying.text, at=saying.scheduled_for, repeats=saying.repeats)


def furnish(settings: Settings) -> None:
    """Create the directory on first use, with commented settings."""
    with locked(settings.home):
        for name, text in _FIRST_FILES:
            if not (path := settings.home / name).exists():
                write_atomic(path, text)
        rules.furnish(settings.home)


def _enter(settings: Settings, works: bool, stack: ExitStack) -> RemitClient:
    # Each client has its own imports, so it is loaded when it is used.
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
