"""`remit tokens`: API tokens for programs, each with its own scopes.

The token in Remit's directory belongs to the owner and may do everything; give a program one of
these instead.
"""

from typing import Annotated, Final

from remit import settings as house_settings
from remit.cli import out, remit_client
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, flag, number_flag
from remit.errors import NotFound
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.operations.callers import shape
from remit.operations.settings_arguments import NewToken, RevokeToken
from remit.store import callers
from remit.store.callers import ApiToken
from remit.store.read_only import glance

_HEADS: Final = ("NAME", "MAY", "LAST USED", "UNTIL", "ID")

_DAYS: Final = number_flag("For how many days; without it, until revoked.")

app = CommandGroup("tokens")


@app.default
@app.command("list")
def listed(*, json: AsJson = False) -> int:
    """The tokens, what they may do and when they were used; no secret is shown."""
    found = _tokens()
    empty = "There are none but your own; `remit tokens add NAME --scope read` makes one."
    content: JsonMap = {"tokens": [shape(token) for token in found]}
    return out.listing(json, content, [_row(token) for token in found], _HEADS, empty)


@app.command()
def add(
    name: Annotated[str, flag("What to call the program; the journal names it so.")],
    /,
    *,
    scope: Annotated[tuple[Scope, ...], flag("read, write, approve or admin; may be repeated.")] = (
        Scope.READ,
    ),
    agent: Annotated[bool, flag("It is an agent: it reads and writes, and never decides.")] = False,
    days: Annotated[int | None, _DAYS] = None,
    json: AsJson = False,
) -> int:
    """Make a token. Its secret is shown this once, alone on stdout."""
    made = remit_client.ask(NewToken(name, [*dict.fromkeys(scope)], agent, days))
    shown = f"{name} may {' and '.join(_scopes(made))}. This is shown once:"
    return out.done(json, made, shown, data=str(made["secret"]))


@app.command()
def revoke(name: Annotated[str, flag("Its name or its id.")], /, *, json: AsJson = False) -> int:
    """Take a token back. It opens nothing from now on, and its sockets are closed."""
    found = [token for token in _tokens() if name in (token.name, token.id)]
    if not found:
        raise NotFound("token", name)
    gone = remit_client.ask(RevokeToken(found[0].id))
    return out.done(json, gone, f"{found[0].name} opens nothing any more.")


def _tokens() -> list[ApiToken]:
    with glance(house_settings.load().database) as tx:
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
