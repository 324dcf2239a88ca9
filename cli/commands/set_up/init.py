"""`podrace init`: a scenario file to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from ....base.problems import UsageProblem
from ...configuration.app import app

ENDINGS = (".yaml", ".yml")


@app.command(
    help="Write a scenario file to begin with.\n\nEvery line is explained; `podrace test` checks the file. "
    "Exit codes: 0 written, 2 wrong usage, or the file is there already."
)
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write.")] = Path("podrace-test.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    from ....analysis.request.option_files import refuse_unwritable, write_text
    from ...terminal.console import complaint

    if file.suffix not in ENDINGS:
        raise UsageProblem(f"`{file}`: a scenario is a YAML file: let its name end in .yaml")
    refuse_unwritable("FILE", file)
    if file.exists() and not force:
        raise UsageProblem(f"`{file}` is there already: name another file, or add --force to write over it")
    write_text("FILE", file, starter_text())
    print(complaint(f"wrote {file}: now run `podrace test {file}`"))


def starter_text() -> str:
    """The file's text."""
    return files("podrace.cli").joinpath("starter.yaml").read_text(encoding="utf-8")
