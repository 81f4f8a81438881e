"""`remit setup`: a guided walk through the settings that asks, writes and tests each part."""

import sys
from typing import Annotated, Final

from remit import settings as house_settings
from remit.cli import channels, codes, out, remit_client
from remit.cli.out import AsJson, StyledText, flag
from remit.cli.section_questions import answers, ask, save
from remit.errors import BadInput
from remit.operations.settings_arguments import RemoveSection, TestSection
from remit.settings.channels import kinds
from remit.settings.forms import CHANNELS, MANY, form_for

_NOBODY: Final = (
    "`remit setup` asks questions, and nobody is at this terminal. Use the page under Settings, "
    "or write settings.toml."
)
_TESTED: Final = frozenset({"brain", "calendars", "folders", "projects", "hooks"})


def setup(
    section: Annotated[
        str, flag("What to set up: you, brain, budget, channels, channels.NAME, hooks.NAME, …")
    ] = "",
    /,
    *,
    remove: Annotated[bool, flag("Take this section out, with its secrets.", "--remove")] = False,
    test: Annotated[bool, flag("Only try this section out.", "--test")] = False,
    json: AsJson = False,
) -> int:
    """Ask for the settings, one by one, write them to settings.toml, and test them.

    Without a section: who you are, which language model, and where to reach you.
    """
    if remove:
        told = remit_client.ask(RemoveSection(section))
        return out.done(json, told, str(told["detail"]))
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
    with remit_client.opened(house_settings.load()) as way:
        serves = way.serves
    out.line("That is all.", " Remit is up." if serves else " Now start it with `remit up`.")
    return codes.DONE


def _headline(text: str) -> None:
    out.line()
    out.line(StyledText(text, "bold"))


def _ask_section(section: str) -> int:
    settings = house_settings.load()
    if section == CHANNELS:
        return _ask_channel()
    if section in MANY:
        section = f"{section}.{ask('Name', 'What you call it: small letters and digits.')}"
    form = form_for(section, settings)
    out.hint(form.about)
    save(form, answers(form))
    table = section.partition(".")[0]
    return _test(section) if table in _TESTED else codes.DONE


def _ask_channel() -> int:
    known = ", ".join(kinds())
    kind = ask(f"Which channel: {known}, or none", "", "none")
    while kind not in (*kinds(), "none"):
        kind = ask(f"That is none of {known}. Which channel, or none", "", "none")
    if kind == "none":
        out.say("What needs you waits in the inbox; `remit setup channels` adds a channel later.")
        return codes.DONE
    return channels.add(kind, name=ask("What to call it", "", kind))


def _test(section: str, *, as_json: bool = False) -> int:
    found = remit_client.ask(TestSection(section))
    if as_json:
        out.emit(found)
    else:
        out.line(StyledText(str(found["detail"]), "green" if found["ok"] else "red"))
    return codes.DONE if found["ok"] else codes.FAILED
