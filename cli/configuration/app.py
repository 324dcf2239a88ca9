"""The `podrace` command as typer knows it; every command adds itself."""

from __future__ import annotations

from .command_groups import CommandGroups
from .configured import ConfiguredTyper

EXIT_CODES = "Exit codes: 0 holds, 1 violated, 2 wrong usage or input, 3 inconclusive (a budget ran out)."


def _podrace() -> None:
    """Nothing of its own: with a callback, typer takes a command's name also where only that command was imported."""


app = ConfiguredTyper(
    name="podrace",
    cls=CommandGroups,
    callback=_podrace,
    help=f"Finds race conditions in the Kubernetes scheduler, and proves their absence.\n\n{EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
