"""A connection to Postgres, its transaction, and the meaning of its errors."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import cycle
from typing import Final, TypeAlias, cast

import psycopg
from psycopg import adapters, conninfo, pq
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.rows import DictRow, dict_row
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown, TextLoader

from remit.errors import Conflict, RemitError, StoreAway, StoreBusy, StoreFull, StoreTrouble
from remit.model.run import Event
from remit.store.database import FOLDER, JournalTail, Params, Row, load_statements, statements

OVERRIDES: Final = FOLDER / "postgres"
# A quoted text or name is left as it is. A double colon is a cast.
_TOKEN: Final = re.compile(r"'[^']*'|--[^\n]*|(?<!:):(?P<name>[a-z_]\w*)|\?|%")
_HINT: Final = re.compile(r" (NOT INDEXED|INDEXED BY \w+)")
# SQLite reads the tables of a CROSS JOIN in their order; here the planner decides.
_ORDERED_JOIN: Final = re.compile(r"CROSS JOIN (\w+(?: AS \w+)?) ON")
_LOCK: Final = re.compile(r"\s+FOR NO KEY UPDATE SKIP LOCKED(?=;$)")
# Who asks about single tasks also sees what waits for its seal.
_EVENTS: Final = re.compile(r"\b(FROM|JOIN) events\b")
_LAST_EVENT: Final = re.compile(r"\b(JOIN) events(?= ON events.task_id = tasks.id)")
_OF_TASKS: Final = re.compile(r"(list_(last_)?task_events|audit_(gaps|tasks|reviews|sends))$")
_WITH_UNSEALED: Final = r"\1 journal AS events"
_FULL_TEXT: Final = re.compile(r"tasks_text MATCH :text")


@cache
def postgres_statements(*, locking: bool) -> Mapping[str, str]:
    """Return every statement by name, translated; those that lock rows do so only to write."""
    own = load_statements(OVERRIDES)
    found = {name: translate(own.get(name, sql)) for name, sql in statements().items()}
    for name in filter(_OF_TASKS.match, found):
        found[name] = _EVENTS.sub(_WITH_UNSEALED, found[name])
    return found if locking else {name: _LOCK.sub("", sql) for name, sql in found.items()}


@cache
def translate(sql: str) -> str:
    """Return a statement with the parameters of psycopg and without SQLite's index hints."""
    plain = _ORDERED_JOIN.sub(r"JOIN \1 ON", _HINT.sub("", sql))
    plain = _FULL_TEXT.sub("tasks_text.words @@ match_query(:text)", plain)
    plain = _LAST_EVENT.sub(_WITH_UNSEALED, plain)
    return _TOKEN.sub(_translate_token, plain).strip()


def _translate_token(found: re.Match[str]) -> str:
    token = found[0]
    if token.startswith("--"):
        return ""
    if token.startswith("'"):
        return token.replace("%", "%%")
    return f"%({found['name']})s" if found["name"] else {"?": "%s", "%": "%%"}[token]


