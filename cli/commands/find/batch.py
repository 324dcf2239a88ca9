"""`podrace batch`: many command lines on several processes or machines."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ....analysis.request.method import threads_of
from ...configuration.app import app, examples
from ...configuration.arguments import Journal, NoColor, Processes, Ray


class BatchForm(Enum):
    """Forms of what came of the lines."""

    text = "text"
    json = "json"


@app.command(
    help="Run many podrace commands, one a line of a file, on several processes or machines.\n\n"
    "What each prints is shown when it is done, or all of it as JSON in the order of the file. Lines should say --jobs 1 where they can. "
    "docs/many-machines.md says how ten machines are used.\n\n"
    "Exit codes: 2 if any line has 2, else 1 if any has 1, else 3 if any has 3, else 0.",
    epilog=examples("podrace batch lines.txt --jobs 4 --journal lines.journal"),
)
def batch(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", show_default=False, help="A command line a line; # begins a comment."),
    ],
    jobs: Processes = None,
    journal: Journal = None,
    ray: Ray = None,
    form: Annotated[
        BatchForm, typer.Option("-o", "--output", help="Form of the result on stdout.")
    ] = BatchForm.text,
    no_color: NoColor = False,
) -> None:
    processes = threads_of(jobs)
    from ....analysis.batch import BatchRequest, code_of, run_batch
    from ....analysis.request.option_files import refuse_directory
    from ...configuration.command_groups import MODULES
    from ...terminal.console import tolerant_of_closed_pipes
    from ...terminal.progress_display import progress_display

    if journal is not None:
        refuse_directory("--journal", journal)
    found = []
    with progress_display(no_color) as display, tolerant_of_closed_pipes():
        for line, ran in run_batch(BatchRequest(file, processes, ray, journal), MODULES, display):
            found.append((line, ran))
            if form is BatchForm.text:
                print(
                    f"$ podrace {line.text}\n{ran.out}{ran.err}[{ran.code}, {ran.seconds:.1f} s]", flush=True
                )
    if form is BatchForm.json:
        import msgspec

        from ....reports.filtered import to_json
        from ...terminal.console import print_form

        found.sort(key=lambda pair: pair[0].number)
        rows = [
            {"line": line.number, "command": line.text, **msgspec.to_builtins(ran)} for line, ran in found
        ]
        with tolerant_of_closed_pipes():
            print_form(to_json(rows))
    raise typer.Exit(code_of({ran.code for _, ran in found}))
