"""What scales of time save: each search with the periodic flush at any moment, with `time: scales`, and without the flush.

Two groups. The first are clusters of PODS x NODES in release 1.36: a victim on each node, and preemptors of equal priority, asked for S-NOM. The second are the
races and hazards whose scope has the flush, for each property that is no liveness, in their release and the newest patch version. For each: the verdict, states and length of the run
under `any` and `scales`; a line that begins with * has two verdicts.

    python bench/scales_of_time.py

It takes a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podrace.analysis.request.plan import compose_for, default_properties, default_release
from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue
from podrace.scenarios.catalogue import hazards
from podrace.scenarios.reader.scenario_reader import parse_scenario

SIZES = ((3, 1), (3, 2), (4, 1), (4, 2))
BUDGET = Budget(max_states=3_000_000, timeout=60)
NEWEST = "1.36.3"


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
        if scenario.open or not scenario.spec.scope.flush:
            continue
        for name in default_properties(scenario):
            if PROPERTIES[name].kind == "liveness":
                continue
            for release in dict.fromkeys((default_release(scenario), NEWEST)):
                try:
                    classes = compose_for(scenario, release, [], []).classes
                except Problem:
                    continue
                system = instrument(scenario.spec, classes, [PROPERTIES[name]])
                yield f"{scenario.name} {release} {name}", system, name


def searched(system: TransitionSystem, name: str, scales: bool) -> Result:
    """The result with scales of time or without."""
    (found,) = check(replace(system, scales=scales), [name], BUDGET)
    return found


def told(result: Result) -> str:
    """Verdict, states, and how long the run is."""
    length = "" if result.trace is None else f", {len(result.trace.steps)} steps"
    return f"{result.verdict.name} {result.counts.states:,}{length}"


def main() -> None:
    """Print one line for each search."""
    for pods, nodes in SIZES:
        system = cluster(pods, nodes, True)
        found = [searched(system, "S-NOM", scales) for scales in (False, True)]
        found.append(searched(cluster(pods, nodes, False), "S-NOM", False))
        print(f"  {pods} x {nodes}: any {told(found[0])}; scales {told(found[1])}; no flush {told(found[2])}")
    for title, system, name in asked():
        anytime, scaled = (searched(system, name, scales) for scales in (False, True))
        mark = " " if anytime.verdict is scaled.verdict else "*"
        print(f"{mark} {title}: any {told(anytime)}; scales {told(scaled)}")


if __name__ == "__main__":
    main()
