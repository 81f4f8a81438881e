"""What every test may rely on: a loop for a test that is a coroutine, and no keys of anyone."""

import asyncio
import inspect
import os

import pytest

# No test talks to a vendor: whatever keys this machine has, the tests do not know them.
for _name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
    del os.environ[_name]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    wanted = inspect.signature(test).parameters
    asyncio.run(test(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True
