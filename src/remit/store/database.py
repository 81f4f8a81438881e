"""What a database must offer: transactions over named statements, on the right thread."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from remit.errors import StoreTrouble
from remit.model.run import Event

P = ParamSpec("P")
T = TypeVar("T")
Look = TypeVar("Look", bound=Callable[..., object])

# Not importlib.resources: it takes a third of the time of reading a page of tasks.
FOLDER: Final = Path(__file__).parent
_NAME: Final = "\n-- name: "

Cell: TypeAlias = str | int | float | bytes | None
Params: TypeAlias = Mapping[str, Cell] | Sequence[Cell]
Row: TypeAlias = Mapping[str, Cell]
OnCommit: TypeAlias = Callable[[Sequence[Event]], None]


def quick(look: Look) -> Look:
    """Mark a verb that needs a few rows by their keys: a thread would cost more than it does."""
    look.quick = True  # type: ignore[attr-defined]
    return look


def single(look: Look) -> Look:
    """Mark a quick verb of one statement: that sees one moment without a transaction."""
    look.single = True  # type: ignore[attr-defined]
    return quick(look)


def patient(verb: Look) -> Look:
    """Mark a write that nobody watches: it may be committed some milliseconds later, with others.

    Those who wait for such writes go on a few at a time, so that requests are answered in between.
    """
    verb.patient = True  # type: ignore[attr-defined]
    return quick(verb)


class JournalTail(Struct):
    """The last journal entry, cached so that an append need not look it up."""

    seq: int
    hash: bytes


class Tx(Protocol):
    """One transaction. It runs statements by their names in the `.sql` files of this folder."""

    tail: JournalTail | None

    @property
    def shared(self) -> bool:
        """Whether other processes write, too; then events wait for their place in the journal."""

    @property
    def appended(self) -> list[Event]:
        """What this transaction has added to the journal so far."""

    def one(self, name: str, params: Params = ()) -> Row | None: ...

    def all(self, name: str, params: Params = ()) -> list[Row]: ...

    def run(self, name: str, params: Params = ()) -> int:
        """Run a statement and return how many rows it changed."""

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        """Run a statement that the store composed itself (filters)."""


class Database(Protocol):
    def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        """Run a verb in a durable transaction; returns when it is on disk.

        A verb that raises leaves no changes. It may run twice before it is committed once, so it
        must touch nothing but its transaction.
        """

    def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        """Run a verb that only looks; everything that it finds is of one moment."""

    def turn(self) -> Awaitable[None]:
        """Wait until it is the caller's turn to go on with work that nobody watches."""

    def on_commit(self, tell: OnCommit) -> None:
        """Hand over the new events after each commit that added to the journal, in their order."""

    async def close(self) -> None: ...


def statement(name: str) -> str:
    """Return the text of a named statement."""
    return statements()[name]


@cache
def statements() -> Mapping[str, str]:
    """Return every statement by name; all are loaded at first use.

    While an upgrade replaces the package, its files may be missing.
    """
    return load_statements(FOLDER)


def load_statements(folder: Path) -> dict[str, str]:
    """Load the statements of the `.sql` files beside the modules."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        for name, sql in _read_blocks(path):
            if name in found:
                raise StoreTrouble(f"{path.name}: there are two statements named {name!r}.")
            found[name] = sql
    return found


def _read_blocks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each statement of a file; each begins with `-- name: …`."""
    before, *blocks = f"\n{path.read_text(encoding='utf-8')}".split(_NAME)
    if before.strip():
        raise StoreTrouble(f"{path.name}: its first statement has no line `-- name: …`.")
    for block in blocks:
        name, _, text = block.partition("\n")
        if not text.rstrip().endswith(";"):
            raise StoreTrouble(f"{path.name}: the statement {name!r} is empty or has no `;`.")
        yield name, text.rstrip()
