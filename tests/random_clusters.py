"""Random small clusters and random patches for Hypothesis: what users may ask about, on any release.

A patch is a composition of mutations: a method of a part of the scheduler answers the opposite, always or never, or does
nothing. Most are wrong; what engines say of them must be the same all the more.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from podrace.model.environment.objects import ClusterSpec
from podrace.model.history import CHANGES, RELEASES, Composition, Patch, resolve
from podrace.model.language import Component, ModelError, TransitionSystem, as_expr
from podrace.model.scheduler import (
    AsyncPreemption,
    Cache,
    EventHandlers,
    FailureHandler,
    Filters,
    Hints,
    Nominator,
    Preemption,
    PriorityQueue,
    Scheduler,
)
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import Scenario, parse_scenario

Draw = Any

ANSWERS: tuple[tuple[type[Component], str], ...] = (
    (AsyncPreemption, "activates"),
    (Cache, "may_expire"),
    (Cache, "removable"),
    (EventHandlers, "nomination_wakes"),
    (EventHandlers, "skips_update"),
    (FailureHandler, "may_requeue"),
    (Filters, "fits"),
    (Filters, "joins"),
    (Hints, "wakes"),
    (Nominator, "accepts"),
    (Preemption, "might_help"),
    (PriorityQueue, "discards"),
    (PriorityQueue, "is_retried"),
    (PriorityQueue, "keeps_update"),
    (PriorityQueue, "matches"),
    (Scheduler, "skips"),
)
"""Methods that answer yes or no."""

DEEDS: tuple[tuple[type[Component], str], ...] = (
    (EventHandlers, "wake_for_assigned"),
    (Nominator, "delete"),
    (Nominator, "popped"),
    (Nominator, "update"),
    (Preemption, "commit"),
    (PriorityQueue, "activate"),
    (PriorityQueue, "begin_attempt"),
    (PriorityQueue, "begin_failure"),
    (PriorityQueue, "done"),
    (PriorityQueue, "drop_rejection"),
    (PriorityQueue, "move_matching"),
    (PriorityQueue, "record_move"),
)
"""Methods that give nothing back."""


def mutation(part: type[Component], method: str, kind: str) -> type[Component]:
    """The part with one method changed: `never`, `always` or `not` for an answer, `nothing` for a deed."""

    def changed(self: Any, *args: Any, **options: Any) -> Any:
        if kind == "nothing":
            return None
        if kind in ("never", "always"):
            return as_expr(kind == "always")
        return ~as_expr(getattr(super(made, self), method)(*args, **options))

    body = {method: changed, "__module__": __name__, "__doc__": f"{method} is changed: {kind}."}
    metaclass: Any = type(part)
    made: type[Component] = metaclass(f"{part.__name__}_{method}_{kind}", (part,), body)
    return made


POOL = tuple(
    mutation(part, method, kind) for part, method in ANSWERS for kind in ("never", "always", "not")
) + tuple(mutation(part, method, "nothing") for part, method in DEEDS)


@dataclass(frozen=True)
class Asked:
    """A question about a random cluster: a property, of a release with changes put in and taken out, and patched."""

    scenario: Scenario
    composition: Composition
    property: str

    @builtins.property
    def spec(self) -> ClusterSpec:
        """The cluster."""
        return self.scenario.spec

    def system(self) -> TransitionSystem | None:
        """Its transition system; None where the mutations contradict one another so that there is none."""
        try:
            return instrument(self.spec, self.composition.classes, [PROPERTIES[self.property]])
        except ModelError:
            if not self.composition.patches:
                raise
            return None

    def __repr__(self) -> str:
        return f"{self.property} on {self.composition.label} of\n{self.scenario.text}"


OFTEN_BROKEN = (
    "S-NOM",
    "S-UNIQ",
    "S-CYCLE",
    "S-GHOST",
    "S-FRESH",
    "S-NOMLIVE",
    "S-BIND",
    "S-STUCK",
    "L-PEND",
    "L-INV",
)
"""Half of the questions are about these, so that violations are compared as well."""

FAULTS = (
    "node_deletions", "pod_deletions", "bind_failures", "lost_replies", "write_failures", "assume_expiries", "restarts",
    "leader_changes", "external_binds", "relists",
)  # fmt: skip


@st.composite
def cluster_texts(draw: Draw, pods: int = 2, nodes: int = 2) -> str:
    """A scenario file: up to so many pods and nodes, small numbers, at most two kinds of faults."""
    names = [f"n{i + 1}" for i in range(draw(st.integers(1, nodes)))]
    sizes = {name: draw(st.integers(1, 2)) for name in names}
    room = dict(sizes)
    lines = ["nodes:", *(f"  {name}: {{cpu: {cpu}}}" for name, cpu in sizes.items()), "pods:"]
    # The first pod waits and is more important than most; others are often in its way from the start.
    for i in range(draw(st.integers(2, pods))):
        cpu = draw(st.integers(1, max(sizes.values())))
        fields = [f"cpu: {cpu}", f"priority: {draw(st.integers(0, 2 if i else 3)) or (0 if i else 2)}"]
        holders = [name for name in names if room[name] >= cpu]
        if i and holders and draw(st.integers(0, 3)):
            node = draw(st.sampled_from(holders))
            room[node] -= cpu
            fields.append(f"nodeName: {node}")
        if draw(st.booleans()):
            fields.append("terminationGracePeriodSeconds: 0")
        if draw(st.integers(0, 3)) == 0:
            fields.append("labels: {app: x}")
            anti = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}"
            fields.append(f"podAntiAffinity: {{required: [{anti}]}}")
        lines.append(f"  p{i + 1}: {{{', '.join(fields)}}}")
    scope = {"pod_events": draw(st.integers(1, 2)), "node_events": 1}
    scope |= dict.fromkeys(draw(st.lists(st.sampled_from(FAULTS), max_size=2, unique=True)), 1)
    bounds = [f"{name}: {value}" for name, value in scope.items()]
    bounds += [f"{name}: {str(draw(st.booleans())).lower()}" for name in ("flush", "backoff")]
    return "\n".join([*lines, f"scope: {{{', '.join(bounds)}}}"]) + "\n"


def patches(most: int = 2) -> st.SearchStrategy[Patch | None]:
    """Up to so many mutations together."""

    def composed(chosen: list[type[Component]]) -> Patch | None:
        return Patch("+".join(c.__name__ for c in chosen), "random.py", tuple(chosen)) if chosen else None

    by_method: Callable[[type[Component]], str] = lambda c: c.__name__.rpartition("_")[0]  # noqa: E731
    return st.lists(st.sampled_from(POOL), max_size=most, unique_by=by_method).map(composed)


@cache
def addable(release: str) -> tuple[str, ...]:
    """The changes that can be put into a release: it has what they are about."""

    def fits(key: str) -> bool:
        try:
            resolve(release, [key])
        except ValueError:  # the gate of what it is about is off
            return False
        return True

    return tuple(key for key, change in CHANGES.items() if not change.is_in(release) and fits(key))


@st.composite
def questions(draw: Draw, pods: int = 2, nodes: int = 2, mutations: int = 2, kinds: Any = None) -> Asked:
    """A property of a random cluster, on a random release with up to two changes put in or taken out, and a random patch."""
    release = draw(st.sampled_from(RELEASES))
    known = [key for key, change in CHANGES.items() if change.is_in(release)]
    lacking = addable(release)
    added = draw(st.lists(st.sampled_from(lacking), max_size=1)) if lacking else []
    removed = draw(st.lists(st.sampled_from(known), max_size=1)) if known else []
    composition = resolve(release, added, removed)
    patch = draw(patches(mutations))
    if patch is not None:
        composition = composition.patched([patch])
    asked = [identifier for identifier, prop in PROPERTIES.items() if kinds is None or prop.kind in kinds]
    broken = [identifier for identifier in asked if identifier in OFTEN_BROKEN]
    scenario = parse_scenario(draw(cluster_texts(pods, nodes)), "random.yaml")
    return Asked(scenario, composition, draw(st.sampled_from(broken) | st.sampled_from(asked)))
