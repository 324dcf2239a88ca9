"""L-PLACE: a placement that takes the only place of another pod away is found, whatever makes the place the only one; and where some pod has to wait, it is silent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.result import Result
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Expr, all_of, as_expr
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import find_scenarios, parse_scenario
from tests.profiles import examples

QUIET = "scope: {pod_events: 1, flush: false, backoff: false%s}\n"
BOTH = "nodes: {n1: {cpu: %d, labels: {zone: a}}, n2: {cpu: %d, labels: {zone: b}}}\n"
APART = "labels: {app: x}, podAntiAffinity: {required: [{topologyKey: zone, matchLabels: {app: x}}]}"
EVEN = "topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1, nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: x}}}]"

DIRECTED = (
    """
nodes:
  n1: {cpu: 2, labels: {node: one}, updates: {down: {taints: [{key: broken, effect: NoSchedule}]}}}
  n2: {cpu: 2, labels: {node: two}}
pods:
  p: {cpu: 1, schedulingGates: [{name: example.com/topology}], updates: {placed: {nodeSelector: {node: one}}}}
gateKeepers:
  kueue: {gate: example.com/topology, directs: {p: placed}}
"""
    + QUIET % ", node_updates: 1"
)
"""kueue 9710: a gate keeper has the pod ask for a node, which is tainted before the pod gets there."""

VOLUME = (
    BOTH % (4, 4)
    + """
storageClasses:
  local: {volumeBindingMode: WaitForFirstConsumer, provisioner: local.example.com}
volumes: {pv-0: {storageClassName: local, nodes: [n1], claimRef: data-0}}
volumeClaims:
  data-0: {storageClassName: local, volumeName: pv-0}
  data-1: {storageClassName: local}
