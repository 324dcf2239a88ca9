"""Taints of devices (resource.k8s.io, DRADeviceTaints and DRADeviceTaintRules): those of ResourceSlices, those of DeviceTaintRules, and what claims tolerate.

Whether a taint is tolerated is decided as for nodes (ToleratesTaint, k8s.io/dynamic-resource-allocation/resourceclaim, 1.37).
"""

from collections.abc import Sequence

from ...base.structs import Data
from ...model.environment.objects import Taint, Toleration
from .manifest_values import Fields, Manifest

KEEPING_AWAY = ("NoSchedule", "NoExecute")
"""The effects that keep a device from being allocated."""


class DeviceTaintRule(Data):
    """A DeviceTaintRule: its taint, and driver, pool and device that it names, "" for any. `unlike`: which devices it means is not known here."""

    taint: Taint
    named: tuple[str, str, str] = ("", "", "")
    unlike: bool = False

    def means(self, key: tuple[str, str, str]) -> bool:
        """Whether the device of this driver, pool and name has the taint, or may have it."""
        return all(asked in ("", said) for asked, said in zip(self.named, key, strict=True))


def read_taints(fields: Fields) -> tuple[Taint, ...]:
    """The taints of a device that say more than that they are there."""
    found = (_taint(element) for element in fields.elements("taints", "a list of taints"))
    return tuple(taint for taint in found if taint.effect in KEEPING_AWAY)


def _taint(element: Manifest) -> Taint:
    fields = element.mapping("a taint with `key` and `effect`")
    effect = fields.need("effect", "a taint has `key` and `effect`").text("NoSchedule, NoExecute or None")
    return Taint(fields.text("key", "a key"), fields.text("value", "a value"), effect)


def read_tolerations(fields: Fields) -> tuple[Toleration, ...]:
    """The tolerations of a request."""
    return tuple(map(_toleration, fields.mappings("tolerations", "a list of tolerations", "a toleration")))


def _toleration(fields: Fields) -> Toleration:
    seconds = (
        fields.integer("tolerationSeconds", -(1 << 62), 1 << 62, 0) if "tolerationSeconds" in fields else None
    )
    return Toleration(
        fields.text("key", "a key"), fields.one_of("operator", ("Equal", "Exists"), "an operator"),
        fields.text("value", "a value"), fields.text("effect", "an effect"), seconds,
    )  # fmt: skip


def read_taint_rule(fields: Fields) -> DeviceTaintRule | None:
    """A DeviceTaintRule; None for one that taints no device: without a selector, or with another effect."""
    spec = fields.inner("spec", "a DeviceTaintRule has at least `spec.taint`", "a mapping with `taint`")
    taint = _taint(spec.need("taint", "a DeviceTaintRule has a taint"))
    if taint.effect not in KEEPING_AWAY or "deviceSelector" not in spec:
        return None
    asked = spec.below("deviceSelector")
    driver, pool, device = (asked.text(name, "a name") for name in ("driver", "pool", "device"))
    more = "deviceClassName" in asked or bool(asked.elements("selectors", "a list of selectors"))
    return DeviceTaintRule(taint, (driver, pool, device), more)


def not_tolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> list[Taint]:
    """The taints for which a claim with these tolerations is not given the device."""
    return [taint for taint in taints if not any(t.tolerates(taint) for t in tolerations)]


def evicting(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> bool:
    """Whether the device taint eviction controller evicts the pods of a claim with these tolerations, now or later."""
    for_ever = [t for t in tolerations if t.seconds is None]
    return bool(not_tolerated([t for t in taints if t.effect == "NoExecute"], for_ever))
