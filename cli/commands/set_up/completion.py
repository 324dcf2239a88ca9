"""`podrace completion`, and its options."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ...configuration.app import app


class Shell(Enum):
    """Shells that can complete command lines."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


@app.command(
    help="Print a script that lets a shell complete podrace's commands and options.\n\n"
    'In bash: eval "$(podrace completion bash)"; `podrace --install-completion` does it for good.'
)
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", show_default=False, help="Which shell.")],
) -> None:
    from typer._completion_shared import get_completion_script

    from ...terminal.console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        typer.echo(
            get_completion_script(prog_name="podrace", complete_var="_PODRACE_COMPLETE", shell=shell.value)
        )
