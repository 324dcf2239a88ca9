"""`podrace prove`: every cluster up to a size, whatever the sizes and priorities."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ....analysis.request.method import threads_of
from ....analysis.request.options import parse_memory, parse_parts, parse_size, parse_states
from ...configuration import arguments as arg
from ...configuration.app import app, examples


class Resource(Enum):
    """Resources that pods may ask for."""

    cpu = "cpu"
    memory = "memory"


@app.command(
    help="Check all clusters up to a size.\n\nThe verdict covers all requests, capacities and priorities. The scheduler only compares sizes and priorities, so only finitely many clusters differ. podrace explores all of them to the end. Without --property: S-NOM, "
    "S-NOMVIS and S-CAP.\n\n"
    "Exit codes: 0 holds for all, 1 violated by some, 2 wrong usage or input, 3 inconclusive for some.",
    epilog=examples("podrace prove --pods 3 --nodes 2 --property S-CAP"),
)
def prove(
    pods: Annotated[
        str, typer.Option("--pods", metavar="P", show_default=False, help="The largest number of pods.")
    ],
    nodes: Annotated[
        str, typer.Option("--nodes", metavar="N", show_default=False, help="The largest number of nodes.")
    ],
    release: arg.Release = None,
    with_fix: arg.WithFix = None,
    without_fix: arg.WithoutFix = None,
    gate: arg.Gates = None,
    property_: arg.PropertyIds = None,
    own: arg.Own = None,
    patch: arg.Patches = None,
    resources: Annotated[
        list[Resource] | None,
        typer.Option("--resource", help="The resource of pods and nodes (default: cpu; repeatable)."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A bound of the scope, such as node_deletions=1 (repeatable)."
        ),
    ] = None,
    time: arg.Time = None,
    slow: arg.Slow = None,
    zero_grace: Annotated[
        bool, typer.Option("--zero-grace", help="Pods have terminationGracePeriodSeconds 0.")
    ] = False,
    negative_priorities: Annotated[
        bool, typer.Option("--negative-priorities", help="Also check priorities below 0.")
    ] = False,
    no_empty_requests: Annotated[
        bool, typer.Option("--no-empty-requests", help="Every pod requests some of each resource.")
    ] = False,
    one_priority: Annotated[bool, typer.Option("--one-priority", help="All pods have priority 0.")] = False,
    gangs: Annotated[
        list[str] | None,
        typer.Option("--gang", metavar="N", help="Add a gang of N equal waiting pods (repeatable)."),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="With --gang: the pods of a gang arrive one after the other.")
    ] = False,
    max_states: Annotated[
        str | None, typer.Option(metavar="N", help="Stop each search after N states, such as 5M.")
    ] = None,
    max_memory: arg.MaxMemory = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Explore the clusters of a large placement in N parts, for several processes or machines, or to save memory.",
        ),
    ] = None,
    jobs: arg.Processes = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the simplest cluster of each group into this directory, as a scenario file.",
        ),
    ] = None,
    output: arg.FormOption = "text",
    verbose: arg.Lanes = False,
    no_color: arg.NoColor = False,
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
    from ....analysis.prove.proof_request import ProofRequest, template_of
    from ....analysis.prove.proofs import prove_all, write_examples
    from ....analysis.request.plan import parse_scope, scope_in_time
    from ....reports.answers.proof_report import print_proof
    from ....reports.filtered import to_json
    from ...terminal.console import print_form, result_console, tolerant_of_closed_pipes
    from ...terminal.output import say
    from ...terminal.progress_display import progress_display

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
    with tolerant_of_closed_pipes():
        if output == "json":
            print_form(to_json(proofs))
        else:
            console = result_console(no_color)
            for number, proof in enumerate(proofs):
                if number:
                    console.print()
                print_proof(console, proof, verbose)
    verdicts = {proof.verdict for proof in proofs}
    raise typer.Exit(1 if "VIOLATED" in verdicts else 3 if "INCONCLUSIVE" in verdicts else 0)
