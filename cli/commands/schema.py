"""`podrace schema`, and its options."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ..app import app


class Document(Enum):
    """JSON documents that podrace writes."""

    report = "report"
    walks = "walks"
    trace = "trace"


@app.command(
    help="Print the JSON Schema of what podrace writes: the report of `check -o json`, that of `simulate -o json`, "
    "and the stored trace."
)
def schema(
    name: Annotated[
        Document, typer.Argument(metavar="report|walks|trace", show_default=False, help="Which document.")
    ],
) -> None:
    from ...reports.schema import schema_text
    from ..console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        typer.echo(schema_text(name.value), nl=False)
