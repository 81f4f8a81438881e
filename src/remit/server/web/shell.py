"""Templates, and the frame around every page: navigation, what waits, cost, the palette."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct
from starlette.responses import Response

from remit.brain.budget import midnight
from remit.journal import event_words
from remit.model.codec import Json
from remit.model.status import Status
from remit.model.task import Task
from remit.operations.arguments import Arguments
from remit.operations.operation import Operation
from remit.server import page_language, routes, static
from remit.server.call import Call, CallResult
from remit.server.problem import KINDS, Problem
from remit.server.routes import Route, form
from remit.server.web import markup, words
from remit.store import events, inbox, rows, search, spending, task_filter, tasks
from remit.store.database import Tx

_TEMPLATES: Final = Path(__file__).parent.parent / "templates"


def render(name: str, values: Mapping[str, object]) -> str:
    """Render a page or a part of one, such as `pages/inbox.html`."""
    return _environment(page_language.current()).get_template(name).render(values)


def address(name: str) -> str:
    """Return the address of a static file; it changes with the content, and with the language."""
    own = f"{page_language.current()}/{name}"
    found = own if own in static.files() else name
    return f"/static/{found}?v={static.files()[found].digest}"


@cache
def templates() -> Mapping[str, str]:
    """Return the source of every template, loaded once: the folder may be missing in an upgrade."""
    paths = (path for path in _TEMPLATES.rglob("*.html"))
    return {path.relative_to(_TEMPLATES).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def _environment(language: str) -> Environment:
    say = page_language.catalogue(language)
    sources = {
        name: page_language.translate_template(each, say) for name, each in templates().items()
    }
    made = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {
        "static": address,
        "time_tag": time_tag,
        "_": page_language.say,
        "lang": language,
    }
    made.filters |= {
        "state": words.state,
        "decided": event_words.decision,
        "verified": words.verified_words,
        "markdown": markup.markdown,
        "code": markup.code,
        "channel_icon": words.channel_icon,
        "source": words.source,
        "money": words.money,
        "clock": words.clock,
        "day": words.day,
        "moment": words.moment,
        "ago": words.ago,
        "span": words.span,
        "count": words.count,
        "first": words.first_line,
        "teaser": words.teaser,
        "dated": words.date_words,
        "retell": page_language.retell,
    }
    return made


def time_tag(at: datetime, text: str, *, live: bool = False) -> Markup:
    """Return a time tag, for people and for the script that updates "4 min ago"."""
    kept, title = " data-ago" if live else "", f"{at:%Y-%m-%d %H:%M:%S}"
    tag = f'<time datetime="{at.isoformat()}" title="{title}"{kept}>{escape(text)}</time>'
    return Markup(tag)  # noqa: S704 - all of it is ours but the text, which is escaped


HTML: Final = "text/html"
WORKING: Final = (Status.RUNNING, Status.VERIFYING, Status.DELIVERING)
_MOST: Final = 10_000


class TaskListLink(Struct, frozen=True):
    """A named list of tasks in the sidebar."""

    name: str
    href: str
    kind: str = "idle"
    count: int | None = None
    key: str = ""  # the socket's name of its number


class NextRun(Struct, frozen=True):
    title: str
    at: datetime


class PageShell(Struct, frozen=True, kw_only=True):
    agent: str
    owner: str
    now: datetime  # on the owner's clock
    zone: ZoneInfo
    seq: int
    waiting: int
    working: int
    slots: int
    spent: float  # cents
    limit: int  # cents; 0: none
    next: NextRun | None
    views: tuple[TaskListLink, ...]
    failing: tuple[str, ...] = ()  # loops that keep failing
    thinks: bool = True  # whether a language model is set up

    @property
    def used(self) -> int:
        """Used share of the day's budget, in percent."""
        return min(100, round(100 * self.spent / self.limit)) if self.limit else 0


async def page(
    call: Call, name: str, values: Mapping[str, object] | None = None, status: int = 200
) -> CallResult:
    """A whole page."""
    shell = await frame(call)
    html = render(name, {"shell": shell, "now": shell.now, **(values or {})})
    return CallResult(html, status, media=HTML)


def part(name: str, values: Mapping[str, object], status: int = 200) -> CallResult:
    """Return a part of a page, as our script asks for it."""
    return CallResult(render(name, values), status, media=HTML)


