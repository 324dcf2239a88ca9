"""`podrace races` and `podrace properties`, and their options."""

from __future__ import annotations

from typing import Annotated

import typer

from ..app import app
from ..arguments import Form, FormOption, NoColor, Own


@app.command(help="List the known races.")
def races(output: FormOption = Form.text, no_color: NoColor = False) -> None:
    from ..console import tolerant_of_closed_pipes
    from ..listings import list_races

    with tolerant_of_closed_pipes():
        list_races(output.value, no_color)


@app.command(help="List the properties, or explain some.")
def properties(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="ID", show_default=False, help="What to explain.")
    ] = None,
    own: Own = None,
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from ...analysis.own.own_properties import own_properties
    from ..console import tolerant_of_closed_pipes
    from ..listings import list_properties

    with tolerant_of_closed_pipes():
        list_properties(names or (), output.value, no_color, own_properties(own or ()))
