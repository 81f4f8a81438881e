"""Asks a Temporal server for its version.

A process of its own, because a connection of Temporal's library cannot be closed.
"""

import asyncio
import os
import re
import subprocess
import sys
from typing import Final

from remit.errors import StepFailed
from remit.settings import EngineSettings

_LIMIT_SECONDS: Final = 20


def server_version(settings: EngineSettings) -> str:
    """Return the version of the server; raises with the reason if it does not answer."""
    command = [sys.executable, "-m", __name__, settings.address, settings.namespace]
    try:
        done = subprocess.run(  # noqa: S603 - this module
            command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise StepFailed(f"no answer within {_LIMIT_SECONDS} s") from None
    if done.returncode:
        raise StepFailed((done.stderr.strip() or "no answer").splitlines()[-1])
    return done.stdout.strip()


def reason(error: Exception) -> str:
    """Return why there is no answer; Temporal's library wraps the words of the system."""
    text = " ".join(str(error).split())
    words = re.findall(r'message: "([^"]+)"', text)
    return words[-1] if words else text[:300]


async def _ask(address: str, namespace: str) -> str:
    from temporalio.api.workflowservice.v1 import (  # noqa: PLC0415 - an extra
        DescribeNamespaceRequest,
        GetSystemInfoRequest,
    )
    from temporalio.client import Client  # noqa: PLC0415 - as above

    client = await Client.connect(address, namespace=namespace)
    service = client.workflow_service
    await service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    return (await service.get_system_info(GetSystemInfoRequest())).server_version


if __name__ == "__main__":
    try:
        sys.stdout.write(asyncio.run(_ask(sys.argv[1], sys.argv[2])))
        code = 0
    except Exception as error:  # noqa: BLE001 - whatever is wrong, it is said
        sys.stderr.write(reason(error))
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
