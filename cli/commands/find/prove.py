"""`podrace prove`: every cluster up to a size, whatever the sizes and priorities."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ....analysis.request.method import threads_of
from ....analysis.request.options import parse_memory, parse_parts, parse_size, parse_states
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import print_answer
from ...terminal.output import say
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from rich.console import Console

    from ....reports.answers.proof_report import Proof


class Resource(Enum):
    """Resources that pods may ask for."""

    cpu = "cpu"
    memory = "memory"


@app.command(
    help="Check all clusters up to a size.\n\nThe verdict covers all requests, capacities and priorities. The scheduler only compares sizes and priorities, so only finitely many clusters behave differently. podrace explores all of them to the end. Without --property, it checks S-NOM, "
    "S-NOMVIS and S-CAP.\n\n"
    "Exit codes: 0 holds for all, 1 violated by some, 2 wrong usage or input, 3 inconclusive for some.",
    epilog=examples("podrace prove --pods 3 --nodes 2 --property S-CAP"),
)
def prove(
    pods: str,
    nodes: str,
    release: str | None = None,
    with_fix: list[str] | None = None,
    without_fix: list[str] | None = None,
    gate: list[str] | None = None,
    property_: list[str] | None = None,
    own: list[str] | None = None,
    patch: list[str] | None = None,
    resources: list[Resource] | None = None,
    scope: list[str] | None = None,
    time: arg.Time = None,
    slow: list[str] | None = None,
    zero_grace: bool = False,
    negative_priorities: bool = False,
    no_empty_requests: bool = False,
    one_priority: bool = False,
    gangs: list[str] | None = None,
    together: bool = False,
    max_states: str | None = None,
    max_memory: str | None = None,
    parts: str | None = None,
    jobs: str | None = None,
    examples: Path | None = None,
    output: arg.Form = "text",
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    most = parse_states(max_states) if max_states is not None else None
    memory = parse_memory(max_memory) if max_memory is not None else None
    processes = threads_of(jobs)
    singles = 0 if gangs and pods == "0" else parse_size("--pods", pods)
    pieces = 1 if parts is None else parse_parts(parts)
    sizes = singles, parse_size("--nodes", nodes)
    from ....analysis.request.option_files import refuse_file

    if examples is not None:
        refuse_file("--examples", examples)
    from ....analysis.prove.proof_of_property import prove_all, write_examples
    from ....analysis.prove.proof_request import ProofRequest, template_of
    from ....analysis.request.plan import parse_scope, scope_in_time
    from ....reports.answers.proof_report import print_proof

    request = ProofRequest(
        pods=sizes[0],
        nodes=sizes[1],
        release=release,
        with_fixes=with_fix or (),
        without_fixes=without_fix or (),
        properties=property_ or (),
        own=own or (),
        patches=patch or (),
        gates=gate or (),
        example=template_of(
            [r.value for r in resources or ()],
            scope_in_time(parse_scope(scope or ()), time, slow or ()),
            graceful=not zero_grace,
            negative_priorities=negative_priorities,
            empty_requests=not no_empty_requests,
            one_priority=one_priority,
            gangs=[parse_size("--gang", text) for text in gangs or ()],
            together=together,
        ),
        max_states=most,
        max_memory=memory,
        jobs=processes,
        parts=pieces,
    )
    with progress_display(no_color) as display:
        proofs = prove_all(request, display)
    if examples is not None:
        for problem in write_examples(proofs, examples):
            say(problem, no_color)

    def tell(console: Console, proofs: Sequence[Proof]) -> None:
        for number, proof in enumerate(proofs):
            if number:
                console.print()
            print_proof(console, proof, verbose)

    print_answer(proofs, output, no_color, tell)
    verdicts = {proof.verdict for proof in proofs}
    raise typer.Exit(1 if "VIOLATED" in verdicts else 3 if "INCONCLUSIVE" in verdicts else 0)
