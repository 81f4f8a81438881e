"""Settings: what may be turned, where it is read from, and how a mistake is named."""

import tomllib
from datetime import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit import settings
from remit.errors import BadInput
from remit.formats import toml_edit
from remit.model.conversation import KINDS, WAYS
from remit.model.reply import Policy
from remit.settings import (
    DEFAULT_FILE,
    CalendarServer,
    CommandSettings,
    Settings,
    ToolSettings,
    load,
    sections,
)
from remit.settings.doors import FolderSettings, HookSettings, InboundRule
from remit.system.files import home_of
from tests.tables import for_each, table

GOOD = 'url = "https://dav.example.org/"\nuser = "hanan"\npassword = "work_calendar"\n'
POST = """
[channels.post]
kind = "email"
host = "mail.example.org"
sender = "nina@example.org"
imap_host = "mail.example.org"
"""
PHONE = '[channels.phone]\nkind = "whatsapp"\nnumber_id = "1"\ntoken = "t"\n'
BLIND = '[channels.blind]\nkind = "email"\nhost = "m.example.org"\nsender = "n@example.org"\n'
BRIDGE = '[channels.phone]\nkind = "bridge"\nurl = "http://127.0.0.1:9"\n'
PARTS = {"<good>": GOOD, "<post>": POST, "<phone>": PHONE, "<blind>": BLIND}
LONG = (f"[hooks.shop]\nsecret = 'x'\ntext = '{'y' * 20_001}'", "text may have 20000")


def written(home: Path, text: str) -> dict[str, str]:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return {"REMIT_HOME": str(home)}


def refusal(environ: dict[str, str]) -> BadInput:
    with pytest.raises(BadInput) as refused:
        load(environ)
    return refused.value


@for_each(("text", "sentence"), [*table(__file__, "mistakes"), LONG])
def test_a_mistake_is_refused_by_name_with_what_would_be_right_and_without_a_secret(
    tmp_path: Path, text: str, sentence: str
) -> None:
    for name, part in PARTS.items():
        text = text.replace(name, part)
    refused = str(refusal(written(tmp_path, text)))

    assert sentence.replace("{file}", str(tmp_path / "settings.toml")) in refused
    assert not any(secret in refused for secret in ("hush", "AAAA"))


def test_without_a_file_or_with_the_commented_one_everything_has_its_default(
    tmp_path: Path,
) -> None:
    assert load({"REMIT_HOME": str(tmp_path)}) == Settings(home=tmp_path)
    assert load(written(tmp_path, DEFAULT_FILE)) == Settings(home=tmp_path)


def test_every_commented_line_of_the_default_file_is_a_setting_with_its_default(
    tmp_path: Path,
) -> None:
    lines = [
        line.removeprefix("# ") if " = " in line else line for line in DEFAULT_FILE.splitlines()
    ]
    spelt = load(written(tmp_path, "\n".join(lines)))

    assert all(f'# {name} = "allow"' in DEFAULT_FILE for name in ToolSettings.__struct_fields__)
    assert spelt.engine.sources == {"caldav": 8}
    assert spelt.engine.parallel == Settings(home=tmp_path).engine.parallel
    assert (spelt.brain, spelt.server) == (settings.BrainSettings(), settings.ServerSettings())


def test_the_file_is_read_and_the_environment_has_the_last_word(tmp_path: Path) -> None:
    environ = written(
        tmp_path,
        'owner = "Hanan"\nagent = "Nina"\n[engine]\nparallel = 8\nattempts = 2\n'
        "[engine.sources]\nemail = 3\n[brain]\nkind = 'scripted'\n",
    )
    environ |= {
        "REMIT_ENGINE_PARALLEL": "9",
        "REMIT_AGENT": "Ada",
        "REMIT_BRAIN_SCRIPT": "other.yml",
        "REMIT_SERVER_PORT": "8000",
        "PATH": "elsewhere",
        "REMIT_FAILPOINT": "admit:before:1",
    }

    found = load(environ)

    assert (found.owner, found.agent) == ("Hanan", "Ada")
    assert (found.engine.parallel, found.engine.attempts) == (9, 2)
    assert found.engine.sources == {"email": 3}
    assert (found.brain.kind, found.brain.script) == ("scripted", "other.yml")
    assert found.server.port == 8000


