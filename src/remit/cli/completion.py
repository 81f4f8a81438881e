"""`remit completion`: a shell completion script that does not start Python."""

from typing import Annotated, Literal

from remit.cli import out
from remit.cli.out import AsJson, flag


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], flag("Which shell.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Print a completion script; put it where your shell looks for such.

    In bash: remit completion bash > ~/.local/share/bash-completion/completions/remit
    """
    from remit.cli.full_parser import build  # noqa: PLC0415 - slow to import

    script = build().generate_completion(prog_name="remit", shell=shell)
    if json:
        out.emit({"shell": shell, "script": script})
    else:
        print(script)
    return 0
