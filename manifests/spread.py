"""Topology spread constraints of manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..model.environment.objects import Operator, Requirement, Selector
from ..scenarios.reader.directives import MAX_SKEW
from ..scenarios.reader.labels import label_key, read_selector
from .documents import Manifest
from .remarks import Remarks

SINCE = {
    "minDomains": "1.27",
    "matchLabelKeys": "1.27",
    "nodeAffinityPolicy": "1.26",
    "nodeTaintsPolicy": "1.26",
}
"""Fields that the scheduler did not heed from the start, and from when on it does unless told otherwise."""

_NEEDED = ("maxSkew", "topologyKey", "whenUnsatisfiable")
_POLICIES = ("Honor", "Ignore")


@dataclass(frozen=True, slots=True)
class Spread:
    """A hard constraint (DoNotSchedule). `keys` are matchLabelKeys that are not yet part of the selector.

    `honors_affinity` and `honors_taints` say whether it counts only nodes that pass the pod's node affinity, and whose
    taints the pod tolerates.
    """

    topology_key: str
    selector: Selector
    max_skew: int
    min_domains: int = 1
    keys: tuple[str, ...] = ()
    honors_affinity: bool = True
    honors_taints: bool = False

    @property
    def newer(self) -> list[str]:
        """Which fields of SINCE say something else than if they were not there."""
        said = {
            "minDomains": self.min_domains > 1,
            "matchLabelKeys": bool(self.keys),
            "nodeAffinityPolicy": not self.honors_affinity,
            "nodeTaintsPolicy": self.honors_taints,
        }
        return [field for field, differs in said.items() if differs]

    def of(self, labels: Mapping[str, str]) -> Spread:
        """The constraint of a pod with these labels: its selector also asks for the pod's own values of the keys.

        Keys that the pod does not have say nothing (filterTopologySpreadConstraints, 1.34).
        """
        own = tuple(Requirement(k, Operator.IN, (labels[k],)) for k in self.keys if k in labels)
        # From 1.34 on the API server writes the same into the selector.
        new = tuple(r for r in own if r not in self.selector.expressions)
        return replace(
            self, selector=replace(self.selector, expressions=self.selector.expressions + new), keys=()
        )


def read_constraints(fields: Mapping[str, Manifest], owner: str, remarks: Remarks) -> tuple[Spread, ...]:
    """The hard constraints among the fields of a pod specification; soft ones are scores, and need no model."""
    if "topologySpreadConstraints" not in fields:
        return ()
    found: list[Spread] = []
    for element in fields["topologySpreadConstraints"].elements("a list of constraints"):
        given = element.fields(
            (*_NEEDED, "labelSelector", *SINCE), "a constraint with `maxSkew` and `topologyKey`"
        )
        for needed in _NEEDED:
            if needed not in given:
                element.fail(f"`{needed}` is missing: a constraint has {', '.join(_NEEDED)}")
        if is_hard(given["whenUnsatisfiable"]):
            found.append(_constraint(given))
    for field in sorted({field for c in found for field in c.newer}):
        remarks.add(
            f"{field} of a topology spread constraint is heeded as by default from {SINCE[field]} on: "
            "a verdict on an older release is not about what that one makes of it",
            owner,
        )
    return tuple(found)


def is_hard(when: Manifest) -> bool:
    """What whenUnsatisfiable says."""
    return when.one_of(("DoNotSchedule", "ScheduleAnyway"), "what to do") == "DoNotSchedule"


def _constraint(given: Mapping[str, Manifest]) -> Spread:
    listed = given["matchLabelKeys"].elements("a list of label keys") if "matchLabelKeys" in given else []
    keys = tuple(_key(key) for key in listed)
    if keys and "labelSelector" not in given:
        given["matchLabelKeys"].fail("without `labelSelector` it says nothing: add one, or remove it")
    return Spread(
        _key(given["topologyKey"]),
        read_selector(given["labelSelector"]) if "labelSelector" in given else Selector(nothing=True),
        given["maxSkew"].integer(1, MAX_SKEW),
        given["minDomains"].integer(1, MAX_SKEW) if "minDomains" in given else 1,
        keys,
        _honors(given, "nodeAffinityPolicy", True),
        _honors(given, "nodeTaintsPolicy", False),
    )


def _key(value: Manifest) -> str:
    value.text("a label key such as app or example.com/zone")
    return label_key(value)


def _honors(given: Mapping[str, Manifest], name: str, default: bool) -> bool:
    return given[name].one_of(_POLICIES, "a policy") == "Honor" if name in given else default
