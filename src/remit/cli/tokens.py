"""`remit tokens`: API tokens for programs, each with its own scopes.

The token in Remit's directory belongs to the owner and may do everything; give a program one of
these instead.
"""

from typing import Annotated, Final

from cyclopts import App

from remit import settings as house_settings
from remit.cli import codes, out, remit_client
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.errors import BadInput, NotFound
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.operations.callers import shape
from remit.operations.settings_arguments import NewToken, RevokeToken
from remit.settings import Settings
from remit.store import callers
from remit.store.callers import ApiToken
from remit.store.read_only import glance

_HEADS: Final = ("NAME", "MAY", "LAST USED", "UNTIL", "ID")

app = App(name="tokens")


@app.default
@app.command(name="list")
def listed(*, json: AsJson = False) -> int:
    """The tokens, what they may do and when they were used; no secret is shown."""
    found = _tokens(house_settings.load())
    if json:
        told: list[Json] = [shape(token) for token in found]
        out.emit({"tokens": told})
        return codes.DONE
    if not found:
        out.say("There are none but your own; `remit tokens add NAME --scope read` makes one.")
        return codes.DONE
    rows: list[list[Piece]] = [[StyledText(head, "dim") for head in _HEADS]]
    rows += [_row(token) for token in found]
    out.table(rows)
    return codes.DONE


@app.command
def add(
    name: Annotated[str, flag("What to call the program; the journal names it so.")],
    /,
    *,
    scope: Annotated[tuple[Scope, ...], flag("read, write, approve or admin; may be repeated.")] = (
        Scope.READ,
    ),
    agent: Annotated[bool, flag("It is an agent: it reads and writes, and never decides.")] = False,
    days: Annotated[int | None, flag("For how many days; without it, until revoked.")] = None,
    json: AsJson = False,
) -> int:
    """Make a token. Its secret is shown this once, alone on stdout."""
    if days is not None and days < 1:
        raise BadInput(f"--days is {days}; a token is good for one day at least.", field="days")
    settings = house_settings.load()
    with remit_client.opened(settings) as way:
        made = way.ask(NewToken(name, [*dict.fromkeys(scope)], agent, days))
    if json:
        out.emit(made)
        return codes.DONE
    out.say(f"{name} may {' and '.join(_words(made))}. This is shown once:")
    out.line(str(made["secret"]))
    return codes.DONE


@app.command
def revoke(name: Annotated[str, flag("Its name or its id.")], /, *, json: AsJson = False) -> int:
    """Take a token back. It opens nothing from now on, and its sockets are closed."""
    settings = house_settings.load()
    found = [token for token in _tokens(settings) if name in (token.name, token.id)]
    if not found:
        raise NotFound("token", name)
    with remit_client.opened(settings) as way:
        gone = way.ask(RevokeToken(found[0].id))
    if json:
        out.emit(gone)
    else:
        out.say(f"{found[0].name} opens nothing any more.")
    return codes.DONE


def _tokens(settings: Settings) -> list[ApiToken]:
    if not settings.database.exists():
        return []
    with glance(settings.database) as tx:
        return callers.tokens(tx)


def _words(made: JsonMap) -> list[str]:
    scopes = made["scopes"]
    return [str(scope) for scope in scopes] if isinstance(scopes, list) else []


def _row(token: ApiToken) -> list[Piece]:
    told = shape(token)
    may = ", ".join(_words(told)) + (" (agent)" if token.agent else "")
    return [
        token.name,
        may,
        _day(told["usedAt"]),
        _day(told["expiresAt"]),
        StyledText(token.id, "dim"),
    ]


def _day(stamp: Json) -> str:
    return str(stamp)[:16].replace("T", " ") if stamp else "-"
