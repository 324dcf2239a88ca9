"""`podrace drift`: which of the functions that the model stands for have changed upstream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..configuration.app import app
from ..configuration.arguments import Form, FormOption, NoColor

if TYPE_CHECKING:
    from ...analysis.upstream.drifted import HeldAgainst

SAME, DRIFTED = 0, 1


@app.command(
    help="Say which of the functions that the model stands for have changed in a kubernetes source tree.\n\n"
    "docs/functions.md names these functions; the tokens of each were hashed when the model was last held to them. "
    "Comments and layout do not count.\n\n"
    "Exit codes: 0 none changed, 1 some changed, moved or vanished, 2 this is no such tree."
)
def drift(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", show_default=False, help="The root of a kubernetes source tree.")
    ],
    update: Annotated[bool, typer.Option("--update", help="Write the hashes of this tree.")] = False,
    release: Annotated[
        str, typer.Option("--release", metavar="X.Y.Z", help="With --update: the release of this tree.")
    ] = "",
    hashes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with this file instead of podrace's own.")
    ] = None,
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from ...analysis.upstream.drifted import compare, write_hashes
    from ..terminal.console import tolerant_of_closed_pipes
    from ..terminal.output import say

    found = compare(directory, hashes, update)
    with tolerant_of_closed_pipes():
        _print(found, output, no_color)
    if update:
        write_hashes(found, release)
        say(f"wrote {found.file}: {len(found.kept)} functions", no_color)
    raise typer.Exit(DRIFTED if found.drifted and not update else SAME)


def _print(found: HeldAgainst, form: Form, no_color: bool) -> None:
    from rich.text import Text

    from ...reports.text.findings_text import INDENT, print_wrapped
    from ..terminal.console import print_json, result_console

    if form is Form.json:
        print_json(
            {
                "release": found.looked.release,
                "functions": found.wanted,
                "drifted": [
                    {
                        "place": d.place,
                        "what": d.what,
                        "where": d.where or None,
                        "model": found.elements_of(d),
                    }
                    for d in found.drifted
                ],
            }
        )
        return
    console = result_console(no_color)
    for d in found.drifted:
        print_wrapped(console, Text(d.words, "bold red" if d.what != "moved" else "bold yellow"))
        named = dict.fromkeys(found.elements_of(d))
        print_wrapped(console, Text(f"in the model: {', '.join(named)}"), INDENT)
    since = f" since {found.looked.release}" if found.looked.release else ""
    same = f"{found.wanted - len(found.drifted)} of {found.wanted} functions are the same{since}"
    print_wrapped(console, Text(same, "bold"))
