"""A counterexample as a short Go test, in the manner of upstream's own: it fails as long as the race is there, and passes with a patch. That of a question
(`podrace ask`) passes as long as its order is possible.

A line is one move of one goroutine, or several that it makes without a break, with the sentences that podrace tells of them. The moves are those of
`driver/testing/moves.go`; a step that has no name there is written as `c.Step`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...analysis.ask.asked_property import ID as ASK
from ...analysis.stored.replayed import Replayed
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...reports.step import ShownStep, Value
from ..case import Case, CaseStep
from ..random_runs.forcing import UNPLAYED
from .claims import claim_of
from .model_values import Values, values_after
from .moves import COMPOSED, MOVES, Move
from .names import name_of
from .objects import REQUIRED, cluster_lines, go_value, quoted

WIDTH = 100


class Line(Data):
    """A line of the test: the call, and what is said about it. `numbers` are the steps that it stands for."""

    call: str
    said: str
    numbers: tuple[int, ...]


def go_test(found: Replayed, case: Case, version: str, name: str) -> str:
    """The text of the test of a counterexample. Raises UsageProblem if there is none for its property."""
    scenario = found.run.scenario
    if case.loop_from is not None:
        raise UsageProblem(
            f"--go-test: {case.id}: the run goes on indefinitely; a test can be written only for one that ends"
        )
    beyond = _beyond(case)
    if beyond is not None:
        raise UsageProblem(
            f"--go-test: {case.id}: the cluster has {beyond}, and a test has none: run the trace without --go-test"
        )
    unforced = next((step for step in case.steps if step.step in UNFORCED), None)
    if unforced is not None:
        raise UsageProblem(
            f"--go-test: {case.id}: {unforced.step} cannot be forced on kube-scheduler, so a test would end before it: give a scope in which it does not happen"
        )
    untold = next((step for step in found.steps if _is_untold(case.steps[step.number - 1])), None)
    if untold is not None:
        raise UsageProblem(
            f"--go-test: {case.id}: step {untold.number}, {untold.component}.{untold.step}, goes by more than a move can say: run the trace without --go-test"
        )
    claim = claim_of(found)
    if claim is None:
        raise UsageProblem(f"--go-test: there is no readable test for {case.property} yet")
    lines = lines_of(found.steps, case)
    command = "ask" if case.property == ASK else "reproduce"
    return "\n".join(
        [
            f"// Written by `podrace {command} {scenario.name} --go-test` for kube-scheduler {version}.",
            "",
            "package podrace",
            "",
            *_imports(case),
            "",
            *_comment(*([_sentence(scenario.title)] if scenario.title else []), found.run.prop.sentence()),
            f"func {name_of(name)}(t *testing.T) {{",
            *cluster_lines(case),
            "\trun(t, cluster, func(c *Moves) {",
            *_aligned(lines),
            "",
            *_comment(claim.expectation, indent="\t\t"),
            f"\t\t{claim.call}",
            "\t})",
            "}",
            "",
        ]
    )


def _beyond(case: Case) -> str | None:
    """What the cluster has and the `Cluster` of a test (`driver/testing/run.go`) has no field for: without it other things would happen, and the test would pass."""
    kinds = {
        "an extender": case.extenders,
        "claims of devices": case.claims or case.devices,
        "claims of volumes": case.storage,
        "labels of namespaces, services or scores of resources": (
            case.namespaces or case.services or (case.scores or {}).get("strategy")
        ),
        "scores that decide": case.scored,
        "a pod whose node affinity names the nodes to try": any(map(_names_nodes, case.pods)),
        "budgets that are kept": _looks_at(case, "budgets."),
        "finalizers of bound pods": _looks_at(case, "api.lingers["),
        "an autoscaler that taints": _looks_at(case, "autoscaler.cleared["),
    }
    return next((kind for kind, is_there in kinds.items() if is_there), None)


def _names_nodes(pod: Mapping[str, Any]) -> bool:
    """Whether PreFilter of NodeAffinity gives the nodes to try: the filters of the others, which the model has, are moves that nobody makes (A-PREFILTER)."""
    required = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED, {})
    terms = required.get("nodeSelectorTerms", ())
    return bool(terms) and all(
        any(r["operator"] == "In" for r in term.get("matchFields", ())) for term in terms
    )


def _looks_at(case: Case, part: str) -> bool:
    """Whether the model has such variables: by these the driver knows what the cluster has."""
    return any(variable.startswith(part) for variable in case.initial)


UNFORCED = frozenset({
    "scheduler.pop_amid_move", "failure.requeue_too_soon", "handlers.update_around_pop",
    *(f"{part}.{step}" for part, step in UNPLAYED),
})  # fmt: skip
"""Steps that the driver has no rule for, or only the one that says that they lie within one lock (`driver/play/steps.go`): at such a move a test ends, and passes."""

_UNTOLD = {
    "process.change_leader": "",
    "budgets.count_by_view": "",
    "node_lifecycle.": "api.node_version[",
    "autoscaler.": "api.",
    "handlers.handle_swap_for_cache": "handlers.ended[",
}
"""Steps that the driver forces by what the model has after them, and that a test, which has moves alone, does not know; each only where it changes such a variable."""


def _is_untold(step: CaseStep) -> bool:
    if step.step == "users.create_node":
        # A test creates the node that `Nodes` has; where the node lifecycle controller runs, one joins with its taint.
        version = step.changes.get(f"api.node_version[{step.args['node']}]")
        return version is not None and not str(version).endswith(".initial")
    return any(
        step.step.startswith(name) and (not variable or any(v.startswith(variable) for v in step.changes))
        for name, variable in _UNTOLD.items()
    )


def lines_of(steps: Sequence[ShownStep], case: Case) -> tuple[Line, ...]:
    """The moves of a run: steps that one goroutine takes without a break are one move where there is a name for it."""
    found: list[Line] = []
    after = values_after(case)
    at = 0
    while at < len(steps):
        wait = case.steps[at].wait_ms
        if wait:
            found.append(Line(f"c.Wait({_duration(wait)})", "Time passes.", ()))
        taken = _composed(steps, case, at, after) or _single(steps[at])
        found.append(taken)
        at += len(taken.numbers)
        if told := after[at - 1]:
            found.append(Line(f"c.LeadsTo({_pairs(told)})", "", ()))
    return tuple(found)


def _composed(steps: Sequence[ShownStep], case: Case, at: int, after: Sequence[Values]) -> Line | None:
    for composed in COMPOSED:
        span = composed.length(steps, at)
        # A wait within the span would be lost, and so would values that are told.
        lost = any(case.steps[i + 1].wait_ms or after[i] for i in range(at, at + span - 1))
        if span > 1 and not lost:
            part = steps[at : at + span]
            arguments = composed.arguments(part)
            return Line(_call(composed.name, arguments), composed.said(part), tuple(s.number for s in part))
    return None


def _single(step: ShownStep) -> Line:
    move: Move | None = MOVES.get(f"{step.component}.{step.step}")
    if move is None:
        name = quoted(f"{step.component}.{step.step}")
        call = f"c.Step({name}, {_pairs(step.args)})" if step.args else f"c.Step({name})"
    else:
        call = _call(move.name_for(step.args), move.arguments(step.args))
    return Line(call, step.sentence, (step.number,))


def _pairs(values: Mapping[str, Value]) -> str:
    return ", ".join(text for name, value in values.items() for text in (quoted(name), go_value(value)))


def _call(name: str, arguments: Sequence[Value]) -> str:
    return f"c.{name}({', '.join(map(go_value, arguments))})"


def _duration(milliseconds: int) -> str:
    if milliseconds % 1000:
        return f"{milliseconds} * time.Millisecond"
    return f"{milliseconds // 1000} * time.Second"


_PACKAGES = {
    "v1": "k8s.io/api/core/v1",
    "policyv1": "k8s.io/api/policy/v1",
    "metav1": "k8s.io/apimachinery/pkg/apis/meta/v1",
    "st": "k8s.io/kubernetes/pkg/scheduler/testing",
    "ptr": "k8s.io/utils/ptr",
}
"""What the declaration of a cluster may use, in the order of their paths. Go refuses a test that imports more than it uses."""


def _imports(case: Case) -> Iterator[str]:
    declared = "\n".join(cluster_lines(case))
    yield "import ("
    yield '\t"testing"'
    if any(step.wait_ms for step in case.steps):
        yield '\t"time"'
    yield ""
    for name, path in _PACKAGES.items():
        if re.search(rf"\b{name}\.[A-Z]", _without_literals(declared)):
            yield f'\t"{path}"' if name == "ptr" else f'\t{name} "{path}"'
    yield ")"


def _without_literals(text: str) -> str:
    return re.sub(r'`[^`]*`|"(?:[^"\\]|\\.)*"', "", text)


def _aligned(lines: Sequence[Line]) -> Iterator[str]:
    """As gofmt has it: the comments of lines that follow each other begin in one column."""
    for is_said, group in groupby(lines, lambda line: bool(line.said)):
        block = list(group)
        width = max(len(line.call) for line in block)
        yield from (
            f"\t\t{line.call:{width}} // {line.said}" if is_said else f"\t\t{line.call}" for line in block
        )


def _comment(*sentences: str, indent: str = "") -> Iterator[str]:
    for number, text in enumerate(sentences):
        if number:
            yield f"{indent}//"
        yield from (f"{indent}// {row}" for row in _wrapped(text))


def _wrapped(text: str) -> Iterator[str]:
    row = ""
    for word in text.split():
        if row and len(row) + 1 + len(word) > WIDTH:
            yield row
            row = word
        else:
            row = f"{row} {word}".strip()
    yield row


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
