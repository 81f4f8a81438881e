"""Wires the brain that the settings name, and who reads the owner's messages."""

import os
import secrets

from msgspec.structs import replace

from remit.brain import choose, scripted
from remit.brain.choose import ModelChoice, ModelRole
from remit.brain.models import ModelBrain, PaidBrain
from remit.brain.scripted import ScriptedBrain
from remit.brain.think import NoBrain
from remit.errors import BadInput
from remit.intake.command_words import CommandReader
from remit.intake.exam.qualify import ExamFile, QualifiedReader
from remit.intake.hear import RequestReader
from remit.intake.plain_reader import PlainReader
from remit.model.codec import sha256
from remit.ports import Brain
from remit.settings import BrainSettings, Settings
from remit.store.secrets import Secrets, machine_ring
from remit.wiring.app_context import AppContext


def brain_of(settings: Settings) -> Brain:
    """Return the brain that the settings name."""
    match settings.brain.kind:
        case "none":
            return NoBrain()
        case "scripted":
            return scripted.load(settings.home / settings.brain.script)
        case "auto" | "model":
            choice = choose.choose_models(model_environ(settings), settings.brain)
            return ModelBrain(choice, fallback=second_brain(settings))
        case "local":
            return _local(settings, second_brain(settings))
        case other:
            sentence = f"[brain] kind is {other!r}; it may be auto, model, local, none or scripted."
            raise BadInput(sentence, field="kind")


def stored_model_keys(settings: Settings) -> dict[str, str]:
    """Return the keys of models in the secret store, unless the environment has them.

    A key is stored under the name of its variable, such as ANTHROPIC_API_KEY.
    """
    brain = settings.brain
    names = {*choose.KEY_NAMES, brain.key_env, brain.fallback.key_env} - {"", *os.environ}
    kept = Secrets(settings.home, machine_ring(settings.home))
    return {name: kept.get(name) for name in sorted(names.intersection(kept.names()))}


def model_environ(settings: Settings) -> dict[str, str]:
    """Return where the keys of models are looked up."""
    return {**stored_model_keys(settings), **os.environ}


def model_keys_digest(settings: Settings) -> bytes:
    """Return what changes with a stored key of a model."""
    return sha256(repr(stored_model_keys(settings)).encode())


def model_choice(settings: Settings) -> ModelChoice:
    """Return which models would be used, or what is missing."""
    match settings.brain.kind:
        case "local":
            from remit.brain import local  # noqa: PLC0415 - for the few who have one

            return local.choose_local_model(settings.models, settings.brain)
        case "none" | "scripted":
            return ModelChoice({}, dict.fromkeys(ModelRole, choose.NOTHING_THINKS))
        case _:
            return choose.choose_models(model_environ(settings), settings.brain)


def second_choice(settings: Settings) -> ModelChoice | None:
    """Return the model that answers while the first one's provider is down, if one is set."""
    named, brain = settings.brain.fallback, settings.brain
    if not named.model:
        return None
    if named.model == "local":
        return model_choice(replace(settings, brain=replace(brain, kind="local")))
    wanted = BrainSettings(
        model=named.model,
        base_url=named.base_url,
        key_env=named.key_env,
        time_limit=brain.time_limit,
        token_limit=brain.token_limit,
    )
    try:
        return choose.choose_models(model_environ(settings), wanted)
    except BadInput as error:
        raise BadInput(f"fallback: {error}", field="fallback") from None


def second_brain(settings: Settings) -> ModelBrain | None:
    if settings.brain.fallback.model == "local":
        return _local(settings)
    choice = second_choice(settings)
    return ModelBrain(choice) if choice else None


def _local(settings: Settings, fallback: ModelBrain | None = None) -> ModelBrain:
    from remit.brain import local  # noqa: PLC0415 - for the few who have one

    choice = local.choose_local_model(settings.models, settings.brain)
    key = secrets.token_urlsafe(32)
    threads = min(settings.brain.threads, os.cpu_count() or 1)
    line = local.LocalModelConnection(
        settings.models, local.QWEN, choice.limits, key=key, threads=threads
    )
    return ModelBrain(choice, dial=line.dial, fallback=fallback)


def model_reader(context: AppContext) -> QualifiedReader | None:
    """Return the model that reads messages after it passed the exam, if there is one.

    A scripted brain reads if its script says how, without an exam, because the owner wrote it.
    """
    brain, mind = context.brain, context.mind(ModelRole.EXTRACT)
    scripted_reads = isinstance(brain, ScriptedBrain) and brain.reads_messages
    if mind is None and not scripted_reads:
        return None
    from remit.intake.model_reader import ModelReader  # noqa: PLC0415 - loads a library of forms

    results = ExamFile(context.settings.home)
    if isinstance(brain, ScriptedBrain):
        return QualifiedReader(ModelReader(brain.fill), "scripted", results, exempt=True)
    assert mind is not None  # noqa: S101 - else nobody reads
    second = mind.fallback
    passed = results.result(second.label) if second else None
    if passed is None or not passed.qualifies:
        mind = mind.alone()  # a model that did not pass the exam reads no messages
    reader = ModelReader(PaidBrain(mind, context.budget, context.clock).fill_text)
    return QualifiedReader(reader, mind.label, results)


def is_read_by_model(context: AppContext, model: QualifiedReader | None) -> bool:
    """Whether a model that passed the exam reads messages.

    A command that runs without the brain leaves the reading to the running Remit.
    """
    if model is not None or not isinstance(context.brain, NoBrain):
        return model is not None and model.leads
    settings, results = context.settings, ExamFile(context.settings.home)
    if settings.brain.kind != "scripted" and not results.any_qualifies:
        return False
    try:
        brain = brain_of(settings)
    except BadInput:
        return False
    if isinstance(brain, ScriptedBrain):
        return brain.reads_messages
    mind = brain.as_role(ModelRole.EXTRACT) if isinstance(brain, ModelBrain) else None
    result = results.result(mind.label) if mind is not None and mind.ready else None
    return result is not None and result.qualifies


def reader(context: AppContext, model: QualifiedReader | None) -> RequestReader:
    """Return the message reader: a qualified model, else the closed patterns."""
    return CommandReader(model or PlainReader(), context.settings.commands)
