"""The `podrace` command as typer knows it; every command adds itself."""

from collections.abc import Sequence

from typer import Context

from .command_groups import CommandGroups
from .configured import ConfiguredTyper

EXIT_CODES = "Exit codes: 0 holds, 1 violated, 2 wrong usage or input, 3 inconclusive (a budget ran out)."


def examples(*lines: str) -> str:
    """Command lines for the end of a command's help, kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def given(context: Context, parameters: Sequence[str]) -> list[str]:
    """The options, as they are spelled first, of those parameters that have another value than by default."""
    known = {parameter.name: parameter for parameter in context.command.params}
    values = {name: context.params[name] for name in parameters}
    return [known[name].opts[0] for name, v in values.items() if v and v != known[name].default]


def _podrace() -> None:
    """Nothing of its own: with a callback, typer takes a command's name also where only that command was imported."""


app = ConfiguredTyper(
    name="podrace",
    epilog=examples(
        "podrace check 72124                      # a race, told step by step",
        "podrace check mine.yaml --release 1.36   # a scenario of your own",
        "kubectl get nodes,pods -A -o yaml | podrace check -f -",
        "podrace verify 72259                     # what an upstream change does",
    ),
    cls=CommandGroups,
    callback=_podrace,
    help=f"Finds race conditions in the Kubernetes scheduler, and proves their absence.\n\n{EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
