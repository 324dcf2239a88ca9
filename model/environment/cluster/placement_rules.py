"""What a pod asks of the nodes and of the pods around it: selectors, affinity, taints, topology spread, host ports.

All of it is fixed by the scenario. Nothing here knows what a pod or a node is: a rule looks at labels and names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Protocol

from ....base.structs import Data

_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII)


def whole_number(text: str) -> int | None:
    """The number of 64 bits that a text stands for; None if it is none."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -(1 << 63) <= number < 1 << 63 else None


def _could_be_a_value(text: str) -> bool:
    return len(text) <= 63 and _VALUE.fullmatch(text) is not None


class Operator(Enum):
    """How a requirement compares a label with its values."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GREATER = "Gt"  # node affinity only
    LESS = "Lt"  # node affinity only


_OF_NODES = (Operator.GREATER, Operator.LESS)

ANY_ADDRESS = "0.0.0.0"
"""The hostIP of a port that a pod takes on all addresses of its node."""


class HostPort(Data):
    """A port of its node that a pod occupies (hostPort of a container)."""

    port: int
    protocol: str = "TCP"
    ip: str = ANY_ADDRESS

    def conflicts(self, other: HostPort) -> bool:
        """Whether no node has room for both (HostPortInfo.CheckConflict): one of all addresses is in everybody's way."""
        same = (self.protocol, self.port) == (other.protocol, other.port)
        return same and (self.ip == other.ip or ANY_ADDRESS in (self.ip, other.ip))

    def __str__(self) -> str:
        return f"{self.protocol} {self.ip}:{self.port}"


class Requirement(Data):
    """One of a selector's matchExpressions."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether it can be parsed (NewRequirement in apimachinery labels/selector.go), but for its key: it has as many values as its operator takes, and they could be values of labels.

        A limit of Gt or Lt has to be a whole number, too.
        """
        return self._has_its_values() and all(map(_could_be_a_value, self.values))

    def _has_its_values(self) -> bool:
        match self.operator:
            case Operator.IN | Operator.NOT_IN:
                return bool(self.values)
            case Operator.EXISTS | Operator.DOES_NOT_EXIST:
                return not self.values
            case Operator.GREATER | Operator.LESS:
                return len(self.values) == 1 and whole_number(self.values[0]) is not None

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels meets the requirement; NotIn is met without the label too.

        Gt and Lt compare whole numbers of 64 bits; what is no such number meets neither, and nothing meets a limit with a sign, as that is
        no label value (NewRequirement in apimachinery labels/selector.go, 1.36).
        """
        match self.operator:
            case Operator.IN:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels
            case Operator.GREATER | Operator.LESS:
                return self._compares(labels.get(self.key, ""))

    def _compares(self, label: str) -> bool:
        given = self.values[0] if len(self.values) == 1 else ""
        limit = whole_number(given) if given[:1].isdigit() else None
        number = whole_number(label)
        if limit is None or number is None:
            return False
        return number > limit if self.operator is Operator.GREATER else number < limit


class Selector(Data):
    """A LabelSelector; the empty one matches everything. `nothing` stands for a selector that is not set."""

    match_labels: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to meet."""
        return not (self.nothing or self.match_labels or self.expressions)

    @property
    def valid(self) -> bool:
        """Whether it can be parsed (LabelSelectorAsSelector in apimachinery meta/v1/helpers.go), which knows neither Gt nor Lt."""
        labels = all(map(_could_be_a_value, self.match_labels.values()))
        return labels and all(e.valid and e.operator not in _OF_NODES for e in self.expressions)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        if self.nothing:
            return False
        return all(labels.get(k) == v for k, v in self.match_labels.items()) and all(
            e.holds(labels) for e in self.expressions
        )


class Labelled(Protocol):
    """What a term looks at of a pod."""

    namespace: str
    namespace_labels: dict[str, str]
    labels: dict[str, str]


