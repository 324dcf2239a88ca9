"""`podrace verify --minimal`: which of several changes are needed together for the properties to hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from ..analysis.execute import Method, execute
from ..analysis.options import UsageProblem, parse_fix, parse_release
from ..analysis.plan import Run, compose
from ..checker.core.exploration import Budget
from ..checker.ways import minimal_sets
from ..model.history import CHANGES, RELEASES
from ..reports.verify.needed import FORMS, Needed, Tried, print_needed
from .comparison import ignored_of
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .verify import Candidate, Inquiry, candidates_of, default_release, put_in, runs_of

FOUND, NONE, INCONCLUSIVE = 0, 1, 3
MOST = 10
"""More candidates than this have too many subsets."""


def minimal(
    names: Sequence[str], release: str | None, with_fixes: Sequence[str], inquiry: Inquiry, budget: Budget,
    method: Method,
) -> int:  # fmt: skip
    """Find and print the minimal sets; gives the exit code. Raises UsageProblem."""
    candidates = candidates_of(names)
    if len(candidates) > MOST:
        raise UsageProblem(f"--minimal: {len(candidates)} changes have too many subsets: name {MOST} at most")
    fixes = [parse_fix(name, list(CHANGES)) for name in with_fixes]
    base = parse_release(release, RELEASES) if release is not None else default_release(candidates)
    before, whole = compose(base, fixes, ()), put_in(base, candidates, fixes)
    asked, _ = runs_of(inquiry, before, whole)
    runs = [run for run in asked if not run.ignored]
    tried: list[Tried] = []
    with ProgressDisplay(message_console(inquiry.no_color)) as display:

        def suffices(chosen: tuple[Candidate, ...]) -> bool:
            tried.append(_tried(runs, base, chosen, fixes, budget, method, display))
            return tried[-1].verdict == "HOLDS"

        found = minimal_sets(candidates, suffices)
    needed = Needed(
        before.label,
        tuple(c.name for c in candidates),
        tuple(dict.fromkeys(run.property for run in runs)),
        tuple(dict.fromkeys(run.scenario.name for run in runs)),
        tuple(tuple(c.name for c in one) for one in found),
        tuple(tried),
        ignored_of(asked),
    )
    with tolerant_of_closed_pipes():
        if inquiry.form == "text":
            print_needed(result_console(inquiry.no_color), needed)
        else:
            sys.stdout.write(FORMS[inquiry.form](needed))
    if any(t.verdict == "INCONCLUSIVE" for t in tried):
        return INCONCLUSIVE
    return FOUND if found else NONE


def _tried(
    runs: Sequence[Run], base: str, chosen: tuple[Candidate, ...], fixes: Sequence[str], budget: Budget,
    method: Method, display: ProgressDisplay,
) -> Tried:  # fmt: skip
    """What comes out with these changes: VIOLATED if a property is, and INCONCLUSIVE only if none is."""
    composition = put_in(base, chosen, fixes)
    names = tuple(c.name for c in chosen)
    open_: Tried | None = None
    states, vacuous = 0, False
    for run in runs:
        display.start(f"{run.scenario.name} {composition.label} {run.property}")
        finding = execute(replace(run, composition=composition), budget, method, display.watch)
        states += finding.states
        vacuous = vacuous or finding.vacuous
        if finding.verdict == "HOLDS":
            continue
        steps = None if finding.trace is None else len(finding.trace) + len(finding.cycle)
        left = Tried(names, finding.verdict, run.scenario.name, run.property, finding.states, steps)
        if finding.verdict == "VIOLATED":
            return left
        open_ = open_ or left
    return open_ or Tried(names, "HOLDS", states=states, vacuous=vacuous)
