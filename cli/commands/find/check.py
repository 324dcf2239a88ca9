"""`podrace check`: plan the runs, decide each, and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ....reports.filtered import shown
from ...configuration import arguments as arg
from ...configuration.app import EXIT_CODES, app, examples, given
from ...terminal.console import print_form, tolerant_of_closed_pipes
from ...terminal.output import Output, exit_code, print_account, report_everywhere, say
from ...terminal.progress_display import progress_display
from . import subjects
from .known_violations import KnownViolations, known_violations
from .on_code import CHANGING, code_of, report_tours, tours_of

if TYPE_CHECKING:
    from ....analysis.closing import Closings
    from ....analysis.own_systems import Budget
    from ....analysis.request.method import Method
    from ....analysis.request.plan import Selection
    from ....analysis.request.representative_cluster import Represented
    from ....reports.text.findings_text import Extent
    from ....reproduce.request import Code


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
    names: list[str] | None = None,
    filename: list[str] | None = None,
    recursive: bool = False,
    strict: bool = False,
    pods: str | None = None,
    nodes: str = "2",
    focus: str | None = None,
    drain: str | None = None,
    upgrade: str | None = None,
    controllers: bool = False,
    write_scenario: Path | None = None,
    release: str | None = None,
    with_fix: list[str] | None = None,
    without_fix: list[str] | None = None,
    gate: list[str] | None = None,
    property_: list[str] | None = None,
    own: list[str] | None = None,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    patch: list[str] | None = None,
    fair_flush: bool = False,
    time: arg.Time = None,
    slow: list[str] | None = None,
    size: list[str] | None = None,
    first: bool = False,
    on_code: str | None = None,
    scheduler: str | None = None,
    affected: bool = False,
    fail_on_vacuous: bool = False,
    output: arg.ReportForm = "text",
    graph: Path | None = None,
    graph_kind: arg.GraphKind = "lanes",
    save_trace: Path | None = None,
    report: Path | None = None,
    timings: bool = False,
    closing: str = "20s",
    verbose: bool = False,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str | None = None,
    walks: int = 0,
    jobs: str | None = None,
    engine: Literal["native", "reference"] = "native",
    cache: Path | None = None,
    no_cache: bool = False,
    no_color: bool = False,
) -> None:
    targets, properties = tuple(names or ()), tuple(property_ or ())
    budget = budget_of(max_states, max_memory, timeout, jobs, walks)
    if subjects.are_own_systems(targets):
        from .own_system import check_own_systems

        other = given(context, (*subjects.SCENARIOS, *subjects.OBJECTS))
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

    other_code = None
    if scheduler is not None and on_code is None:
        raise UsageProblem("--scheduler: name the version that it is built with by --on-code")
    if on_code is not None:
        other_code = code_of(on_code, release, output, given(context, CHANGING), scheduler)
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
    raise typer.Exit(_decide(selection, budget, method, out, known, closing_time, represented, other_code))


def _decide(
    selection: Selection, budget: Budget, method: Method, out: Output, known: KnownViolations, closing: float,
    represented: Represented | None, code: Code | None,
) -> int:  # fmt: skip
    """Decide each run and report; gives the exit code. `closing` seconds are for what closes a race. Raises Problem."""
    from ....analysis.chain import verdicts
    from ....analysis.request.plan import plan, refuse_all_ignored

    runs = plan(selection)
    if represented is not None:
        print_account(represented.account, out)
    refuse_all_ignored(runs)
    with progress_display(out.no_color) as display:
        findings = verdicts(runs, budget, method, display)
        closings: Closings = {}
        if out.tells_closings and closing:
            from ....analysis.closing import closings as looked_for

            closings = looked_for(runs, findings, budget, method, closing, display)
        tours = [] if code is None else tours_of(runs, code, budget, display, method.cache)
    if out.points_into_files:
        from ....analysis.subjects import with_subjects  # what every cluster needs takes a while to import

        findings = with_subjects(runs, findings)
    if represented is not None:
        findings = represented.tell([run.scenario.file for run in runs], findings)
    findings = known.hold(findings, out)
    if code is not None and out.form == "json":
        return report_tours(findings, tours, out, exit_code(findings, out.style()))
    exits = report_everywhere(runs, findings, out, closings)
    if selection.is_empty and out.form == "text":
        with tolerant_of_closed_pipes():
            print_form(shown(NEXT))
    return exits if code is None else report_tours(findings, tours, out, exits)


NEXT = """
What to do next:
  podrace check -v                      # the same in full: steps, notes, versions
  podrace check gone-victim --affected  # which versions have this race
  podrace check 72124 --report race     # step by step, with pictures in race/
  podrace init cluster.yaml             # a scenario of your own to begin with
"""
"""The end of the first run."""
