"""Scenarios that leave numbers open: one verdict for every cluster within the ranges."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.method import Method
from podrace.analysis.request.plan import Run
from podrace.api import NotAsExpected, expect
from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.model.history import resolve
from podrace.reports.document import Finding
from podrace.scenarios import parse_scenario
from tests.cli.helpers import Shell

RACE = """\
name: ranged
release: "1.13.0"
properties: [S-NOM]
nodes:
  n: {{cpu: {n}}}
pods:
  v: {{cpu: 1, nodeName: n, terminationGracePeriodSeconds: 0}}
  a: {{cpu: {a}, priority: 5}}
  b: {{cpu: 1, priority: {b}}}
scope: {{pod_events: 1, flush: false}}
"""
ROOM = """\
name: room
release: "1.19.0"
properties: [S-CAP]
nodes: {n: {cpu: 1..3, pods: 1..2}}
pods:
  p: {cpu: 500m..1500m, priority: 0..10}
  q: {cpu: 2, priority: 0..10}
scope: {pod_events: 1, flush: false}
"""


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.yaml").write_text(RACE.format(n="1..2", a="1..2", b="4..5"))
    (tmp_path / "room.yaml").write_text(ROOM)
    return Shell(capsys)


USUAL, UNBOUNDED = Method(), Budget()


def verdict_of(text: str, release: str, method: Method = USUAL, budget: Budget = UNBOUNDED) -> Finding:
    return verdict_on(Run(parse_scenario(text), resolve(release), "S-NOM"), budget, method)


def brute_force(release: str, **ranges: range) -> dict[tuple[str, ...], int | None]:
    """For every cluster that a scenario file can say, by its numbers: how long the counterexample is, or None."""
    found: dict[tuple[str, ...], int | None] = {}
    for numbers in product(*ranges.values()):
        text = RACE.format(**dict(zip(ranges, numbers, strict=True)))
        try:
            finding = verdict_of(text, release)
        except Problem:
            continue
        found[tuple(map(str, numbers))] = None if finding.trace is None else len(finding.trace)
    return found


def assert_as_by_brute_force(release: str, **ranges: range) -> tuple[Finding, int]:
    known = brute_force(release, **ranges)
    found = verdict_of(RACE.format(**{name: f"{r[0]}..{r[-1]}" for name, r in ranges.items()}), release)
    assert found.clusters
    lengths = [steps for steps in known.values() if steps is not None]
    assert found.verdict == ("VIOLATED" if lengths else "HOLDS")
    assert found.clusters.distinguishable <= len(known)
    assert found.clusters.violating <= len(lengths)
    if lengths:
        assert found.trace is not None
        numbers = tuple(found.clusters.example.values())
        assert known[numbers] == len(found.trace) == min(lengths)
        # No violating cluster with a counterexample of this length has lesser numbers.
        alike = [tuple(map(int, key)) for key, steps in known.items() if steps == len(found.trace)]
        assert sum(map(int, numbers)) == min(map(sum, alike))
    return found, len(known)


@pytest.mark.ci
def test_it_is_what_brute_force_gives() -> None:
    found, clusters = assert_as_by_brute_force("1.13.0", n=range(1, 3), a=range(1, 3), b=range(4, 6))
    assert clusters == 6
    assert found.clusters
    assert (found.clusters.distinguishable, found.clusters.violating) == (6, 4)
    assert found.clusters.example == {"nodes.n.cpu": "2", "pods.a.cpu": "2", "pods.b.priority": "4"}


@pytest.mark.campaign
@pytest.mark.parametrize("release", ["1.13.0", "1.19.0", "1.34.0"])
def test_larger_ranges_are_what_brute_force_gives(release: str) -> None:
    assert_as_by_brute_force(release, n=range(1, 5), a=range(1, 4), b=range(3, 8))


def test_the_report_says_what_it_covers(shell: Shell) -> None:
    ran = shell("check", "room.yaml")
    assert ran.code == 0
    text = " ".join(ran.out.split())
    assert "room, 1.19.0: S-CAP HOLDS FOR ALL" in text
    assert (
        "clusters that can be told apart with nodes.n.cpu 1..3, nodes.n.pods 1..2, pods.p.cpu 500m..1500m, "
        "pods.p.priority 0..10, pods.q.priority 0..10, such that some node has what each pod asks for"
    ) in text
    (found,) = json.loads(shell("check", "room.yaml", "-o", "json").out)
    assert found["verdict"] == "HOLDS"
    assert found["clusters"]["ranges"]["pods.p.cpu"] == "500m..1500m"
    assert found["clusters"]["assumed"] == ["some node has what each pod asks for"]
    assert f"{found['clusters']['distinguishable']} clusters that can be told apart" in text


@pytest.mark.ci
def test_the_violating_cluster_is_one_that_can_be_written_and_replayed(shell: Shell, tmp_path: Path) -> None:
    ran = shell("check", "race.yaml", "-o", "json", "--save-trace", "trace.json", "--report", "report")
    assert ran.code == 1
    (found,) = json.loads(ran.out)
    (tmp_path / "concrete.yaml").write_text(found["clusters"]["scenario"])
    (alone,) = json.loads(shell("check", "concrete.yaml", "-o", "json").out)
    assert len(alone["trace"]) == len(found["trace"]) == 30
    assert "clusters" not in alone
    replayed = " ".join(shell("replay", "trace.json").out.split())
    assert "of 30 steps, executed again. Nothing else was looked at." in replayed
    text = " ".join(shell("check", "race.yaml").out.split())
    assert (
        "The simplest of them has nodes.n.cpu 2, pods.a.cpu 2, pods.b.priority 4. Violated after 30" in text
    )


def test_a_budget_that_runs_out_leaves_clusters_undecided(shell: Shell) -> None:
    ran = shell("check", "room.yaml", "--max-states", "20")
    assert ran.code == 3
    text = " ".join(ran.out.split())
    assert "could not be decided within the budget" in text
    assert "allow more with --max-states, or make a range smaller" in text
    over = verdict_of(RACE.format(n="1..2", a="1..2", b="4..5"), "1.13.0", budget=Budget(timeout=1e-9))
    assert over.verdict == "INCONCLUSIVE"
    assert "could not be decided within the budget" in over.words


def test_expectations_are_compared(shell: Shell, tmp_path: Path) -> None:
    room = ROOM + "expect: {S-CAP: holds}\n"
    (tmp_path / "room.yaml").write_text(room)
    assert shell("test", "room.yaml").code == 0
    (tmp_path / "room.yaml").write_text(room.replace("holds", "violated"))
    assert shell("test", "room.yaml").code == 1
    assert expect("holds", "room.yaml")[0].clusters
    with pytest.raises(NotAsExpected, match="Expected: VIOLATED"):
        expect("violated", "room.yaml")


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "125578", "--scenario", "room.yaml"),
        ("diff", "--before", "1.19.0", "--after", "1.20.0", "--scenario", "room.yaml"),
    ],
    ids=lambda command: command[0],
)
def test_commands_about_one_cluster_refuse_ranges(shell: Shell, command: tuple[str, ...]) -> None:
    ran = shell(*command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "podrace: room.yaml:4: nodes.n.cpu: the range `1..3` is for `podrace check` and `podrace test`: "
        "write one number here\n"
    )


def test_what_cannot_be_answered_is_said_in_one_line(shell: Shell, tmp_path: Path) -> None:
    assert shell("check", "room.yaml", "--engine", "reference").err == (
        "podrace: room.yaml:4: nodes.n.cpu: --engine reference searches one cluster, and a range stands for many: "
        "write a number\n"
    )
    (tmp_path / "full.yaml").write_text(
        "nodes: {n: {cpu: 2..3, memory: 2Gi}}\npods: {p: {cpu: 3, nodeName: n}, q: {cpu: 1..2, nodeName: n}}\n"
    )
    assert shell("check", "full.yaml").err == (
        "podrace: full.yaml:1: nodes.n: the pods bound to the node (p, q) request at least 4, but it has at most 3: "
        "lower a request, enlarge the node, or unbind a pod\n"
    )


def test_the_example_is_the_cluster_that_was_checked_also_with_a_fair_flush(
    shell: Shell, tmp_path: Path
) -> None:
    """--fair-flush changes the scope: the file with the numbers of the simplest cluster says so, and else is the user's own."""
    text = (tmp_path / "race.yaml").read_text().replace("flush: false", "flush: true")
    (tmp_path / "race.yaml").write_text(text)
    for option, scope in (
        ([], "{pod_events: 1, flush: true}"),
        (["--fair-flush"], "{pod_events: 1, node_events: 2, fair_flush: true}"),
    ):
        (found,) = json.loads(shell("check", "race.yaml", "-o", "json", *option).out)
        example = found["clusters"]["scenario"]
        assert example.endswith(f"scope: {scope}\n")
        assert parse_scenario(example).open == ()
