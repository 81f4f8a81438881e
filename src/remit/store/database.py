"""What a database must offer: transactions over named statements, run on the right thread."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

P = ParamSpec("P")
T = TypeVar("T")

# Not importlib.resources: it costs a third of what reading a page of tasks does.
SQL: Final = Path(__file__).parent / "sql"

Cell: TypeAlias = str | int | float | bytes | None
Params: TypeAlias = Mapping[str, Cell] | Sequence[Cell]
Row: TypeAlias = Mapping[str, Cell]


class Tail(Struct):
    """The last entry of the journal, remembered so that an append need not look for it."""

    seq: int
    hash: bytes


class Tx(Protocol):
    """One transaction. Statements are named after their file in `sql/`."""

    tail: Tail | None

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


def load_statements() -> None:
    """Read every statement now: while an upgrade replaces the package its folder may be absent."""
    for path in SQL.glob("*.sql"):
        statement(path.stem)


@cache
def statement(name: str) -> str:
    """The text of a named statement."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")
