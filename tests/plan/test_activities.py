"""The rules: what ours say, how a project's lie on top of them, and what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.plan.activities import (
    Activities,
    CheckDemand,
    EndToEnd,
    FileRule,
    RulesFile,
    UnitTests,
    default_activities,
    load_activities,
)
from tests.tables import for_each, table


def over(text: str) -> Activities:
    return load_activities(RulesFile("mine.yml", f"version: 1\n{text}"))


def demand(path: str, rules: Activities | None = None) -> CheckDemand:
    found = [rule.demand for rule in rules_for(path, rules)]
    return CheckDemand(
        max((each.unit for each in found), default=UnitTests.NONE),
        max((each.e2e for each in found), default=EndToEnd.SKIP),
        tuple(dict.fromkeys(critic for each in found for critic in each.critics)),
        any(each.build for each in found),
        next((each.why for each in reversed(found) if each.why), ""),
    )


def rules_for(path: str, rules: Activities | None = None) -> tuple[FileRule, ...]:
    ((found, _),) = (rules or default_activities()).groups([path])
    return found


CODE = (
    "a.py b.ts c.tsx d.js e.go f.rs g.sql h.sh Dockerfile infra/x.tf .github/workflows/ci.yml "
    "k8s/pod.yaml package.json Cargo.lock Makefile db/migrations/1.py docs/conf.py lib/a.css "
    "charts/api/values.yaml docker-compose.prod.yml src/auth/x.toml"
)
TEXTS = (
    "README.md docs/a.rst LICENSE config/app.yaml .editorconfig logo.png CHANGELOG.md docs/x.html "
    "docs/auth/login.md .github/CODEOWNERS settings.toml locale/de.po src/pages/about.md "
    "docs/api/index.md a/api/README.md"
)


@for_each("path", CODE.split())
def test_code_and_what_it_runs_on_must_prove_something(path: str) -> None:
    assert demand(path)


@for_each("path", TEXTS.split())
def test_documents_settings_and_pictures_need_only_what_always_runs(path: str) -> None:
    assert rules_for(path)
    assert not demand(path)


def test_every_packaged_rule_says_why() -> None:
    rules = default_activities()
    demands = [
        *(rule.demand for rule in rules.files.values()),
        *(phrase.demand for phrase in rules.diff.values()),
        rules.defaults,
        rules.cross.spread,
        rules.cross.shared,
    ]

    assert all(each.why for each in demands)
    assert rules.always == ("typecheck", "lint")
    assert all(phrase.demand for phrase in rules.diff.values())


def test_a_test_of_a_component_is_not_the_component() -> None:
    assert demand("src/Card.tsx").e2e is EndToEnd.DEFERRED
    assert demand("src/Card.test.tsx") == CheckDemand(UnitTests.OWN, why="a test")


# On top of ours -----------------------------------------------------------------------------------


def test_a_project_may_add_and_strengthen() -> None:
    rules = over(
        "always: [build]\n"
        "defaults: {critics: [security]}\n"
        "files:\n"
        '  "*.py": {critics: [api], e2e: deferred}\n'
        '  "*.xyz": {unit: true, build: true, why: ours}\n'
        "diff:\n"
        "  money: {says: [klarna]}\n"
        "  ours: {says: [frobnicate], critics: [api]}\n"
        "cross:\n"
        "  spread: {directories: 2}\n"
        "  shared: {paths: [kernel/**]}\n"
    )

    assert demand("a.py", rules) == CheckDemand(
        UnitTests.OWN, EndToEnd.DEFERRED, ("api",), why="Python code"
    )
    assert demand("a.xyz", rules) == CheckDemand(UnitTests.OWN, build=True, why="ours")
    assert rules.always == ("typecheck", "lint", "build")
    assert rules.defaults.critics == ("security",)
    assert rules.defaults.unit is UnitTests.ALL
    assert {"klarna", "stripe"} <= set(rules.diff["money"].says)
    assert rules.cross.directories == 2
    assert rules.cross.paths[-1].text == "kernel/**"
    assert len(rules.cross.paths) > 1


@for_each(
    "text",
    [
        'files:\n  "*.py": {unit: false%s}',
        'files:\n  "*.tsx": {e2e: skip%s}',
        'files:\n  "*.tsx": {replace: true, unit: true%s}',
        'files:\n  "*.py": {except: ["legacy/**"]%s}',
        "defaults: {unit: true%s}",
        "diff:\n  money: {replace: true, says: [stripe], critics: [security], unit: all%s}",
        "cross:\n  spread: {directories: 9%s}",
        "cross:\n  shared: {replace: true, paths: [a/**], unit: all%s}",
    ],
)
def test_to_weaken_a_rule_of_ours_needs_a_reason(text: str) -> None:
    with pytest.raises(BadInput, match=r"^mine\.yml, line \d+: it .*; say because: and why"):
        over(text % "")
    with pytest.raises(BadInput, match="text that is not empty"):
        over(text % ", because: ''")

    assert over(text % ", because: legacy") != default_activities()


def test_a_rule_may_be_replaced_by_one_that_asks_for_as_much() -> None:
    rules = over('files:\n  "*.md": {replace: true, critics: [docs], why: our docs are code}')

    assert demand("a.md", rules) == CheckDemand(critics=("docs",), why="our docs are code")
    money, cross = default_activities().diff["money"], default_activities().cross
    says = ", ".join((*money.says, "klarna"))
    paths = ", ".join(f'"{each.text}"' for each in cross.paths)
    rules = over(
        f"diff: {{money: {{replace: true, says: [{says}], critics: [security], unit: all}}}}\n"
        f"cross: {{shared: {{replace: true, paths: [{paths}], unit: all}}}}"
    )
    assert rules.diff["money"].says[-1] == "klarna"
    assert rules.cross == cross


def test_of_two_projects_files_the_second_lies_on_the_first() -> None:
    one = RulesFile("one.yml", 'version: 1\nfiles:\n  "*.md": {unit: all}')
    two = RulesFile("two.yml", 'version: 1\nfiles:\n  "*.md": {unit: false, because: we do not}')

    assert demand("a.md", load_activities(one)).unit is UnitTests.ALL
    assert demand("a.md", load_activities(one, two)).unit is UnitTests.NONE


@given(
    st.dictionaries(
        st.sampled_from(["*.py", "*.md", "**", "src/**", "*.tsx"]),
        st.fixed_dictionaries(
            {},
            optional={
                "unit": st.sampled_from(["true", "all"]),
                "e2e": st.sampled_from(["deferred", "immediate"]),
                "critics": st.sampled_from(["[api]", "[api, sql]"]),
            },
        ),
    )
)
def test_without_a_reason_no_file_is_ever_asked_for_less(files: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f'  "{glob}": {{{", ".join(f"{key}: {value}" for key, value in told.items())}}}\n'
        for glob, told in files.items()
    )
    try:
        rules = over(f"files:\n{text}" if text else "")
    except BadInput:
        return

    for path in (*CODE.split(), *TEXTS.split()):
        assert demand(path, rules).covers(demand(path))


# What is refused ----------------------------------------------------------------------------------


@for_each(("text", "line", "what"), table(__file__, "mistakes"))
def test_a_mistake_is_one_sentence_with_file_and_line(text: str, line: int, what: str) -> None:
    with pytest.raises(BadInput, match=re.escape(what)) as caught:
        load_activities(RulesFile("mine.yml", text))

    said = str(caught.value)
    assert said.startswith(f"mine.yml, line {line}: it ")
    assert said.endswith(".")
    assert "\n" not in said


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    said = ""
    try:
        load_activities(RulesFile("mine.yml", f"version: 1\n{text}"))
    except BadInput as error:
        said = str(error)

    assert not said or said.startswith("mine.yml, line ")
