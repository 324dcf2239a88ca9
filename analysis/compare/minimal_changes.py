"""`podrace verify --minimal`: which of several changes are needed together for the properties to hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

from ...base.problems import UsageProblem
from ...checker.core.exploration import Budget
from ...model.history import CHANGES
from ...reports.verify.needed import Needed, Tried
from ..altered_questions import altered
from ..chain import verdict_on
from ..request.method import NOBODY, Method, Watcher
from ..request.options import parse_fix, parse_gates
from ..request.plan import Run, Selection, compose, release_of, with_gates_of
from ..scheduler_version import version_of
from .inquiry import Candidate, candidates_of, default_release, nets_not_asked, put_in, runs_of
from .listener import DEAF, Listener
from .schedulers import ignored_of

T = TypeVar("T")

MOST = 10
"""More candidates than this have too many subsets."""


def changes_needed(
    names: Sequence[str], selection: Selection, budget: Budget, method: Method,
    watcher: Watcher = NOBODY, listener: Listener[Tried] = DEAF,
) -> Needed:  # fmt: skip
    """The minimal sets of these changes with which every property holds. Ctrl-C and SIGTERM end it, and what was decided is kept.

    Raises UsageProblem.
    """
    candidates = candidates_of(names)
    if len(candidates) > MOST:
        raise UsageProblem(f"--minimal: {len(candidates)} changes have too many subsets: name {MOST} at most")
    fixes = [parse_fix(name, list(CHANGES)) for name in selection.with_fixes]
    base = release_of(selection.release, default_release(candidates))
    gates = parse_gates(selection.gates)
    before, whole = compose(base, fixes, (), gates), put_in(base, candidates, fixes, gates)
    asked, _ = runs_of(selection, before, whole)
    runs = [run for run in asked if not run.ignored]
    tried: list[Tried] = []
    found: list[tuple[Candidate, ...]] = []

    def suffices(chosen: tuple[Candidate, ...]) -> bool:
        tried.append(_tried(runs, base, chosen, fixes, gates, budget, method, watcher))
        listener.decided(tried[-1])
        if tried[-1].verdict == "HOLDS":
            found.append(chosen)
        return tried[-1].verdict == "HOLDS"

    every = [s for size in range(len(candidates) + 1) for s in combinations(candidates, size)]
    listener.begin(before.label, whole.label, [tuple(c.name for c in one) for one in every])
    stopped = False
    try:
        minimal_sets(candidates, suffices)
    except KeyboardInterrupt:
        stopped = True
    return Needed(
        before.label,
        tuple(c.name for c in candidates),
        tuple(dict.fromkeys(run.property for run in runs)),
        tuple(dict.fromkeys(run.scenario.name for run in runs)),
        tuple(tuple(c.name for c in one) for one in found),
        tuple(tried),
        ignored_of(asked),
        version_of(before),
        nets_not_asked(runs),
        stopped,
    )


def _tried(
    runs: Sequence[Run], base: str, chosen: tuple[Candidate, ...], fixes: Sequence[str], gates: Mapping[str, bool],
    budget: Budget, method: Method, watcher: Watcher,
) -> Tried:  # fmt: skip
    """What comes out with these changes: VIOLATED if a property is, and INCONCLUSIVE only if none is."""
    composition = put_in(base, chosen, fixes, gates)
    names = tuple(c.name for c in chosen)
    open_: Tried | None = None
    states, vacuous = 0, False
    for run in runs:
        watcher.start(f"{run.scenario.name} {composition.label} {run.property}")
        here = replace(run, composition=with_gates_of(run.scenario, composition, gates))
        finding = verdict_on(here, budget, method, watcher.watch)
        states += finding.states
        vacuous = vacuous or finding.vacuous
        if finding.verdict == "HOLDS" and not altered(here).alters:
            continue
        verdict = "INCONCLUSIVE" if finding.verdict == "HOLDS" else finding.verdict
        steps = None if finding.trace is None else len(finding.trace) + len(finding.cycle)
        left = Tried(names, verdict, run.scenario.name, run.property, finding.states, steps)
        if verdict == "VIOLATED":
            return left
        open_ = open_ or left
    return open_ or Tried(names, "HOLDS", states=states, vacuous=vacuous)


def minimal_sets(candidates: Sequence[T], suffices: Callable[[tuple[T, ...]], bool]) -> list[tuple[T, ...]]:
    """Every set of candidates that suffices while none of its proper subsets does, in the order of the candidates.

    Asks about each subset at most once, and not about supersets of one that suffices. Nothing is assumed of `suffices`:
    a superset may well not suffice.
    """
    found: list[tuple[T, ...]] = []
    for size in range(len(candidates) + 1):
        for chosen in combinations(candidates, size):
            if not any(set(smaller) <= set(chosen) for smaller in found) and suffices(chosen):
                found.append(chosen)
    return found
