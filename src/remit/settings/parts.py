"""The sections of the settings with their defaults and checks, and the owner's priority rules."""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Generic, TypeVar, cast

from msgspec import Struct, field

from remit.errors import BadInput
from remit.model.codec import IT, Json, JsonMap, from_json
from remit.model.permit import QuietHours
from remit.model.recurrence import OnMissed, Overlap
from remit.model.reply import Policy
from remit.system.files import write_atomic


class LanguageChoice(StrEnum):
    """The language of pages and messages."""

    AUTO = "auto"  # pages as the browser says, questions as the message
    ENGLISH = "en"
    GERMAN = "de"
    SPANISH = "es"


class EngineKind(StrEnum):
    LOCAL = "local"  # one process does all
    TEMPORAL = "temporal"  # many, on Postgres and Temporal


class EngineSettings(Struct, frozen=True):
    kind: EngineKind = EngineKind.LOCAL
    parallel: int = 64
    step_limit: int = 600
    attempts: int = 5
    stop_limit: int = 20
    ageing: int = 900  # seconds of waiting that outweigh one priority level
    sources: Mapping[str, int] = field(default_factory=dict)
    # Only for Temporal:
    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    task_queue: str = "remit"
    heartbeat: int = 30  # seconds without a sign of life after which a worker is dead
    ui: str = ""  # the address of Temporal's own pages; empty: on its machine, port 8233

    @property
    def pages(self) -> str:
        """Where Temporal's own pages are."""
        host = self.address.rpartition(":")[0] or self.address
        return self.ui.rstrip("/") or f"http://{host}:8233"

    @property
    def is_shared(self) -> bool:
        """Whether several processes work on the store."""
        return self.kind is EngineKind.TEMPORAL


class FallbackSettings(Struct, frozen=True):
    """The second model, which answers while the first one's provider is down."""

    model: str = ""  # `vendor:name`, or `local`
    base_url: str = ""
    key_env: str = ""


class BrainSettings(Struct, frozen=True):
    kind: str = "auto"
    script: str = "brain.yml"
    model: str = ""  # `vendor:name`, for every role without its own
    extract: str = ""
    think: str = ""
    score: str = ""
    summarise: str = ""
    base_url: str = ""
    key_env: str = ""
    time_limit: int = 300
    token_limit: int = 16_000
    threads: int = 1  # of the local model; on busy cores two wait for each other
    fallback: FallbackSettings = FallbackSettings()


class BudgetSettings(Struct, frozen=True):
    """What model requests may cost; 0: no limit."""

    run_tokens: int = 200_000
    run_requests: int = 60
    run_cents: int = 0
    series_tokens: int = 0  # in 30 days
    series_cents: int = 0
    day_tokens: int = 2_000_000  # all tasks together
    day_cents: int = 0

    @property
    def limits_money(self) -> bool:
        return bool(self.run_cents or self.series_cents or self.day_cents)


class DeliverSettings(Struct, frozen=True):
    """When and how often others are written to."""

    undo: int = 10  # seconds from an approval, or an order in a chat, to the first byte; 0: none
    quiet: str = ""  # `22:00-07:00` on the owner's clock; empty: none
    daily_cap: int = 20  # messages to one person per day before asking; 0: no limit
    keep_inbound: int = 90  # days that inbound messages are kept; 0: for ever

    @property
    def quiet_hours(self) -> QuietHours | None:
        return QuietHours.parse(self.quiet) if self.quiet else None


class ScheduleSettings(Struct, frozen=True):
    """What happens to missed or overlapping slots; a series may have its own rule."""

    missed: OnMissed = OnMissed.RUN_ONCE
    overlap: Overlap = Overlap.QUEUE_ONE
    catch_up: int = 72  # hours after which a missed slot no longer runs
    most: int = 50  # slots of one series that are caught up, or queued
    jitter: int = 0  # seconds over which slots of one moment are spread
    stagger: int = 60  # seconds over which series missed together are spread
    still_watching: bool = False  # whether a quiet series says once a week that it still runs


class PrioritySettings(Struct, frozen=True):
    score: bool = False  # whether a model scores how urgent a task is


