"""`remit doctor`: check every part, one line each, with what to do."""

import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from remit import settings as app_settings
from remit.cli import clock, out, remote, words
from remit.cli.out import VERDICT_STYLES, AsJson, DoctorFinding, StyledText, fail, ok, warn
from remit.errors import RemitError, StoreCorrupt
from remit.model.codec import JsonMap
from remit.settings import Settings
from remit.settings.parts import SearchProvider
from remit.store import events, home, read_only
from remit.store.opening import task_files
from remit.store.postgres import database_time
from remit.system.files import home_of

if TYPE_CHECKING:
    from remit.brain.choose import ModelChoice

_OLDEST_SQLITE: Final = (3, 39)  # IS NOT DISTINCT FROM
_CLOCK_DIFFERENCE: Final = timedelta(seconds=5)
_LITTLE: Final = 1_000_000_000
_TOO_LITTLE: Final = 50_000_000
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def doctor(*, json: AsJson = False) -> int:
    """Check every part of this Remit; exit with 1 if one of them fails."""
    with out.working("Looking at every part"):
        found = list(_findings())
    failed = any(each.verdict == "fail" for each in found)
    if json:
        out.emit({"healthy": not failed, "checks": [each._asdict() for each in found]})
    for each in () if json else found:
        out.line(each.mark, StyledText(f"{each.part:<11}", "dim"), each.said)
        if each.todo:
            out.line(" " * 16, StyledText(each.todo, VERDICT_STYLES[each.verdict]))
    return int(failed)


def _findings() -> Iterator[DoctorFinding]:
    yield ok("python", f"{platform.python_version()}, {sys.executable}")
    yield _sqlite()
    try:
        settings = app_settings.load()
    except RemitError as error:
        yield fail("settings", str(error), "Fix it; nothing starts before that.")
        settings = Settings(home=home_of(os.environ))
    else:
        yield ok("settings", "read without complaint")
    parts = (_home, _database, _brain, _server, _space, _files, _time, _zone, _contacts, _rules)
    yield from (check(settings) for check in (*parts, _web))
    yield from _background(settings)
    if settings.engine.is_shared:
        yield _temporal(settings)
        yield from _processes(settings)
    if settings.budget.limits_money:
        yield _money(settings)
    yield from _channels(settings)
    yield from _notices_and_calendars(settings)
    yield from _doors(settings)
    if settings.projects:
        yield from _projects(settings)


def _sqlite() -> DoctorFinding:
    version = tuple(int(part) for part in read_only.SQLITE.split("."))
    if version < _OLDEST_SQLITE:
        todo = "Use a Python that was built with SQLite 3.39 or newer."
        return fail("sqlite", f"{read_only.SQLITE} is too old", todo)
    return ok("sqlite", read_only.SQLITE)


def _home(settings: Settings) -> DoctorFinding:
    if not settings.home.exists():
        return ok("home", f"{settings.home} is not there yet; `remit up` makes it")
    if not os.access(settings.home, os.W_OK | os.X_OK):
        todo = f"Give it to yourself: chown -R $USER {settings.home}"
        return fail("home", f"{settings.home} cannot be written", todo)
    private = [path for path in (settings.home, settings.home / "token") if path.exists()]
    if names := " ".join(str(path) for path in private if path.stat().st_mode & _OTHERS):
        return warn("home", "others on this machine may read it", f"chmod go= {names}")
    return ok("home", f"{settings.home}, for your eyes alone")


def _database(settings: Settings) -> DoctorFinding:
    path = settings.database
    if isinstance(path, str):
        return _server_database(path)
    if not path.exists():
        return ok("database", "not there yet; the first task makes it")
    try:
        read_only.check(path)
    except RemitError as error:
        damaged = isinstance(error, StoreCorrupt)
        todo = "`remit restore` puts the newest backup in place." if damaged else ""
        return fail("database", str(error), todo)
    with read_only.open_read_only(path) as tx:
        event_count = events.last(tx)
    size, schema = path.stat().st_size / 1e6, len(home.migrations())
    text = f"whole, {words.count(event_count, 'event')}, {size:,.1f} MB, schema {schema}"
    return ok("database", text)


def _server_database(url: str) -> DoctorFinding:
    try:
        with read_only.open_read_only(url) as tx:
            event_count, ahead = events.last(tx), database_time(tx) - clock.now()
            (server,) = tx.ask("SHOW server_version")
    except RemitError as error:
        return fail("database", str(error))
    where, version = read_only.location(url), str(server["server_version"])
    text = f"{where} answers, Postgres {version}, {words.count(event_count, 'event')}"
    if abs(ahead) > _CLOCK_DIFFERENCE:
        text += f"; its clock differs from this machine's by {abs(ahead).total_seconds():,.0f} s"
        return warn("database", text, "Set both clocks; that of the server counts.")
    return ok("database", text)