LOCK_SECONDS: Final = 20
# A process that stands still in a transaction loses it before others give up waiting for its rows.
IDLE_SECONDS: Final = 15
# A server that is cut off is noticed: nobody waits for ever. What the address says counts.
_CONNECTION: Final[Mapping[str, str | int]] = {
    "application_name": "remit",
    "connect_timeout": 30,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# Verbs that count rows and then insert one. All that could change the count are in this list.
SERIALIZABLE: Final = frozenset(
    {
        "remit.store.spending.reserve",
        "remit.store.cues.come",
        "remit.store.deliveries.claim_capped",
    }
)
# Another transaction was quicker: a serialization failure, a deadlock, a unique index.
_LOST_RACE: Final = frozenset({"40001", "40P01", "23505"})
_NO_CONNECTION: Final = frozenset({"", "08", "57", "28", "3D"})  # classes
_IDLE_TOO_LONG: Final = "25P03"
# What libpq says around the reason why there is no connection.
_AROUND: Final = re.compile(
    r"^(consuming input failed: )?(connection (failed|is bad): )?"
    r"(connection to server (at|on) .*? failed: )?(fe_sendauth: )?(FATAL: +)?"
    r"| (Is the server running|This probably means) .*$"
)

Connect: TypeAlias = Callable[[], psycopg.Connection[DictRow]]


class _BooleanDumper(Dumper):
    """A boolean as a text that fits a column of numbers too, as SQLite has it."""

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _TextDumper(StrDumperUnknown):
    """A text; Postgres takes no NUL."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\x00", "\ufffd"))


def _value_types() -> AdaptersMap:
    """Return how values are sent and read: as SQLite does, and types follow from the statement."""
    types = AdaptersMap(adapters)
    types.register_dumper(int, Int8Dumper)
    types.register_dumper(bool, _BooleanDumper)
    types.register_dumper(str, _TextDumper)
    types.register_loader("json", TextLoader)  # verbs parse it themselves
    return types


_VALUE_TYPES: Final = _value_types()


def location(url: str) -> str:
    """Return where a database is, without its password."""
    parts = conninfo.conninfo_to_dict(url)
    hosts, ports = (str(parts.get(name) or "").split(",") for name in ("host", "port"))
    # One port is that of all hosts.
    places = (":".join(filter(None, each)) for each in zip(hosts, cycle(ports), strict=False))
    return f"postgresql://{','.join(places)}/{parts.get('dbname', '')}"


def connect(url: str, *, process_clock: bool = False) -> psycopg.Connection[DictRow]:
    """Open a connection. With `process_clock` the caller's time decides what is due, for tests."""
    try:
        parameters = conninfo.conninfo_to_dict(url)
        rest = {name: value for name, value in _CONNECTION.items() if name not in parameters}
        where = conninfo.make_conninfo(url, **rest)
        connection = psycopg.connect(where, autocommit=True, row_factory=dict_row, context=_Types)
        clock = "process" if process_clock else "database"
        connection.execute(
            "SELECT set_config('remit.clock', %s, FALSE), set_config('lock_timeout', %s, FALSE),"
            " set_config('idle_in_transaction_session_timeout', %s, FALSE),"
            " set_config('client_min_messages', 'warning', FALSE),"
            # A machine that vanished must not keep its locks: not its rows, not the whole database.
            " set_config('tcp_keepalives_idle', '10', FALSE),"
            " set_config('tcp_keepalives_interval', '5', FALSE),"
            " set_config('tcp_keepalives_count', '3', FALSE),"
            # What is acknowledged must survive a server that is killed.
            " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
            " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, FALSE)",
            [clock, f"{LOCK_SECONDS}s", f"{IDLE_SECONDS}s"],
        )
    except psycopg.Error as error:
        raise trouble(url, error) from error
    return connection


class _Types:
    """What psycopg asks for to adapt values."""

    adapters = _VALUE_TYPES
    connection = None


class PostgresTx:
    """Statements by name over one connection; a lost one is replaced at the next transaction."""

    def __init__(
        self, url: str, reconnect: Connect, *, writable: bool = True, shared: bool = False
    ) -> None:
        self._url = url
        self.shared = shared
        self._reconnect = reconnect
        self._connection = reconnect()
        self._statements = postgres_statements(locking=writable)
        self._lost_race = False
        self._is_single = False  # a query of its own, without a transaction
        self.changes = 0
        self.tail: JournalTail | None = None
        self.appended: list[Event] = []
        self.committed: list[Event] = []

    def one(self, name: str, params: Params = ()) -> Row | None:
        found = self._run(self._statements[name], params)
        return found.fetchone() if found.description else None

    def all(self, name: str, params: Params = ()) -> list[Row]:
        return self._rows(self._statements[name], params)

    def run(self, name: str, params: Params = ()) -> int:
        return self._run(self._statements[name], params).rowcount

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        return self._rows(translate(sql), params)

    def begin(self, verbs: Sequence[str] = (), *, wait: bool = True) -> bool:
        del wait  # others may write at the same time
        self._lost_race = False
        level = "READ COMMITTED" if SERIALIZABLE.isdisjoint(verbs) else "SERIALIZABLE"
        self._begin(f"ISOLATION LEVEL {level}")
        return True

    def look(self, *, single: bool = False) -> None:
        """Begin to read: everything after this sees one moment. A single query needs no more."""
        self._is_single = single
        if not single:
            self._begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def commit(self) -> None:
        self._connection.execute("COMMIT")
        self._lost_race = False
        self.committed += self.appended
        self.appended.clear()

    def savepoint(self) -> None:
        """What follows can be taken back alone, until the savepoint is released."""
        self._connection.execute("SAVEPOINT job")

    def rollback_to_savepoint(self, events: int) -> bool:
        """Take back all since the savepoint but the first events; False if nothing is left."""
        if self._lost_race or self._connection.closed or not self._in_transaction:
            return False
        self.tail = None
        del self.appended[events:]
        self._connection.execute("ROLLBACK TO job")
        self.release_savepoint()
        return True

    def release_savepoint(self) -> None:
        self._connection.execute("RELEASE job")

    def rollback(self) -> None:
        self._is_single = False
        self.tail = None
        self.appended.clear()
        if not self._connection.closed and self._in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except psycopg.Error:
                self._connection.close()  # then the server undoes it

    def close(self) -> None:
        self._connection.close()

    def explain(self, error: Exception) -> RemitError | None:
        if not isinstance(error, psycopg.Error):
            return None
        self._lost_race = error.sqlstate in _LOST_RACE
        return trouble(self._url, error)

    def can_go_on_after(self, error: Exception) -> bool:
        """Postgres takes no further statement after an error of its own."""
        return not isinstance(error, psycopg.Error)

    def should_run_again(self) -> bool:
        return self._lost_race

    @property
    def connection(self) -> psycopg.Connection[DictRow]:
        return self._connection

    @property
    def _in_transaction(self) -> bool:
        return self._connection.info.transaction_status != pq.TransactionStatus.IDLE

    def _begin(self, how: str) -> None:
        """Begin a transaction; a connection that was lost since the last one is replaced."""
        try:
            self._connection.execute(f"BEGIN {how}")
        except psycopg.Error:
            self._connection.close()
            self.tail = None
            self._connection = self._reconnect()
            self._connection.execute(f"BEGIN {how}")

    def _rows(self, sql: str, params: Params) -> list[Row]:
        found = self._run(sql, params)
        return cast("list[Row]", found.fetchall()) if found.description else []

    def _run(self, sql: str, params: Params) -> psycopg.Cursor[DictRow]:
        try:
            cursor = self._connection.execute(sql, params)
        except psycopg.Error:
            if not (self._is_single and self._connection.closed):
                raise
            self._connection = self._reconnect()
            cursor = self._connection.execute(sql, params)
        if cursor.statusmessage and not cursor.statusmessage.startswith("SELECT"):
            self.changes += max(cursor.rowcount, 0)
        return cursor


def trouble(url: str, error: psycopg.Error) -> RemitError:
    """Turn an error of Postgres into an error with a sentence."""
    text, where = error.diag.message_primary or " ".join(str(error).split()), location(url)
    state = error.sqlstate or ""
    if state[:2] in ("23", "P0"):  # a constraint, or a trigger that refuses
        return Conflict(f"The store refused the write: {text}.")
    if state == "55P03":
        return StoreBusy(where, LOCK_SECONDS)
    if state[:2] == "53" or state == "25006":
        return StoreFull(where, text)
    if state[:2] in _NO_CONNECTION or state == _IDLE_TOO_LONG:
        return StoreAway(where, _AROUND.sub("", text).rstrip("."))
    return StoreTrouble(f"The store could not do that: {text}.")
