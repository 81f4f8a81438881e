"""The way in: the front door, a new task from anywhere, the box about the agent, the palette."""

from typing import Annotated, Final

from pydantic import Field

from remit.errors import BadInput
from remit.intake.heard import Heard, Message, told
from remit.model.codec import Json
from remit.model.task import Source, SourceKind
from remit.server.bodies import Body
from remit.server.call import Answer, Call, Query, Route
from remit.server.web import shell, words
from remit.store import search

_FOUND: Final = 8
_TEXT: Final = 20_000


class NewWords(Body):
    text: Annotated[str, Field(max_length=_TEXT)] = ""


async def front(_: Call) -> Answer:
    return shell.elsewhere("/inbox")


async def fresh(call: Call) -> Answer:
    """A page with nothing but the question what shall be done."""
    return await shell.page(call, "pages/new.html", {"text": "", "wrong": None, "heard": None})


async def entrust(call: Call) -> Answer:
    """Read the words, store what they ask for, and say what was understood."""
    text = call.read(NewWords).text
    try:
        message = Message(text=text, source=Source(SourceKind.MANUAL, call.ref))
        heard = await call.house.intake.hear(message)
    except BadInput as wrong:
        return await _again(call, text, str(wrong))
    return await shell.page(call, "pages/new.html", {"text": "", "wrong": None, **_receipt(heard)})


async def agent(call: Call) -> Answer:
    return shell.part("parts/agent.html", {"shell": await shell.around(call)})


async def palette(call: Call) -> Answer:
    """Tasks that fit what is being typed."""
    wanted = search.Filter(text=call.text("q") or "", limit=_FOUND)
    page = await call.house.db.read(search.page, wanted)
    found: list[Json] = [
        {"title": task.title, "href": f"/tasks/{task.id}", "kind": words.state(task).kind}
        for task in page.tasks
    ]
    return Answer({"tasks": found})


async def _again(call: Call, text: str, wrong: str) -> Answer:
    values = {"text": text, "wrong": wrong, "heard": None}
    return await shell.page(call, "pages/new.html", values, 422)


def _receipt(heard: Heard) -> dict[str, object]:
    return {"heard": told(heard), "tasks": heard.tasks}


ROUTES: Final = (
    Route(method="GET", path="/", does=front, says="The front door", gives="Page", page=True),
    Route(method="GET", path="/new", does=fresh, says="A new task", gives="Page", page=True),
    Route(
        method="POST",
        path="/new",
        does=entrust,
        says="Hand over a task",
        gives="Page",
        page=True,
        body=NewWords,
    ),
    Route(method="GET", path="/agent", does=agent, says="Who works", gives="Page", page=True),
    Route(
        method="GET",
        path="/palette",
        does=palette,
        says="Tasks by a few letters",
        gives="Page",
        page=True,
        query=(Query("q", "What is typed.", {"type": "string"}),),
    ),
)
