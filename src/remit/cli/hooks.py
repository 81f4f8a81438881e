"""`remit hooks`: the webhooks that programs may call to start work, each with its own secret."""

import secrets as chance
from typing import Annotated, Final

from cyclopts import App

from remit import settings as house_settings
from remit.channels.webhook import receiving
from remit.cli import codes, out, remit_client
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.errors import BadInput, NotFound
from remit.model.codec import Json, JsonMap
from remit.server import files
from remit.server.serve import HOST
from remit.settings import Settings, edit
from remit.settings.doors import HookSettings
from remit.settings.doors import hooks as check_hooks
from remit.store.secrets import Secrets, machine_ring

_BYTES: Final = 32
_HEADS: Final = ("NAME", "ADDRESS", "SECRET", "IN AN HOUR", "WHAT IS DONE")
_WHEN: Final = "A Remit that runs knows it in a few seconds."

app = App(name="hooks")

Name = Annotated[str, flag("What you call the program: small letters, digits and _.")]


@app.default
@app.command(name="ls")
def ls(*, json: AsJson = False) -> int:
    """The hooks, where each is called, and what is done then; no secret is shown."""
    settings = house_settings.load()
    kept = set(_kept(settings).names()) if settings.hooks else set()
    found = {name: _told(settings, name, each, kept) for name, each in settings.hooks.items()}
    if json:
        listed: list[Json] = list(found.values())
        out.emit({"hooks": listed})
        return codes.DONE
    if not found:
        out.say("There is none; `remit hooks add NAME` makes one.")
        return codes.DONE
    rows: list[list[Piece]] = [[StyledText(head, "dim") for head in _HEADS]]
    rows += [_row(each) for each in found.values()]
    out.table(rows)
    return codes.DONE


@app.command
def add(
    name: Name,
    /,
    *,
    text: Annotated[str, flag("What is to be done with what it brings, in your words.")] = "",
    title: Annotated[str, flag("Where in its JSON the title stands, such as /issue/title.")] = "",
    json: AsJson = False,
) -> int:
    """Make a hook. Its secret is shown this once, alone on stdout."""
    settings = house_settings.load()
    if name in settings.hooks:
        sentence = f"There is a hook {name} already; `remit hooks rotate {name}` renews its secret."
        raise BadInput(sentence, field="name")
    said: JsonMap = {"secret": f"hook_{name}", "text": text.strip(), "title": title}
    table = {key: value for key, value in said.items() if value}
    check_hooks({name: table}, "this command")
    remit_client.furnish(settings)
    path = settings.home / "settings.toml"
    hook = {f"hooks.{name}": table}
    edit.with_values(path.read_text(encoding="utf-8"), hook, path)  # before a secret is made
    value = receiving.made(chance.token_bytes(_BYTES))
    _kept(settings).put(f"hook_{name}", value)
    edit.set_values(path, hook)
    return _show(settings, name, value, as_json=json)


@app.command
def rotate(name: Name, /, *, json: AsJson = False) -> int:
    """Make another secret. The old one opens the hook too, until you rotate again."""
    settings = house_settings.load()
    found = _found(settings, name)
    kept = _kept(settings)
    try:
        before = kept.get(found.secret).split()[:1]
    except NotFound:
        before = []
    value = receiving.made(chance.token_bytes(_BYTES))
    kept.put(found.secret, " ".join([value, *before]))
    return _show(settings, name, value, as_json=json)


@app.command
def remove(name: Name, /, *, json: AsJson = False) -> int:
    """Take a hook away, with its secret. What it started stays."""
    settings = house_settings.load()
    found = _found(settings, name)
    path = settings.home / "settings.toml"
    edit.remove_table(path, f"hooks.{name}")
    kept = _kept(settings)
    if found.secret in kept.names():
        kept.drop(found.secret)
    if json:
        out.emit({"name": name, "removed": True})
    else:
        out.say(f"{name} is gone, and its secret opens nothing any more.")
    return codes.DONE


def _show(settings: Settings, name: str, value: str, *, as_json: bool) -> int:
    where = _address(settings, name)
    if as_json:
        out.emit({"name": name, "url": where, "secret": value})
        return codes.DONE
    out.say(f"{name} is called at {where}")
    out.say(f"with this secret, which is shown once. {_WHEN}")
    out.line(value)
    return codes.DONE


def _kept(settings: Settings) -> Secrets:
    return Secrets(settings.home, machine_ring())


def _found(settings: Settings, name: str) -> HookSettings:
    if name not in settings.hooks:
        there = ", ".join(settings.hooks) or "none"
        raise NotFound("hook", f"{name!r:.60}; there is {there}")
    return settings.hooks[name]


def _address(settings: Settings, name: str) -> str:
    root = files.listens(settings.home) or f"http://{HOST}:{settings.server.port}"
    return f"{root}/hooks/in/{name}"


def _told(settings: Settings, name: str, each: HookSettings, kept: set[str]) -> JsonMap:
    return {
        "name": name,
        "url": _address(settings, name),
        "secret": each.secret,
        "secretKept": each.secret in kept,
        "text": each.text,
        "channel": each.channel,
        "recipient": each.recipient or None,
        "hourly": each.hourly,
    }


def _row(each: JsonMap) -> list[Piece]:
    secret = StyledText("kept", "green") if each["secretKept"] else StyledText("missing", "yellow")
    hourly = str(each["hourly"]) if each["hourly"] else "any"
    return [str(each["name"]), str(each["url"]), secret, hourly, out.cut(str(each["text"]), 60)]
