"""`podrace schema`, and its options."""

from typing import Literal

import typer

from ...configuration.app import app
from ...terminal.console import tolerant_of_closed_pipes


@app.command(
    help="Print the JSON Schema of a file of podrace, for editors and programs.\n\nThe files are the outputs of `check -o json`, "
    "`replay -o json` and `reproduce -o json`, stored traces, scenario files and baselines."
)
def schema(
    name: Literal["report", "ask", "replay", "reproduction", "trace", "scenario", "baseline"],
) -> None:
    from ....reports.formats.json_schema import format_schema, schema_of
    from ....scenarios.scenario_schema import schema_of_scenarios
    from ....scenarios.tables.baseline import schema_of_baselines

    with tolerant_of_closed_pipes():
        read = {"scenario": schema_of_scenarios, "baseline": schema_of_baselines}
        wanted = read[name]() if name in read else schema_of(name)
        typer.echo(format_schema(wanted), nl=False)
