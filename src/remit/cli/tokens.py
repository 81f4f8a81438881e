"""`remit tokens`, `password` and `secrets`: who may come in, and the keys that Remit keeps."""

import sys
from getpass import getpass
from typing import Annotated, Final

from remit import settings as app_settings
from remit.cli import out, remit_client
from remit.cli.commands import CommandGroup, Flag
from remit.cli.out import AsJson, Piece, StyledText, flag, number_flag
from remit.errors import BadInput, NotFound
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.operations.callers import shape
from remit.operations.settings_arguments import NewToken, RevokeToken, SetPassword
from remit.store import callers
from remit.store.callers import ApiToken
from remit.store.read_only import open_read_only
from remit.store.secrets import MOST, Secrets, secrets_of

_HEADS: Final = ("NAME", "MAY", "LAST USED", "UNTIL", "ID")

_DAYS: Final = number_flag("Valid for this many days; default: until revoked.")

app = CommandGroup("tokens")


@app.default
@app.command("list")
def listed(*, json: AsJson = False) -> int:
    """List the tokens, what they may do and when they were used; no secret is shown."""
    found = _tokens()
    empty = "There are none but your own; `remit tokens add NAME --scope read` makes one."
    content: JsonMap = {"tokens": [shape(token) for token in found]}
    return out.listing(json, content, [_row(token) for token in found], _HEADS, empty)


@app.command()
def add(
    name: Annotated[str, flag("A name for the program, shown in the journal.")],
    /,
    *,
    scope: Annotated[tuple[Scope, ...], flag("read, write, approve or admin; repeatable.")] = (
        Scope.READ,
    ),
    agent: Annotated[bool, flag("For an agent: it reads and writes, but never decides.")] = False,
    days: Annotated[int | None, _DAYS] = None,
    json: AsJson = False,
) -> int:
    """Create a token and print its secret, this once."""
    made = remit_client.ask(NewToken(name, [*dict.fromkeys(scope)], agent, days))
    shown = f"{name} may {' and '.join(_scopes(made))}. This is shown once:"
    return out.print_result(json, made, shown, data=str(made["secret"]))


@app.command()
def revoke(name: Annotated[str, flag("Its name or its id.")], /, *, json: AsJson = False) -> int:
    """Revoke a token; its open connections are closed."""
    found = [token for token in _tokens() if name in (token.name, token.id)]
    if not found:
        raise NotFound("token", name)
    gone = remit_client.ask(RevokeToken(found[0].id))
    return out.print_result(json, gone, f"{found[0].name} opens nothing any more.")


def _tokens() -> list[ApiToken]:
    with open_read_only(app_settings.load().database) as tx:
        return callers.tokens(tx)


def _scopes(made: JsonMap) -> list[str]:
    scopes = made["scopes"]
    return [str(scope) for scope in scopes] if isinstance(scopes, list) else []


def _row(token: ApiToken) -> list[Piece]:
    content = shape(token)
    may = ", ".join(_scopes(content)) + (" (agent)" if token.agent else "")
    used, until = _day(content["usedAt"]), _day(content["expiresAt"])
    return [token.name, may, used, until, StyledText(token.id, "dim")]


def _day(stamp: Json) -> str:
    return str(stamp)[:16].replace("T", " ") if stamp else "-"


def password(
    *,
    remove: Annotated[bool, flag("Remove the password; nobody can sign in with one.")] = False,
    json: AsJson = False,
) -> int:
    """Set the password; it is asked for, or read from stdin. Other browsers are signed out."""
    value = "" if remove else value_of("Password")
    if sys.stdin.isatty() and not remove and getpass("Once more: ") != value:
        raise BadInput("The two are not the same; nothing was changed.", field="password")
    if not remove and not value.strip():
        raise BadInput("The password is empty. `--remove` takes one back.", field="password")
    answer = remit_client.ask(SetPassword(value))
    if remove:
        return out.print_result(json, answer, "The password is removed.")
    where = app_settings.load().server.public_url
    hint = "`remit setup server` sets the address that your phone opens."
    return out.print_result(
        json, answer, "The password is set.", f"Sign in at {where}." if where else hint
    )


_ONE_MORE: Final = 2  # the line end, and one to notice that there are too many

secrets_app = CommandGroup("secrets")


@secrets_app.default
@secrets_app.command("list")
def secret_names(*, json: AsJson = False) -> int:
    """List the names of the secrets, and where they are kept."""
    stored = _store()
    found, where = stored.names(), stored.where
    content: JsonMap = {"names": [*found], "kept_in": where}
    return out.print_result(json, content, f"{len(found)} in {where}.", data="\n".join(found))


@secrets_app.command("set")
def put_secret(
    name: Annotated[str, flag("The secret's name in the settings.")],
    /,
    *typed: Annotated[str, Flag("", shown=False)],
    file: Annotated[
        bool, flag("From now on keep all secrets in a file, not in the keyring.", "--file")
    ] = False,
    json: AsJson = False,
) -> int:
    """Store a secret; its value comes from stdin or a prompt."""
    if typed:
        raise BadInput(
            "A value is not typed into the command, where the shell and others see it. "
            "Give it on the standard input; if it was the real one, renew it.",
            field="value",
        )
    stored = _store()
    stored.put(name, value_of(name))
    if file:
        stored.move_to_file()
    return out.done_with(name, f"{name} is kept in {stored.where}.", json)


@secrets_app.command("delete")
def remove(
    name: Annotated[str, flag("The secret's name in the settings.")], /, *, json: AsJson = False
) -> int:
    """Delete a secret."""
    stored = _store()
    stored.drop(name)
    return out.done_with(name, f"{name} is gone from {stored.where}.", json)


def _store() -> Secrets:
    return secrets_of(app_settings.load().home)


def value_of(name: str) -> str:
    """Return what is on stdin, or typed unseen."""
    if sys.stdin.isatty():
        return getpass(f"{name}: ")
    try:
        return sys.stdin.read(MOST + _ONE_MORE).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        pass  # raised below, outside: the error contains what was read
    raise BadInput(f"The value of {name} is no text; write it in UTF-8.", field="value")
