"""The sections of the settings, each with its defaults."""

from collections.abc import Mapping

from msgspec import Struct, field

from remit.model.codec import Json
from remit.model.quiet import QuietHours
from remit.model.reply import Policy
from remit.model.series import OnMissed, Overlap


class EngineSettings(Struct, frozen=True):
    parallel: int = 64
    step_limit: int = 600
    attempts: int = 5
    stop_limit: int = 20
    ageing: int = 900  # seconds of waiting that outweigh one priority level
    sources: Mapping[str, int] = field(default_factory=dict)


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

    undo: int = 10  # seconds between an approval and the first byte; 0: none
    quiet: str = ""  # `22:00-07:00` on the owner's clock; empty: none
    daily_cap: int = 20  # messages to one person per day before asking; 0: no limit
    keep_inbound: int = 90  # days that inbound messages are kept; 0: for ever

    @property
    def quiet_hours(self) -> QuietHours | None:
        return QuietHours.of(self.quiet) if self.quiet else None


class ScheduleSettings(Struct, frozen=True):
    """What happens to missed or overlapping slots; a series may have its own rule."""

    missed: OnMissed = OnMissed.RUN_ONCE
    overlap: Overlap = Overlap.QUEUE_ONE
    catch_up: int = 72  # hours after which a missed slot no longer runs
    most: int = 50  # slots of one series that are caught up, or queued
    jitter: int = 0  # seconds over which slots of one moment are spread
    stagger: int = 60  # seconds over which series missed together are spread


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


class CommandSettings(Struct, frozen=True):
    """A command that can be run by name, without a shell."""

    argv: tuple[str, ...]
    timeout: int = 600  # seconds, never longer than a step may take
    cwd: str = ""  # default: the task's own workspace
    env: tuple[str, ...] = ()  # variables it gets besides PATH, HOME and LANG
    repeat: bool = False  # whether it is safe to run again after a crash
