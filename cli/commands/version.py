"""`podrace version`, and its options."""

from __future__ import annotations

from ..app import app
from ..arguments import Form, FormOption


@app.command(help="Print the version; as JSON also what this podrace knows and writes.")
def version(output: FormOption = Form.text) -> None:
    from ...analysis.version import print_version
    from ..console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        print_version(output.value)
