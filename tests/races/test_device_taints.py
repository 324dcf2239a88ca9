"""Devices that get a taint with NoExecute, and the device taint eviction controller: exact counts (docs/claims.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Expr, any_of, before, boolean, when
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.claims import AboutClaims
from podrace.reproduce.random_runs.quick_steps import QuickSteps
from podrace.scenarios import find_scenarios, parse_scenario

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"


class BoundWhileUntainted(AboutClaims):
    """A pod is bound only while no device of its is tainted."""

    id = "X-UNTAINTED"

    broken = boolean()

    def observe(self) -> None:
        taints = self._model.parts["device_taints"]
        for pod in self.subjects:
            bound = self.api.pod[pod].assigned & ~before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(bound & taints.has_to_leave(pod)):
                self.broken = True

    def holds(self) -> Expr:
        return ~self.broken


class BoundInTime(BoundWhileUntainted):
    """A pod is bound only while the time for which its claim tolerates the taint of its device is not over."""

    id = "X-INTIME"

    def observe(self) -> None:
        taints = self._model.parts["device_taints"]
        for pod in self.subjects:
            bound = self.api.pod[pod].assigned & ~before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(bound & taints.has_to_leave(pod, every=False)):
                self.broken = True


class NeverBound(AboutClaims):
    """No pod is bound."""

    id = "X-UNBOUND"

    def holds(self) -> Expr:
        return ~any_of(self.api.pod[pod].assigned for pod in self.subjects)


class NeverEvicted(AboutClaims):
    """No pod is about to be evicted for the taint of its device."""

    id = "X-UNEVICTED"

    def holds(self) -> Expr:
        taints = self._model.parts["device_taints"]
        return ~any_of(self.api.pod[p].assigned & taints.has_to_leave(p, every=False) for p in self.subjects)


OWN = {one.id: one for one in (BoundWhileUntainted, BoundInTime)}

ROWS: list[tuple[str, str, str, tuple[str, ...], str, int, int | None]] = [
    ("tolerated-and-evicted", "S-DTAINT", "1.36.3", (), V, 68, 20),
    ("tolerated-and-evicted", "S-DTAINT", "1.37.2", (), V, 68, 20),
    ("tolerated-and-evicted", "S-DTAINT", "1.38.0-beta.0", (), H, 73, None),
    ("tolerated-and-evicted", "S-DTAINT", "1.37.2", ("empty-effects-tolerated",), H, 87, None),
    ("tolerated-for-too-short", "L-DTAINT", "1.37.2", (), H, 222, None),
    ("tolerated-for-too-short", "S-DTAINT", "1.37.2", (), H, 222, None),
    ("tolerated-for-too-short", "X-INTIME", "1.37.2", (), V, 143, 21),
    ("device-tainted", "L-DTAINT", "1.36.3", (), H, 1042, None),
    ("device-tainted", "L-DTAINT", "1.37.2", (), H, 1042, None),
    ("device-tainted", "L-CLAIM", "1.36.3", (), H, 1042, None),
    ("device-tainted", "X-UNTAINTED", "1.36.3", (), V, 650, 21),
    ("extended-not-evicted", "L-DTAINT", "1.36.3", (), V, 414, 31),
    ("extended-not-evicted", "L-DTAINT", "1.37.0", (), V, 414, 31),
    ("extended-not-evicted", "L-DTAINT", "1.37.2", (), H, 769, None),
    ("extended-not-evicted", "L-DTAINT", "1.36.3", ("142289",), H, 769, None),
]
NAMES = {row[0] for row in ROWS}


@pytest.mark.parametrize(("name", "identifier", "release", "fixes", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, fixes: tuple[str, ...], verdict: str, states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    asked = OWN.get(identifier) or PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, resolve(release, fixes).classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,} states" in PAGE


def test_up_to_1_35_they_are_refused() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-tainted.yaml"))
    old = replace(scenario, release="1.35")
    assert refusal_of(old, resolve("1.35.0")) == (
        "device-tainted: taints of devices are modelled from 1.36 on: ask for a later release than 1.35.0"
    )
    assert refusal_of(scenario, resolve("1.36.3")) is None


TAINTED = """
name: x
nodes: {n1: {cpu: 1}}
devices: {gpu1: {node: n1, taint: %s}}
resourceClaims: {c1: {%s}}
pods: {p: {cpu: 1, resourceClaims: [c1]}}
scope: {pod_events: 1, flush: false, backoff: false}
"""


@pytest.mark.parametrize(
    ("taint", "claim", "bound", "evicted", "lost"),
    [
        ("NoSchedule", "", False, False, False),
        ("NoSchedule", "tolerates: NoSchedule", True, False, False),
        ("NoSchedule", "tolerates: NoExecute", False, False, False),
        ("NoExecute", "", False, False, False),
        ("NoExecute", "tolerates: NoSchedule", False, False, False),
        ("NoExecute", "tolerates: NoExecute", True, False, True),
        ("NoExecute", "tolerates: NoExecute, tolerationSeconds: true", True, True, True),
        ("NoExecute", "tolerates: all", True, True, True),
    ],
)  # fmt: skip
def test_what_a_toleration_is_good_for(
    taint: str, claim: str, bound: bool, evicted: bool, lost: bool
) -> None:
    """On 1.37.2; `lost`: whether it is evicted without 134479, where allocations have no tolerations."""
    spec = parse_scenario(TAINTED % (taint, claim), "x").spec

    def happens(asked: type[AboutClaims], without: tuple[str, ...] = ()) -> bool:
        (found,) = check(instrument(spec, resolve("1.37.2", (), without).classes, [asked]), [asked.id])
        return found.verdict.name == V

    assert happens(NeverBound) is bound
    assert happens(NeverEvicted) is evicted
    assert happens(NeverEvicted, ("134479",)) is lost


def test_a_taint_of_a_device_without_a_slice_wakes_nobody() -> None:
    """The informers of slices and of rules are two, and a rule changes slices that are there."""
    text = (
        "name: both\nnodes: {n1: {cpu: 1}}\ndevices: {d1: {node: n1, exists: false}}\nresourceClaims: {c1: {}}\n"
        "pods: {p: {cpu: 1, resourceClaims: [c1]}}\nscope: {device_taints: 1, backoff: false}\n"
    )
    system = instrument(parse_scenario(text, "x.yaml").spec, resolve("1.37.2").classes, [])
    steps = QuickSteps(system)
    woken = {"slice_informer.deliver": False, "slice_informer.deliver_taint": False}
    seen, left = {system.initial}, [system.initial]
    shown = next(i for i, v in enumerate(system.variables) if v.name == "slice_informer.shown[d1]")
    place = next(i for i, v in enumerate(system.variables) if v.name == "queue.sub_queue[p]")
    while left:
        state = left.pop()
        for number in steps.enabled(state):
            transition, after = system.transitions[number], steps.successor(state, number)
            name = f"{transition.part}.{transition.step}"
            if name in woken and not state[shown]:
                woken[name] |= state[place] != after[place]
            if after not in seen:
                seen.add(after)
                left.append(after)
    assert woken == {"slice_informer.deliver": True, "slice_informer.deliver_taint": False}
