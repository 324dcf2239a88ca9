"""Conformance of the plugins DynamicResources and VolumeBinding: one pod goes through its cycles, and what comes of its claims is looked at.

A case has a `cluster` in the words of scenario files, and `expected`. Nobody else takes a step: informers, controllers and users keep still, as in
upstream's unit tests, where their work is done by hand. `in_flight` are allocations that another pod has in flight, `selected` nodes that are selected for
claims at the start, `missing` volumes that are gone then, `deleting` claims that have a deletion timestamp, `named` whose claims the pod's status names: `own` or `others`.
`written` are claims and volumes that somebody writes after Reserve, `deallocated` claims whose allocation is taken away then, and `fails` is where the cycles are made to fail: after `reserve`,
when a special claim is made (`create`), at the `bind`, or at the `name` of a special claim in the pod's status. `gates` are set otherwise than by default. A pod that PreEnqueue holds back is not tried. When nothing is left to do for the pod, `then` are steps of others, such as `pv_controller.bind_claim c pv1`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import OTHERS, OWN, Claim, Device, Node, Pod, Volume, VolumeClaim
from podrace.model.environment.storage.claims import DELETING
from podrace.model.history import resolve
from podrace.model.language import Concrete, NotEnabled
from podrace.model.language.declarations.component import StepMethod, steps_of
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from podrace.scenarios import parse_scenario
from tests.conformance.cases.cases import Case, Differs, NotTranslated, Outcome, check, judged, restated

STEPS = {
    "claim_cache": ("tell_tracker", "tell_queue"),
    "dynamic_resources": (
        "get_claim", "check_claim", "list_devices", "add_in_flight", "deallocate", "reserve_claim", "write_claim", "refresh_claim",
        "assume_claim", "settle_claim", "fail_claim", "unreserve_claim", "restore_claim", "end_restore", "patch_reservation",
        "give_up_search", "delete_stale", "create_claim", "assume_unwritten", "delete_claim", "see_ready", "see_failure",
    ),
    "volume_binding": (
        "read_claim", "list_volumes", "look_again", "assume_volume", "assume_claim", "write_volume", "write_claim", "check_bindings",
        "restore",
    ),
    "scheduler": ("pop", "take_snapshot", "filter", "assume", "start_binding", "reserve", "permit", "forget"),
    "binding": ("announce", "wait_on_permit", "pre_bind", "bind", "forget"),
}  # fmt: skip
"""What is done for the pod, and what ends of itself. All other steps are somebody else's, or failures."""

STATUSES = {
    NodeStatus.FEASIBLE: "Success",
    NodeStatus.REJECTED: "Unschedulable",
    NodeStatus.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    NodeStatus.ERROR: "Error",
}
NAMES = {"own": OWN, "others": OTHERS}
FAILURES = (None, "", "reserve", "create", "bind", "name")
MOST_STEPS = 200


def run(case: Case, release: str) -> Outcome:
    """Run a case of `claims.json` on a release."""
    return judged(case, release, lambda: _play(case, release))


def _play(case: Case, release: str) -> None:
    (expected,) = restated(case, release) or (case["expected"],)
    if not expected:
        raise NotTranslated("the case expects nothing")
    if case.get("fails") not in FAILURES:
        raise NotTranslated(f"fails is {case['fails']}, not one of {', '.join(filter(None, FAILURES))}")
    found = _Cycles(case, release).run()
    for name, value in expected.items():
        if name not in found:
            raise NotTranslated(f"nobody compares expected.{name}")
        some = {node: found[name].get(node) for node in value} if name == "nodes" else found[name]
        check(name, some, value)


