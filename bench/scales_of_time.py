"""What scales of time save: each search with the periodic flush at any moment, with `time: scales`, and without the flush.

Two groups. The first are clusters of PODS x NODES in release 1.36: a victim on each node, and preemptors of equal priority, asked for S-NOM. The second are the
races and hazards whose scope has the flush, for each property that is no liveness, in their release and the newest patch version. For each: the verdict, states and length of the run
under `any` and `scales`; a line that begins with * has two verdicts.

    python bench/scales_of_time.py           # a minute
    python bench/scales_of_time.py --all     # the flush put on in every race and hazard, 1.32 and later
    python bench/scales_of_time.py --shown   # the same from 1.24 on: each violation, and the run of it that is shown

Last comes the geometric mean of states and CPU under `any`, for each under `scales`, over the searches that both end with `holds`, and over all others.

With `--shown`, each violation has a row of a table: the steps of a shortest run, and what would have to last for minutes in it; the steps of the run that is shown, and
what has to in that one. What podrace says has to is compared with what `slow_actors` finds in the run; a row that begins with * has another answer.
"""

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from podrace.analysis.request.plan import compose_for, default_properties, default_release
from podrace.analysis.shown.believable import believable
from podrace.analysis.shown.slow import slow_actors
from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result
from podrace.checker.search import check
from podrace.model.history import RELEASES, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue
from podrace.scenarios.catalogue import hazards
from podrace.scenarios.reader.scenario_reader import parse_scenario

SIZES = ((3, 1), (3, 2), (4, 1), (4, 2))
BUDGET = Budget(max_states=3_000_000, timeout=60)
NEWEST = "1.36.3"
SHOWN = "--shown" in sys.argv
ALL = SHOWN or "--all" in sys.argv
FIRST = "1.24" if SHOWN else "1.32"
if ALL:
    BUDGET = Budget(max_states=1_000_000 if SHOWN else 400_000, timeout=60, jobs=1)


def cluster(pods: int, nodes: int, flush: bool) -> TransitionSystem:
    """A cluster with so many pods, of which one on each node may be evicted."""
    lines = ["name: measured", f"scope: {{flush: {str(flush).lower()}}}", "nodes:"]
    lines += [f"  n{i}: {{cpu: 2}}" for i in range(nodes)]
    lines += ["pods:"]
    lines += [
        f"  v{i}: {{cpu: 2, priority: 0, nodeName: n{i}, terminationGracePeriodSeconds: 0}}"
        for i in range(nodes)
    ]
    lines += [f"  p{i}: {{cpu: 2, priority: 10}}" for i in range(pods - nodes)]
    spec = parse_scenario("\n".join(lines) + "\n").spec
    return instrument(spec, resolve("1.36").classes, [PROPERTIES["S-NOM"]])


def asked() -> Iterator[tuple[str, TransitionSystem, str]]:
    """The races and hazards with the flush, each once for each property and release."""
    for scenario in {s.file: s for s in (*catalogue(), *hazards())}.values():
        if ALL:
            spec = scenario.spec
            scenario = replace(scenario, spec=replace(spec, scope=replace(spec.scope, flush=True)))
        if scenario.open or not scenario.spec.scope.flush:
            continue
        for name in default_properties(scenario):
            if PROPERTIES[name].kind == "liveness":
                continue
            for release in dict.fromkeys((default_release(scenario), *([] if ALL else [NEWEST]))):
                if ALL and (release not in RELEASES or RELEASES.index(release) < RELEASES.index(FIRST)):
                    continue
                try:
                    classes = compose_for(scenario, release, [], []).classes
                except Problem:
                    continue
                system = instrument(scenario.spec, classes, [PROPERTIES[name]])
                yield f"{scenario.name} {release} {name}", system, name


def searched(system: TransitionSystem, name: str, scales: bool) -> tuple[Result, float]:
    """The result with scales of time or without, and CPU seconds."""
    began = time.process_time()
    (found,) = check(replace(system, scales=scales), [name], BUDGET)
    return found, time.process_time() - began


def told(found: tuple[Result, float]) -> str:
    """Verdict, states, how long the run is, and CPU seconds."""
    result, seconds = found
    length = "" if result.trace is None else f", {len(result.trace.steps)} steps"
    return f"{result.verdict.name} {result.counts.states:,}{length}, {seconds:.1f} s"


def shown(title: str, system: TransitionSystem, name: str) -> str | None:
    """A row on a violation; None where the property is not violated, or not within the limit."""
    (result,) = check(system, [name], BUDGET)
    if result.trace is None:
        return None
    said = believable(system, result, BUDGET)
    trace, needed = said.result.trace, () if said.with_scales is None else said.with_scales.slow
    assert trace is not None
    first, last = slow_actors(system, name, result.trace), slow_actors(system, name, trace)
    verdict = "" if said.with_scales is None else said.with_scales.verdict
    told = [
        f"{'' if set(last) <= set(needed) else '* '}{title}",
        f"{len(result.trace.steps)}",
        ", ".join(first),
        verdict,
        f"{len(trace.steps)}",
        ", ".join(last),
    ]
    return f"| {' | '.join(told)} |"


def mean(ratios: list[float]) -> str:
    """The geometric mean."""
    return (
        f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)}" if ratios else "none"
    )


def main() -> None:
    """Print one line for each search, and the means."""
    if SHOWN:
        print(
            "| Scenario | Shortest run | Slow in it | With `time: scales` | Run shown | Slow in it |\n|---|---|---|---|---|---|"
        )
        for search in asked():
            row = shown(*search)
            if row is not None:
                print(row, flush=True)
        return
    for pods, nodes in () if ALL else SIZES:
        system = cluster(pods, nodes, True)
        found = [searched(system, "S-NOM", scales) for scales in (False, True)]
        found.append(searched(cluster(pods, nodes, False), "S-NOM", False))
        print(f"  {pods} x {nodes}: any {told(found[0])}; scales {told(found[1])}; no flush {told(found[2])}")
    ratios: dict[str, list[float]] = {}
    for title, system, name in asked():
        anytime, scaled = (searched(system, name, scales) for scales in (False, True))
        same = anytime[0].verdict is scaled[0].verdict
        print(f"{' ' if same else '*'} {title}: any {told(anytime)}; scales {told(scaled)}", flush=True)
        kind = "both hold" if same and scaled[0].verdict.name == "HOLDS" else "others"
        states = (anytime[0].counts.states or 1) / (scaled[0].counts.states or 1)
        ratios.setdefault(f"states, {kind}", []).append(states)
        ratios.setdefault(f"CPU, {kind}", []).append(anytime[1] / max(scaled[1], 0.01))
    for what, found_ratios in sorted(ratios.items()):
        print(f"{what}: any takes {mean(found_ratios)}")


if __name__ == "__main__":
    main()
