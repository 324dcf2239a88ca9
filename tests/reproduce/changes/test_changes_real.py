"""A shipped patch judged on kube-scheduler's own code. Part of `make real`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.reproduce.changes.damaging import UNDAMAGED
from podrace.reproduce.changes.replays import replayed_at_once
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import find_go, has_go
from podrace.reproduce.patches import FOLDER
from podrace.reproduce.running import built_for
from tests.cli.helpers import Shell
from tests.reproduce.test_judging import ghost


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "scenario", "words"),
    [
        ("requeue-looks-again", "ghost", ""),
        ("ports-of-others-kept", "port-of-two", "of 120 of the changed code"),
    ],
)
def test_a_patch_closes_its_hazard(
    capsys: pytest.CaptureFixture[str], name: str, scenario: str, words: str
) -> None:
    """The second one changes an earlier step, so that the run cannot be executed to its end."""
    if not has_go():
        pytest.skip("there is no Go")
    patch = FOLDER / f"{name}.patch"
    ran = Shell(capsys)("verify", str(patch), "--kubernetes", "v1.36.3", "--scenario", scenario, "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (3, "CLOSES"), "it leaves the model, as every mend does"
    (race,) = found["races"]
    assert (race["name"], race["outcome"]) == (scenario, "closes")
    assert words in race["words"]
    assert found["lines"]["executed"] > 0


@pytest.mark.real
@pytest.mark.parametrize(
    ("fix", "version", "scenario", "name"),
    [
        ("90660", "v1.36.3", "wiped-nomination", "S-NOM"),
        ("134157", "v1.36.3", "deleted-while-binding", "S-ROOM"),
        ("129058", "v1.36.3", "nominated-by-the-autoscaler", "S-STUCK"),
        ("140269", "v1.37.2", "allocated-while-read", "S-ASSUME"),
    ],
)
def test_an_upstream_fix_taken_out_opens_its_race(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fix: str, version: str, scenario: str, name: str
) -> None:
    """Of the first two the goroutine that puts pods back is none of the base's, and the unchanged code mends the violation in the next calls."""
    if not has_go():
        pytest.skip("there is no Go")
    diff = str(Path(__file__).parent / "taken_out" / f"{fix}.diff")
    options = ("--scenario", scenario, "--go-test", str(tmp_path / "there"), "-o", "json")
    ran = Shell(capsys)("verify", diff, "--kubernetes", version, *options)
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (1, "BREAKS")
    opened = [race for race in found["races"] if race["outcome"] == "opens"]
    assert [(race["name"], race["property"], race["without"]) for race in opened] == [(scenario, name, [fix])]
    builders = (tmp_path / "there").rglob("test/utils/image/manifest.go")
    if fix in ("90660", "134157"):  # what the others need is more than a move of such a test
        assert [*builders], "the tests build objects with upstream's builders, which read it"


@pytest.mark.real
def test_random_runs_find_72124_where_nothing_is_nominated_in_memory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The code leaves the model in its first steps; what that leads to only the code itself can show."""
    if not has_go():
        pytest.skip("there is no Go")
    diff = str(Path(__file__).parent / "taken_out" / "nominated-in-memory.diff")
    ran = Shell(capsys)("verify", diff, "--kubernetes", "v1.36.3", "--scenario", "72124", "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (1, "BREAKS")
    assert "S-NOM" in {one["property"] for part in found["beyond"] for one in part["violations"]}


@pytest.mark.real
def test_a_later_fix_closes_a_race_from_the_step_that_differs(capsys: pytest.CaptureFixture[str]) -> None:
    """139057 notes a nomination at a restart, which no random move makes: they begin after it."""
    if not has_go():
        pytest.skip("there is no Go")
    diff = str(Path(__file__).parent / "taken_out" / "139057-put-in.diff")
    options = ("--kubernetes", "v1.36.4", "--scenario", "nominated-while-gated", "-o", "json")
    ran = Shell(capsys)("verify", diff, *options)
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (3, "CLOSES")
    assert "none of 120 of the changed code" in found["races"][0]["words"]


@pytest.mark.real
def test_fingerprints_of_memory_are_the_same_twice() -> None:
    """Lines that only keep a map tidy are noticed by them: what varies between two runs would hide that."""
    if not has_go():
        pytest.skip("there is no Go")
    _, case = ghost()
    built = built_for(parse_version("v1.36.3"), find_go(), print)
    first, second = (
        replayed_at_once(built, [case], (), UNDAMAGED, keeps=True)[0][case.id].keeps for _ in "ab"
    )
    varying = {kind for kind in first if first[kind] != second[kind]}
    assert {
        "queue.nominator.nominatedPods",
        "cache.podStates",
        "cache.nodes[].info.Requested.MilliCPU",
    } <= first.keys() - varying
    assert len(varying) < len(first) / 20
    assert not replayed_at_once(built, [case], (), UNDAMAGED)[0][case.id].keeps


ROOM = """\
name: freed
nodes: {n1: {cpu: 1}}
pods:
  v: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
  b: {cpu: 1}
scope: {pod_events: 2, pod_deletions: 1, flush: false, backoff: false}
"""
RIVALS = """\
name: rivals
nodes: {n1: {cpu: 2}}
pods: {a: {cpu: 2}, b: {cpu: 2}}
scope: {pod_events: 2, node_events: 2, flush: false, pod_deletions: 0, bind_failures: 1}
"""
EVICTION = """\
name: eviction-fails
nodes: {n1: {cpu: 2}}
pods:
  v: {cpu: 2, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 2, priority: 10}
scope: {pod_events: 2, node_events: 2, flush: false, pod_deletions: 0, write_failures: 1}
"""


@pytest.mark.real
@pytest.mark.parametrize(
    ("diff", "cluster", "name"),
    [
        ("wakes-before-it-removes", ROOM, "S-STUCK"),
        ("generation-ahead", RIVALS, "S-CAP"),
        ("last-error-forgotten", EVICTION, "S-STUCK"),
    ],
)
def test_random_runs_in_a_small_cluster_violate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, diff: str, cluster: str, name: str
) -> None:
    """Where more pods preempt, goroutines hide the first; users who bind pods hid the second; and an eviction must fail for the third."""
    if not has_go():
        pytest.skip("there is no Go")
    change, file = Path(__file__).parent / "taken_out" / f"{diff}.diff", tmp_path / "cluster.yaml"
    file.write_text(cluster, encoding="utf-8")
    ran = Shell(capsys)(
        "verify", str(change), "--kubernetes", "v1.36.3", "--scenario", str(file), "-o", "json"
    )
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (1, "BREAKS")
    assert name in {one["property"] for part in found["beyond"] for one in part["violations"]}


@pytest.mark.real
def test_an_if_rewritten_as_a_switch_shows_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    """In all scenarios, and in minutes."""
    if not has_go():
        pytest.skip("there is no Go")
    diff = str(Path(__file__).parent / "taken_out" / "switch-for-if.diff")
    ran = Shell(capsys)("verify", diff, "--kubernetes", "v1.36.3", "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (0, "NO DIFFERENCE SEEN")
    assert found["lines"]["executed"] == found["lines"]["changed"] == 6
    assert len(found["tours"]) > 0
