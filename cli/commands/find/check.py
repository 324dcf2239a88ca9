"""`podrace check`: plan the runs, decide each, and report."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import EXIT_CODES, app, examples, given
from . import subjects
from .known_violations import BaselineFile, WriteBaseline, known_violations
from .on_code import CHANGING, code_of

if TYPE_CHECKING:
    from ....reports.text.findings_text import Extent


@app.command(
    help="Check properties of the scheduler in scenarios.\n\n"
    "NAME is a scenario or race of `podrace races`, or the number of its issue or fix; FILE is a scenario in YAML. "
    "With -f, podrace checks a small cluster that represents your Kubernetes objects. "
    "FILE.py:CLASS is a system of your own, written in the modelling language. "
    "A race is checked on the release just before its fix, unless --release says otherwise. "
    f"Without arguments, podrace checks a race that is open in the newest version, then two known races before and after their fix. The exit code is then 0 if each race is there before its fix and gone after it.\n\n{EXIT_CODES}",
    epilog=examples(
        "podrace check 72124 --without-fix 72259",
        "podrace check mine.yaml --release 1.36 --property S-NOM -o html > race.html",
        "podrace check gone-victim --affected        # which releases have it",
        "podrace check mine.py:Table --size Philosopher=4",
        "kubectl get nodes,pods,pdb,pc -A -o yaml | podrace check -f - --pods 5",
    ),
)
def check(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|FILE", show_default=False, help="What to check.")
    ] = None,
    filename: arg.Filename = None,
    recursive: arg.Recursive = False,
    strict: arg.Strict = False,
    pods: arg.KeptPods = "3",
    nodes: arg.KeptNodes = "2",
    focus: arg.Focus = None,
    drain: arg.Drain = None,
    upgrade: arg.Upgrade = None,
    controllers: arg.Controllers = False,
    write_scenario: arg.WriteScenario = None,
    release: arg.Release = None,
    with_fix: arg.WithFix = None,
    without_fix: arg.WithoutFix = None,
    gate: arg.Gates = None,
    property_: arg.PropertyIds = None,
    own: arg.Own = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    patch: arg.Patches = None,
    fair_flush: Annotated[
        bool, typer.Option("--fair-flush", help="Liveness assumes that the periodic flush happens.")
    ] = False,
    time: arg.Time = None,
    slow: arg.Slow = None,
    size: arg.Sizes = None,
    first: Annotated[
        bool,
        typer.Option(
            "--first", help="For a system of your own: stop at the first violation of any invariant."
        ),
    ] = False,
    on_code: Annotated[
        str | None,
        typer.Option(
            "--on-code",
            metavar="vX.Y.Z|DIR",
            help="Also run kube-scheduler's own code, a version or a source tree, through every transition, and compare. Needs Go 1.26 or later.",
        ),
    ] = None,
    affected: Annotated[
        bool,
        typer.Option("--affected", help="Check all versions of the model, and print which are affected."),
    ] = False,
    fail_on_vacuous: arg.FailOnVacuous = False,
    output: arg.ReportOption = "text",
    graph: arg.Graph = None,
    graph_kind: arg.GraphKindOption = "lanes",
    save_trace: arg.SaveTrace = None,
    report: arg.Report = None,
    timings: arg.Timings = False,
    closing: arg.ClosingTime = "20s",
    verbose: arg.Verbose = False,
    max_states: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after N states, such as 5M.")
    ] = None,
    max_memory: arg.MaxMemory = None,
    timeout: arg.Timeout = None,
    walks: Annotated[
        int,
        typer.Option(
            "--walks",
            metavar="N",
            min=0,
            max=1_000_000,
            help="If states or memory run out, continue from the ends of up to N random runs. This can find a violation, but not prove HOLDS.",
            show_default=False,
        ),
    ] = 0,
    jobs: arg.Jobs = None,
    engine: Annotated[
        Literal["native", "reference"], typer.Option(help="native, or the slow reference interpreter.")
    ] = "native",
    cache: arg.Cache = None,
    no_cache: arg.NoCache = False,
    no_color: arg.NoColor = False,
) -> None:
    targets, properties = tuple(names or ()), tuple(property_ or ())
    budget = budget_of(max_states, max_memory, timeout, jobs, walks)
    if subjects.are_own_systems(targets):
        from .own_system import check_own_systems

        other = given(context, {**subjects.SCENARIOS, **subjects.OBJECTS})
        code = check_own_systems(
            targets, size or [], properties, budget, engine, first, output, fail_on_vacuous, no_color, other
        )  # fmt: skip
        raise typer.Exit(code)
    subjects.refuse_other_subjects(context)
    from ....analysis.request.method import Method, cache_folder
    from ....analysis.request.options import parse_closing
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.patches import patches_of
    from ....analysis.request.plan import Selection
    from ....reports.filtered import shown
    from ...terminal.console import print_form, tolerant_of_closed_pipes
    from ...terminal.output import Output, say

    other_code = None
    if on_code is not None:
        other_code = code_of(on_code, release, output, given(context, CHANGING))
        release = other_code.release
    represented = None
    if filename:
        from ....analysis.request.representative_cluster import Manifests, parse_size, scenario_from

        asked = Manifests(
            filename, recursive, strict, parse_size(pods, nodes, controllers), focus, write_scenario, release, properties,
            given(context, subjects.NOT_IN_FILES), drain, bool(slow) or time == "scales", gate or (),
        )  # fmt: skip
        represented = scenario_from(asked, lambda remark: say(remark, no_color))
        if asked.is_for_stdout:
            with tolerant_of_closed_pipes():
                print_form(shown(represented.scenario.text))
            raise typer.Exit(0)
    selection = Selection(
        targets,
        release,
        with_fix or (),
        without_fix or (),
        properties,
        own_properties(own or (), properties),
        fair_flush,
        patches_of(patch or ()),
        (represented.scenario,) if represented else (),
        represented.caveat if represented else "",
        gate or (),
        time,
        slow or (),
    )
    extent: Extent = "whole" if verbose else "brief" if selection.is_empty else "usual"
    out = Output(
        output, graph, no_color, fail_on_vacuous, graph_kind, timings, report, save_trace, extent=extent
    )  # fmt: skip
    method = Method(engine, cache_folder(cache, no_cache), whole_findings=True)
    closing_time = parse_closing(closing)
    if upgrade is not None and represented is not None:
        from .upgrade import print_upgrade

        subjects.refuse_beside_upgrade(context)
        raise typer.Exit(print_upgrade(represented, upgrade, selection, budget, out))
    if affected:
        if given(context, subjects.BASELINES):
            raise UsageProblem("--affected asks all versions: leave out --baseline and --write-baseline")
        from .affected import print_affected

        raise typer.Exit(print_affected(selection, budget, method, out, closing_time, represented))
    out.refuse_unusable()
    known = known_violations(baseline, write_baseline, selection.own)
    from .decided import Asked, decide

    raise typer.Exit(
        decide(Asked(selection, budget, method, out, known, closing_time, represented, other_code))
    )
