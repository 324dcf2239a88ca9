"""`podrace lockstep`: the model held against kube-scheduler's own code on random runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ....base.problems import UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import app
from ...terminal.console import print_answer
from ...terminal.progress_display import progress_display

DIFFERS = 3

VERSIONS = ("v1.36.3", "v1.35.4", "v1.34.4", "v1.33.6")
"""The versions that the model is held against unless others are named."""


@app.command(
    help="Compare the model with kube-scheduler's own code.\n\npodrace forces random runs of the model on the code, step by step, and compares the state after each step. With TRACE, it executes a stored difference again. Needs Go 1.26 or later.\n\n"
    "Exit codes: 0 in step, 2 wrong usage or input, 3 something differs, or cannot be forced."
)
def lockstep(
    trace: Path | None = None,
    kubernetes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="vX.Y.Z|DIR",
            help=f"A version to run, or a kubernetes checkout (repeatable; default: {', '.join(VERSIONS)}).",
        ),
    ] = None,
    release: str | None = None,
    scheduler: str | None = None,
    clusters: int = 100,
    runs: int = 25,
    seed: int = 0,
    claims: bool = False,
    extenders: bool = False,
    extended: bool = False,
    groups: bool = False,
    trees: bool = False,
    volumes: bool = False,
    store: Path | None = None,
    form: arg.Form = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.stored.replayed import read_trace
    from ....reports.filtered import to_json
    from ....reports.text.lockstep_text import print_lockstep
    from ....reproduce.lockstep.lockstep import WITHIN_LOCKS
    from ....reproduce.lockstep.request import again, held
    from ....reproduce.modules.toolchain import find_go
    from ....reproduce.random_runs.claim_clusters import claim_cluster
    from ....reproduce.random_runs.device_clusters import clusters_with_claims
    from ....reproduce.random_runs.extended_clusters import extended_cluster
    from ....reproduce.random_runs.extender_clusters import extender_cluster
    from ....reproduce.random_runs.group_clusters import TREE_GATES, clusters_for, group_cluster, tree_cluster
    from ....reproduce.random_runs.random_runs import Wanted
    from ....reproduce.random_runs.varied_clusters import varied_cluster
    from ....reproduce.random_runs.volume_clusters import volume_cluster
    from ....reproduce.request import code_of, with_own

    kinds = {
        "--extended": (extended, extended_cluster),
        "--extenders": (extenders, extender_cluster),
        "--claims": (claims, claim_cluster),
        "--groups": (groups, group_cluster),
        "--trees": (trees, tree_cluster),
        "--volumes": (volumes, volume_cluster),
    }
    kind, *others = [option for option, (wanted, _) in kinds.items() if wanted] or [""]
    if others:
        raise UsageProblem(f"{kind}: one kind of clusters at a time: leave out {others[0]}")
    some = kinds[kind][1] if kind else varied_cluster
    go = find_go()
    if trace is not None and kubernetes is not None and len(kubernetes) > 1:
        raise UsageProblem("--kubernetes: a stored run is of one version: name one, or none")
    if release is not None and kubernetes is None:
        raise UsageProblem("--release: it goes with --kubernetes")
    if scheduler is not None and (kubernetes is None or trace is not None):
        raise UsageProblem("--scheduler: it goes with --kubernetes, and with no stored run")
    codes = [with_own(code_of(name, release), scheduler) for name in kubernetes or VERSIONS]
    with progress_display(no_color) as display:
        display.start("lockstep")
        if trace is not None:
            one = kubernetes[0] if kubernetes else None
            found = [again(read_trace(trace), str(trace), go, display.say, one, release)]
        else:
            if store is not None:
                _make(store)

            def wanted(minor: int) -> Wanted:
                cluster, gates = clusters_for(minor) if groups else (some, TREE_GATES if trees else {})
                cluster = clusters_with_claims(minor) if claims else cluster
                return Wanted(clusters, runs, seed, without=tuple(WITHIN_LOCKS), cluster=cluster, gates=gates)

            found = [held(code, wanted(code.version.minor), go, display.say, store) for code in codes]
    document = {"format": "podrace-lockstep", "version": 1, "versions": found}
    print_answer(found, form, no_color, print_lockstep, {"json": lambda _: to_json(document)})
    raise typer.Exit(DIFFERS if any(one.causes for one in found) else 0)


def _make(folder: Path) -> None:
    from ....analysis.request.option_files import refuse_links

    refuse_links("--store", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageProblem(f"--store: cannot make `{folder}`: {error.strerror}") from None
