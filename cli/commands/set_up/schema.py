"""`podrace schema`, and its options."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ...configuration.app import app


class Document(Enum):
    """JSON documents that podrace writes, and the YAML file that it reads."""

    report = "report"
    walks = "walks"
    ways = "ways"
    ask = "ask"
    replay = "replay"
    reproduction = "reproduction"
    trace = "trace"
    scenario = "scenario"


@app.command(
    help="Print the JSON Schema of what podrace writes: the report of `check -o json`, those of `simulate -o json` and "
    "`ways -o json`, those of `replay -o json` and `reproduce -o json`, and the stored trace; and that of scenario files, which it reads, for editors."
)
def schema(
    name: Annotated[
        Document,
        typer.Argument(
            metavar="report|walks|ways|replay|reproduction|trace|scenario",
            show_default=False,
            help="Which document.",
        ),
    ],
) -> None:
    from ....reports.formats.json_schema import format_schema, schema_of
    from ....scenarios.scenario_schema import schema_of_scenarios
    from ...terminal.console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        wanted = schema_of_scenarios() if name is Document.scenario else schema_of(name.value)
        typer.echo(format_schema(wanted), nl=False)