def test_a_budget_of_0_is_no_limit_and_a_switch_is_true_or_false(tmp_path: Path) -> None:
    environ = written(tmp_path, "[budget]\nday_tokens = 0\n[priority]\nscore = true\n")
    assert load(environ).budget.day_tokens == 0
    assert load(environ).priority.score

    environ |= {"REMIT_BUDGET_RUN_CENTS": "250", "REMIT_PRIORITY_SCORE": "false"}
    assert load(environ).budget == settings.BudgetSettings(day_tokens=0, run_cents=250)
    assert not load(environ).priority.score


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    environ = written(tmp_path, "")
    (tmp_path / "settings.toml").write_bytes(b"owner = '\xff'")

    assert "is not valid TOML" in str(refusal(environ))


@for_each(
    ("name", "value", "sentence"),
    [
        ("REMIT_ENGINE_PARALEL", "8", "[engine] in the environment has no setting 'paralel'"),
        ("REMIT_ENGINE_PARALLEL", "many", "must be a whole number above 0, not 'many'"),
        ("REMIT_ONWER", "x", "Did you mean 'owner'?"),
        ("REMIT_ENGINE", "8", "engine in the environment must be a table, not '8'"),
        ("REMIT_COMMANDS", "rm", "commands"),
        ("REMIT_COMMANDS_BACKUP", "rm", "commands_backup"),
    ],
)
def test_a_mistake_in_the_environment_is_refused_too(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    assert sentence in str(refusal({"REMIT_HOME": str(tmp_path), name: value}))


def test_everything_lies_under_one_directory(tmp_path: Path) -> None:
    found = Settings(home=tmp_path)

    assert found.database == tmp_path / "agent.db"
    assert found.logs == tmp_path / "tasks" / "logs"
    assert found.backups == tmp_path / "backups"


def test_the_directory_is_named_or_in_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")

    assert home_of({}) == Path("/somewhere/.remit")
    assert home_of({"REMIT_HOME": ""}) == Path("/somewhere/.remit")
    assert home_of({"REMIT_HOME": "~/other"}) == Path("/somewhere/other")
    assert home_of({"REMIT_HOME": "here"}) == Path.cwd() / "here"


def test_an_account_is_read_with_all_that_may_be_said(tmp_path: Path) -> None:
    text = f'[calendars.work]\n{GOOD}calendars = ["Agenda"]\ntrusted = true\npoll = 30\n'
    found = load(
        written(tmp_path, text + '[calendar]\nall_day_at = "07:30"\nme = "A@x.org, b@x.org"')
    )

    assert found.calendars == {
        "work": CalendarServer(
            url="https://dav.example.org/",
            user="hanan",
            password="work_calendar",
            calendars=("Agenda",),
            trusted=True,
            poll=30,
        )
    }
    assert found.calendar.morning == time(7, 30)
    assert found.calendar.mine == {"a@x.org", "b@x.org"}


@for_each(
    "text",
    [
        '[calendars.x]\nurl = "http://localhost:5232/"',
        '[calendars.x]\nurl = "http://nas.lan/"\nplain = true',
        '[calendars.x]\nurl = "https://x.org/"',
        *(f"[mcp.x]\nurl = 'http://{host}/'" for host in ("localhost:9", "127.0.0.1", "[::1]:9")),
        "[web]\nsearch = 'searxng'\nurl = 'http://127.0.0.1:8888'",
    ],
)
def test_plain_http_is_for_this_machine_or_for_who_says_so(tmp_path: Path, text: str) -> None:
    assert load(written(tmp_path, text)).home == tmp_path


def test_every_door_is_read_with_all_that_may_be_said(tmp_path: Path) -> None:
    text = (
        '[hooks.shop]\nsecret = "hook_shop"\ntitle = "/a/b"\nscheme = "github"\nhourly = 0\n'
        f'{POST}[doors.post]\nauthserv_id = "mx"\ncontacts = "start"\nstrangers = "drop"\n'
        '[folders.scans]\npath = "/data/scans"\ntrusted = true\n'
    )
    found = load(written(tmp_path, text))

    assert found.hooks == {
        "shop": HookSettings(secret="hook_shop", title="/a/b", scheme="github", hourly=0)
    }
    assert found.doors == {
        "post": InboundRule(authserv_id="mx", contacts="start", strangers="drop")
    }
    assert found.folders == {"scans": FolderSettings(path="/data/scans", trusted=True)}


def test_policies_and_servers_are_read(tmp_path: Path) -> None:
    text = """
[tools]
create_task = "ask"

[mcp.files]
command = ["mcp-files", "--root", "docs"]
tools = { list = "allow", erase = "deny" }
env = ["FILES_KEY"]
repeat = true

[mcp.web]
url = "https://example.com/mcp"
policy = "allow"
token_env = "WEB_TOKEN"
"""
    found = load(written(tmp_path, text) | {"REMIT_TOOLS_WRITE_FILE": "deny"})
    files, web = found.mcp["files"], found.mcp["web"]

    assert (found.tools.create_task, found.tools.write_file) == (Policy.ASK, Policy.DENY)
    assert found.tools.read_task_log is Policy.ALLOW
    assert [files.policy_of(name) for name in ("list", "erase", "other")] == [
        Policy.ALLOW,
        Policy.DENY,
        Policy.ASK,
    ]
    assert (files.repeat, web.repeat, web.policy_of("any")) == (True, False, Policy.ALLOW)


def test_commands_are_read_in_both_forms(tmp_path: Path) -> None:
    text = """
    [commands]
    backup = ["restic", "backup", "~"]
    [commands.report]
    argv = ["make"]
    timeout = 30
    cwd = "/var/shop"
    env = ["SHOP"]
    repeat = true
    """

    assert load(written(tmp_path, text)).commands == {
        "backup": CommandSettings(("restic", "backup", "~")),
        "report": CommandSettings(("make",), 30, "/var/shop", ("SHOP",), repeat=True),
    }
    assert load(written(tmp_path, "")).commands == {}


def test_each_kind_has_its_ways(tmp_path: Path) -> None:
    text = (
        f"{BRIDGE}[notices]\nquestion = ['phone', 'push']\ndone = 'digest'\nfailed = 'none'\n"
        "lost = []\n"
        "urgent = ['question']\ndigest_over = ['phone', 'conversation']\ndigest_at = '07:30'\n"
    )
    environ = written(tmp_path, text) | {"REMIT_NOTICES_MISSED": "conversation, phone"}
    found = load(environ).notices

    assert found.question == ("phone", "push")
    assert (found.done, found.failed, found.lost) == (("digest",), (), ())
    assert found.missed == ("conversation", "phone")
    assert (found.urgent, found.digest_over) == (("question",), ("phone", "conversation"))
    assert found.channels == ("phone",)


# Changed from elsewhere ---------------------------------------------------------------------------


def test_a_changed_value_stands_where_its_default_stood_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"{DEFAULT_FILE}\n{BRIDGE}")
    path.chmod(0o600)
    sections.set_values(path, {"notices": {"missed": ("phone",), "digest_at": "07:15", "done": ()}})
    sections.set_values(path, {"notices": {"missed": ("phone", "push")}})
    text = path.read_text()

    assert '\nmissed = ["phone", "push"]   # a run was missed or skipped by a rule\n' in text
    assert text.count("missed") == DEFAULT_FILE.count("missed")
    found = load({"REMIT_HOME": str(tmp_path)}).notices
    assert (found.missed, found.digest_at, found.done) == (("phone", "push"), "07:15", ())
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_without_the_table_or_no_file_at_all_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    sections.set_values(path, {"notices": {"done": ("push",)}}, 'owner = "Hanan"\n')

    assert path.read_text() == 'owner = "Hanan"\n\n[notices]\ndone = ["push"]\n'


@for_each("text", ["[notices]\ndone = [\n", "notices = 3\n", "[notices]\nno_such_notice = 3\n"])
def test_a_file_that_would_be_wrong_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(BadInput):
        sections.set_values(path, {"notices": {"done": ("conversation",)}})

    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["settings.toml"]


@given(
    st.dictionaries(
        st.sampled_from([news.value for news in KINDS]),
        st.lists(st.sampled_from(WAYS), unique=True).map(tuple),
    )
)
def test_whatever_is_written_is_read_back(values: dict[str, tuple[str, ...]]) -> None:
    text = toml_edit.set_values(DEFAULT_FILE, {"notices": values})
    found = tomllib.loads(text)["notices"]

    assert found == {name: list(ways) for name, ways in values.items()}
