"""Priority rules: the first that holds decides, and every condition means one thing."""

from dataclasses import dataclass, field
from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model.contract import Gap, RankingRule
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId
from remit.model.task import Creator, Priority, Source, SourceKind, Taint, Task
from remit.plan import Planner, priority, rank_task, try_rules
from remit.plan.priority_when import gather_facts
from tests.plan.priority_tasks import FILE, MONDAY, holds, made, mail, ruled
from tests.soak import examples
from tests.tables import for_each, table

S4 = """\
version: 1
lists:
  bank_whitelist: [bank.example, "*.giro.example"]
rules:
  - name: bank
    when: sender_domain in bank_whitelist
    priority: high
    because: finance alerts
  - name: invoice
    when: objective matches /invoice/i
    priority: med
    because: bookkeeping
  - name: urgent
    when: llm_score >= 0.8
    priority: high
    because: fuzzy urgency
default: low
"""


@dataclass(frozen=True)
class Says:
    score: float
    why: str = "due today"


@dataclass
class Scorer:
    """Says what it was told to, and keeps what it was asked about."""

    says: Says | None
    asked: list[str] = field(default_factory=list)

    async def score(self, task: Task) -> Says | None:
        self.asked.append(task.title)
        return self.says


def planner(scorer: Scorer | None = None, text: str = S4) -> Planner:
    found = priority.load_rules(text, FILE)
    return Planner(scorer, lambda: found)


# S4's table ---------------------------------------------------------------------------------------


@for_each(
    ("task", "score", "level", "name", "because"),
    [
        (mail("a@bank.example"), None, "high", "bank", f"finance alerts ({FILE}, line 5)"),
        (made("Pay the INVOICE"), None, "med", "invoice", f"bookkeeping ({FILE}, line 9)"),
        (made(), 0.8, "high", "urgent", f"fuzzy urgency; score 0.80: due today ({FILE}, line 13)"),
        (made(), 0.79, "low", "default", "no rule matched; score 0.79: due today"),
        (made(), None, "low", "default", "no rule matched"),
    ],
)
async def test_the_table_of_s4_ranks_and_names_the_rule_with_its_line(
    task: Task, score: float | None, level: str, name: str, because: str
) -> None:
    says = None if score is None else Says(score)
    found = await planner(Scorer(says)).weigh(task)

    assert (found.priority, found.rule) == (Priority(level), RankingRule(name, because))


def test_the_rules_that_come_with_remit_are_s4s_and_name_no_file() -> None:
    ours, theirs = priority.default_rules(), priority.load_rules(S4, FILE)

    assert [(r.when.said, r.priority, r.because) for r in ours.rules] == [
        (r.when.said, r.priority, r.because) for r in theirs.rules
    ]
    assert ours.default is Priority.LOW
    assert Planner().rank(made("Invoice")).rule == RankingRule("invoice", "bookkeeping")


def test_the_first_rule_that_holds_decides_and_else_the_default() -> None:
    rules = ruled("objective matches /x/", "source is manual", "objective matches /beach/")
    found = [rules.find(task, UTC).rule for task in (made("x beach"), made("beach"))]
    other, none = priority.load_rules("version: 1\ndefault: critical\n", FILE), "version: 1\n"

    assert [each and each.name for each in found] == ["rule 1", "rule 2"]
    assert rank_task(made(), other, UTC).priority is Priority.CRITICAL
    assert rank_task(made(), priority.load_rules(none, FILE), UTC).priority is Priority.LOW


# Conditions ---------------------------------------------------------------------------------------

EMAIL = made(source=Source(SourceKind.EMAIL, "1"))
CONTEXT = made(
    context={
        "person": "Dr.  Anna Smith",
        "threads": ["<msg1>", ["<msg2>"], {"a": "deep"}],
        "n": 30,
        "yes": True,
        "no": False,
        "none": None,
        "mail": {"list": {"id": "news"}},
    }
)
SERIES = SeriesId("ser-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")