def _temporal(settings: Settings) -> DoctorFinding:
    from remit.engine.temporal_health import server_version  # noqa: PLC0415 - for few

    where = f"{settings.engine.address}, namespace {settings.engine.namespace}"
    try:
        return ok("temporal", f"{where}, {server_version(settings.engine)}")
    except RemitError as error:
        todo = "Check address and namespace under [engine], and that the server is running."
        return fail("temporal", f"{where} does not answer: {error}", todo)


def _processes(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the workers that live, and secrets that are not the same in all processes."""
    from remit.store.postgres import legs, machines  # noqa: PLC0415 - for few

    try:
        with read_only.open_read_only(settings.database) as tx:
            alive = legs.workers(tx, database_time(tx) - legs.ALIVE)
            found = machines.differing_secrets(tx, database_time(tx))
    except RemitError:
        return  # reported as the database
    slots = sum(each.slots for each in alive)
    text = f"{words.count(len(alive), 'worker')} at work, for {words.count(slots, 'task')} at once"
    yield ok("workers", text) if alive else fail("workers", "none", "Start one: `remit worker`.")
    if not found:
        yield ok("secrets", "the same in all processes that run")
    yield from (fail("secrets", each.sentence, each.todo) for each in found)


def _brain(settings: Settings) -> DoctorFinding:
    kind = settings.brain.kind
    if kind == "none":
        todo = "Set one under [brain] in settings.toml."
        return warn("brain", "none: what needs thinking waits for you", todo)
    from remit.wiring import brain_of  # noqa: PLC0415 - the whole app, for this one part
    from remit.wiring.readers import model_choice, second_choice  # noqa: PLC0415

    try:
        brain_of(settings)
        if kind == "scripted":
            return ok("brain", kind)
        choice, second = model_choice(settings), second_choice(settings)
    except RemitError as error:
        return fail("brain", str(error), "Fix [brain] in settings.toml or its file.")
    return _models(choice, second)


def _models(choice: "ModelChoice", second: "ModelChoice | None") -> DoctorFinding:
    if not choice.ready:
        return warn("brain", "none: what needs thinking waits for you", choice.sentence)
    if second is None:
        return ok("brain", choice.sentence)
    if second.ready:
        return ok("brain", f"{choice.sentence}; while it is down: {second.sentence}")
    return warn("brain", choice.sentence, f"The second model: {second.sentence}")


def _web(settings: Settings) -> DoctorFinding:
    provider, key = settings.web.search, settings.web.key
    if provider is SearchProvider.NONE:
        text = 'reads pages; for search, set [web] search to "brave", "tavily" or "searxng"'
        return ok("web", text)
    from remit.wiring.app_context import keys_of  # noqa: PLC0415 - may open a keyring

    if provider is not SearchProvider.SEARXNG and not keys_of(settings).get(key):
        todo = f"Run `remit secrets set {key}` and give the key of {provider}."
        return warn("web", f"search with {provider} has no key", todo)
    return ok("web", f"reads pages, and searches with {provider}")


def _money(settings: Settings) -> DoctorFinding:
    """Report whether prices are known: a limit in money depends on them."""
    from remit.brain import models as brain_models  # noqa: PLC0415 - seconds, for who limits money
    from remit.wiring.readers import model_choice  # noqa: PLC0415

    try:
        models = set(model_choice(settings).models.values())
    except RemitError:
        models = set()  # reported above
    unknown = sorted(
        {str(each) for each in models if not brain_models.price_in_cents(each, 10**6, 10**6)}
    )
    if not unknown:
        return ok("budget", "money is limited; each request is rounded up to a cent")
    text = f"money is limited, but nobody knows the price of {', '.join(unknown)}"
    todo = "Limit tokens and requests under [budget]; what has no price counts as free."
    return warn("budget", text, todo)


def _server(settings: Settings) -> DoctorFinding:
    if settings.engine.is_shared:
        return ok("server", "several processes: `remit serve` and `remit worker`")
    if not home.is_locked(settings.home):
        return ok("server", "not running; `remit up` starts it")
    found = remote.reach(settings.home)
    if isinstance(found, str):
        todo = "If it is just starting, look again; else stop that process and run `remit up`."
        return fail("server", f"a Remit holds {settings.home}, but {found}", todo)
    found.close()
    return ok("server", f"running, listens on {found.url}")


def _background(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the loops of the running Remit, if there is one."""
    found = remote.reach(settings.home) if home.is_locked(settings.home) else ""
    if isinstance(found, str):
        return  # reported above
    try:
        loops = cast("list[JsonMap]", found.background()["loops"])
    except RemitError as error:
        yield fail("background", str(error), "Stop that process and run `remit up`.")
        return
    finally:
        found.close()
    failing = [each for each in loops if each["failures"]]
    for each in failing:
        text = f"{each['name']} failed {each['failures']} times in a row: {each['error']}"
        todo = "It is tried again by itself. If it stays so, restart `remit up` and read its log."
        yield fail("background", text, todo)
    if not failing:
        yield ok("background", f"{words.count(len(loops), 'loop')} at work")


def _space(settings: Settings) -> DoctorFinding:
    folder = settings.home if settings.home.exists() else Path.home()
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:,.1f} GB free"
    if free < _TOO_LITTLE:
        return fail("disk", text, "Make room; Remit cannot write for long.")
    return DoctorFinding("disk", "warn" if free < _LITTLE else "ok", text)


