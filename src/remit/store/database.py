"""What a database must offer: transactions over named statements, on the right thread."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from remit.errors import StoreTrouble

P = ParamSpec("P")
T = TypeVar("T")

# Not importlib.resources: it costs a third of what reading a page of tasks does.
FOLDER: Final = Path(__file__).parent
_NAME: Final = "\n-- name: "

Cell: TypeAlias = str | int | float | bytes | None
Params: TypeAlias = Mapping[str, Cell] | Sequence[Cell]
Row: TypeAlias = Mapping[str, Cell]


class JournalTail(Struct):
    """The last entry of the journal, remembered so that an append need not look for it."""

    seq: int
    hash: bytes


class Tx(Protocol):
    """One transaction. It runs statements by their names in the `.sql` files of this folder."""

    tail: JournalTail | None

    def one(self, name: str, params: Params = ()) -> Row | None: ...

    def all(self, name: str, params: Params = ()) -> list[Row]: ...

    def run(self, name: str, params: Params = ()) -> int:
        """Run a statement and say how many rows it changed."""

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        """Run a statement that was composed by the store itself (filters)."""


class Database(Protocol):
    def write(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        """Run a verb in a durable transaction; it returns when the disk has it.

        A verb that raises leaves nothing behind. It may be run twice before it is committed once,
        so it must touch nothing but its transaction.
        """

    def read(
        self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]: ...

    def on_commit(self, tell: Callable[[int], None]) -> None:
        """Call `tell(seq)` after each commit that added to the journal."""

    async def close(self) -> None: ...


def statement(name: str) -> str:
    """The text of a named statement."""
    return statements()[name]


@cache
def statements() -> Mapping[str, str]:
    """Every statement by its name; all are read at the first use of one.

    While an upgrade replaces the package its files may be absent.
    """
    return load_statements(FOLDER)


def load_statements(folder: Path) -> dict[str, str]:
    """The statements of the `.sql` files that stand beside the modules that run them."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        for name, sql in _read_blocks(path):
            if name in found:
                raise StoreTrouble(f"{path.name}: there are two statements named {name!r}.")
            found[name] = sql
    return found


def _read_blocks(path: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of each statement of a file; each begins with a line `-- name: …`."""
    before, *blocks = f"\n{path.read_text(encoding='utf-8')}".split(_NAME)
    if before.strip():
        raise StoreTrouble(f"{path.name}: its first statement has no line `-- name: …`.")
    for block in blocks:
        name, _, text = block.partition("\n")
        if not text.rstrip().endswith(";"):
            raise StoreTrouble(f"{path.name}: the statement {name!r} is empty or has no `;`.")
        yield name, text.rstrip()
