"""`podrace mcp`: the tools for assistants and editors, on stdin and stdout."""

import os
from pathlib import Path

from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ...configuration.app import app, examples


@app.command(
    help="Serve check, ask, verify, explain and hazards to an assistant or an editor, by the Model Context Protocol on stdin and stdout.\n\n"
    "Needs the extra `podrace[mcp]`. podrace reads scenario files and traces only below --root, and writes no files. docs/mcp.md shows how to use it.\n\n"
    "Exit codes: 0 stdin ended, 2 wrong usage.",
    epilog=examples("podrace mcp --root scenarios", "podrace mcp --timeout 2m --max-states 5M"),
)
def mcp(
    root: Path = Path("."),
    allow_code: bool = False,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str = "60s",
    jobs: str | None = None,
) -> None:  # fmt: skip
    budget = budget_of(max_states, max_memory, timeout, jobs)
    if not root.is_dir():
        raise UsageProblem(f"--root: `{root}` is not a directory: name one")
    try:
        from ...assistants.server import run
    except ModuleNotFoundError:
        raise UsageProblem(
            "`podrace mcp` needs the extra `podrace[mcp]`, which is not installed: run `pip install 'podrace[mcp]'`"
        ) from None
    from ...assistants.tools import Tools

    os.chdir(root)
    run(Tools(budget, allow_code))
