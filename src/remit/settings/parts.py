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
    ageing: int = 900  # seconds of waiting that outweigh one level of priority
    sources: Mapping[str, int] = field(default_factory=dict)


class BrainSettings(Struct, frozen=True):
    kind: str = "auto"
    script: str = "brain.yml"
    model: str = ""  # `vendor:name`, for every role that has none of its own
    extract: str = ""
    think: str = ""
    score: str = ""
    summarise: str = ""
    base_url: str = ""
    key_env: str = ""
    time_limit: int = 300
    token_limit: int = 16_000
    threads: int = 1  # of the local model; where cores are busy, two wait for each other


class BudgetSettings(Struct, frozen=True):
    """What thinking may cost; 0 is no limit."""

    run_tokens: int = 200_000
    run_requests: int = 60
    run_cents: int = 0
    series_tokens: int = 0  # in 30 days
    series_cents: int = 0
    day_tokens: int = 2_000_000  # of all tasks together
    day_cents: int = 0

    @property
    def limits_money(self) -> bool:
        return bool(self.run_cents or self.series_cents or self.day_cents)


class DeliverSettings(Struct, frozen=True):
    """When and how often others are written to."""

    undo: int = 10  # seconds between an approval and the first byte; 0 is none
    quiet: str = ""  # `22:00-07:00` on the owner's clock; empty is none
    daily_cap: int = 20  # messages to one person in a day, before it is asked; 0 is no limit
    keep_inbound: int = 90  # days that what came in by a channel is kept; 0 is for ever

    @property
    def quiet_hours(self) -> QuietHours | None:
        return QuietHours.of(self.quiet) if self.quiet else None


class ScheduleSettings(Struct, frozen=True):
    """What becomes of slots that are missed, or meet; a series may have a word of its own."""

    missed: OnMissed = OnMissed.RUN_ONCE
    overlap: Overlap = Overlap.QUEUE_ONE
    catch_up: int = 72  # hours after which a slot that was missed is not run once any more
    most: int = 50  # slots of one series that are caught up, or wait in a row
    jitter: int = 0  # seconds over which slots of one moment are spread
    stagger: int = 60  # seconds over which the series are spread that were missed together


class PrioritySettings(Struct, frozen=True):
    score: bool = False  # whether a model is asked how urgent a task is


class ReflectSettings(Struct, frozen=True):
    nightly: bool = True  # whether what ended is looked at every night; it proposes, you decide
    at: str = "03:00"  # when, on the owner's clock
    model: bool = False  # whether a model is asked, too; else things are only counted
    keep: int = 90  # days that the lines in reflections/ are kept


class RecallSettings(Struct, frozen=True):
    """Where what tasks are about is kept, and who reads it."""

    store: str = "embedded"  # or `off`, or the address of a Qdrant server
    store_key: str = ""  # the variable with that server's key
    embedder: str = ""  # an address that speaks OpenAI's protocol; else the model that comes along
    model: str = ""  # of that embedder
    embedder_key: str = ""  # the variable with its key
    twins: bool = True  # whether a task that looks like another is pointed out

    @property
    def is_off(self) -> bool:
        return self.store == "off"


class ContractSettings(Struct, frozen=True):
    written: bool = True  # whether a text that goes out is first checked against what was asked


class ToolSettings(Struct, frozen=True):
    """What each of the house's own tools may do without the owner."""

    read_task_log: Policy = Policy.ALLOW
    search_tasks: Policy = Policy.ALLOW
    create_task: Policy = Policy.ALLOW
    ask_owner: Policy = Policy.ALLOW
    tick_item: Policy = Policy.ALLOW
    list_files: Policy = Policy.ALLOW
    read_file: Policy = Policy.ALLOW
    write_file: Policy = Policy.ALLOW


class McpSettings(Struct, frozen=True):
    """A server with tools of its own: a program that is started, or an address."""

    command: tuple[str, ...] = ()
    url: str = ""
    policy: Policy = Policy.ASK  # of every tool that `tools` does not name
    tools: dict[str, Json] = field(default_factory=dict)
    env: tuple[str, ...] = ()  # variables it is given besides PATH, HOME and LANG
    token_env: str = ""  # the variable with what an address wants to be shown
    repeat: bool = False  # whether it does no harm to call any of its tools twice
    time_limit: int = 60  # seconds for one answer

    def policy_of(self, tool: str) -> Policy:
        return Policy(str(self.tools.get(tool, self.policy)))


class ServerSettings(Struct, frozen=True):
    port: int = 7316
    own_name: bool = True  # pages at a random name under .localhost; else at 127.0.0.1


class CommandSettings(Struct, frozen=True):
    """What may be run by its name; no shell reads it."""

    argv: tuple[str, ...]
    timeout: int = 600  # seconds, and never longer than a step may take
    cwd: str = ""  # else the task's own workspace
    env: tuple[str, ...] = ()  # variables it is given besides PATH, HOME and LANG
    repeat: bool = False  # whether it does no harm to run it again after a crash
