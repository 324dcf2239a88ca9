"""Budgets whose selector is empty: evictions and the disruption controller count all pods of the namespace; preemption does from 141785 on."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.plan import Run
from podrace.checker.core.exploration import Budget
from podrace.manifests import read_manifests
from podrace.model.history import resolve
from podrace.scenarios import Scenario, parse_scenario
from tests.manifests.manifest_objects import objects, text_of

EVERYBODY, NOT_DB = "{}", "{matchExpressions: [{key: db, operator: DoesNotExist}]}"


def scenario(
    selector: str, labels: str = "{}", scope: str = "", pending: str = "p: {cpu: 2, priority: 10}"
) -> Scenario:
    return parse_scenario(f"""\
nodes: {{n1: {{cpu: 2}}}}
pods:
  v: {{cpu: 2, nodeName: n1, labels: {labels}}}
  {pending}
podDisruptionBudgets: {{all: {{selector: {selector}, disruptionsAllowed: 0}}}}
scope: {{pod_events: 1, flush: false, backoff: false{scope}}}
""")


def verdict(made: Scenario, prop: str, release: str, fixes: tuple[str, ...] = ()) -> tuple[str, int]:
    found = verdict_on(Run(made, resolve(release, fixes), prop), Budget())
    return found.verdict, found.states


@pytest.mark.parametrize("selector", [EVERYBODY, NOT_DB])
@pytest.mark.parametrize("release", ["1.19", "1.31", "1.36", "1.37.2"])
def test_preemption_overlooks_a_budget_for_everybody(selector: str, release: str) -> None:
    """A pod without labels has no budget for preemption, whatever the selector."""
    assert verdict(scenario(selector), "S-PDB", release)[0] == "VIOLATED"
    assert verdict(scenario(selector), "S-PDB", release, ("141785",))[0] == "HOLDS"


def test_of_a_pod_with_labels_only_the_empty_selector_is_overlooked() -> None:
    assert verdict(scenario(EVERYBODY, "{app: web}"), "S-PDB", "1.37.2")[0] == "VIOLATED"
    assert verdict(scenario(NOT_DB, "{app: web}"), "S-PDB", "1.37.2")[0] == "HOLDS"


@pytest.mark.parametrize("allowed", [0, 1])
def test_evictions_and_the_controller_count_everybody(allowed: int) -> None:
    """The budget is that of a pod without labels: it may be evicted as often as the budget allows."""
    text = scenario(
        EVERYBODY, scope=", disruption_controller: true, evictions: 1", pending="w: {cpu: 2}"
    ).text
    made = parse_scenario(text.replace("disruptionsAllowed: 0", f"disruptionsAllowed: {allowed}"))
    found = verdict_on(Run(made, resolve("1.36"), "S-EVICT"), Budget())
    assert found.verdict == "HOLDS"
    assert any("finish_eviction" in step for step in found.steps_fired) is bool(allowed)
    (budget,) = made.spec.budgets
    assert [budget.selects(pod) for pod in made.spec.pods] == [True, True]


def test_a_dump_with_such_a_budget_keeps_it(tmp_path: Path) -> None:
    node, victim, rival, budget = objects("node", "victim", "rival", "budget")
    budget["spec"] = {"selector": {}}
    (tmp_path / "dump.yaml").write_text(text_of([node, victim, rival, budget]))
    read = read_manifests([str(tmp_path / "dump.yaml")])
    assert [b.selector.empty for b in read.budgets] == [True]
    assert not [remark for remark in read.remarks if "selector" in remark]
