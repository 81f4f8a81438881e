"""Questions at a terminal for a section of the settings, and what becomes of the answers."""

from getpass import getpass

from remit import settings as app_settings
from remit.cli import out, remit_client
from remit.errors import BadInput
from remit.operations.settings_arguments import ChangeSection
from remit.settings.forms import FieldKind, SectionForm, SettingField


def answers(form: SectionForm) -> dict[str, object]:
    """Ask for every field of a section."""
    found: dict[str, object] = {}
    for field in form.fields:
        # Only a model by its key needs the rest of [brain].
        if form.section == "brain" and found.get("kind", "auto") != "auto":
            break
        found[field.name] = _ask_field(form, field)
    return found


def _ask_field(form: SectionForm, field: SettingField) -> object:
    """Return the answer; a wrong one is asked for again."""
    hint = field.help
    if field.choices:
        hint = ", ".join(f"{name}: {label}" for name, label in field.choices.items())
    if field.kind is FieldKind.SECRET:
        out.hint(hint)
        kept = " [kept]" if field.name in form.kept else ""
        return getpass(f"{field.label}{kept}: ")
    if field.kind is FieldKind.SWITCH:
        hint = f"{hint} yes or no.".strip()
    while True:
        text = ask(field.label, hint, form.shown(field))
        try:
            return _parse_answer(field, text)
        except BadInput as bad:
            out.hint(str(bad), "yellow")


def _parse_answer(field: SettingField, text: str) -> object:
    if field.choices and text not in field.choices:
        raise BadInput(f"{text!r:.40} is none of {', '.join(field.choices)}.")
    if field.required and not text:
        raise BadInput(f"{field.label} is needed.")
    found = field.parse(text)
    return "" if found is None else found


def ask(label: str, hint: str, default: str = "") -> str:
    """Ask one question; Enter takes the default."""
    if hint:
        out.hint(hint)
    shown = f" [{default}]" if default else ""
    return input(f"{label}{shown}: ").strip() or default


def agrees(question: str) -> bool:
    return input(f"{question} [Y/n]: ").strip().lower() in ("", "y", "yes")


def save(form: SectionForm, values: dict[str, object]) -> None:
    """Have the section written, by the running Remit or in this process."""
    if form.section == "brain" and values.get("kind") == "local":
        from remit.cli.brain import fetch_local_model  # noqa: PLC0415 - for who has none yet

        fetch_local_model(app_settings.load())
    with remit_client.open_client(app_settings.load()) as way:
        answer = way.ask(ChangeSection(form.section, values))
    out.hint(str(answer["detail"]), "green")
    if "secret" in answer:
        out.say("Its secret, which is shown this once:")
        out.line(str(answer["secret"]))