@for_each(
    ("condition", "task", "expected"),
    [
        ("objective matches /Beach/", made(), False),
        ("objective matches /Beach/i", made(), True),
        ("objective matches /^find a beach$/i", made(), True),
        ("objective is find A  beach", made(), True),
        ("objective is beach", made(), False),
        ("instructions matches /today/", made(instructions="Do it today"), True),
        ("'objective matches /a: b/'", made("a: b"), True),
        ("objective matches /either/or/", made("either/or"), True),
        ("source is email", EMAIL, True),
        ("source is email", made(), False),
        ("'source in [email, whatsapp]'", EMAIL, True),
        ("'source in [webhook, whatsapp]'", EMAIL, False),
        ("taint is public", made(taint=Taint.PUBLIC), True),
        ("taint is public", made(), False),
        ("created_by is agent", made(created_by=Creator.AGENT), True),
        ("series is any", made(series_id=SERIES), True),
        ("series is any", made(), False),
        ("series is none", made(), True),
        (f"series is {SERIES}", made(series_id=SERIES), True),
        (f"series is {SERIES.lower()}", made(series_id=SERIES), True),
        (f"series is {SERIES[:-1]}B", made(series_id=SERIES), False),
        ("channel is whatsapp", made(delivery=(Delivery("mail"), Delivery("WhatsApp"))), True),
        ("channel is none", made(), True),
        ("channel is none", made(delivery=(Delivery("mail"),)), False),
        ("channel matches /^what/", made(delivery=(Delivery("whatsapp"),)), True),
        ("context.person is dr. anna smith", CONTEXT, True),
        ("context.person matches /smith$/i", CONTEXT, True),
        ("context.threads matches /msg2/", CONTEXT, True),
        ("context.threads matches /deep/", CONTEXT, False),
        ("context.n is 30", CONTEXT, True),
        ("context.yes is true", CONTEXT, True),
        ("context.no is false", CONTEXT, True),
        ("context.none matches /./", CONTEXT, False),
        ("context.mail.list.id is news", CONTEXT, True),
        ("context.mail.list.id.more is news", CONTEXT, False),
        ("context.nothing is news", CONTEXT, False),
        ("time in 09:00-10:00", made(), True),
        ("time in 09:30-09:31", made(), True),
        ("time in 09:00-09:30", made(), False),
        ("time in 22:00-10:00", made(), True),
        ("time in 09:31-09:30", made(), False),
        ("time in 10:00-09:00", made(), False),
        ("weekday is mon", made(), True),
        ("weekday in mon-fri", made(), True),
        ("weekday in sat-mon", made(), True),
        ("weekday in tue-sun", made(), False),
        ("'weekday in [sat, sun]'", made(), False),
    ],
)
def test_a_condition_means_what_it_says(condition: str, task: Task, expected: bool) -> None:
    assert holds(condition, task) is expected


@for_each(("condition", "expected"), table(__file__, "joined"))
def test_conditions_are_joined_by_all_any_and_not(condition: str, expected: bool) -> None:
    assert holds(condition, made(), "{nobody: [], mine: [manual, email]}") is expected


def test_a_condition_is_told_on_one_line_as_a_person_would_say_it() -> None:
    joined = "{all: [{any: [source is email, 'objective  matches /x/']}, {not: taint is owner}]}"
    (rule,) = ruled(joined).rules

    assert rule.when.said == (
        "all of (any of (source is email; objective matches /x/); not (taint is owner))"
    )
    assert not ruled(joined).asks_score


def test_the_time_is_the_owners_and_the_one_at_which_it_came() -> None:
    rules = ruled("{all: [time in 00:00-01:00, weekday is tue]}")
    late = made(created_at=MONDAY.replace(hour=23, minute=15))

    assert rules.find(late, ZoneInfo("Europe/Berlin")).rule is not None
    assert rules.find(late, UTC).rule is None
    assert rules.find(replace(late, last_updated=MONDAY + timedelta(days=9)), UTC).rule is None


# The score ----------------------------------------------------------------------------------------


@for_each(("condition", "asks", "high", "low"), table(__file__, "scores"))
def test_a_score_is_asked_for_only_where_it_decides(
    condition: str, asks: bool, high: bool, low: bool
) -> None:
    rules = ruled(condition)

    assert rules.asks_score
    assert rules.find(made(), UTC).unsure is asks
    # While nobody has said a score, what hangs on one does not hold, nor does its opposite.
    assert (rules.find(made(), UTC).rule is None) is not (high and low)
    assert (rules.find(made(), UTC, 0.9).rule is not None) is high
    assert (rules.find(made(), UTC, 0.1).rule is not None) is low