class Term(Data):
    """A pod (anti-)affinity term: pods that its selector matches, in one topology domain.

    The pods meant are those of `namespaces`, and of the namespaces that `namespace_selector` matches; where
    neither is given, those of the namespace of the pod that has the term (the pod fills it in). `weight` counts
    for preferred terms.
    """

    match_labels: Mapping[str, str]
    topology_key: str
    required: bool = True
    anti: bool = False
    expressions: tuple[Requirement, ...] = ()
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector | None = None
    weight: int = 1
    nothing: bool = False

    @property
    def selector(self) -> Selector:
        """The term's label selector."""
        return Selector(self.match_labels, self.expressions, self.nothing)

    @property
    def valid(self) -> bool:
        """Whether the term's selectors can be parsed."""
        return self.selector.valid and (self.namespace_selector is None or self.namespace_selector.valid)

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels is meant, if it is in the right namespace."""
        return self.selector.matches(labels)

    def admits(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether pods of a namespace with these labels are meant."""
        by_label = self.namespace_selector is not None and self.namespace_selector.matches(labels)
        return namespace in self.namespaces or by_label

    def matches(self, pod: Labelled) -> bool:
        """Whether the term means this pod."""
        return self.admits(pod.namespace, pod.namespace_labels) and self.selects(pod.labels)

    def matches_by_name(self, pod: Labelled) -> bool:
        """The same where nobody looks at the labels of the pod's namespace (`AffinityTerm.Matches` with nil): its `namespace_selector` is asked about none."""
        return self.admits(pod.namespace, {}) and self.selects(pod.labels)


UNPARSED = Term({}, "", nothing=True)
"""Stands for the terms of a pod that is to be scheduled where one of them cannot be parsed: PreFilter of InterPodAffinity rejects the pod on every node, as it does where no
pod is like the one that it would have to lie with."""


def parsed(terms: Sequence[Term]) -> list[Term]:
    """What NewPodInfo keeps of the terms of a pod (framework/types.go): nothing of a group (required or preferred, affinity or anti-affinity) of which one cannot be parsed."""
    broken = {(t.required, t.anti) for t in terms if not t.valid}
    return [t for t in terms if (t.required, t.anti) not in broken]


NODE_NAME = "metadata.name"
"""The only field of a node that `matchFields` may name."""


class NodeTerm(Data):
    """A nodeSelectorTerm: every requirement on labels and on fields is met. One without any matches no node, nor does one that cannot be parsed (`newNodeSelectorTerm`):
    a field is In or NotIn one name."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node with this name and these labels is meant."""
        if not (self.expressions or self.fields) or not all(e.valid for e in self.expressions):
            return False
        equal = (Operator.IN, Operator.NOT_IN)
        by_field = all(
            f.operator in equal and len(f.values) == 1 and f.holds({NODE_NAME: name}) for f in self.fields
        )
        return by_field and all(e.holds(labels) for e in self.expressions)


class NodeAffinity(Data):
    """requiredDuringSchedulingIgnoredDuringExecution: one of the terms matches."""

    terms: Sequence[NodeTerm]

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node with this name and these labels is admitted; no term admits none."""
        return any(term.matches(name, labels) for term in self.terms)


class PreferredNodes(Data):
    """A term of preferredDuringSchedulingIgnoredDuringExecution: which nodes the pod likes, and how much. Its term has expressions only."""

    weight: int
    term: NodeTerm


class Taint(Data):
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Toleration(Data):
    """A toleration of a pod; without a key it tolerates every taint of its effect, without an effect all of them.

    `seconds` is tolerationSeconds, after which a pod has to leave a node with such a taint: None for never. The scheduler does not look at it.
    """

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether a pod with this toleration can live with the taint."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or self.value == taint.value


class SpreadConstraint(Data, slots=False):
    """How unevenly the pods of `selector` may lie over the values of a node label (DoNotSchedule), or should (ScheduleAnyway).

    `others` says how many more pods it counts in which domain: pods that are no part of the cluster that is modelled, but
    stay where they are. A domain that is named there does not go when its nodes do. Of fewer domains than `min_domains` an empty one counts as the
    least. A node counts only if the pod asks for it, unless not `honors_affinity` (nodeAffinityPolicy), and, where it `honors_taints`
    (nodeTaintsPolicy), only if the pod tolerates its taints. `by_default`: the pod has it from the plugin's own list (defaultConstraints).
    """

    topology_key: str
    selector: Selector
    max_skew: int = 1
    others: Mapping[str, int] = field(default_factory=dict)
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False
    by_default: bool = False

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels, in the namespace of the constraint's owner, is counted."""
        return self.selector.matches(labels)


class Wishes(Data, slots=False):
    """What a pod would like of its node, which only scores: soft constraints (ScheduleAnyway), and terms of preferred node affinity."""

    spread: Sequence[SpreadConstraint] = ()
    nodes: Sequence[PreferredNodes] = ()


NO_WISHES = Wishes()
