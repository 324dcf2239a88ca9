"""Amounts are told as the user writes them, on the page, in drawings and in sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.api import check
from podrace.model.environment.objects import ClusterSpec
from podrace.reports.text.explanation import explain
from podrace.scenarios import parse_scenario
from tests.cli.helpers import Shell

CLUSTER = """\
name: units
title: Units
release: "1.13.0"
properties: [S-NOMVIS]
nodes:
  n1: {cpu: 3400m, memory: 15424Mi, resources: {example.com/gpu: 4}}
pods:
  v: {cpu: 3400m, memory: 1Gi, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 2, memory: 1024Mi, priority: 10}
  q: {cpu: 1.6, memory: 64Mi, resources: {example.com/gpu: 2}, priority: 10}
scope: {pod_events: 2, flush: false}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "units.yaml"
    path.write_text(CLUSTER)
    return str(path)


def spec(text: str = CLUSTER) -> ClusterSpec:
    return parse_scenario(text).spec


def test_the_reader_keeps_units_and_texts() -> None:
    found = spec()
    assert found.units == {"cpu": (200, "m"), "memory": (64, "Mi"), "example.com/gpu": (2, "")}
    assert found.written["node n1", "cpu", 17] == "3400m"
    assert found.written["pod q", "cpu", 8] == "1.6"
    assert found.written["pod v", "memory", 16] == "1Gi"
    assert found.written["pod p", "memory", 16] == "1024Mi"


def test_sentences_name_what_is_written(shell: Shell, file: str) -> None:
    (row,) = json.loads(shell("check", file, "-o", "json").out)
    assert row["cluster"]["units"] == {"cpu": [200, "m"], "memory": [64, "Mi"], "example.com/gpu": [2, ""]}
    (finding,) = check(file, cache=False)
    told = " ".join(explain(finding).text.split())
    assert "The cluster: node n1 has 3400m cpu, 15424Mi memory, 4 example.com/gpu." in told
    assert "Pod p asks for 2 cpu, 1024Mi memory, has priority 10 and is pending." in told
    assert "Pod q asks for 1.6 cpu, 64Mi memory, 2 example.com/gpu, has priority 10 and is pending." in told
    assert explain(finding).outcome
    assert (
        "n1 has q (1600m cpu) on it, which leaves 1800m of 3400m cpu. p, nominated to n1, asks for 2 cpu"
        in told
    )


@pytest.mark.parametrize("form", ["html", "dot"])
def test_drawings_name_what_is_written(shell: Shell, file: str, form: str, tmp_path: Path) -> None:
    if form == "html":
        drawn = shell("check", file, "-o", "html").out
    else:
        made = tmp_path / "cluster.dot"
        shell("check", file, "--graph", str(made), "--graph-kind", "cluster")
        drawn = made.read_text()
    assert "3400m cpu, 15424Mi memory, 4 example.com/gpu" in drawn
    assert "17 cpu" not in drawn
    assert "241 memory" not in drawn


@pytest.mark.parametrize(
    ("amounts", "unit"), [("2, 4", (2, "")), ("500m, 2", (500, "m")), ("0.5, 1", (500, "m"))]
)
def test_the_unit_of_cpu(amounts: str, unit: tuple[int, str]) -> None:
    one, two = amounts.split(", ")
    text = f"nodes: {{n: {{cpu: {two}}}}}\npods: {{p: {{cpu: {one}}}}}\n"
    assert spec(text).units == {"cpu": unit}