class ReflectSettings(Struct, frozen=True):
    nightly: bool = True  # whether ended tasks are reviewed every night; it proposes, you decide
    at: str = "03:00"  # when, on the owner's clock
    model: bool = False  # whether a model is asked, too; otherwise only counting
    keep: int = 90  # days that the lines in reflections/ are kept


class RecallSettings(Struct, frozen=True):
    """Where the similarity index is kept, and its embedder."""

    store: str = "embedded"  # or `qdrant` in this process, `off`, or a Qdrant server's address
    store_key: str = ""  # the variable with that server's key
    embedder: str = ""  # an address with OpenAI's protocol; default: the bundled model
    model: str = ""  # of that embedder
    embedder_key: str = ""  # the variable with its key
    twins: bool = True  # whether similar earlier tasks are pointed out

    @property
    def is_off(self) -> bool:
        return self.store == "off"


class StoreSettings(Struct, frozen=True):
    url: str = ""  # of a Postgres database; empty: the file `agent.db`


class ContractSettings(Struct, frozen=True):
    written: bool = True  # whether an outgoing text is checked against the request


class ToolSettings(Struct, frozen=True):
    """What each built-in tool may do without asking."""

    read_task_log: Policy = Policy.ALLOW
    search_tasks: Policy = Policy.ALLOW
    create_task: Policy = Policy.ALLOW
    ask_owner: Policy = Policy.ALLOW
    tick_item: Policy = Policy.ALLOW
    list_files: Policy = Policy.ALLOW
    read_file: Policy = Policy.ALLOW
    write_file: Policy = Policy.ALLOW
    fetch: Policy = Policy.ALLOW
    search: Policy = Policy.ALLOW


class SearchProvider(StrEnum):
    """Who is asked to search the web."""

    NONE = "none"
    BRAVE = "brave"
    TAVILY = "tavily"
    SEARXNG = "searxng"


class WebSettings(Struct, frozen=True):
    """How the tools `fetch` and `search` read the web."""

    search: SearchProvider = SearchProvider.NONE
    url: str = ""  # of SearXNG; of another provider only to replace its own
    key: str = "web_search"  # the name of the provider's key in the secret store
    own_hosts: tuple[str, ...] = ()  # hosts of your own network that may be read
    seconds: int = 20  # for one page
    page_bytes: int = 5_000_000
    task_pages: int = 40  # of one task
    task_bytes: int = 50_000_000


class McpSettings(Struct, frozen=True):
    """A server with tools: a program to start, or an address."""

    command: tuple[str, ...] = ()
    url: str = ""
    policy: Policy = Policy.ASK  # of every tool not listed in `tools`
    tools: dict[str, Json] = field(default_factory=dict)
    env: tuple[str, ...] = ()  # variables it gets besides PATH, HOME and LANG
    token_env: str = ""  # the variable with the token for an address
    repeat: bool = False  # whether all its tools are safe to call twice
    time_limit: int = 60  # seconds for one answer

    def policy_of(self, tool: str) -> Policy:
        return Policy(str(self.tools.get(tool, self.policy)))


class ServerSettings(Struct, frozen=True):
    port: int = 7316
    own_name: bool = True  # pages under a random name in .localhost; otherwise at 127.0.0.1
    public_url: str = ""  # where browsers elsewhere open the pages, by TLS; empty: nowhere
    tls_cert: str = ""  # files in PEM form, if no proxy has the certificate
    tls_key: str = ""


class CommandSettings(Struct, frozen=True):
    """A command that can be run by name, without a shell."""

    argv: tuple[str, ...]
    timeout: int = 600  # seconds, never longer than a step may take
    cwd: str = ""  # default: the task's own workspace
    env: tuple[str, ...] = ()  # variables it gets besides PATH, HOME and LANG
    repeat: bool = False  # whether it is safe to run again after a crash