def _files(settings: Settings) -> DoctorFinding:
    try:
        count, size = task_files(settings).room()
    except RemitError:
        return warn("files", "not counted: the database does not answer", "Check it first.")
    text = f"{words.count(count, 'file')} of tasks, {size / 1e6:,.1f} MB"
    return ok("files", text if count else "no files of tasks are kept")


def _time(settings: Settings) -> DoctorFinding:
    now, last = clock.now(), []
    with suppress(RemitError), read_only.open_read_only(settings.database) as tx:
        last = events.list_after(tx, events.last(tx) - 1, 1)
    text = f"{words.local(now)} {now.astimezone(words.owner_zone()):%Z}"
    if last and last[0].at > now:
        todo = "Set the machine's clock; times in the journal would go back."
        return warn("clock", f"{text}, before the last entry of the journal", todo)
    return ok("clock", text)


def _zone(settings: Settings) -> DoctorFinding:
    from remit.system.owner_zone import find_owner_zone  # noqa: PLC0415 - as long as the rest, for one line

    found = find_owner_zone(settings.zone)
    return ok("zone", f"{found.zone.key}, {found.since}")


def _contacts(settings: Settings) -> DoctorFinding:
    from remit.contacts import book  # noqa: PLC0415 - as above

    path = settings.home / book.FILE
    if not path.exists():
        return ok("contacts", f"nobody yet; they stand in {path.name}")
    try:
        known = book.load(path)
    except RemitError as error:
        return fail("contacts", str(error), "Fix that line; the last good book stays.")
    return ok("contacts", words.count(len(known), "contact"))


def _rules(settings: Settings) -> DoctorFinding:
    from remit.cli import rules  # noqa: PLC0415 - as above

    try:
        found = rules.in_file(settings)
    except RemitError as error:
        todo = "Fix that line; until then the last good rules hold, or those that come with Remit."
        return fail("rules", str(error), todo)
    text = f"{words.count(len(found.rules), 'rule')} of priority"
    return ok("rules", f"{text}, in {found.file}" if found.file else text)


def _notices_and_calendars(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the state of notices and calendars."""
    from remit.cli import notice_state  # noqa: PLC0415 - as above

    now = clock.now()
    yield from notice_state.calendar_findings(settings, now)
    yield from notice_state.notice_findings(settings, now)


def _projects(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield projects, specialists, and whether work can be checked."""
    import asyncio  # noqa: PLC0415 - as above

    from remit.specialist import specialist_health  # noqa: PLC0415
    from remit.verify.sandbox import Sandbox  # noqa: PLC0415
    from remit.wiring.proof import known_kinds  # noqa: PLC0415

    wrong = asyncio.run(Sandbox().trouble())
    yield DoctorFinding("sandbox", "fail" if wrong else "ok", wrong or "checks run in it, shut off")
    thinks = _brain(settings).verdict == "ok"
    known = settings.projects, settings.specialists, known_kinds(settings)
    for each in specialist_health.projects(*known, thinks=thinks):
        yield DoctorFinding("project", each.verdict, each.whole, each.todo)
    for each in specialist_health.specialists(settings.specialists, os.environ.get("PATH")):
        yield DoctorFinding("specialist", each.verdict, each.whole, each.todo)


def _doors(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the inbound ways."""
    from remit.cli import doors  # noqa: PLC0415 - as above

    for each in doors.door_states(settings, clock.now() - timedelta(days=1)):
        yield DoctorFinding("door", each.verdict, f"{each.part}: {each.said}", each.todo)


def _channels(settings: Settings) -> Iterator[DoctorFinding]:
    from remit.cli import notice_state  # noqa: PLC0415 - as above

    for each in notice_state.configured_channels(settings):
        text = f"{each.name} ({each.kind}): {each.said}"
        yield DoctorFinding("channel", each.verdict, text, each.todo)
