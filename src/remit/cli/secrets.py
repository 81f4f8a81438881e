"""`remit secrets`: set, list and delete the secrets that settings refer to by name.

A value comes from stdin or a prompt, never from the command line, where it would show in the
process list and the shell history. No value is ever printed.
"""

import sys
from getpass import getpass
from typing import Annotated, Final

from remit import settings as house_settings
from remit.cli import out
from remit.cli.commands import CommandGroup, Flag
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.store.secrets import MOST, Secrets, secrets_of

_ONE_MORE: Final = 2  # the line end, and one to notice that there are too many

app = CommandGroup("secrets")


@app.default
@app.command("list")
def names(*, json: AsJson = False) -> int:
    """The names of the secrets, and where they are kept."""
    stored = _stored()
    found, where = stored.names(), stored.where
    content: JsonMap = {"names": [*found], "kept_in": where}
    return out.done(json, content, f"{len(found)} in {where}.", data="\n".join(found))


@app.command("set")
def put(
    name: Annotated[str, flag("What settings call it.")],
    /,
    *typed: Annotated[str, Flag("", shown=False)],
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
    stored = _stored()
    stored.put(name, value_of(name))
    if file:
        stored.move_to_file()
    return _done(name, f"{name} is kept in {stored.where}.", json)


@app.command()
def delete(name: Annotated[str, flag("What settings call it.")], /, *, json: AsJson = False) -> int:
    """Forget a name and its value."""
    stored = _stored()
    stored.drop(name)
    return _done(name, f"{name} is gone from {stored.where}.", json)


def _stored() -> Secrets:
    return secrets_of(house_settings.load().home)


def value_of(name: str) -> str:
    """Return what is on stdin, or typed unseen."""
    if sys.stdin.isatty():
        return getpass(f"{name}: ")
    try:
        return sys.stdin.read(MOST + _ONE_MORE).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        pass  # raised below, outside: the error contains what was read
    raise BadInput(f"The value of {name} is no text; write it in UTF-8.", field="value")


def _done(name: str, sentence: str, json: bool) -> int:
    return out.done(json, {"name": name, "detail": sentence}, sentence)
