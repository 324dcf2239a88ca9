"""What only upstream's tests have: their filters and scorers. All are subclasses of the model's own parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from podrace.model.environment.objects import Node, Pod
from podrace.model.language import (
    Component,
    Expr,
    any_of,
    as_expr,
    clamp,
    integer,
    largest,
    select,
    smallest,
    total,
)
from podrace.model.scheduler import Filters, Scores
from podrace.model.scheduler.framework.filters import FilterPlugin
from podrace.model.scheduler.framework.placement import Placement
from podrace.model.scheduler.framework.status import Code
from tests.conformance.cases.cases import NotCovered, NotTranslated

MAX_CALLS = 1 << 30

CODES = {
    "Success": Code.SUCCESS,
    "Error": Code.ERROR,
    "Unschedulable": Code.UNSCHEDULABLE,
    "UnschedulableAndUnresolvable": Code.UNRESOLVABLE,
    "Skip": Code.SKIP,
}


def code_named(name: str) -> Code:
    """The Code that a case names."""
    if name not in CODES:
        raise NotTranslated(f"the status code {name} is not modelled")
    return CODES[name]


FAILING = ("TestPlugin", "test-plugin")
"""Upstream's plugin that fails when a pod is added or removed (`preemption_plugins`); as a filter it lets everything pass."""


class ChosenFilters(Filters):
    """The filters that a case chooses. `calls` counts how often they ran."""

    chosen: Sequence[str] = ()
    said: Mapping[str, Mapping[str, Code]] = MappingProxyType({})

    calls = integer(0, MAX_CALLS)

    def run(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        self.calls = clamp(self.calls + 1, 0, MAX_CALLS)
        return super().run(pod, node, placement)

    def plugins(self) -> dict[str, FilterPlugin]:
        own = super().plugins()
        if any(name.startswith("(") for name in self.chosen):
            return own
        stubs: dict[str, FilterPlugin] = {
            "AlwaysPass": self.always_pass,
            "AlwaysFail": self.always_fail,
            "NodeNameEqualsPodName": self.node_named_like_pod,
            "NodeHasNoPods": self.node_has_no_pods,
            **dict.fromkeys(FAILING, self.always_pass),
            **{name: partial(self.as_told, answers) for name, answers in self.said.items()},
        }
        known = {**own, **stubs}
        missing = [name for name in self.chosen if name not in known]
        if missing:
            raise NotCovered(f"the release has no filter {missing[0]}")
        return {name: known[name] for name in self.chosen}

    def always_pass(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Lets everything pass."""
        return as_expr(Code.SUCCESS)

    def always_fail(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Lets nothing pass."""
        return as_expr(Code.UNSCHEDULABLE)

    def node_named_like_pod(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Lets a pod pass on the node that has its name."""
        return as_expr(Code.SUCCESS if pod.name == node.name else Code.UNSCHEDULABLE)

    def node_has_no_pods(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Lets a pod pass on an empty node."""
        taken = any_of(placement.present(pod, node).values())
        return select(taken, Code.UNSCHEDULABLE, Code.SUCCESS)

    def as_told(self, answers: Mapping[str, Code], pod: Pod, node: Node, placement: Placement) -> Expr:
        """Says of each node what the case tells, and lets pass where it tells nothing."""
        return as_expr(answers.get(node.name, Code.SUCCESS))


KNOWN = (
    "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "AlwaysPass", "AlwaysFail", "NodeNameEqualsPodName", "NodeHasNoPods", *FAILING,
)  # fmt: skip


def chosen_filters(filters: Sequence[str | Mapping[str, Any]] | None) -> type[Component]:
    """Filters that run just these plugins; a name in parentheses, or none at all, stands for the default ones.

    A filter may be told what to say: `{kind, fails_on: [node]}` or `{kind, codes: {node: code}}`.
    """
    chosen, said = [], {}
    for told in ("(default)",) if filters is None else filters:
        name = told if isinstance(told, str) else str(told.get("kind") or told.get("name"))
        if not isinstance(told, str):
            said[name] = _answers(name, told)
        elif name not in KNOWN and not name.startswith("("):
            raise NotCovered(f"the filter {name} is not modelled")
        chosen.append(name)
    return type("TheseFilters", (ChosenFilters,), {"chosen": tuple(chosen), "said": said})


def _answers(name: str, told: Mapping[str, Any]) -> dict[str, Code]:
    if isinstance(told.get("codes"), Mapping):
        return {node: code_named(code) for node, code in told["codes"].items()}
    if "fails_on" in told:
        return dict.fromkeys(told["fails_on"], code_named(told.get("code") or "Unschedulable"))
    raise NotCovered(f"the filter {name} is not modelled")


def stub_filters(on_add: Code | None, on_filter: Code | None) -> type[Component]:
    """A plugin that says one thing of every pod and another of every nominated pod that is added."""

    class StubFilters(Filters):
        """Filters that always say the same."""

        def joins(self, pod: Pod, nominated: Pod, node: Node) -> Expr:
            return as_expr(on_add or Code.SUCCESS)

        def plugins(self) -> dict[str, FilterPlugin]:
            if on_filter is None:
                return {}
            said = as_expr(on_filter)
            return {"Stub": lambda pod, node, placement: said}

    return StubFilters


def _number(node: Node) -> int:
    try:
        return int(node.name)
    except ValueError:
        raise NotTranslated(f"the scorer needs numbers as names of nodes, not {node.name}") from None


class ChosenScores(Scores):
    """The scorers that a case chooses, with their weights."""

    chosen: Sequence[tuple[str, int]] = ()

    def totals(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        of = {"numeric_name": self.numeric, "reverse_numeric_name": self.reverse, "equal": self.equal}
        parts = [(weight, of[name](feasible)) for name, weight in self.chosen]
        return {n: total(score[n] * weight for weight, score in parts) for n in feasible}

    def equal(self, feasible: Mapping[Node, Expr]) -> dict[Node, Expr]:
        """The same score everywhere."""
        return dict.fromkeys(feasible, as_expr(1))

    def numeric(self, feasible: Mapping[Node, Expr]) -> dict[Node, Expr]:
        """A node's name is its score."""
        return {n: as_expr(_number(n)) for n in feasible}

    def reverse(self, feasible: Mapping[Node, Expr]) -> dict[Node, Expr]:
        """The feasible nodes' scores upside down."""
        numbers = [_number(n) for n in feasible]
        least, greatest = as_expr(max(numbers)), as_expr(min(numbers))
        for node, counts in feasible.items():
            least = select(counts, smallest(_number(node), least), least)
            greatest = select(counts, largest(_number(node), greatest), greatest)
        return {n: greatest + least - _number(n) for n in feasible}


_FAILS = {"error", "errors", "fail", "fails", "failing", "false"}


def fails_always(kind: str) -> bool:
    """Whether the scorer of this kind answers with an error (upstream's FalseMap, and TestPlugin)."""
    return bool(set(re.findall(r"[a-z]+", kind.lower())) & _FAILS)


def chosen_scores(scorers: Sequence[Mapping[str, object]]) -> type[Component]:
    """Scores that add up just these scorers."""
    chosen = []
    for scorer in scorers:
        kind, weight = str(scorer.get("kind")), scorer.get("weight")
        if kind not in ("numeric_name", "reverse_numeric_name", "equal"):
            raise NotCovered(f"the scorer {kind} is not modelled")
        chosen.append((kind, 1 if weight is None else int(str(weight))))
    return type("ChosenScores", (ChosenScores,), {"chosen": tuple(chosen)})
