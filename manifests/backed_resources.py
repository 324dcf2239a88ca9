"""Extended resources that devices back (DRAExtendedResource, on from 1.36): a pod that asks for one is given a device, for which the scheduler
makes a claim (dynamicresources/extendeddynamicresources.go).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..base.text import one_line
from ..scenarios.reader.sections.claim_section import IMPLICIT, special_claim
from .pod_claims import PodClaims
from .reading.device_objects import DeviceWish, WrittenDevices
from .reading.manifest_files import Remarks
from .reading.resource_amounts import Amounts


class BackedResources:
    """Which extended resources are devices rather than amounts of nodes.

    A resource that some node has, from a device plugin, is one of the nodes. `asked` says what pods ask for, for remarks. Where not `on`, as up to
    1.35, there are none.
    """

    def __init__(
        self,
        devices: WrittenDevices,
        nodes: Iterable[Amounts],
        asked: Iterable[Amounts],
        on: bool,
        remarks: Remarks,
    ) -> None:
        self._claims = devices.claims
        self._class: dict[str, str] = {}
        self._doubts: dict[str, str] = {}
        has = list(nodes)
        wanted = {r for amounts in asked for r, amount in amounts.items() if amount}
        named = [(c.extended, c.name) for c in devices.classes.values() if c.extended]
        named += [(r, r.removeprefix(IMPLICIT)) for r in wanted if r.startswith(IMPLICIT)]
        for resource, of in sorted(named):
            shown = one_line(f"{resource} of DeviceClass/{of}")
            if resource not in wanted:
                continue
            if not on:
                remarks.add(
                    "devices back extended resources from 1.36 on: what the nodes say of it counts", shown
                )
            elif plugged := [amounts for amounts in has if amounts.get(resource)]:
                if len(plugged) < len(has):
                    self._doubts[resource] = (
                        f"{shown}: nodes without a device plugin for it are taken to have none"
                    )
                    remarks.add(
                        "some nodes have the extended resource from a device plugin, and devices back it on the others: the others are "
                        "taken to have none", shown,
                    )  # fmt: skip
            elif resource in self._class:
                self._doubts[resource] = f"{shown}: another class backs it, too, and one of them is taken"
                remarks.add(
                    f"several classes back the extended resource: {self._class[resource]} is taken, the scheduler takes the newest", shown
                )  # fmt: skip
            else:
                self._class[resource] = of
        self._owned = {
            f"{c.meta.namespace}/{c.meta.owner.name}": name
            for name, c in devices.claims.items()
            if c.special and c.meta.owner is not None and c.meta.owner.kind == "Pod"
        }

    def of_nodes(self, requests: Amounts) -> Amounts:
        """What of a pod's requests are amounts of nodes."""
        return {r: amount for r, amount in requests.items() if r not in self._class}

    def added(self, claims: PodClaims, pod: str, requests: Amounts, made: str = "") -> PodClaims:
        """The claims of a pod, namespace/name, with the one for its extended resources, if devices back any.

        One that is there already, as the pod's status says (`made`) or its owner, has the name from here on that it has in scenarios.
        """
        if doubt := next((self._doubts[r] for r, a in requests.items() if a and r in self._doubts), ""):
            claims = replace(claims, doubt=f"{pod} asks for {doubt}")
        asked: Mapping[str, int] = {r: a for r, a in requests.items() if a and r in self._class}
        if not asked:
            return claims
        resource = next(iter(asked))
        name = special_claim(pod)
        written = made if made in self._claims else self._owned.get(pod, "")
        if written in self._claims and name not in self._claims:
            self._claims[name] = self._claims.pop(written)
        wish = DeviceWish(self._class[resource])
        found = self._claims.get(name)
        if sum(asked.values()) > 1:
            wish = replace(wish, unlike="it asks for several devices in place of extended resources")
        elif found is not None and not found.special and not written:
            wish = replace(wish, unlike="another claim has the name that it would have in a scenario")
        while wish.unlike and name in self._claims:
            name += "-2"
        devices, templates = (*claims.devices, name), {**claims.templates, name: wish}
        return replace(claims, devices=devices, templates=templates, special=name, resource=resource)
