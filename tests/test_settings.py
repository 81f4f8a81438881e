"""Settings: what may be turned, where it is read from, and how a mistake is named."""

from pathlib import Path

import pytest

from remit import settings
from remit.errors import BadInput
from remit.settings import DEFAULT_FILE, Settings, load
from remit.system.files import home_of


def written(home: Path, text: str) -> dict[str, str]:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return {"REMIT_HOME": str(home)}


def refusal(environ: dict[str, str]) -> BadInput:
    with pytest.raises(BadInput) as refused:
        load(environ)
    return refused.value


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert load({"REMIT_HOME": str(tmp_path)}) == Settings(home=tmp_path)


def test_the_commented_file_is_the_defaults(tmp_path: Path) -> None:
    assert load(written(tmp_path, DEFAULT_FILE)) == Settings(home=tmp_path)


def test_every_commented_line_of_the_default_file_is_a_setting_with_its_default(
    tmp_path: Path,
) -> None:
    lines = [
        line.removeprefix("# ") if " = " in line else line for line in DEFAULT_FILE.splitlines()
    ]
    spelt = load(written(tmp_path, "\n".join(lines)))

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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("quux = 8", "has no setting 'quux'. Known: owner, agent, zone, language, engine,"),
        ("[engine]\nparalel = 8", "has no setting 'paralel'. Did you mean 'parallel'?"),
        ("home = 'elsewhere'", "has no setting 'home'."),
        ("owner = 5", "owner in {file} must be text, not 5."),
        ("[engine]\nparallel = 0", "must be a whole number above 0, not 0."),
        ("[engine]\nparallel = true", "must be a whole number above 0, not True."),
        ("[engine]\nparallel = '8'", "must be a whole number above 0, not '8'."),
        ("[server]\nport = 1.5", "must be a whole number above 0, not 1.5."),
        ("engine = 5", "engine in {file} must be a table, not 5."),
        ("[engine]\nsources = 5", "must map names to whole numbers above 0."),
        ("[engine.sources]\nemail = 0", "must map names to whole numbers above 0."),
        ("[engine.sources]\ncaldev = 8", "has 'caldev'; a source is caldav, conversation,"),
        ("owner = ", "{file} is not valid TOML"),
        ("[engine]\n[engine]", "{file} is not valid TOML"),
    ],
)
def test_a_mistake_is_refused_by_name_with_what_would_be_right(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = str(tmp_path / "settings.toml")

    assert sentence.replace("{file}", file) in str(refusal(written(tmp_path, text)))


def test_an_address_is_checked_by_the_rule_of_its_own_section(tmp_path: Path) -> None:
    text = "[web]\nsearch = 'searxng'\nurl = 'http://127.0.0.1:8888'\n"

    assert load(written(tmp_path, text)).web.url == "http://127.0.0.1:8888"
    assert "Postgres" in str(refusal(written(tmp_path, "[store]\nurl = 'http://127.0.0.1'\n")))


def test_a_budget_of_0_is_no_limit_and_a_switch_is_true_or_false(tmp_path: Path) -> None:
    environ = written(tmp_path, "[budget]\nday_tokens = 0\n[priority]\nscore = true\n")
    assert load(environ).budget.day_tokens == 0
    assert load(environ).priority.score

    environ |= {"REMIT_BUDGET_RUN_CENTS": "250", "REMIT_PRIORITY_SCORE": "false"}
    assert load(environ).budget == settings.BudgetSettings(day_tokens=0, run_cents=250)
    assert not load(environ).priority.score


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[budget]\nrun_cents = -1", "in [budget] in {file} must be a whole number, or 0, not -1"),
        ("[budget]\nrun_cents = false", "must be a whole number, or 0, not False."),
        ("[budget]\nrun_cents = 0.5", "must be a whole number, or 0, not 0.5."),
        ("[priority]\nscore = 1", "score in [priority] in {file} must be true or false, not 1."),
    ],
)
def test_a_budget_or_a_switch_that_is_none_is_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = str(tmp_path / "settings.toml")

    assert sentence.replace("{file}", file) in str(refusal(written(tmp_path, text)))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    environ = written(tmp_path, "")
    (tmp_path / "settings.toml").write_bytes(b"owner = '\xff'")

    assert "is not valid TOML" in str(refusal(environ))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("REMIT_ENGINE_PARALEL", "8", "[engine] in the environment has no setting 'paralel'"),
        ("REMIT_ENGINE_PARALLEL", "many", "must be a whole number above 0, not 'many'"),
        ("REMIT_ONWER", "x", "Did you mean 'owner'?"),
        ("REMIT_ENGINE", "8", "engine in the environment must be a table, not '8'"),
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
