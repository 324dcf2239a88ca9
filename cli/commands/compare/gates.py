"""`podrace gates`: the feature gates that concern the scheduler, and how the model has each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...configuration import arguments as arg
from ...configuration.app import app
from ...terminal.console import print_answer

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"modelled": "green", "abstracted": "cyan", "covered": "cyan", "not modelled": "yellow"}


@app.command(
    help="List the scheduler's feature gates in a version: stage, default, and whether the model has the gate.\n\n"
    "`--gate NAME=false` of `podrace check`, and `featureGates` in a scenario, set modelled gates. A verdict counts the gates that are on and not modelled."
)
def gates(release: str | None = None, output: arg.Form = "text", no_color: bool = False) -> None:
    from ....analysis.known import gate_rows
    from ....analysis.request.plan import release_of
    from ....analysis.scheduler_version import version_named
    from ....reports.text.findings_text import print_versions

    chosen = release_of(release)
    version = version_named(chosen)

    def tell(console: Console, document: dict[str, Any]) -> None:
        _print(console, document["gates"])
        print_versions(console, [version])

    print_answer({"version": version.exact, "gates": gate_rows(chosen)}, output, no_color, tell)


def _print(console: Console, rows: list[dict[str, Any]]) -> None:
    from ....reports.text.table import print_columns

    columns = {
        "gate": [row["name"] for row in rows],
        "stage": [row["stage"] for row in rows],
        "default": [_default(row) for row in rows],
        "in podrace": [_how(row) for row in rows],
    }
    print_columns(console, columns, [{"in podrace": STYLES[row["how"]]} for row in rows], ())


def _default(row: dict[str, Any]) -> str:
    if row["default"] is None:
        return "unknown"
    return ("on" if row["default"] else "off") + (", locked" if row["locked"] else "")


def _how(row: dict[str, Any]) -> str:
    if row["how"] == "modelled":
        taken = ", taken as on" if row["taken_as_on"] else ", taken as off" if row["taken_as_off"] else ""
        return f"modelled{taken}: {', '.join(row['changes']) or row['why'] or 'no change is behind it here'}"
    if row["how"] == "abstracted":
        return f"abstracted: {row['row']}"
    return f"{'no difference' if row['how'] == 'covered' else 'not modelled'}: {row['why']}"
