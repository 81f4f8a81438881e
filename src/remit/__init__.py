"""Remit runs tasks for AI agents: it checks the work and sends each result at most once."""

import sys

__version__ = "0.1.0"

if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
    # msgspec prefers typing_extensions to the equal typing of Python 3.11; its import would take a
    # sixth of the time that a short command takes. None makes an import of it fail.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401

    del sys.modules["typing_extensions"]
