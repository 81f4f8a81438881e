"""What a specialist may do without the owner, and what its last words mean."""

from hypothesis import given
from hypothesis import strategies as st

from remit.model.codec import Json
from remit.model.reply import AttemptOutcome, Policy, ToolCall
from remit.specialist import changes, failures
from remit.system.process import last_lines
from tests.tables import for_each

HOME = "/house/tree"


def call(tool: str, *places: str, given: Json = None) -> ToolCall:
    args: dict[str, Json] = {"input": given}
    if places:
        args["locations"] = list(places)
    return ToolCall("1", tool, args)


@for_each(
    ("wanted", "answer"),
    [
        (call("read", f"{HOME}/a.py"), Policy.ALLOW),
        (call("edit", f"{HOME}/a.py", f"{HOME}/b/c.py"), Policy.ALLOW),
        (call("edit", "a.py"), Policy.ALLOW),
        (call("search", given={"query": "def x"}), Policy.ALLOW),
        (call("think"), Policy.ALLOW),
        (call("edit"), Policy.ASK),
        (call("edit", f"{HOME}/a.py", "/etc/passwd"), Policy.ASK),
        (call("edit", f"{HOME}/../x"), Policy.ASK),
        (call("edit", f"{HOME}/.git/config"), Policy.ASK),
        (call("edit", f"{HOME}-other/a.py"), Policy.ASK),
        (call("read", "/etc/passwd"), Policy.ASK),
        (call("search", given={"path": "/etc"}), Policy.ASK),
        (call("search", given={"paths": ["a", "../../x"]}), Policy.ASK),
        (call("execute", f"{HOME}/a.py"), Policy.ASK),
        (call("fetch"), Policy.ASK),
        (call("switch_mode"), Policy.ASK),
        (call("anything"), Policy.ASK),
    ],
)
def test_reading_and_editing_in_the_folder_is_free_and_all_else_is_asked(
    wanted: ToolCall, answer: Policy
) -> None:
    assert changes.rule(wanted, HOME) is answer


@given(st.text())
def test_no_path_with_a_way_up_is_inside(text: str) -> None:
    assert not changes.is_inside(f"{HOME}/{text}/../../x", HOME)
    assert not changes.is_inside(f"/elsewhere/{text}", HOME)


def test_a_call_is_shown_to_the_letter() -> None:
    alone = ToolCall("1", "execute", {"command": "make"})
    with_more = ToolCall("1", "execute", {"command": "make", "cwd": "/"})

    assert changes.exact(alone) == "make"
    assert changes.exact(with_more) == '{"command":"make","cwd":"/"}'


# Last words ---------------------------------------------------------------------------------------


@for_each(
    ("said", "outcome"),
    [
        ("Error: 429 Too Many Requests", AttemptOutcome.RATE_LIMIT),
        ("rate_limit_exceeded", AttemptOutcome.RATE_LIMIT),
        ("Usage limit reached, resets at 5pm", AttemptOutcome.RATE_LIMIT),
        ("overloaded_error", AttemptOutcome.RATE_LIMIT),
        ("context_length_exceeded", AttemptOutcome.CONTEXT_OVERFLOW),
        ("This model's maximum context length is 8192", AttemptOutcome.CONTEXT_OVERFLOW),
        ("429: prompt is too long: 210000 tokens", AttemptOutcome.CONTEXT_OVERFLOW),
        ("Segmentation fault", AttemptOutcome.CRASH),
        ("listening on port 14290", AttemptOutcome.CRASH),
        ("", AttemptOutcome.CRASH),
        ("rate limit\n" + "x" * 5_000, AttemptOutcome.CRASH),
    ],
)
def test_what_the_last_words_say_is_the_class_of_the_failure(
    said: str, outcome: AttemptOutcome
) -> None:
    assert failures.sort(said) is outcome


def test_last_words_are_one_line_without_what_a_terminal_would_act_on() -> None:
    assert last_lines("\x1b[31mred\n\n a \nb") == "[31mred / a / b"
