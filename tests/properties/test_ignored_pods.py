"""A property that is ignored for some pods misses nothing but their violations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.plan import Run
from podrace.checker.core.exploration import Budget
from podrace.checker.trace.fingerprint import fingerprint
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import Scenario, parse_scenario

SCENARIO = parse_scenario("""\
nodes: {n: {cpu: 2}}
pods:
  v: {cpu: 1, nodeName: n, terminationGracePeriodSeconds: 0, labels: {a: b}}
  a: {cpu: 2, priority: 5}
  b:
    cpu: 1
    priority: 5
    labels: {a: b}
    podAntiAffinity: {required: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {a: b}}}]}
podDisruptionBudgets: {x: {selector: {matchLabels: {a: b}}}}
scope: {pod_events: 1, flush: false, pod_deletions: 1, bind_failures: 1, write_failures: 1, file_order: true}
""")
PODS = ("v", "a", "b")
OF_PODS = [identifier for identifier, prop in PROPERTIES.items() if prop.concerns]


def ignoring(identifier: str, *pods: str) -> Scenario:
    return replace(SCENARIO, silenced={identifier: dict.fromkeys(pods, "because")} if pods else {})


def steps(identifier: str, release: str, *ignored: str, states: int = 10_000) -> int | None:
    """How long the shortest counterexample is; None if there is none among so many states."""
    run = Run(ignoring(identifier, *ignored), resolve(release), identifier)
    found = verdict_on(run, Budget(max_states=states))
    return None if found.trace is None else len(found.trace) + len(found.cycle)


def assert_divided(identifier: str, release: str, states: int) -> dict[str, int | None]:
    """The shortest counterexample of all is that of one pod: what is not there for any single pod is not there at all."""
    single = {p: steps(identifier, release, *(q for q in PODS if q != p), states=states) for p in PODS}
    found = [s for s in single.values() if s is not None]
    assert steps(identifier, release, states=states) == min(found, default=None)
    return single


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [("S-GHOST", {"v": None, "a": 9, "b": 23}), ("L-PEND", {"v": None, "a": 28, "b": 28})],
)
def test_each_pod_has_its_own_violations(identifier: str, expected: dict[str, int | None]) -> None:
    assert assert_divided(identifier, "1.19", 10_000) == expected


@pytest.mark.campaign
@pytest.mark.parametrize("release", ["1.13", "1.19", "1.26"])
@pytest.mark.parametrize("identifier", OF_PODS)
def test_the_violations_of_single_pods_are_all(identifier: str, release: str) -> None:
    assert_divided(identifier, release, 500_000)


def prints(identifier: str, *ignored: str) -> str:
    prop = PROPERTIES[identifier].ignoring(frozenset(ignored))
    return fingerprint(instrument(SCENARIO.spec, resolve("1.19").classes, [prop]))


def test_a_violation_between_two_pods_counts_for_each() -> None:
    """Only v and b can be too close."""
    assert prints("S-AFF", "v") == prints("S-AFF", "b") == prints("S-AFF", "a") == prints("S-AFF")
    assert prints("S-AFF", "v", "b") == prints("S-AFF", *PODS) != prints("S-AFF")


@pytest.mark.parametrize("identifier", OF_PODS)
def test_what_concerns_nobody_is_left_out(identifier: str) -> None:
    """Ignored for every pod, an invariant says nothing of the state; a liveness has no case, or none that can be."""
    prop = PROPERTIES[identifier].ignoring(frozenset(PODS))
    assert (prop.sentence(), prop.id, prop.kind) == (
        PROPERTIES[identifier].sentence(), identifier, PROPERTIES[identifier].kind,
    )  # fmt: skip
    run = Run(ignoring(identifier, *PODS), resolve("1.19"), identifier)
    assert run.prop is prop
    found = verdict_on(run, Budget(max_states=1000))
    assert found.trace is None
    assert found.words.endswith("Ignored, not looked at for: v (because); a (because); b (because).")


def test_what_is_not_about_pods_cannot_be_ignored_for_some() -> None:
    class Mine(Property):
        """Something."""

        id = "MINE"

    for prop in (Mine, PROPERTIES["S-CAP"]):
        assert prop.ignoring(frozenset()) is prop
        with pytest.raises(ValueError, match=f"{prop.id} is not about single pods"):
            prop.ignoring(frozenset(["a"]))
