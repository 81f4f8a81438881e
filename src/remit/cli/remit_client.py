"""One client for everything that writes: through the running Remit, or directly into the file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final, Protocol

from remit.brain.prompt import DEFAULT_GUIDELINES, GUIDELINES_FILE
from remit.cli import clock
from remit.cli.lookup import EventWatch
from remit.errors import HomeLocked, Unreachable
from remit.model.codec import JsonMap, moment
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.operations.arguments import Arguments, NewMessage
from remit.settings import DEFAULT_FILE, Settings, load, parts
from remit.store import home
from remit.system.files import locked, write_atomic

PATIENCE: Final = 5.0  # seconds for a Remit that is starting or ending
NOBODY: Final = "No Remit runs here now; the work starts with `remit up`."
_PAUSE: Final = 0.1
_FIRST_FILES: Final = (("settings.toml", DEFAULT_FILE), (GUIDELINES_FILE, DEFAULT_GUIDELINES))


class RemitClient(Protocol):
    """How the owner asks for operations, whoever does them."""

    @property
    def serves(self) -> bool:
        """Whether a Remit runs that will continue the work."""

    def ask(self, arguments: Arguments, key: str | None = None) -> JsonMap:
        """Have an operation done; what makes a task comes with a key that outlives the command."""

    def hear(self, message: NewMessage, key: str) -> JsonMap:
        """Have words read; what became of them is told as a receipt has it."""

    def run(self, task: TaskId) -> TaskId:
        """Start now; return the task, for a series a new one."""

    def recall_state(self) -> JsonMap:
        """Return the state of the index."""

    def rebuild_recall(self, report_progress: Callable[[float], None]) -> JsonMap:
        """Rebuild the index and wait for it; `report_progress` gets the share that is done."""

    def find_like(self, like: str, limit: int) -> JsonMap:
        """Tasks like one, or like some words."""

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Return when nothing more will happen to the task without the owner."""


@contextmanager
def open_client(settings: Settings, *, works: bool = False) -> Iterator[RemitClient]:
    """Open a client; `works`: tasks may have to run in this process."""
    furnish(settings)
    with ExitStack() as stack:
        yield _enter(settings, works, stack)


def ask(arguments: Arguments) -> JsonMap:
    """Have one operation done."""
    with open_client(load()) as client:
        return client.ask(arguments)


def rehearse(settings: Settings, message: NewMessage) -> JsonMap:
    """What would become of some words, with the book and the channels that are here."""
    if home.is_locked(settings.home):
        with open_client(settings) as way:
            return way.ask(message)
    from remit.cli.rehearse import rehearse_words  # noqa: PLC0415 - the whole reader

    at = moment(message.scheduled_for) if message.scheduled_for else None
    repeats = message.repeats.to_series() if message.repeats else None
    return rehearse_words(settings, message.text, at=at, repeats=repeats)


def furnish(settings: Settings) -> None:
    """Create the directory on first use, with commented settings."""
    with locked(settings.home):
        for name, text in _FIRST_FILES:
            if not (path := settings.home / name).exists():
                write_atomic(path, text)
        parts.furnish(settings.home)


def _enter(settings: Settings, works: bool, stack: ExitStack) -> RemitClient:
    # Each client has its own imports, so it is loaded when it is used.
    until = clock.seconds() + PATIENCE
    while True:
        if not home.is_locked(settings.home):
            from remit.cli import in_process  # noqa: PLC0415 - the whole app

            with suppress(HomeLocked):
                return stack.enter_context(in_process.open_client(settings, works=works))
        from remit.cli import remote  # noqa: PLC0415 - a web client

        found = remote.reach(settings.home)
        if isinstance(found, remote.RemoteClient):
            stack.callback(found.close)
            return found
        if clock.seconds() >= until:
            raise Unreachable(str(settings.home), found)
        clock.pause(_PAUSE)
