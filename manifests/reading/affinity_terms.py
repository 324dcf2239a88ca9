"""Required affinity between pods, and to nodes, as it stands in a Pod or in a workload's template.

The keys of matchLabelKeys and mismatchLabelKeys are no business of the scheduler: the API server writes them into the selector when it
creates a pod (applyMatchLabelKeysAndMismatchLabelKeys in pkg/registry/core/pod/strategy.go, 1.36). A Pod of a dump has them there; one
that was written by hand, and a template, do not.
"""

from collections.abc import Mapping
from dataclasses import replace

from ...base.structs import Data
from ...base.text import one_line
from ...model.environment.cluster.placement_rules import whole_number
from ...model.environment.objects import NodeAffinity, Operator, Requirement, Selector, Term
from ...scenarios.tables.directives import REQUIRED, read_node_selector, required_term
from ...scenarios.tables.selectors import read_requirements
from ...scenarios.values.labels import is_label_value, label_key
from ...scenarios.values.yaml_values import Value
from .manifest_files import Remarks
from .manifest_values import Fields, Manifest
from .metadata import read_key

NOBODY = Selector(
    expressions=tuple(Requirement("podrace.io/nobody", o) for o in (Operator.EXISTS, Operator.DOES_NOT_EXIST))
)
"""A selector that no pod meets, and that a scenario file can have: that of a term without labelSelector."""

_KEYS = {"matchLabelKeys": Operator.IN, "mismatchLabelKeys": Operator.NOT_IN}


class WrittenTerm(Data):
    """A term, and the keys that its selector does not name yet, each with how the pod's own value is to be compared."""

    term: Term
    keys: tuple[tuple[str, Operator], ...] = ()

    def of(self, labels: Mapping[str, str]) -> Term:
        """The term of a pod with these labels. A key that the pod does not have says nothing."""
        own = tuple(Requirement(k, operator, (labels[k],)) for k, operator in self.keys if k in labels)
        return replace(self.term, expressions=self.term.expressions + own)


def read_terms(affinity: Fields, name: str, owner: str, remarks: Remarks) -> list[WrittenTerm]:
    """The required terms of podAffinity or podAntiAffinity; preferred ones are scores, and need no model."""
    fields = affinity.below(name, "a mapping of pod affinity")
    anti = name == "podAntiAffinity"
    found = [_term(e, anti) for e in fields.elements(REQUIRED, "a list of terms with `topologyKey`")]
    if any(written is not None and written.keys for written in found):
        remarks.doubt(
            "matchLabelKeys and mismatchLabelKeys of an affinity term are heeded as by default from 1.31 on: "
            "a verdict on an older release is not about what that one makes of it",
            owner,
            before="1.31",
            room=anti,
        )
    return [written for written in found if written is not None]


def _term(element: Manifest, anti: bool) -> WrittenTerm | None:
    """None for a term that keeps away from nobody."""
    given = element.mapping("a term with `topologyKey`")
    term = required_term(element, anti, NOBODY)
    listed = [(read_key(k), name) for name in _KEYS for k in given.elements(name, "a list of label keys")]
    if "labelSelector" not in given:
        if listed:
            given[listed[0][1]].fail("without `labelSelector` it says nothing: add one, or remove it")
        return None if anti else WrittenTerm(term)
    said = {(e.key, e.operator) for e in term.expressions}
    return WrittenTerm(term, tuple((k, _KEYS[name]) for k, name in listed if (k, _KEYS[name]) not in said))


def read_node_affinity(affinity: Fields, owner: str, remarks: Remarks) -> NodeAffinity | None:
    """The required part of nodeAffinity; preferences are scores: as the scenario has none, every feasible node may win.

    A term with a value that the scheduler cannot parse matches no node, and other terms count (newNodeSelectorTerm in component-helpers
    scheduling/corev1/nodeaffinity, 1.36, and MatchNodeSelectorTerms in old releases): the API server lets through any label value that is no number,
    and up to 1.32, or in a pod that had it before, any text (ValidateNodeSelectorRequirement in pkg/apis/core/validation). All else that is malformed it
    refuses, and so is it here.
    """
    required = affinity.below("nodeAffinity", "a mapping of node affinity")
    if REQUIRED not in required:
        return None

    def expressions(listed: Value | None) -> tuple[Requirement, ...] | None:
        odd: list[str] = []

        def value_of(written: Value) -> str:
            text = written.text("a label value")
            odd.extend([] if is_label_value(text) else [text])
            return text

        def limit_of(written: Value, _: Operator) -> str:
            text = written.text("a label value")
            odd.extend([] if is_label_value(text) and whole_number(text) is not None else [text])
            return text

        found = read_requirements(listed, tuple(Operator), label_key, value_of, limit_of)
        if not odd:
            return found
        remarks.add(
            f"a term of node affinity compares with `{one_line(odd[0])}`, which the scheduler cannot parse: the term matches no node",
            owner,
        )
        return None

    return read_node_selector(required[REQUIRED], expressions)