def redirect(path: str) -> CallResult:
    """Redirect there after a form."""
    return CallResult("", 303, path, media=HTML)


def own_address(path: str, text: str) -> str:
    """Return an address of this page only; any other leads to the page."""
    return text if text == path or text.startswith(f"{path}?") else path


def with_query(address: str, more: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}{more}"


def form_of(path: str, operation: Operation, then: str) -> Route:
    """A form that asks for an operation; `then` is shown next, `{}` are fields of the answer."""

    @form(path, operation, body=operation.arguments)
    async def act(call: Call, asked: Arguments) -> CallResult:
        answer = await operation.perform(call, asked)
        return redirect(then.format_map(answer.content))

    return act


def local_now(call: Call) -> datetime:
    """Return this moment on the owner's clock."""
    return call.app.clock.now().astimezone(call.app.zone)


async def frame(call: Call) -> PageShell:
    return await call.app.db.read(_look, call, local_now(call))


def _look(tx: Tx, call: Call, now: datetime) -> PageShell:
    # Later events come over the socket, so that no part is out of date.
    seq = events.last(tx) if call.seq is None else call.seq
    settings, since = call.app.settings, rows.ms(midnight(now.tzinfo)(now))
    working = sum(tasks.count(tx, each, _MOST) for each in WORKING)
    link = "/tasks?q=status%3Arunning"
    running = TaskListLink("Running now", link, "run", working, key="running")
    saved = (
        TaskListLink(view.name, f"/tasks?q={quote(view.filter, safe='')}", "plan")
        for view in task_filter.saved_views(tx)
    )
    return PageShell(
        agent=settings.agent,
        owner=settings.owner,
        now=now,
        zone=call.app.zone,
        seq=seq,
        waiting=inbox.needs(tx, now).decisions,
        working=working,
        slots=settings.engine.parallel,
        spent=spending.of_all(tx, since).cents,
        limit=settings.budget.day_cents,
        next=_next(tx, now),
        views=(running, *VIEWS, *saved),
        failing=tuple(loop.name for loop in call.app.background.failing),
        thinks=call.app.thinks,
    )


def _next(tx: Tx, now: datetime) -> NextRun | None:
    for task in inbox.next_tasks(tx, now, 1):
        if task.scheduled_for is not None:
            return NextRun(task.title, task.scheduled_for.astimezone(now.tzinfo))
    return None


VIEWS: Final = (
    TaskListLink("Due today", "/tasks?q=due%3Atoday", "plan"),
    TaskListLink("Failed", "/tasks?q=status%3Afailed", "bad"),
    TaskListLink("Recurring", "/tasks?q=is%3Arecurring"),
)


# Parts of the frame that are loaded later, and the page of a problem ------------------------------

_FOUND: Final = 8
_TELLING: Final = 5  # characters; fewer are not searched


@routes.page("/agent")
async def agent(call: Call) -> CallResult:
    return part("parts/agent.html", {"shell": await frame(call)})


@routes.page("/palette", "q")
async def palette(call: Call) -> CallResult:
    """Return tasks that match what is typed."""
    wanted = search.TaskFilter(text=call.text("q") or "", limit=_FOUND)
    page = await call.app.db.read(search.page, wanted)
    found: list[Json] = [_task_line(task) for task in page.tasks]
    known = {task.id for task in page.tasks}
    near = await _similar_tasks(call, wanted.text or "") if len(found) < _FOUND else []
    alike: list[Json] = [_task_line(task) for task in near if task.id not in known]
    return CallResult({"tasks": found, "alike": alike[: _FOUND - len(found)]})


async def _similar_tasks(call: Call, text: str) -> list[Task]:
    """Return tasks similar to what is typed."""
    if len(text) < _TELLING:
        return []
    return [each.task for each in await call.app.recollection.finder.find(text, _FOUND)]


def _task_line(task: Task) -> Json:
    return {"title": task.title, "href": f"/tasks/{task.id}", "kind": words.state(task).kind}


@routes.page("/sw.js", public=True)
async def service_worker(_: Call) -> CallResult:
    """Return the service worker; only at the root can it speak for every page."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


def problem_page(problem: Problem) -> Response:
    """Return a problem as a page: what is wrong, and the way back."""
    status, title = KINDS[problem.name]
    values = {"title": title, "detail": problem.detail, "status": status}
    html = render("pages/problem.html", values)
    return Response(html, status, headers=dict(problem.headers), media_type="text/html")
