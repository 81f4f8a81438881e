"""A Remit that is killed while a tool of a server is being used; started by the tests.

    python -m tests.live.mcp_worker HOME FOLDER SERVER

The server never answers. Once FOLDER/notes says that the call got there, the process ends as if
the power had gone.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from remit.model.reply import Policy
from remit.settings import McpSettings, Settings
from remit.testing import script
from remit.triggers import cue_admission
from remit.wiring import opened, start
from tests.brain.tooling import SENDS, once, use


async def main(home: Path, folder: Path, server: str) -> None:
    run = (sys.executable, "-I", server, "silent", str(folder))
    mcp = {"s": McpSettings(command=run, policy=Policy.ALLOW)}
    brain = script([once(use("s__note", text="one")), SENDS])
    async with opened(Settings(home=home, mcp=mcp), brain=brain) as app:
        await app.intake.admit(cue_admission.cue("Note it", ref="1"))
        await start(app)
        for _ in range(10_000):
            if (folder / "notes").exists():
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(0.005)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
