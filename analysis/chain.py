"""The chain from a scenario to a verdict, on one page. `podrace check`, `podrace test`, podrace.api, the plug-in for pytest,
comparisons and the single clusters of a proof all go through it; each stage is one call.

    load      name or file      -> Scenario           scenarios.find_scenarios, scenarios.read_scenario, manifests.represent
    plan      Selection         -> list[Run]          analysis.request.plan.plan
    trace     Run               -> TransitionSystem   analysis.systems.system_of, properties.base.instrument
    slice     TransitionSystem  -> TransitionSystem   checker.reduction.questions.slice_for: what the property can see
    search    TransitionSystem  -> Exploration        checker.explicit.explore: every reachable state
    confirm   Exploration       -> Result             checker.reduction.conclusion.conclude: the interpreter executes every claim again
    find      Result            -> Finding            analysis.findings.finding_of
    report    list[Finding]     -> text, JSON, ...    reports
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from ..base.problems import Terminated
from ..checker.core import in_memory
from ..checker.core.exploration import Budget, Progress
from ..checker.core.result import Result
from ..checker.reduction.scales_of_time import with_scales
from ..checker.search import check
from ..checker.trace.execution import ReplayError, confirm
from ..checker.verdict_cache import VerdictCache
from ..model.asked_for import asked_for
from ..model.language import TransitionSystem
from ..properties.base.of_steps import OfSteps
from ..reports.document import FROM_CACHE as FROM_CACHE
from ..reports.document import Finding
from ..reports.step import ShownStep
from .altered_questions import altered
from .findings import bare_finding, finding_of, how_to_go_on, ignored, undecided
from .idle_patches import idle_patches
from .kept_findings import KeptFinding, told
from .request.method import NOBODY, USUAL, Method, Watcher
from .request.own_modules import digest_of
from .request.plan import Run
from .shown.believable import believable
from .shown.steps import label_of
from .systems import system_of, traced
from .together import Together


def verdicts(
    runs: Sequence[Run], budget: Budget, method: Method = USUAL, watcher: Watcher = NOBODY
) -> list[Finding]:
    """The verdict on each run, one after the other; what a scenario ignores is not searched. What is left when the process is told to end is undecided."""
    findings = []
    together = None
    for number, run in enumerate(runs, 1):
        count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
        watcher.start(f"{count}{run.scenario.name} {run.composition.label} {run.property}")
        try:
            if run.ignored:
                findings.append(ignored(run))
                continue
            if together is None or not together.has(run):
                together = Together(runs[number - 1 :])
            shared = together if together.has(run) else None
            findings.append(verdict_on(run, budget, method, watcher.watch, shared))
        except Terminated:
            return findings + [
                ignored(left) if left.ignored else undecided(left) for left in runs[number - 1 :]
            ]
    return findings


def verdict_on(
    run: Run,
    budget: Budget,
    method: Method = USUAL,
    watch: Callable[[Progress], None] | None = None,
    together: Together | None = None,
) -> Finding:
    """The verdict on one run; `together` has what it shares with others. Each property has a system and a search of its own, so its figures are its own.

    Of a scenario that leaves numbers open, the verdict is one on all choices of them; the counterexample is that of the
    simplest violating cluster, which takes the same way by itself.
    """
    if not run.scenario.open:
        kept = KeptFinding(run, budget, method)
        found = kept.get()
        if found is None:
            system = system_of(run) if together is None else together.system_of(run)
            found = verdict_in(system, run, budget, method, watch, together)
            found = _with_patches_told(found, run, system)
            kept.put(found)
        return found
    from .every_cluster import on_every_cluster  # numpy, LLVM and Z3 take a while to import

    clusters = on_every_cluster(run, budget, method, watch)
    clusters = replace(clusters, finding=_with_patches_told(clusters.finding, run))
    if clusters.example is None:
        return clusters.finding
    by_itself = replace(budget, max_states=None, timeout=None)
    return clusters.shown_by(verdict_on(clusters.example, by_itself, replace(method, cache=None)))


def bare_verdict(
    run: Run,
    budget: Budget,
    method: Method,
    watch: Callable[[Progress], None] | None = None,
    known: Sequence[ShownStep] = (),
) -> Finding:
    """The verdict on one run, without what a counterexample is shown with: to find that takes as long as a search of
    100,000 states. The scenario leaves no numbers open, and there are no patches. `known` violates the property in another scheduler: where it does so in this
    one, too, nothing is searched, and nothing counted.
    """
    kept = KeptFinding(run, budget, method, bare=True)
    found = kept.get()
    if found is None:
        system = system_of(run)
        result = _shown_again(known, system, run.property) if known else None
        if result is None:
            result, _ = _result_in(system, run, budget, method, watch)
        found = bare_finding(run, result)
        kept.put(found)
    return found


def _shown_again(steps: Sequence[ShownStep], system: TransitionSystem, invariant: str) -> Result | None:
    """That the invariant is violated, if these steps are a run of the system that shows it; None if they are not."""
    if invariant not in system.invariants:
        return None
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    path = tuple(numbers.get(label_of(step), -1) for step in steps)
    try:
        trace = confirm(with_scales(system), path, invariant)
    except ReplayError:
        return None
    return Result.replayed(system.name, invariant, "invariant", trace)


def _with_patches_told(found: Finding, run: Run, system: TransitionSystem | None = None) -> Finding:
    """What is found with a patch says if it is found without it, too, or answers another question."""
    if not run.composition.patches:
        return found
    told = (*idle_patches(run, system or traced(run)), *altered(run).notes)
    return msgspec.structs.replace(found, notes=(*found.notes, *told))


def verdict_in(
    system: TransitionSystem,
    run: Run,
    budget: Budget,
    method: Method = USUAL,
    watch: Callable[[Progress], None] | None = None,
    together: Together | None = None,
) -> Finding:
    """The same in a system that has been traced."""
    result, remark = _result_in(system, run, budget, method, watch, together)
    if not run.composition.flush_takes_minutes or issubclass(run.prop, OfSteps):
        return finding_of(run, system, result, remark)
    shown = believable(system, result, budget, method.engine)
    found = finding_of(run, system, shown.result, remark, shown.words)
    return msgspec.structs.replace(found, with_scales=shown.with_scales or msgspec.UNSET)


def _result_in(
    system: TransitionSystem,
    run: Run,
    budget: Budget,
    method: Method,
    watch: Callable[[Progress], None] | None,
    together: Together | None = None,
) -> tuple[Result, str | None]:
    """Slice, search and confirm, unless the verdict is in the cache; and what is to be said of that, if anything."""
    # The limit of states is part of what was asked for; time and memory differ from run to run.
    # What was asked for and never acted is told with the verdict, and not all of it leaves a trace in the system.
    asked = {
        "engine": method.engine,
        "max_states": budget.max_states,
        "files": files_of(run),
        "cluster": told(run.scenario.spec),
    }
    cache = None if method.cache is None else VerdictCache(method.cache)
    key = "" if cache is None else cache.key(system, run.property, asked)
    known = None if cache is None else cache.get(key, system, run.property)
    if known is not None:
        return known, FROM_CACHE
    (result,) = check(
        system,
        [run.property],
        budget,
        engine=method.engine,
        progress=watch,
        parts=asked_for,
        explore=together.explore if together is not None and method.engine == "native" else None,
        slicer=None if together is None else together.slicer_of(system),
    )
    if cache is not None:
        cache.put(key, result)
    return result, how_to_go_on(result, budget)


def files_of(run: Run) -> str:
    """A digest of all files of the user's that a run is about, with what they import from beside them, and of all others that were executed in
    this process, which may have changed anything; empty if there are none.
    """
    own = digest_of([run.prop, *(cls for patch in run.composition.patches for cls in patch.classes)])
    others = in_memory.files()
    return hashlib.sha256(repr((own, others)).encode()).hexdigest() if others else own
