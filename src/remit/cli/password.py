"""`remit password`: set the password that signs you in from elsewhere."""

import sys
from getpass import getpass
from typing import Annotated

from remit import settings as house_settings
from remit.cli import out, remit_client, secrets
from remit.cli.out import AsJson, flag
from remit.errors import BadInput
from remit.operations.settings_arguments import SetPassword


def password(
    *,
    remove: Annotated[bool, flag("Take the password back; nobody signs in with one.")] = False,
    json: AsJson = False,
) -> int:
    """Set the password; it is asked for, or read from stdin. Other browsers are signed out."""
    value = "" if remove else secrets.value_of("Password")
    if sys.stdin.isatty() and not remove and getpass("Once more: ") != value:
        raise BadInput("The two are not the same; nothing was changed.", field="password")
    if not remove and not value.strip():
        raise BadInput("The password is empty. `--remove` takes one back.", field="password")
    answer = remit_client.ask(SetPassword(value))
    if remove:
        return out.done(json, answer, "The password is removed.")
    where = house_settings.load().server.public_url
    hint = "`remit setup server` sets the address that your phone opens."
    return out.done(json, answer, "The password is set.", f"Sign in at {where}." if where else hint)
