"""Which model thinks: what the settings say, what the environment holds, and what to set."""

import pytest
from msgspec.structs import replace

from remit.brain import choose
from remit.brain.choose import ModelChoice, ModelConfig, ModelLimits, ModelRole, Vendor
from remit.errors import BadInput
from tests.live.place import KEY, brain_settings
from tests.tables import for_each, table


def chosen(environ: dict[str, str] | None = None, **wish: str) -> ModelChoice:
    return choose.choose_models(environ or {}, replace(brain_settings(), **wish))


def thinker(environ: dict[str, str], **wish: str) -> ModelConfig:
    return chosen(environ, **wish).models[ModelRole.THINK]


def key_of(model: ModelConfig) -> str | None:
    return model.key.reveal() if model.key else None


def test_with_nothing_at_all_it_says_what_to_set() -> None:
    found = choose.choose_models({}, brain_settings(time_limit=7, token_limit=8))

    assert not found.ready
    assert found.models == {}
    assert found.limits == ModelLimits(7, 8)
    assert found.sentence == (
        "No language model is set. Connect one with `remit setup brain` or under Settings, or set "
        "ANTHROPIC_API_KEY or OPENAI_API_KEY and start Remit again."
    )


@for_each(
    ("name", "vendor", "known"),
    [
        ("ANTHROPIC_API_KEY", Vendor.ANTHROPIC, "anthropic"),
        ("OPENAI_API_KEY", Vendor.OPENAI_RESPONSES, "openai"),
    ],
)
def test_a_key_is_enough(name: str, vendor: Vendor, known: str) -> None:
    found = chosen({name: f" {KEY}\n"})  # the line end that a shell leaves is no part of it

    assert found.ready
    assert set(found.models) == set(ModelRole)
    model = found.models[ModelRole.THINK]
    assert (model.vendor, key_of(model)) == (vendor, KEY)
    assert found.sentence == f"{vendor}:{model.name}, with the key in {name}."
    assert f"{known}:{model.name}" in _known_names()


def _known_names() -> set[str]:
    from pydantic_ai.models import known_model_names  # noqa: PLC0415 - takes a second

    return set(known_model_names())


def test_of_two_keys_the_first_is_taken_unless_the_settings_say() -> None:
    both = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}

    assert thinker(both).vendor is Vendor.ANTHROPIC
    assert str(thinker(both, model="openai:gpt-5.5")) == "openai-responses:gpt-5.5"


@for_each(
    ("environ", "hint"),
    [
        ({"OPENAI_BASE_URL": "http://localhost:8000/v1"}, 'model = "openai:…"'),
        ({"OLLAMA_BASE_URL": "http://localhost:11434"}, 'model = "ollama:…"'),
    ],
)
def test_a_server_without_a_model_is_not_enough(environ: dict[str, str], hint: str) -> None:
    found = chosen(environ)

    assert not found.ready
    assert hint in found.sentence


@for_each(("spec", "environ", "means"), table(__file__, "model_strings"))
def test_a_model_string_means_one_thing(spec: str, environ: dict[str, str], means: str) -> None:
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}

    assert str(thinker(keys | environ, model=spec)) == means


def test_each_role_may_have_its_own_model() -> None:
    wish = {"model": "anthropic:big", "extract": "anthropic:small", "score": "ollama:qwen3"}
    found = chosen({"ANTHROPIC_API_KEY": KEY}, **wish)

    assert {role: model.name for role, model in found.models.items()} == {
        ModelRole.EXTRACT: "small",
        ModelRole.THINK: "big",
        ModelRole.SCORE: "qwen3",
        ModelRole.SUMMARISE: "big",
    }
    assert found.sentence == (
        "extract: anthropic:small, with the key in ANTHROPIC_API_KEY. "
        "think, summarise: anthropic:big, with the key in ANTHROPIC_API_KEY. "
        "score: ollama:qwen3 at http://localhost:11434/v1, without a key."
    )


def test_a_role_may_lack_what_the_others_have() -> None:
    found = chosen({"OPENAI_API_KEY": KEY}, extract="anthropic:small")

    assert found.ready
    assert found.lacks == {
        ModelRole.EXTRACT: "anthropic:small needs a key: `remit setup brain` stores it, or set "
        "ANTHROPIC_API_KEY and start Remit again."
    }


def test_another_server_gets_the_key_that_is_named_for_it_and_no_other() -> None:
    environ = {"OPENAI_API_KEY": KEY, "GATE_KEY": "gate-123", "ANTHROPIC_API_KEY": KEY}
    there = {"model": "openai:x", "base_url": "https://gateway.example/v1"}

    assert key_of(thinker(environ, **there)) is None
    assert key_of(thinker(environ, **there, key_env="GATE_KEY")) == "gate-123"
    # The address is for the model it stands beside.
    found = chosen(environ, **there, score="anthropic:y").models
    assert found[ModelRole.THINK].base_url == "https://gateway.example/v1"
    assert found[ModelRole.SCORE].base_url is None
    # A vendor that needs a key elsewhere asks for its name.
    asks = chosen(environ, model="anthropic:x", base_url="https://gateway.example")
    assert "MODEL_API_KEY" in asks.sentence


@for_each("bad", [f"{KEY}\nX-Evil: 1", f"{KEY} x", f"{KEY}é", f"{KEY}\x00"])
def test_a_key_that_would_break_a_header_is_refused_and_not_shown(bad: str) -> None:
    found = chosen({"ANTHROPIC_API_KEY": bad})

    assert not found.ready
    assert found.sentence.startswith("The key in ANTHROPIC_API_KEY holds a character")
    assert KEY not in found.sentence


@pytest.mark.parametrize("role", ["model", "extract", "think", "score", "summarise"])
@pytest.mark.parametrize("spec", ["claude", "antropic:claude", "anthropic:", ":x", "openai: "])
def test_a_model_string_that_means_nothing_is_refused_by_name(role: str, spec: str) -> None:
    with pytest.raises(BadInput, match=rf"\[brain\] {role} must be a vendor, a colon") as refused:
        choose.choose_models({}, replace(brain_settings(), **{role: spec}))

    assert refused.value.field == role


@for_each(
    "url",
    [
        *("localhost:8000", "ftp://x/v1", "http://", "https://user:hunter2@host/v1"),
        *("https://host/v1?key=hunter2", "https://host/v1#hunter2"),
        *("http://host:99999/v1", "http://[half/v1"),
    ],
)
def test_an_address_that_is_none_or_tells_too_much_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="base_url") as refused:
        chosen(model="openai:x", base_url=url)

    assert "hunter2" not in str(refused.value)


def test_a_base_url_alone_is_half_a_sentence() -> None:
    with pytest.raises(BadInput, match="set model too"):
        chosen(base_url="http://localhost:8000/v1")