def read_fallback(value: object, where: str) -> FallbackSettings:
    """Parse the second model: its name, or a table."""
    if isinstance(value, str):
        return FallbackSettings(value)
    names = FallbackSettings.__struct_fields__
    if not isinstance(value, Mapping) or not value.get("model") or set(value) - set(names):
        sentence = f"fallback in {where} must be a model, or a table with {', '.join(names)}."
        raise BadInput(sentence, field="fallback")
    return FallbackSettings(**{name: str(each) for name, each in value.items()})


PRIORITY: Final = "rules/priority.yml"  # in the home, and the owner's name for it
_PACKAGED: Final = "priority.yml"


def text(path: Path, called: str, most: int) -> str | None:
    """Return a file's text, at most slightly more than `most` characters; None if missing."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(most + 1)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        sentence = f"{called} cannot be read ({error}); write it as text in UTF-8."
        raise BadInput(sentence, field="priority") from None


def furnish(home: Path) -> None:
    """Put the rules that come with Remit where the owner finds them; existing files stay."""
    path = home / PRIORITY
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    rules = (Path(__file__).parents[1] / "plan" / _PACKAGED).read_text(encoding="utf-8")
    write_atomic(path, rules)


T = TypeVar("T", bound=Struct)
NAME: Final = r"[a-z0-9][a-z0-9_-]{0,39}"
NAMING: Final = "a name is of small letters, digits, - and _"


def parse_entry(
    kind: type[T], value: Mapping[str, object], name: str, where: str, known: Iterable[str]
) -> T:
    """Parse one entry of a table of tables; what is wrong is named with its place."""
    try:
        return from_json(kind, cast("JsonMap", dict(value)), IT)
    except BadInput as error:
        hint = f" Known: {', '.join(known)}." if "has no field" in str(error) else ""
        raise BadInput(f"{where}: {error}{hint}", field=name) from None


class SettingsTable(Struct, Generic[T], frozen=True):
    """How such a table is parsed."""

    kind: type[T]
    called: str  # its name in the file
    of: str  # what it contains, in a word
    needs: str  # what each entry needs
    wrong: Callable[[T], Iterable[tuple[bool, str]]]  # broken conditions, with their sentences
    name: Callable[[str], bool] = lambda name: re.fullmatch(NAME, name) is not None
    naming: str = NAMING

    def read(self, value: object, where: str) -> Mapping[str, T]:
        """Parse the whole table; an error is a sentence with its place."""
        if not isinstance(value, Mapping):
            sentence = f"{self.called} in {where} must be a table of {self.of}."
            raise BadInput(sentence, field=self.called)
        return {
            str(name): self._read_entry(str(name), each, f"[{self.called}.{name}] in {where}")
            for name, each in value.items()
        }

    def _read_entry(self, name: str, value: object, where: str) -> T:
        if not self.name(name):
            raise BadInput(f"{where}: {self.naming}.", field=name)
        if not isinstance(value, Mapping):
            raise BadInput(f"{where} must be a table with {self.needs}.", field=name)
        found = parse_entry(self.kind, value, name, where, self.kind.__struct_fields__)
        for holds, sentence in self.wrong(found):
            if holds:
                raise BadInput(f"{where}: {sentence}.", field=name)
        return found


def _server_problems(server: McpSettings) -> tuple[tuple[bool, str], ...]:
    local = re.match(r"http://(localhost|127\.0\.0\.1|\[::1\])([:/]|$)", server.url)
    safe = not server.url or local or server.url.startswith("https://")
    known = ", ".join(Policy)
    return (
        *(
            (policy not in set(Policy), f"{tool} in tools is {policy!r:.60}; it may be {known}")
            for tool, policy in server.tools.items()
        ),
        (bool(server.command) == bool(server.url), "it needs either a command or a url"),
        (any("\0" in word for word in server.command), "its words may not hold a NUL"),
        (not safe, "its url must begin with https://, or be on this machine"),
        (server.time_limit < 1, "time_limit must be a whole number above 0"),
    )


MCP_SERVERS: Final = SettingsTable(
    McpSettings,
    "mcp",
    "servers",
    "a command or a url",
    _server_problems,
    name=lambda name: re.fullmatch(r"[a-z][a-z0-9]{0,23}", name) is not None,
    naming="its name must be of small letters and digits",
)
