"""Shared by every test: an event loop for coroutine tests, and no API keys.

Property tests have no deadline, because a busy machine may be slow. The gate (`.ci/run`) tries the
same examples every time, so its result is reproducible. `make test` and `make soak` look for
others.
"""

import asyncio
import gc
import inspect
import os
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import faked_clocks
from tests.soak import SOAK, examples, left_to_soak

if TYPE_CHECKING:
    from tests.store.postgres import Postgres

settings.register_profile(
    "house",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "gate", settings.get_profile("house"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("house")

# Tests started in the background would ignore interrupts, and so would every program under test:
# each must receive them, as at a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test talks to a vendor: remove this machine's keys.
for _name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
    del os.environ[_name]

# Tests share the cores: threads of numpy that wait for each other would burn ten times the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The owner's zone is that of the machine, unless set. Whatever it is here, tests are in UTC.
if "FAKED_CLOCK" not in os.environ:
    os.environ["TZ"] = "UTC"
    time.tzset()


# Every commit waits for the disk, and the tests commit a hundred thousand times: if there is enough
# memory, their folders are in memory.
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it
NEEDED_BYTES = 4 * 1024**3
RUNS_PROGRAMS = MEMORY.is_dir() and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
if RUNS_PROGRAMS and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > NEEDED_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_xdist_auto_num_workers() -> int:
    """Tests wait for sockets, browsers and processes: two on a core leave it less idle."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep all imports and 15,000 tests out of later garbage collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make soak` runs."""
    if SOAK:
        return
    long = left_to_soak(items)
    items[:] = [each for each in items if each not in long]
    config.hook.pytest_deselected(items=list(long))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator["Postgres"]:
    """A Postgres server for all tests of this process; each leaves its tables empty."""
    from tests.store.postgres import postgres  # noqa: PLC0415 - most tests have none

    with postgres() as server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    faked_clocks.set_clock(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    wanted = inspect.signature(test).parameters
    asyncio.run(test(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True
