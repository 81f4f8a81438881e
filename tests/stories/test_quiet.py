"""Quiet runs: nothing to say, nothing said; and no model is woken where code sees no change."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.cli import log, show
from remit.errors import BadInput
from remit.gate.decline import read_silence
from remit.model.conversation import NoticeKind
from remit.model.proof import ProofState, proof_of
from remit.model.recurrence import Repeats
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.model.veto import ConditionKind
from remit.notify import telling
from remit.settings import CommandSettings, ScheduleSettings, Settings, WebSettings
from remit.store import calendars, events, inbox, tasks
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.search import TaskFilter, page
from remit.testing import START, ScriptedBrain, World, script
from remit.triggers.change_watch import new_watch, part_of
from tests.live.site import Page, Site
from tests.tables import for_each

NOTHING: Final = "I looked.\n<nothing-to-report>The price is still 40.</nothing-to-report>"
DROPPED: Final = "<deliverable>The price dropped to 30.</deliverable>"
DAILY: Final = Repeats("FREQ=DAILY", "UTC", START + timedelta(hours=1))
DAY: Final = timedelta(days=1)

QUIET: Final[Mapping[str, str]] = {
    "Every morning check the price of flights to Bangkok, only tell me if the price drops": (
        "only tell me if the price drops"
    ),
    "Check the price of the ThinkPad every day at 9 and tell me only if it drops below 3.50": (
        "tell me only if it drops below 3.50"
    ),
    "Look at the release page every hour and let me know only if there is a new version": (
        "let me know only if there is a new version"
    ),
    "Check https://example.org/news every hour. If nothing changed, say nothing.": (
        "If nothing changed, say nothing"
    ),
    "Watch https://example.org/news every hour and tell me if it changes": "tell me if it changes",
    "Look at the page every hour. Let me know when anything changes.": (
        "Let me know when anything changes"
    ),
    "Sieh jede Stunde auf die Seite und sag mir Bescheid, wenn sich etwas ändert": (
        "sag mir Bescheid, wenn sich etwas ändert"
    ),
    "Mira la página cada hora y avísame si cambia algo": "avísame si cambia algo",
    "Check the page. Say nothing if nothing has changed.": "Say nothing if nothing has changed",
    "Prüfe den Preis des ThinkPad und sag mir nur Bescheid, wenn er fällt": (
        "sag mir nur Bescheid, wenn er fällt"
    ),
    "Schau jeden Morgen auf die Seite und melde dich nur, wenn sich etwas geändert hat": (
        "melde dich nur, wenn sich etwas geändert hat"
    ),
    "Prüfe jede Stunde die Seite. Wenn sich nichts geändert hat, sag nichts.": (
        "Wenn sich nichts geändert hat, sag nichts"
    ),
    "Mira cada hora el precio del portátil y avísame solo si baja": "avísame solo si baja",
    "Revisa la página cada hora y si no ha cambiado nada, no digas nada": (
        "si no ha cambiado nada, no digas nada"
    ),
}
LOUD: Final = (
    "Check the price every day and tell Bob only if it drops",  # to Bob it is a condition
    'Send Bob "tell me only if it rains" tomorrow at 9',  # another's words
    "Tell me only if the price drops",  # nothing is left to do
    "Check the price, tell me only if it drops and then email Bob the price",  # an order inside
    "Check the price, tell me only if it drops and email john@example.org the price",
    "Look at the leaf and tell me if it changes color",  # asks for an answer in any case
    "Check the price and tell me if it dropped",  # asks for an answer in any case
)
BOOK: Final = "- name: Bob\n  channels:\n    outbox: bob@example.org\n"


async def heard(world: World, text: str) -> Task:
    return (await world.hear(text)).tasks[0]


async def repeating(world: World, *, quiet: str = "", watch: str = "", part: str = "") -> None:
    """Add a task that comes back every day."""
    text = f"Check the price{quiet}"
    commands = world.app.settings.commands
    found = (new_watch(watch, part, commands),) if watch else ()
    await world.hear(text, repeats=DAILY, conditions=found)


async def ended(world: World) -> list[Task]:
    found = await world.app.db.read(page, TaskFilter(limit=50))
    return sorted((each for each in found.tasks if each.ended), key=lambda each: each.id)


async def notices(world: World) -> list[str]:
    """Return the texts of all notices about ends of tasks, in order."""
    told = []
    for event in await world.app.db.read(events.list_after, 0, 10_000):
        task = await world.app.db.read(tasks.get, event.task_id) if event.task_id else None
        notice = telling(event, task)
        if notice is not None and notice.news in (NoticeKind.DONE, NoticeKind.FAILED):
            told.append(notice.text)
    return told


# The words ----------------------------------------------------------------------------------------


async def test_words_that_ask_for_silence_are_a_field_of_the_task(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        for text, words in QUIET.items():
            task = await heard(world, text)

            assert task.quiet is not None, text
            assert task.quiet.words == words
            assert not task.gaps, f"nothing is asked about {text!r}"
            assert words not in task.instructions
            assert task.request is not None
            assert task.request.text == text, "the owner's words stay whole"
            assert [each.words for each in task.conditions] == [words]


async def test_other_words_stay_what_they_were(tmp_path: Path) -> None:
    (tmp_path / "contacts.yaml").write_text(BOOK)
    async with World(tmp_path) as world:
        for text in LOUD:
            task = await heard(world, text)
            assert all(each.kind is not ConditionKind.QUIET for each in task.conditions), text


async def test_the_receipt_shows_it(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        text = "Every morning check the price, only tell me if it drops"
        card = (await world.hear(text)).card

    assert card is not None
    rows = [(row.label, row.value) for task in card.tasks for row in task.rows]
    assert ("May say nothing", "only tell me if it drops") in rows


# The run ------------------------------------------------------------------------------------------


async def test_a_run_with_nothing_to_say_ends_without_a_word(tmp_path: Path) -> None:
    ready = script([{"reply": NOTHING, "times": 2}, {"reply": DROPPED, "times": 1}])
    async with World(tmp_path, brain=ready) as world:
        await repeating(world, quiet=" and tell me only if it drops")
        await world.run(3 * DAY)
        first, second, third = (await ended(world))[:3]
        said = await world.app.db.read(events.of_task, first.id)
        look = await world.app.db.read(inbox.look, world.now)

        assert await world.waiting() == []
        assert [each.status for each in (first, second, third)] == [Status.COMPLETED] * 3
        assert first.result_summary == "Nothing to report. The price is still 40."
        assert any("The price is still 40." in log.sentence(each) for each in said)
        assert (proof_of(first), proof_of(third)) == (ProofState.SILENT, ProofState.VERIFIED)
        assert "  [nothing to report] dashboard" in "\n".join(show.card_lines(first))
        assert len(await notices(world)) == 1
        assert third.delivery[0].body == "The price dropped to 30."
        assert "tell me only if it drops" in ready.heard[0]
        assert {first.id, second.id}.isdisjoint(each.id for each in look)


NO_SILENCE: Final = {
    "nobody asked": (NOTHING, ""),
    "two": (f"{NOTHING}\n{NOTHING}", " and tell me only if it drops"),
    "not at the end": (f"{NOTHING}\nBye.", " and tell me only if it drops"),
    "in code": (f"```\n{NOTHING}", " and tell me only if it drops"),
    "quoted": (NOTHING.replace("\n<", " It says “<") + "”", " and tell me only if it drops"),
    "misspelt": (NOTHING.replace("nothing-to-report", "nothing"), " and tell me only if it drops"),
    "with a broken deliverable": (f"<deliverable>\n{NOTHING}", " and tell me only if it drops"),
}


def test_silence_may_follow_a_sentence_in_its_line_but_not_a_quotation_mark() -> None:
    assert read_silence(NOTHING.replace("\n", " "), 1000) == "The price is still 40."
    assert read_silence(NOTHING.replace("\n", " “"), 1000) is None


@pytest.mark.parametrize("case", NO_SILENCE)
async def test_silence_that_is_unclear_or_that_nobody_asked_for_is_held(
    case: str, tmp_path: Path
) -> None:
    reply, quiet = NO_SILENCE[case]
    async with World(tmp_path, brain=script([{"reply": reply}])) as world:
        task = await heard(world, f"Check the price{quiet}")
        await world.run()

        found = await world.get(task.id)
        assert (found.status, found.reason) == (Status.NEEDS_REVIEW, Reason.DELIVERABLE)


# Failures that go on ------------------------------------------------------------------------------


async def test_a_failure_that_goes_on_is_told_once_and_once_when_it_ends(tmp_path: Path) -> None:
    ready = script(
        [
            {"fail": "permanent", "times": 3},
            {"reply": NOTHING, "times": 2},
            {"fail": "permanent", "times": 1},
            {"reply": DROPPED},
        ]
    )
    async with World(tmp_path, brain=ready) as world:
        await repeating(world, quiet=" and tell me only if it drops")
        await world.run(8 * DAY)
        told = await notices(world)

    failed, works, failed_again, dropped = told[:4]
    assert "failed" in failed
    assert works == "“Check the price” works again."
    assert "failed" in failed_again
    assert dropped.startswith("“Check the price” works again.")
    assert "is done" in dropped


async def test_of_runs_that_fail_in_the_same_way_only_the_latest_waits_to_be_fixed(
    tmp_path: Path,
) -> None:
    async with World(tmp_path, brain=script([{"fail": "permanent"}])) as world:
        await repeating(world)
        await world.run(4 * DAY)
        failed = [each for each in await ended(world) if each.status is Status.FAILED]
        waits = await world.app.db.read(inbox.fix, world.now)

    assert len(failed) >= 3
    assert [each.id for each in waits] == [failed[-1].id]


# Look before waking a model -----------------------------------------------------------------------


def watching(home: Path, site: Site) -> Settings:
    commands = {"stock": CommandSettings(("cat", str(home / "stock.txt")))}
    return Settings(home=home, web=WebSettings(own_hosts=(site.host,)), commands=commands)


async def asked_days(world: World, ready: ScriptedBrain, days: int) -> list[int]:
    """Return how often the brain was asked on each of some days."""
    counts = []
    for _ in range(days):
        before = len(ready.heard)
        await world.run(DAY)
        counts.append(len(ready.heard) - before)
    return counts


class Shop:
    """A price that can be seen in five ways, some of them with noise."""

    def __init__(self, site: Site, home: Path) -> None:
        self.site, self.home = site, home
        self.ways = {
            "page": (site.url("/plain"), ""),
            "pattern": (site.url("/noisy"), r"Price: (\d+)"),
            "pointer": (site.url("/json"), "/a/0/price"),
            "command": ("command:stock", ""),
            "folder": (f"folder:{home / 'prices'}", ""),
        }

    def put(self, price: int, noise: int) -> None:
        told = f'{{"a": [{{"price": {price}}}], "n": {noise}}}'
        self.site.pages = {
            "/plain": Page(f"<p>Price: {price} EUR.</p>"),
            "/noisy": Page(f"<p>Price: {price} EUR, seen {noise} times.</p>"),
            "/json": Page(told, "application/json"),
        }
        (self.home / "stock.txt").write_text(str(price))
        folder = self.home / "prices" / str(price)
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / "price.txt").write_text("x")


@pytest.mark.parametrize("kind", ["page", "pattern", "pointer", "command", "folder"])
async def test_only_a_change_wakes_the_model(kind: str, tmp_path: Path) -> None:
    ready = script([{"reply": "<deliverable>Looked.</deliverable>"}])
    async with Site() as site:
        shop = Shop(site, tmp_path)
        async with World(tmp_path, brain=ready, settings=watching(tmp_path, site)) as world:
            shop.put(40, 1)
            await repeating(world, watch=shop.ways[kind][0], part=shop.ways[kind][1])
            first = await asked_days(world, ready, 1)
            shop.put(40, 2)
            same = await asked_days(world, ready, 2)
            shop.put(30, 3)
            changed = await asked_days(world, ready, 2)
            quiet = [each for each in await ended(world) if "Unchanged" in str(each.result_summary)]
            told = await notices(world)

        assert (first, same, changed) == ([1], [0, 0], [1, 0])
        assert len(quiet) == 3
        assert all("No model was asked" in str(each.result_summary) for each in quiet)
        assert len(told) == 2


async def test_a_calendar_is_watched_by_its_entries(tmp_path: Path) -> None:
    ready = script([{"reply": "<deliverable>Looked.</deliverable>"}])
    async with World(tmp_path, brain=ready) as world:

        async def put(etag: str) -> None:
            entry = StoredResource("work", "/team/", "/team/1.ics", etag, "1", "", START + 99 * DAY)
            await world.app.db.write(calendars.put, entry, START)

        await world.app.db.write(calendars.note, StoredCalendar("work", "/team/", "Team"))
        await repeating(world, watch="calendar:Team")
        unread = await asked_days(world, ready, 1)
        await world.app.db.write(calendars.store_sync_token, "work", "/team/", "", START)
        await put("a")
        read = await asked_days(world, ready, 2)
        await put("b")
        changed = await asked_days(world, ready, 2)

    assert (unread, read, changed) == ([0], [1, 0], [1, 0])


async def test_a_change_that_no_run_has_worked_on_is_not_lost(tmp_path: Path) -> None:
    async with Site({"/p": Page("<p>Price: 40</p>")}) as site:
        ready = script(
            [
                {"reply": "<deliverable>40.</deliverable>", "times": 1},
                {"fail": "permanent", "times": 1},
                {"reply": "<deliverable>30.</deliverable>"},
            ]
        )
        async with World(tmp_path, brain=ready, settings=watching(tmp_path, site)) as world:
            await repeating(world, watch=site.url("/p"))
            await world.run(DAY)
            site.pages["/p"] = Page("<p>Price: 30</p>")
            counts = await asked_days(world, ready, 3)

        assert counts == [1, 1, 0]


async def test_a_look_that_fails_is_a_failure_and_not_unchanged(tmp_path: Path) -> None:
    ready = script([{"reply": "<deliverable>Looked.</deliverable>"}])
    async with Site({"/p": Page("<p>Price: 40</p>")}) as site:
        async with World(tmp_path, brain=ready, settings=watching(tmp_path, site)) as world:
            await repeating(world, watch=site.url("/p"))
            await world.run(DAY)
            site.pages.clear()
            await world.run(3 * DAY)
            told = await notices(world)
            failed = [each for each in await ended(world) if each.status is Status.FAILED]

        assert len(failed) >= 2
        assert len(told) == 2
        assert "status 404" in told[1]


@for_each(
    ("target", "part", "sentence"),
    [
        ("ftp://example.org", "", "it may be an address"),
        ("command:rm", "", "no command 'rm'"),
        ("folder:scans", "", "full path"),
        ("https://example.org", "(", "no pattern"),
        ("", "", "one line"),
    ],
)
def test_a_wrong_watch_is_refused(target: str, part: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        new_watch(target, part, {"stock": ()})


@for_each(
    ("content", "part", "value"),
    [
        ("a 12 b", r"\d+", "12"),
        ("a 12 b", r"a (\d+)", "12"),
        ("none", r"\d+", ""),
        ('{"a~b": {"c/d": [1, 2]}}', "/a~0b/c~1d/1", "2"),
        ('{"a": 1}', "/b/c", "null"),
        ("path /usr/lib is here", "/usr/[a-z]+", "/usr/lib"),
    ],
)
def test_the_part_that_counts(content: str, part: str, value: str) -> None:
    assert part_of(content, part) == value


async def test_an_agents_cue_keeps_its_watch_and_a_task_without_one_runs(tmp_path: Path) -> None:
    ready = script([{"reply": "<deliverable>Looked.</deliverable>"}])
    async with World(tmp_path, brain=ready) as world:
        watch = new_watch(f"folder:{tmp_path}", "", {})
        await world.add("Look once", conditions=(watch,), delivery=())
        await world.run()

        assert len(ready.heard) == 1, "the first run always wakes"


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_series_that_is_silent_for_a_week_says_once_that_it_runs_if_that_is_wanted(
    wanted: bool, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, schedule=ScheduleSettings(still_watching=wanted))
    async with World(tmp_path, brain=script([{"reply": NOTHING}]), settings=settings) as world:
        await repeating(world, quiet=" and tell me only if it drops")
        await world.run(16 * DAY)
        told = await notices(world)

    note = "Still watching “Check the price”: nothing to report for a week."
    assert told == ([note, note] if wanted else [])
