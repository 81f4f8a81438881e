"""`remit secrets`: set, list and delete the secrets that settings refer to by name.

A value comes from stdin or a prompt, never from the command line, where it would show in the
process list and the shell history. No value is ever printed.
"""

import sys
from getpass import getpass
from typing import Annotated, Final

from cyclopts import App, Parameter

from remit import settings as house_settings
from remit.cli import codes, out
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.model.codec import Json
from remit.store.secrets import MOST, Secrets, machine_ring

_ONE_MORE: Final = 2  # the line end, and one to notice that there are too many

app = App(name="secrets")


@app.default
@app.command(name="list")
def names(*, json: AsJson = False) -> int:
    """The names of the secrets, and where they are kept."""
    kept = _kept()
    found = kept.names()
    if json:
        listed: list[Json] = list(found)
        out.emit({"names": listed, "kept_in": kept.where})
        return codes.DONE
    for name in found:
        out.line(name)
    out.say(f"{len(found)} in {kept.where}.")
    return codes.DONE


@app.command(name="set")
def put(
    name: Annotated[str, flag("What settings call it.")],
    /,
    *typed: Annotated[str, Parameter(show=False)],
    file: Annotated[
        bool, flag("Keep all secrets in a file from now on, not in the keyring.", "--file")
    ] = False,
    json: AsJson = False,
) -> int:
    """Keep a value under a name; it is read from stdin, or asked for on a terminal."""
    if typed:
        raise BadInput(
            "A value is not typed into the command, where the shell and others see it. "
            "Give it on the standard input; if it was the real one, renew it.",
            field="value",
        )
    kept = _kept()
    kept.put(name, value_of(name))
    if file:
        kept.move_to_file()
    return _told(name, f"{name} is kept in {kept.where}.", as_json=json)


@app.command
def delete(name: Annotated[str, flag("What settings call it.")], /, *, json: AsJson = False) -> int:
    """Forget a name and its value."""
    kept = _kept()
    kept.drop(name)
    return _told(name, f"{name} is gone from {kept.where}.", as_json=json)


def _kept() -> Secrets:
    return Secrets(house_settings.load().home, machine_ring())


def value_of(name: str) -> str:
    """Return what is on stdin, or typed unseen."""
    if sys.stdin.isatty():
        return getpass(f"{name}: ")
    try:
        return sys.stdin.read(MOST + _ONE_MORE).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        pass  # raised below, outside: the error contains what was read
    raise BadInput(f"The value of {name} is no text; write it in UTF-8.", field="value")


def _told(name: str, sentence: str, *, as_json: bool) -> int:
    if as_json:
        out.emit({"name": name, "detail": sentence})
    else:
        out.say(sentence)
    return codes.DONE