pods:
"""
    + f"  r1: {{cpu: 1, volumes: [data-1], {APART}}}\n  r0: {{cpu: 1, volumes: [data-0], {APART}}}\n"
    + QUIET % ""
)
"""126499: the scheduler is restarted once the volume of r0 is made, and r1 is tried first."""

DEVICE = (
    BOTH % (1, 1)
    + "devices: {d: {node: n1}}\nresourceClaims: {c: {}}\npods: {q: {cpu: 1}, p: {cpu: 1, resourceClaims: [c]}}\n"
    + QUIET % ""
)
SELECTOR = BOTH % (1, 1) + "pods: {q: {cpu: 1}, p: {cpu: 1%s, nodeSelector: {zone: a}}}\n" + QUIET
AFFINITY = (
    BOTH % (1, 3)
    + "pods: {q: {cpu: 1, labels: {app: y}}, p: {cpu: 2, podAffinity: {required: [{topologyKey: zone, matchLabels: {app: y}}]}}}\n"
    + QUIET % ""
)
SPREAD = (
    BOTH % (2, 2)
    + f"pods: {{q: {{cpu: 1, labels: {{app: x}}}}, p: {{cpu: 1, labels: {{app: x}}, nodeSelector: {{zone: b}}, {EVEN}}}}}\n"
    + QUIET % ""
)


LATE = (
    BOTH % (1, 1)
    + "pods: {q: {cpu: 1, exists: false}, p: {cpu: 1, exists: false, nodeSelector: {zone: a}}}\n"
    + QUIET % ""
)
"""Where q was placed before p is created, p has no place when it comes; where p comes first, it has one, and q can take it."""

ONE = "nodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1%s}, q: {cpu: 1%s}}\n" + QUIET


def pods(number: int) -> str:
    """So many pods that are all the same."""
    return "pods: {" + ", ".join(f"p{i}: {{cpu: 1}}" for i in range(number)) + "}\n"


def decided(text: str, release: str = "1.37.2") -> Result:
    spec = parse_scenario("name: t\n" + text).spec
    (found,) = check(instrument(spec, resolve(release).classes, [PROPERTIES["L-PLACE"]]), ["L-PLACE"])
    return found


def told(found: Result) -> tuple[str, bool, int | None, int | None]:
    return (
        found.verdict.name,
        found.vacuous,
        found.counts.states,
        None if found.trace is None else len(found.trace.steps),
    )


@pytest.mark.parametrize(
    ("text", "states", "steps"),
    [
        (DIRECTED, 94, 3),
        (VOLUME, 13_684, 7),
        (DEVICE, 1283, 5),
        (SELECTOR % ("", ""), 249, 5),
        (SELECTOR % ("", ", node_deletions: 1"), 4_016, 5),
        (AFFINITY, 393, 5),
        (SPREAD, 419, 5),
        (LATE, 465, 8),
    ],
    ids=["directed", "volume", "device", "selector", "before a fault", "affinity", "spread", "late"],
)
def test_a_dead_end_is_found(text: str, states: int, steps: int) -> None:
    assert told(decided(text)) == ("VIOLATED", False, states, steps)


@pytest.mark.parametrize(
    ("text", "vacuous", "states"),
    [
        (SELECTOR % (", priority: 1", ""), False, 69),
        (ONE % ("", "", ""), False, 117),
        (ONE % (", nodeName: n1", "", ", node_deletions: 1"), False, 455),
        (ONE % ("", ", schedulingGates: [{name: g}]", ""), False, 149),
        (ONE % ("", ", exists: false", ""), False, 100),
        (ONE.replace("2", "1", 1) % ("", "", ""), True, 1),
        (SELECTOR.replace("zone: a}}}", "zone: c}}}") % ("", ""), True, 1),
        (
            "nodes: {n1: {cpu: 9}, n2: {cpu: 9}, n3: {cpu: 9}}\n" + pods(7) + QUIET % "",
            True,
            1,
        ),
    ],
    ids=[
        "preempted",
        "room for both",
        "the only node goes",
        "gated",
        "later",
        "no room for both",
        "no node for it",
        "too many",
    ],
)
def test_where_nothing_is_taken_away_it_holds(text: str, vacuous: bool, states: int) -> None:
    assert told(decided(text)) == ("HOLDS", vacuous, states, None)


def test_a_gang_waits_for_the_gates_of_its_pods() -> None:
    """b has a gate that only a user takes away, and a needs b."""
    (scenario,) = find_scenarios("gated-member")
    gates = {"GangScheduling": True}
    system = instrument(scenario.spec, resolve("1.36.3", gates=gates).classes, [PROPERTIES["L-PLACE"]])
    (found,) = check(system, ["L-PLACE"])
    assert told(found) == ("HOLDS", False, 410, None)


def test_a_cluster_of_which_it_says_nothing_is_told() -> None:
    spec = parse_scenario("name: t\nnodes: {n: {cpu: 1}}\n" + pods(13)).spec
    said = "it says nothing of more than 4,096 ways to place the pods: look at fewer pods or nodes"
    assert PROPERTIES["L-PLACE"].caveat(spec.nodes, spec.pods) == said
    assert PROPERTIES["L-PLACE"].caveat(spec.nodes, spec.pods[:12]) == ""


class AllPlaced(Property):
    """Every pod is on a node at some time."""

    id = "MY-ALL"

    def holds(self) -> Expr:
        return as_expr(True)

    def witnesses(self) -> dict[str, Expr]:
        return {"all": all_of(self.api.pod[pod].assigned for pod in self.pods)}


WORDS = ("x", "y")


@st.composite
def crowded(draw: st.DrawFn) -> str:
    """Two nodes or three and pods of one priority, with labels, terms, constraints, selectors and host ports."""
    nodes = [
        f"n{i}: {{cpu: {2 if i == 0 else draw(st.integers(1, 2))}, labels: {{zone: {draw(st.sampled_from('ab'))}}}}}"
        for i in range(draw(st.integers(2, 3)))
    ]
    made = []
    for i in range(draw(st.integers(2, 3))):
        fields = [f"cpu: {draw(st.integers(1, 2))}", f"labels: {{app: {draw(st.sampled_from(WORDS))}}}"]
        if draw(st.booleans()):
            fields.append(f"nodeSelector: {{zone: {draw(st.sampled_from('ab'))}}}")
        kind, app = (
            draw(st.sampled_from(("", "podAffinity", "podAntiAffinity", "even"))),
            draw(st.sampled_from(WORDS)),
        )
        if kind == "even":
            fields.append(EVEN.replace("app: x", f"app: {app}"))
        elif kind:
            key = draw(st.sampled_from(("zone", "kubernetes.io/hostname")))
            fields.append(f"{kind}: {{required: [{{topologyKey: {key}, matchLabels: {{app: {app}}}}}]}}")
        made.append(f"p{i}: {{{', '.join(fields)}}}")
    return f"nodes: {{{', '.join(nodes)}}}\npods: {{{', '.join(made)}}}\n" + QUIET % ""


@settings(max_examples=examples(40), deadline=None)
@given(crowded())
def test_pods_have_a_place_together_if_and_only_if_some_run_places_them_all(text: str) -> None:
    spec = parse_scenario("name: t\n" + text).spec
    system = instrument(spec, resolve("1.37.2").classes, [PROPERTIES["L-PLACE"], AllPlaced])
    owed = next(v for v in system.variables if v.name == "L-PLACE.owed").initial
    (found,) = check(system, ["MY-ALL"])
    assert bool(owed) == ("MY-ALL: all" in found.coverage.witnesses_reached)
