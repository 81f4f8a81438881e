"""`remit setup`: a guided walk through the settings that asks, writes and tests each part."""

import sys
from typing import Annotated, Final

from remit import settings as app_settings
from remit.cli import calendar_accounts, channels, codes, contacts, out, remit_client
from remit.cli.out import AsJson, StyledText, flag
from remit.cli.section_questions import answers, ask, save
from remit.errors import BadInput
from remit.operations.sections import with_kept_secrets
from remit.operations.settings_arguments import RemoveSection, TestSection
from remit.settings import Settings
from remit.settings.channels import kinds
from remit.settings.forms import CHANNELS, MANY, form_for

_NOBODY: Final = (
    "`remit setup` asks questions, and nobody is at this terminal. Use the page under Settings, "
    "or write settings.toml."
)
_TESTED: Final = frozenset({"brain", "web", "calendars", "folders", "projects", "hooks"})
_CONTACTS: Final = "contacts"
_GOOGLE: Final = "google"


def setup(
    section: Annotated[
        str, flag("What to set up: you, brain, budget, channels, channels.NAME, hooks.NAME, …")
    ] = "",
    /,
    *,
    remove: Annotated[bool, flag("Remove this section and its secrets.", "--remove")] = False,
    test: Annotated[bool, flag("Only test this section.", "--test")] = False,
    json: AsJson = False,
) -> int:
    """Ask for the settings, one by one, write them to settings.toml, and test them.

    Without a section: who you are, which language model, and where to reach you.
    """
    if remove and section.startswith(f"{_CONTACTS}."):
        return contacts.remove(section.partition(".")[2], json=json)
    if remove:
        answer = remit_client.ask(RemoveSection(section))
        return out.print_result(json, answer, str(answer["detail"]))
    if test:
        return _test(section, as_json=json)
    if not sys.stdin.isatty():
        raise BadInput(_NOBODY)
    if section:
        return _ask_section(section)
    out.say("Three steps; Enter keeps what stands in brackets, Ctrl-C stops.")
    _headline("1 of 3: you")
    _ask_section("you")
    _headline("2 of 3: the language model")
    _ask_section("brain")
    _headline("3 of 3: where to reach you")
    _ask_section(CHANNELS)
    with remit_client.open_client(app_settings.load()) as way:
        serves = way.serves
    out.line("That is all.", " Remit is up." if serves else " Now start it with `remit up`.")
    return codes.DONE


def _headline(text: str) -> None:
    out.line()
    out.line(StyledText(text, "bold"))


def _ask_section(section: str) -> int:
    settings = app_settings.load()
    table, _, name = section.partition(".")
    if table == CHANNELS and name not in settings.channels:
        return _ask_channel(name)
    if section == _CONTACTS:
        return _ask_contact(settings)
    if section in MANY:
        google = " google: you sign in there." if section == "calendars" else ""
        section = f"{section}.{ask('Name', f'What you call it: small letters and digits.{google}')}"
    if section == f"calendars.{_GOOGLE}" and _GOOGLE not in settings.calendars:
        user, client_id = _ask_account()
        return calendar_accounts.add(_GOOGLE, user=user, client_id=client_id)
    (form,) = with_kept_secrets([form_for(section, settings)], settings)
    out.hint(form.about)
    save(form, answers(form))
    return _test(section) if table in _TESTED else codes.DONE


def _ask_channel(name: str = "") -> int:
    """Ask for a new channel: its kind, its name if none is given, and its account."""
    offered = (*kinds(), *channels.BY_SIGN_IN)
    known = ", ".join(offered)
    kind = ask(f"Which channel: {known}, or none", "", "none")
    while kind not in (*offered, "none"):
        kind = ask(f"That is none of {known}. Which channel, or none", "", "none")
    if kind == "none":
        out.say("What needs you waits in the inbox; `remit setup channels` adds a channel later.")
        return codes.DONE
    name = name or ask("What to call it", "", kind)
    if kind not in channels.BY_SIGN_IN:
        return channels.add(kind, name=name)
    user, client_id = _ask_account()
    return channels.add(kind, name=name, address=user, client_id=client_id)


def _ask_account() -> tuple[str, str]:
    """Ask what a sign-in at a provider needs, besides what it asks for itself."""
    user = ask("Your address there", "")
    return user, ask("Client id", "Of your own app there; docs/howto/email.md has the steps.")


def _ask_contact(settings: Settings) -> int:
    """Ask for a contact; one that is there gets what is new."""
    name = ask("Name", "The whole name. Whoever is there already gets what is new.")
    reached = [each for each in settings.channels if each != "dashboard"]
    channel = "none"
    if reached:
        channel = ask(f"On which channel: {', '.join(reached)}, or none", "", "none")
    given = () if channel == "none" else (f"{channel}={ask('Address there', '')}",)
    called = ask("What else you call them", "With commas between them; may be empty.")
    aliases = tuple(each.strip() for each in called.split(",") if each.strip())
    return contacts.add(name, channel=given, alias=aliases)


def _test(section: str, *, as_json: bool = False) -> int:
    found = remit_client.ask(TestSection(section))
    if as_json:
        out.emit(found)
    else:
        out.line(StyledText(str(found["detail"]), "green" if found["ok"] else "red"))
    return codes.DONE if found["ok"] else codes.FAILED