async def test_no_score_is_asked_for_once_an_earlier_rule_has_decided() -> None:
    scorer = Scorer(Says(1.0))
    plan, without = planner(scorer), planner(scorer, "version: 1\n")
    for task in (made("An invoice"), mail("a@bank.example")):
        assert not plan.is_unsure(task)
        await plan.weigh(task)
    assert (await without.weigh(made())).priority is Priority.LOW
    assert scorer.asked == []

    assert plan.is_unsure(made("Else"))
    await plan.weigh(made("Else"))
    assert scorer.asked == ["Else"]
    assert not plan.is_unsure(made("Else", gaps=(Gap(1, "time"),)))


async def test_a_rule_above_that_needs_a_score_is_passed_over_if_nobody_says_one() -> None:
    text = (
        "version: 1\nrules:\n"
        "  - {name: a, when: llm_score >= 0, priority: critical, because: x}\n"
        "  - {name: b, when: source is manual, priority: med, because: y}\n"
    )
    silent, loud = planner(Scorer(None), text), planner(Scorer(Says(0.0)), text)

    assert (await silent.weigh(made())).rule.name == "b"
    assert silent.rank(made()).rule.name == "b"
    assert (await loud.weigh(made())).rule.name == "a"


def test_what_somebody_said_himself_no_rule_changes() -> None:
    mine = made("Invoice", priority=Priority.LOW, rule=RankingRule("owner", "the owner said so"))

    assert planner().rank(mine).rule == mine.rule
    assert not planner(Scorer(None)).is_unsure(mine)


# Looking for what would change --------------------------------------------------------------------


def test_a_trial_tells_what_other_rules_would_change_and_leaves_out_what_was_said() -> None:
    default, said = (
        RankingRule("default", "no rule matched"),
        RankingRule("owner", "the owner said so"),
    )
    agent = RankingRule("agent", "the agent that asked for it said so")
    tasks = [
        made("Invoice", rule=default),
        made("Invoice", rule=RankingRule("old", "x"), priority=Priority.MED),
        made("Beach", rule=default),
        made("Invoice", rule=said),
        made("Invoice", rule=agent),
        made("Invoice"),
    ]
    found = list(try_rules(tasks, priority.load_rules(S4, FILE), UTC, lambda _: None))

    assert [each.changes for each in found] == [True, False, False]
    assert found[0].now.priority is Priority.MED
    scored = list(try_rules(tasks[2:3], priority.load_rules(S4, FILE), UTC, lambda _: Says(0.9)))
    assert scored[0].now.priority is Priority.HIGH


# Many at once -------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "ab", "ba", "a b", "", "aab", "A"])
LEAVES = st.sampled_from(
    [
        *("objective matches /a/", "objective matches /^b/i", "objective matches /ab|ba/"),
        *("objective is a", "context.x matches /b$/", "context.x is ab", "source is email"),
        *("source in [manual, email]", "weekday in mon-fri", "time in 09:00-10:00"),
        *("llm_score >= 0.5", "sender_domain is x.example"),
    ]
)


def _said(tree: object) -> str:
    if isinstance(tree, str):
        return f"'{tree}'"
    assert isinstance(tree, tuple)
    name, parts = tree
    inner = _said(parts[0]) if name == "not" else f"[{', '.join(_said(each) for each in parts)}]"
    return f"{{{name}: {inner}}}"


TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from(["all", "any", "not"]), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(TREES, min_size=1, max_size=6),
    WORDS.filter(bool),
    WORDS,
    st.sampled_from([None, 0.2, 0.7]),
    st.booleans(),
)
def test_looking_at_a_few_rules_finds_what_looking_at_all_would(
    trees: list[object], title: str, inside: str, score: float | None, by_mail: bool
) -> None:
    rules = ruled(*(_said(each) for each in trees))
    source = Source(SourceKind.EMAIL if by_mail else SourceKind.MANUAL, "1")
    context = {"x": inside, "sender": "a@x.example", "sender_verified": True}
    task = made(title, source=source, context=context)
    one_by_one = [holding(_said(each), task, score) for each in trees]
    found = rules.find(task, UTC, score)

    expected = next((n for n, each in enumerate(one_by_one, 1) if each), None)
    assert (found.rule.name if found.rule else None) == (expected and f"rule {expected}")
    before = one_by_one[: expected - 1] if expected else one_by_one
    assert found.unsure is any(each is None for each in before)


def holding(condition: str, task: Task, score: float | None) -> bool | None:
    """What one condition says of a task, without any index."""
    rules = ruled(condition)
    facts = gather_facts(task, UTC, rules.fields, score)
    return rules.rules[0].when.holds(facts)
