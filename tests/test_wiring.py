"""The whole, put together: what waited for a brain goes on by itself once there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import remit
from remit import wiring
from remit.journal import event_words
from remit.model.codec import Json
from remit.model.run import EventKind
from remit.model.status import Reason, Status
from remit.settings import Settings
from remit.settings.parts import BrainSettings
from remit.store import tasks
from remit.testing import script
from remit.triggers import cue_admission
from remit.wiring.app_context import RandomBits

SANUR: Json = [{"reply": "I looked. <deliverable>Sanur.</deliverable>"}]


async def test_what_waited_for_a_brain_goes_on_once_there_is_one(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with wiring.opened(settings) as app:
        await wiring.start(app)
        task = await app.intake.admit(cue_admission.cue("Find a beach", ref="1"))
        await app.engine.settled()
        (asked,) = await app.inbox.waiting()
        await app.engine.stop()
    assert (asked.reason, app.thinks) == (Reason.AUTH, False)
    assert "ANTHROPIC_API_KEY" in asked.question

    async with wiring.opened(settings, brain=script(SANUR)) as app:
        await wiring.start(app)
        await app.engine.settled()
        done, told = await app.db.read(tasks.get, task.id), await app.journal.of_task(task.id)
        await app.engine.stop()
    assert (done.status, done.delivery[0].body) == (Status.COMPLETED, "Sanur.")
    (decided,) = [event for event in told if event.kind is EventKind.REVIEW_DECIDED]
    assert decided.data["by"] == "owner: a brain is there now"
    assert (
        event_words.decision_sentence(decided.data) == "It went on by itself: a brain is there now."
    )


@pytest.mark.parametrize(
    ("name", "value", "leaked"),
    [
        ("STRIPE_SECRET", "correct-horse-battery", "correct-horse-battery"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIbPxRfiCY4", "wJalrXUtnFEMIbPxRfiCY4"),
        ("DATABASE_URL", "postgres://anna:hunter2hunter2@db/app", "hunter2hunter2"),
        ("OUR_MODEL", "correct-horse-battery", "correct-horse-battery"),  # named by key_env
    ],
)
async def test_a_secret_of_the_environment_is_neither_sent_nor_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, leaked: str
) -> None:
    monkeypatch.setenv(name, value)
    settings = Settings(home=tmp_path, brain=BrainSettings(key_env="OUR_MODEL"))
    says: Json = [{"reply": f"<deliverable>It is {leaked}, keep it.</deliverable>"}]

    async with wiring.opened(settings, brain=script(says)) as app:
        await wiring.start(app)
        task = await app.intake.admit(cue_admission.cue("Find a beach", ref="1"))
        await app.engine.settled()
        held = await app.db.read(tasks.get, task.id)
        logged = app.hide(f"It failed with {leaked}.")
        await app.engine.stop()

    assert (held.status, [each.body for each in held.delivery]) == (Status.NEEDS_REVIEW, [None])
    assert leaked not in logged


def test_what_is_loaded_at_the_start_leaves_out_what_takes_seconds_to_load() -> None:
    heavy = ["pydantic_ai", "anthropic", "openai", "numpy", "qdrant_edge", "acp"]
    heavy += ["temporalio", "psycopg", "grpc"]
    program = (
        "import sys; from pathlib import Path; from remit.settings import Settings;"
        " from remit.wiring.running import preload; preload(Settings(home=Path('.')));"
        f" print(*[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b""


def test_a_module_that_nothing_used_yet_is_imported_although_the_folder_is_gone(
    tmp_path: Path,
) -> None:
    package = tmp_path / "lib" / "remit"
    shutil.copytree(Path(remit.__file__).parent, package)
    program = (
        "import importlib, shutil, sys; from pathlib import Path; import remit;"
        " from remit.settings import Settings; from remit.wiring.running import preload;"
        " preload(Settings(home=Path('.'))); shutil.rmtree(remit.__path__[0]);"
        " names = ['remit.brain.talk', 'remit.channels.mail.imap', 'remit.verify.suite_runs'];"
        " print(*[name in sys.modules for name in names]);"
        " print(*[importlib.import_module(name).__name__ for name in names])"
    )
    environ = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=tmp_path, env=environ
    )
    assert done.stdout.split()[:3] == [b"False"] * 3
    assert done.stdout.split()[3:] == [
        b"remit.brain.talk",
        b"remit.channels.mail.imap",
        b"remit.verify.suite_runs",
    ]


def test_random_numbers_come_from_one_supply_and_never_twice() -> None:
    drawn: list[int] = []

    def draw(size: int) -> bytes:
        drawn.append(size)
        return os.urandom(size)

    bits = RandomBits(draw)
    numbers = [bits(80) for _ in range(300)] + [bits(66) for _ in range(100)]

    assert len(set(numbers)) == len(numbers)
    assert max(numbers[:300]) < 1 << 80
    assert max(numbers[300:]) < 1 << 66
    assert len(drawn) < 10


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_draws_numbers_of_its_own() -> None:
    bits = RandomBits(os.urandom)
    bits(80)
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writer, bits(80).to_bytes(10, "big"))
        os._exit(0)
    os.waitpid(child, 0)

    assert int.from_bytes(os.read(reader, 10), "big") != bits(80)
