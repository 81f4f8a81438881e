"""`remit hooks`: the webhooks that programs may call to start work, each with its own secret."""

import os
from collections.abc import Sequence
from typing import Annotated, Final

from remit.cli import out, remit_client
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.errors import BadInput, NotFound
from remit.model.codec import JsonMap
from remit.server.files import HOST, listens
from remit.settings import Settings, load
from remit.settings.doors import HookSettings
from remit.settings.sections import SectionStore
from remit.store.secrets import secrets_of

_BYTES: Final = 32
_HEADS: Final = ("NAME", "ADDRESS", "SECRET", "IN AN HOUR", "WHAT IS DONE")
_WHEN: Final = "A Remit that runs knows it in a few seconds."

app = CommandGroup("hooks")

Name = Annotated[str, flag("A name for the program: small letters, digits and _.")]


@app.default
@app.command("ls")
def ls(*, json: AsJson = False) -> int:
    """List the webhooks, their addresses and what each does; no secret is shown."""
    settings = load()
    stored = secrets_of(settings.home).names() if settings.hooks else ()
    found = [_to_json(settings, name, each, stored) for name, each in settings.hooks.items()]
    empty = "There is none; `remit hooks add NAME` makes one."
    return out.listing(json, {"hooks": [*found]}, [_row(each) for each in found], _HEADS, empty)


@app.command()
def add(
    name: Name,
    /,
    *,
    text: Annotated[str, flag("What to do with each event, in your words.")] = "",
    title: Annotated[str, flag("Where the title is in its JSON, such as /issue/title.")] = "",
    json: AsJson = False,
) -> int:
    """Create a webhook and print its secret, this once."""
    settings = load()
    if name in settings.hooks:
        sentence = f"There is a hook {name} already; `remit hooks rotate {name}` renews its secret."
        raise BadInput(sentence, field="name")
    remit_client.furnish(settings)
    secret = _new_secret()
    _sections(settings).change(
        f"hooks.{name}", {"secret": secret, "text": text.strip(), "title": title}
    )
    return _show(settings, name, secret, json)


@app.command()
def rotate(name: Name, /, *, json: AsJson = False) -> int:
    """Make a new secret; the old one works until you rotate again."""
    settings = load()
    secret, stored = _find(settings, name).secret, secrets_of(settings.home)
    value = _new_secret()
    stored.put(secret, " ".join([value, *stored.find(secret).split()[:1]]))
    return _show(settings, name, value, json)


@app.command()
def remove(name: Name, /, *, json: AsJson = False) -> int:
    """Remove a webhook and its secret; tasks it started stay."""
    settings = load()
    _find(settings, name)
    _sections(settings).remove(f"hooks.{name}")
    gone = f"{name} is gone, and its secret opens nothing any more."
    return out.print_result(json, {"name": name, "removed": True}, gone)


def _show(settings: Settings, name: str, secret: str, as_json: bool) -> int:
    where = _address(settings, name)
    content: JsonMap = {"name": name, "url": where, "secret": secret}
    shown = (f"{name} is called at {where}", f"with this secret, which is shown once. {_WHEN}")
    return out.print_result(as_json, content, *shown, data=secret)


def _new_secret() -> str:
    from remit.channels.webhook.receiving import new_secret  # noqa: PLC0415 - a list makes no secret

    return new_secret(os.urandom(_BYTES))


def _sections(settings: Settings) -> SectionStore:
    return SectionStore(settings.home, secrets_of(settings.home))


def _find(settings: Settings, name: str) -> HookSettings:
    if name not in settings.hooks:
        there = ", ".join(settings.hooks)
        hint = f"there is {there}" if there else "`remit hooks add NAME` makes one"
        raise NotFound("hook", f"{name!r:.60}; {hint}")
    return settings.hooks[name]


def _address(settings: Settings, name: str) -> str:
    root = listens(settings.home) or f"http://{HOST}:{settings.server.port}"
    return f"{root}/hooks/in/{name}"


def _to_json(settings: Settings, name: str, each: HookSettings, stored: Sequence[str]) -> JsonMap:
    return {
        "name": name,
        "url": _address(settings, name),
        "secret": each.secret,
        "secretKept": each.secret in stored,
        "text": each.text,
        "channel": each.channel,
        "recipient": each.recipient or None,
        "hourly": each.hourly,
    }


def _row(each: JsonMap) -> list[Piece]:
    secret = StyledText("kept", "green") if each["secretKept"] else StyledText("missing", "yellow")
    hourly = str(each["hourly"]) if each["hourly"] else "any"
    return [str(each["name"]), str(each["url"]), secret, hourly, out.cut(str(each["text"]), 60)]
