"""What every test may rely on: a loop for a test that is a coroutine, and no keys of anyone.

A property holds however long a busy machine takes to try it, so no example has a deadline. The gate
(`.ci/run`) tries the same examples every time: what it says of a commit, it says again. `make test`
and `make soak` look for others.
"""

import asyncio
import inspect
import os
import signal
import time

import pytest
from hypothesis import HealthCheck, settings

from tests import faked_clocks

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "gate", settings.get_profile("house"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("house")

# Whoever starts the tests in the background has interrupts ignored, and so would have every program
# that is tried: each is to hear them, as at a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test talks to a vendor: whatever keys this machine has, the tests do not know them.
for _name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
    del os.environ[_name]

# The owner's zone is that of the machine, unless set. Whatever it is here, tests are in UTC.
if "FAKED_CLOCK" not in os.environ:
    os.environ["TZ"] = "UTC"
    time.tzset()


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
