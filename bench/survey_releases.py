"""Violations of all safety properties on all releases, over small clusters: what does the catalogue not know of?

Every disturbance is allowed once, each in a survey of its own, with a small backlog. A violation belongs to a race of the
catalogue if the race's fixes, put into the release, make the property hold in the very same
cluster, or those and what closes its residual. What is left is listed with a shortest counterexample and its releases. A
search that reaches MOST_STATES without a violation is passed over: the survey finds violations, and proves nothing absent.

    python bench/survey_releases.py [--minutes M] [RELEASE ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from podrace.checker.exploration import Budget
from podrace.checker.retrace import retrace
from podrace.checker.search import check
from podrace.checker.trace import ReplayError, confirm
from podrace.checker.verdict import Result, Verdict
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.history import RELEASES, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import Scenario, catalogue

KINDS = ("invariant", "stuck")
DISTURBANCES: tuple[dict[str, int], ...] = (
    {},
    {"pod_deletions": 1},
    {"node_deletions": 1, "node_creations": 1},
    {"bind_failures": 1},
    {"lost_replies": 1},
    {"write_failures": 1},
    {"assume_expiries": 1},
    {"restarts": 1},
    {"leader_changes": 1},
    {"external_binds": 1},
    {"relists": 1, "pod_deletions": 1},
)
MOST_STATES = 300_000


CLUSTERS = (
    # a's size, where a is at the start, b's size (0: no b), b's priority above a's
    (1, False, 0, 0),
    (1, False, 2, 0),
    (2, False, 1, 1),
    (1, True, 0, 0),
    (1, True, 1, 0),
    (1, True, 2, 0),
    (2, True, 1, 1),
)


def clusters() -> Iterator[ClusterSpec]:
    """One node of two units, and one or two pods."""
    for one, bound, two, above in CLUSTERS:
        node = Node(0, "n", 2)
        pods = [Pod(0, "a", one, node=node if bound else None, graceful=False)]
        name = f"a asks for {one}" + (" and is bound" if bound else "")
        if two:
            pods.append(Pod(1, "b", two, above, graceful=False))
            name += f", b asks for {two}" + (" and has a higher priority" if above else "")
        yield ClusterSpec(name, tuple(pods), (node,))


@dataclass(frozen=True)
class Found:
    """A property that a release breaks."""

    property: str
    release: str
    cluster: ClusterSpec
    disturbance: str
    result: Result


def survey(release: str, deadline: float) -> Iterator[Found]:
    """For each property and disturbance, the cluster with the shortest counterexample on the release."""
    names = [name for name, cls in PROPERTIES.items() if cls.kind in KINDS]
    for disturbance in DISTURBANCES:
        shortest: dict[str, Found] = {}
        for cluster in clusters():
            if time.monotonic() > deadline:
                return
            scope = Scope(pod_events=2, flush=False, **disturbance)  # type: ignore[arg-type]
            spec = replace(cluster, scope=scope)
            system = instrument(spec, resolve(release).classes, [PROPERTIES[n] for n in names])
            for result in check(system, names, Budget(max_states=MOST_STATES)):
                if result.verdict is Verdict.VIOLATED:
                    about = Found(
                        result.property_id, release, spec, " ".join(disturbance) or "nothing", result
                    )
                    known = shortest.get(result.property_id)
                    if known is None or _length(about) < _length(known):
                        shortest[result.property_id] = about
        yield from shortest.values()


def _length(found: Found) -> int:
    return 0 if found.result.trace is None else len(found.result.trace.steps)


def explanations(found: Found) -> list[str]:
    """The races of the catalogue whose fixes, put in, make the property hold in the cluster of the violation."""
    return [s.name for s in catalogue() if _explains(s, found)]


def _explains(scenario: Scenario, found: Found) -> bool:
    race = scenario.race
    if race is None:
        return False
    residual = race.residual.closed_by if race.residual else ()
    for fixes in (race.after, (*race.after, *residual)):
        composition = resolve(found.release, fixes)
        if composition.added:
            system = instrument(found.cluster, composition.classes, [PROPERTIES[found.property]])
            if _still_runs(system, found):
                continue
            (result,) = check(system, [found.property], Budget(max_states=MOST_STATES))
            if result.verdict is Verdict.HOLDS:
                return True
    return False


def _still_runs(system: TransitionSystem, found: Found) -> bool:
    """Whether the fixes leave the very same violation: then there is nothing to search for."""
    if found.result.trace is None or found.property not in system.invariants:
        return False
    retraced = retrace(system, [(step.label, step.actor) for step in found.result.trace.steps])
    if retraced.stuck is not None:
        return False
    try:
        confirm(system, retraced.path, found.property)
    except ReplayError:
        return False
    return True


def main() -> None:
    """Print each violation when it is found, and the unmatched ones at the end."""
    arguments = sys.argv[1:]
    minutes = float(arguments.pop(arguments.index("--minutes") + 1)) if "--minutes" in arguments else 5.0
    releases = [a for a in arguments if a in RELEASES] or list(RELEASES)
    deadline = time.monotonic() + 60 * minutes
    unmatched: dict[tuple[str, str], list[Found]] = {}
    for release in releases:
        for found in survey(release, deadline):
            races = explanations(found)
            where = f"{found.property} on {release}, with {found.disturbance}: {_length(found)} steps, {found.cluster.name}"
            print(f"{where}: {', '.join(races) or 'NO ENTRY'}", flush=True)
            if not races:
                unmatched.setdefault((found.property, found.disturbance), []).append(found)
    print(f"\n{len(unmatched)} classes that match no entry of the catalogue")
    for (name, disturbance), some in unmatched.items():
        shortest = min(some, key=_length)
        seen = ", ".join(f.release for f in some)
        print(f"\n{name}, with {disturbance}, on {seen}; {shortest.cluster.name} on {shortest.release}:")
        if shortest.result.trace is not None:
            for step in shortest.result.trace.steps:
                print(f"    {step.label}")
    if time.monotonic() > deadline:
        print("\nTime ran out: the last release was not surveyed to the end.")


if __name__ == "__main__":
    main()
