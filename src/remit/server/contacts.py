"""Contacts and rules: whom the owner knows, and who is written to unasked."""

from typing import Final

from remit.operations import contacts
from remit.server.call import Call, CallResult, read, result_of


async def look(call: Call) -> CallResult:
    """Everyone in the book, with what holds for each way."""
    return result_of(await contacts.look(call))


async def list_rules(call: Call) -> CallResult:
    return result_of(await contacts.list_rules(call))


ROUTES: Final = (
    read(
        "/api/contacts",
        look,
        "Everyone in the contact book, and whether they are written to unasked",
        "Contacts",
        tagged=True,
    ),
    read("/api/rules", list_rules, "What you have said once and for all", "Rules"),
)