class _Cycles:
    """The cycles of one pod, step after step; of several choices the first in the cluster's order."""

    def __init__(self, case: Case, release: str) -> None:
        self.case = case
        spec = parse_scenario(json.dumps({"name": "case", **case["cluster"]}), "case").spec
        self.model = Concrete(build_cluster(spec, resolve(release, gates=case.get("gates") or {}).classes))
        self.universe: Any = self.part("api").universe
        waiting = [p for p in spec.pods if p.node is None]
        if not waiting:
            raise NotTranslated("no pod waits to be scheduled")
        self.pod: Pod = waiting[0] if case.get("for") is None else self._named(Pod, case["for"])
        self.found: dict[str, Any] = {"nodes": {}, "deallocated": [], "filtered": False}
        self.steps = [
            step for name, some in STEPS.items() for step in steps_of(self.part(name)) if step.name in some
        ]
        self.reserved = False
        self.then = list(case.get("then") or ())
        self.model.do(self._start)

    def part(self, name: str) -> Any:
        """A part of the model."""
        return self.model.part(name)

    def _value(self, table: Any, key: Any) -> Any:
        """What a table of the model has for an entity."""
        return self.model.get(partial(table.__getitem__, key))

    def _named(self, sort: type, name: str) -> Any:
        some = {e.name: e for e in self.universe[sort]}
        if name not in some:
            raise NotTranslated(f"there is no {name}")
        return some[name]

    def _start(self) -> None:
        part = self.part
        for claim, device in (self.case.get("in_flight") or {}).items():
            part("claim_tracker").in_flight[self._named(Claim, claim)] = self._named(Device, device)
        for name, node in (self.case.get("selected") or {}).items():
            claim, at = self._named(VolumeClaim, name), self._named(Node, node)
            part("storage").claim[claim].selected = at
            part("volume_cache").claim[claim].selected = at
        for name in self.case.get("deleting") or ():
            leaving = self._named(Claim, name)
            for some in (
                part("resource_claims").object,
                part("claim_cache").latest,
                part("claim_cache").stored,
            ):
                some[leaving].life = DELETING
        written = {e.name for sort in (Volume, VolumeClaim, Claim) for e in self.universe[sort]}
        after = (*(self.case.get("written") or ()), *(self.case.get("deallocated") or ()))
        unknown = [name for name in after if name not in written]
        if unknown:
            raise NotTranslated(f"there is no {unknown[0]}")
        if "named" in self.case:
            part("api").pod[self.pod].named = NAMES[self.case["named"]]
        for name in self.case.get("missing") or ():
            volume = self._named(Volume, name)
            for some in (part("storage").volume, part("volume_cache").volume):
                some[volume].exists = False
                some[volume].claim = None

    def run(self) -> dict[str, Any]:
        """Go on until no step is left, and say what is so then."""
        if self.pod.claims:
            ready = self.model.get(
                lambda: self.part("dynamic_resources").is_ready(
                    self.pod, self.part("api").pod[self.pod].named
                )
            )
            self.found["preenqueue"] = STATUSES[NodeStatus.FEASIBLE if ready else NodeStatus.UNRESOLVABLE]
            if not ready:
                return {**self.found, **self._end()}
        for _ in range(MOST_STEPS):
            if not self._take_one() and not self._take_next():
                return {**self.found, **self._end()}
            self._look()
        raise NotTranslated(f"more than {MOST_STEPS} steps")

    def _take_one(self) -> bool:
        return any(self._take(step, args) for step in self.steps for args in self._arguments(step))

    def _take_next(self) -> bool:
        """The next step of somebody else."""
        if not self.then:
            return False
        written, *names = self.then.pop(0).split(" ")
        part, _, name = written.partition(".")
        step = next((s for s in steps_of(self.part(part)) if s.name == name), None)
        if step is None:
            raise NotTranslated(f"there is no step {written}")
        given = iter(names)
        args = []
        for parameter, values in step.domains:
            some = list(values)
            args.append(
                some[0] if len(some) == 1 and parameter == "watch" else self._one_of(some, next(given, ""))
            )
        try:
            self.model.do(partial(getattr(step.part, step.name), *args))
        except NotEnabled:
            raise Differs(f"{written} cannot be taken") from None
        return True

    def _one_of(self, some: list[Any], name: str) -> Any:
        found = next((e for e in some if e.name == name), None)
        if found is None:
            raise NotTranslated(
                f"there is no {name or 'name given'}; known: {', '.join(e.name for e in some)}"
            )
        return found

    def _arguments(self, step: StepMethod) -> Iterator[tuple[Any, ...]]:
        domains: list[list[Any]] = []
        for name, values in step.domains:
            if name == "pod":
                domains.append([self.pod])
            elif name == "use":
                domains.append([use for use in values if use.pod is self.pod])
            elif name == "ok":
                domains.append([True])
            else:
                domains.append(list(values))
        yield from product(*domains)

    def _take(self, step: StepMethod, args: tuple[Any, ...]) -> bool:
        plugin = self.part("dynamic_resources")
        if step.part is plugin and step.name == "assume_claim" and self.case.get("fails") == "name":
            step = next(s for s in steps_of(plugin) if s.name == "lose_name")
        if step.name in ("create_claim", "bind") and self.case.get("fails") == step.name.removesuffix(
            "_claim"
        ):
            due = BindingPhase.BIND if step.name == "bind" else BindingPhase.PRE_BIND
            if self.model.get(lambda: self.part("binding").phase[self.pod]) is not due:
                return False
            self.found["claims"] = self._claims()
            self.case = {**self.case, "fails": ""}
            self.model.do(self._fail_binding)
            return True
        try:
            self.model.do(partial(getattr(step.part, step.name), *args))
        except NotEnabled:
            return False
        if step.name == "filter":
            self.found["filtered"] = True
        if step.name == "fail_claim":
            self.found |= {
                f"{name}_when_pre_bind_fails": self._kept()[name] for name in ("assumed", "in_flight")
            }
        if step.name in ("deallocate", "delete_stale"):
            self.found["deallocated"].append(args[0].claim.name)
        return True

    def _fail_binding(self) -> None:
        self.part("binding").phase[self.pod] = BindingPhase.FORGET

    def _look(self) -> None:
        scheduler = self.part("scheduler")
        for node in self.universe[Node]:
            said = self._value(scheduler.verdict, node)
            if said in STATUSES:
                self.found["nodes"].setdefault(node.name, STATUSES[said])
        phase = self.model.get(lambda: scheduler.phase)
        if phase is Phase.RESERVE:
            self.reserved = True
        elif self.reserved:
            self.reserved = False
            self._after_reserve()

    def _after_reserve(self) -> None:
        self.found["in_flight"] = self._of("claim_tracker", "in_flight", Claim)
        self.found["assumed"] = {
            **self._of("volume_cache", "assumed_volume", Volume),
            **self._of("volume_cache", "assumed_claim", VolumeClaim),
        }
        if self.case.get("fails") == "reserve":
            self.model.do(self._fail_reserve)
        for name in self.case.get("deallocated") or ():
            self.model.do(partial(self._deallocate, name))
        for name in self.case.get("written") or ():
            self.model.do(partial(self._write, name))

    def _fail_reserve(self) -> None:
        self.part("scheduler").pod = self.pod
        self.part("scheduler").phase = Phase.FORGET
        self.part("binding").phase[self.pod] = BindingPhase.NONE

    def _deallocate(self, name: str) -> None:
        """Somebody takes a claim's device away at the API server, which the scheduler is not told of yet."""
        self.part("resource_claims").object[self._named(Claim, name)].device = None
        self._write(name)

    def _write(self, name: str) -> None:
        """Somebody writes an object, of which nothing changes that matters here."""
        universe = self.universe
        for volume in universe[Volume]:
            if volume.name == name:
                for part in ("volume_cache", "volume_binding", "pv_controller"):
                    self.part(part).volume_written(volume)
        for claim in universe[VolumeClaim]:
            if claim.name == name:
                for part in ("volume_cache", "volume_binding", "pv_controller"):
                    self.part(part).claim_written(claim)
        for one in universe[Claim]:
            if one.name == name:
                for part in ("claim_cache", "dynamic_resources"):
                    self.part(part).written(one)

    def _of(self, part: str, variable: str, sort: type) -> dict[str, str]:
        table = getattr(self.part(part), variable)
        some = {e.name: self._value(table, e) for e in self.universe[sort]}
        return {name: value.name for name, value in some.items() if value is not None}

    def _allocation(self, part: str, variable: str, claim: Claim) -> list[str]:
        """The device of a claim, and the pods that it is reserved for, as somebody knows it."""
        table = getattr(self.part(part), variable)
        device = self.model.get(lambda: table[claim].device)
        pods = self.universe[Pod]
        reserved = self.model.get(lambda: [table[claim].reserved[pod] for pod in pods])
        users = [pod.name for pod, here in zip(pods, reserved, strict=True) if here]
        return _said(device, users)

    def _claims(self) -> dict[str, Any]:
        """The claims at the API server: devices and whom they are reserved for; volumes, selected nodes, and the claims that volumes are reserved for."""
        universe, part = self.universe, self.part
        found: dict[str, Any] = {}
        for claim in universe[Claim]:
            found[claim.name] = self._allocation("resource_claims", "object", claim)
        for volume_claim in universe[VolumeClaim]:
            object = self._value(part("storage").claim, volume_claim)
            found[volume_claim.name] = _said(
                object["volume"], [] if object["selected"] is None else [object["selected"].name]
            )
        for volume in universe[Volume]:
            object = self._value(part("storage").volume, volume)
            if object["claim"] is not None:
                found[volume.name] = [object["claim"].name]
        return found

    def _end(self) -> dict[str, Any]:
        kept = self._kept()
        return {
            "end": self._outcome(),
            "claims_at_the_end": self._claims(),
            "claims": self.found.get("claims", self._claims()),
            "assumed_at_the_end": kept["assumed"],
            "in_flight_at_the_end": kept["in_flight"],
        }

    def _kept(self) -> dict[str, Any]:
        """What the scheduler keeps: what it takes for written, and what is in flight."""
        latest = {c.name: self._allocation("claim_cache", "latest", c) for c in self.universe[Claim]}
        return {
            "assumed": {
                **latest,
                **self._of("volume_cache", "assumed_volume", Volume),
                **self._of("volume_cache", "assumed_claim", VolumeClaim),
            },
            "in_flight": self._of("claim_tracker", "in_flight", Claim),
        }

    def _outcome(self) -> str:
        if self.model.get(lambda: self.part("api").pod[self.pod].node) is not None:
            return "bound"
        if self._value(self.part("binding").phase, self.pod) is BindingPhase.PRE_BIND:
            return "waits"
        said = self.found["nodes"].values()
        return "errs" if "Error" in said else "fails" if "Success" in said else "rejected"


def _said(given: Any, more: list[str]) -> list[str]:
    return [*([] if given is None else [given.name]), *more]
