"""`podrace prove` where the clusters of a placement are explored together: counts, parts, gangs, memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.prove import cluster_families, proof_of_property
from podrace.analysis.prove.cluster_families import BatchOutcome, ClusterOutcome
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.family import search as family_search
from podrace.checker.jobs import Here
from podrace.checker.parametric.explorer import Explorer
from tests.cli.find.test_prove import GANG, ON, OWN
from tests.cli.helpers import Shell

SMALL = ["--scope", "pod_events=1", "--scope", "flush=false", "-j", "1"]
NONE = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19.0", "-P", "my.py", "--property", "MY-NONE"]
NONE += ["-o", "json", *SMALL]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def untimed(text: str) -> Any:
    (proof,) = json.loads(text)
    del proof["seconds"]
    for group in proof["groups"]:
        if group["finding"] is not None:
            del group["finding"]["seconds"]
    return proof


@pytest.mark.ci
def test_clusters_that_no_state_tells_apart_are_one(shell: Shell) -> None:
    """Of the 117 clusters of two pods that all questions tell apart, what states ask leaves 20."""
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.19.0", "--property", "S-NOM"]
    ran = shell(*line, *SMALL)
    assert ran.code == 0
    words = " ".join(ran.out.split())
    assert "20 clusters can be told apart; each was explored to the end" in words
    assert "of which 5,413 states differ" in words
    proof = untimed(shell(*line, "-o", "json", *SMALL).out)
    assert {row["placement"]: row["clusters"] for row in proof["rows"] if row["pods"] == 2} == {
        "2 waiting": 12,
        "1 on n1, 1 waiting": 5,
        "2 on n1": 1,
    }
    assert (proof["clusters"], proof["depth"]) == (20, 60)
    assert proof["states"] == sum(row["states"] for row in proof["rows"])


@pytest.mark.ci
def test_states_without_a_way_on_are_looked_for_together(shell: Shell) -> None:
    """Deadlock freedom is an invariant of the system. Of the 191 clusters that all questions tell apart, what states ask leaves 24."""
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.36.0", "--property", "S-STUCK", "-j", "1"]
    line += ["--no-empty-requests", "--zero-grace", "--scope", "pod_events=2", "-o", "json"]
    ran = shell(*line)
    assert ran.code == 1
    proof = untimed(ran.out)
    assert (proof["clusters"], proof["violated"], proof["distinct"]) == (24, 2, 9_383)
    (group,) = proof["groups"]
    assert (group["clusters"], group["finding"]["depth"], group["finding"]["states"]) == (2, 35, 3_155)


@pytest.mark.ci
def test_of_clusters_with_swapped_pods_one_is_explored(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of few pods explore all 24. The violation, and its steps, stay the same."""
    monkeypatch.setattr(cluster_families, "ALL_SEARCHED", 1)
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.36.0", "--property", "S-STUCK", "-j", "1"]
    line += ["--no-empty-requests", "--zero-grace", "--scope", "pod_events=2", "-o", "json"]
    ran = shell(*line)
    assert ran.code == 1
    proof = untimed(ran.out)
    assert (proof["clusters"], proof["violated"], proof["distinct"]) == (19, 2, 6_867)
    (group,) = proof["groups"]
    assert (group["clusters"], group["finding"]["depth"], group["finding"]["states"]) == (2, 35, 3_155)


PATCHES = Path(__file__).parents[2] / "races" / "hazard_patches.py"


@pytest.mark.parametrize(
    ("patches", "nodes", "clusters", "violated", "distinct", "depth"),
    [
        pytest.param((), 1, 391, 138, 612_903, 35, marks=pytest.mark.ci),
        pytest.param(("AlwaysActivated",), 1, 399, 57, 1_883_062, 41, marks=pytest.mark.nightly),
        pytest.param(("PlacedNotAdded",), 1, 294, 41, 584_844, 35, marks=pytest.mark.nightly),
        pytest.param(("AlwaysActivated", "PlacedNotAdded"), 1, 294, 0, 1_534_895, None, marks=pytest.mark.ci),
        pytest.param((), 2, 3_734, 352, 1_795_806, 35, marks=pytest.mark.campaign),
        pytest.param(("AlwaysActivated",), 2, 3_750, 114, 4_559_924, 41, marks=pytest.mark.campaign),
        pytest.param(("PlacedNotAdded",), 2, 3_498, 116, 1_732_324, 35, marks=pytest.mark.campaign),
        pytest.param(
            ("AlwaysActivated", "PlacedNotAdded"), 2, 3_498, 0, 3_785_712, None, marks=pytest.mark.campaign
        ),
    ],
)
def test_what_keeps_a_pod_waiting_on_1_36(
    shell: Shell,
    patches: tuple[str, ...],
    nodes: int,
    clusters: int,
    violated: int,
    distinct: int,
    depth: int | None,
) -> None:
    """S-STUCK holds for all clusters of up to 3 pods with both patches, and with neither alone: docs/prove.md has the table."""
    line = [
        "prove",
        "--pods",
        "3",
        "--nodes",
        str(nodes),
        "--release",
        "1.36.0",
        "--property",
        "S-STUCK",
        "-j",
        "1",
    ]
    line += ["--no-empty-requests", "--zero-grace", "--scope", "pod_events=2", "-o", "json"]
    ran = shell(*line, *(word for name in patches for word in ("--patch", f"{PATCHES}:{name}")))
    proof = untimed(ran.out)
    assert ran.code == int(violated > 0)
    assert (proof["clusters"], proof["violated"], proof["inconclusive"]) == (clusters, violated, 0)
    assert proof["distinct"] == distinct
    assert [g["finding"]["depth"] for g in proof["groups"][:1]] == ([] if depth is None else [depth])


@pytest.mark.ci
def test_parts_of_placements_find_what_the_whole_finds(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    line = [
        "prove",
        "--pods",
        "2",
        "--nodes",
        "1",
        "--release",
        "1.19.0",
        "--property",
        "S-NOM",
        "-o",
        "json",
    ]
    whole = untimed(shell(*line, *SMALL).out)
    monkeypatch.setattr(cluster_families, "LOOKED_AT", 200)
    line += ["--parts", "3"]
    parts = untimed(shell(*line, *SMALL).out)
    assert (whole.pop("parts"), parts.pop("parts")) == (1, 3)
    assert (whole.pop("distinct"), parts.pop("distinct")) == (5413, 5514)
    assert parts == whole


def test_parts_that_cannot_be_are_refused(shell: Shell) -> None:
    line = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19.0", "--property", "S-NOM"]
    none = shell(*line, "--parts", "0")
    assert (none.code, none.out) == (2, "")
    assert "--parts: `0` is no number of parts: write a number from 1 to 10,000, such as 8" in none.err


def test_a_small_budget_is_inconclusive_never_a_proof(shell: Shell) -> None:
    line = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19.0", "--property", "S-CAP"]
    ran = shell(*line, "--max-states", "5", *SMALL)
    assert ran.code == 3
    assert "could not be decided within the budget" in ran.out


def test_counterexamples_are_confirmed(shell: Shell) -> None:
    Path("my.py").write_text(OWN)
    first = untimed(shell(*NONE).out)
    assert (first["verdict"], first["violated"], first["clusters"]) == ("VIOLATED", 1, 3)


def test_a_resettability_is_judged_in_each_cell(shell: Shell) -> None:
    """A pod that fits nowhere never leaves the queue. What all clusters reach together is searched once more for each that states tell apart."""
    Path("my.py").write_text(OWN)
    line = ["MY-RESET" if word == "MY-NONE" else word for word in NONE]
    proof = untimed(shell(*line).out)
    assert (proof["verdict"], proof["violated"], proof["clusters"]) == ("VIOLATED", 1, 3)
    few = untimed(shell(*line, "--max-states", "5").out)
    assert (few["verdict"], few["violated"]) == ("INCONCLUSIVE", 0)


# --- livenesses -------------------------------------------------------------------------------------------------

DRAIN = ["MY-DRAIN" if word == "MY-NONE" else word for word in NONE]


def test_livenesses_are_judged_together(shell: Shell) -> None:
    """A pod that fits nowhere stays in the queue for ever."""
    Path("my.py").write_text(OWN)
    together = untimed(shell(*DRAIN).out)
    assert (together["verdict"], together["violated"], together["clusters"]) == ("VIOLATED", 1, 3)


@pytest.mark.ci
def test_two_gangs_on_a_node(shell: Shell) -> None:
    """KEP-4671's promise, on every cluster of this kind, in every order of arrival."""
    line = ["prove", "--gang", "2", "--pods", "0", "--property", "L-DEADLOCK", "-o", "json"]
    proof = untimed(shell(*line, *GANG, *ON, *SMALL).out)
    assert (proof["verdict"], proof["clusters"], proof["states"], proof["distinct"], proof["depth"]) == (
        "HOLDS FOR ALL",
        48,
        309573,
        124065,
        77,
    )
    assert not proof["witnesses_missed"]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("promise", "clusters", "states"), [("L-DEADLOCK", 48, 64356), ("S-QUORUM", 33, 38901)]
)
def test_two_gangs_on_a_node_as_entries_of_the_queue(
    shell: Shell, promise: str, clusters: int, states: int
) -> None:
    """KEP-4671's promise in 1.37, where a group is one entry of the queue."""
    line = ["prove", "--gang", "2", "--pods", "0", "--property", promise, "-o", "json", *GANG, *SMALL]
    line += ["--release", "1.37.2", "--gate", "GenericWorkload=true"]
    proof = untimed(shell(*line).out)
    assert (proof["verdict"], proof["clusters"], proof["states"]) == ("HOLDS FOR ALL", clusters, states)
    assert (proof["distinct"], proof["depth"]) == (27852, 78)
    assert not proof["witnesses_missed"]


@pytest.mark.ci
@pytest.mark.parametrize(("release", "distinct"), [("1.37.2", 234432), ("1.38.0-beta.0", 112041)])
@pytest.mark.parametrize(
    ("promise", "clusters"), [("L-DEADLOCK", 642), pytest.param("S-QUORUM", 561, marks=pytest.mark.nightly)]
)
def test_two_gangs_on_two_nodes_as_entries_of_the_queue(
    shell: Shell, promise: str, clusters: int, release: str, distinct: int
) -> None:
    line = ["prove", "--gang", "2", "--pods", "0", "--property", promise, "-o", "json", *GANG, *SMALL]
    line += ["--release", release, "--gate", "GenericWorkload=true", "--nodes", "2"]
    proof = untimed(shell(*line).out)
    assert (proof["verdict"], proof["clusters"], proof["distinct"]) == ("HOLDS FOR ALL", clusters, distinct)
    assert not proof["witnesses_missed"]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("fixes", "verdict", "clusters", "violated", "counted"),
    [
        ((), "HOLDS FOR ALL", 108, 0, {"distinct": 3747624}),
        (("141182",), "VIOLATED", 21, 9, {"states": 14625, "depth": 96}),
    ],
)
def test_gangs_are_let_go_as_a_whole_where_a_binding_fails(
    shell: Shell,
    fixes: tuple[str, ...],
    verdict: str,
    clusters: int,
    violated: int,
    counted: dict[str, int],
) -> None:
    """What Permit is for: 141182 takes it out."""
    line = ["prove", "--gang", "2", "--pods", "0", "--property", "S-QUORUM", "-o", "json", *GANG, *SMALL]
    line += ["--release", "1.37.2", "--gate", "GenericWorkload=true", "--scope", "bind_failures=1"]
    ran = shell(*line, *(word for name in fixes for word in ("--with-fix", name)))
    assert (ran.code, ran.err) == (int(violated > 0), "")
    proof = untimed(ran.out)
    assert (proof["verdict"], proof["clusters"], proof["violated"]) == (verdict, clusters, violated)
    assert {name: proof[name] for name in counted} == counted


@pytest.mark.ci
def test_processes_find_the_same_as_one(shell: Shell) -> None:
    line = [
        "prove",
        "--pods",
        "2",
        "--nodes",
        "1",
        "--release",
        "1.22.0",
        "--property",
        "S-CAP",
        "-o",
        "json",
    ]
    line += ["--scope", "pod_events=1"]
    one, two = (untimed(shell(*line, "-j", jobs).out) for jobs in ("1", "2"))
    assert one == two


@pytest.mark.campaign
@pytest.mark.parametrize("promise", ["L-DEADLOCK", "L-LIVELOCK"])
def test_two_gangs_and_a_single_pod_on_two_nodes(shell: Shell, promise: str) -> None:
    """KEP-4671's two promises, on all clusters of this kind, in every order of arrival: three quarters of an hour each."""
    line = ["prove", "--gang", "2", "--pods", "1", "--property", promise, "-o", "json", *GANG, *ON, *SMALL]
    proof = untimed(shell(*line, "--nodes", "2").out)
    first = next(
        row for row in proof["rows"] if row["placement"] == "waiting g1 g1 g2 g2 single" and row["nodes"] == 2
    )
    assert (proof["verdict"], len(proof["rows"])) == ("HOLDS FOR ALL", 42)
    assert (proof["clusters"], proof["distinct"]) == (
        {"L-DEADLOCK": 60312, "L-LIVELOCK": 54226}[promise],
        82794531,
    )
    assert first["clusters"] == {"L-DEADLOCK": 3751, "L-LIVELOCK": 3393}[promise]
    assert not proof["witnesses_missed"]


@pytest.mark.campaign
def test_two_gangs_and_a_single_pod_on_two_nodes_as_entries_of_the_queue(shell: Shell) -> None:
    """Seven minutes."""
    line = ["prove", "--gang", "2", "--pods", "1", "--property", "L-DEADLOCK", "-o", "json", *GANG, *SMALL]
    line += ["--release", "1.37.2", "--gate", "GenericWorkload=true", "--nodes", "2"]
    proof = untimed(shell(*line).out)
    assert (proof["verdict"], len(proof["rows"])) == ("HOLDS FOR ALL", 42)
    assert (proof["clusters"], proof["distinct"]) == (60318, 12487443)
    assert not proof["witnesses_missed"]


SCARCE = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19.0", "--property", "S-CAP", *SMALL]


def test_short_memory_is_inconclusive(shell: Shell) -> None:
    ran = shell(*SCARCE, "--max-memory", "1k")
    assert ran.code == 3
    words = " ".join(ran.out.split())
    assert "S-CAP on 1.19.0, up to 1 pod and 1 node: INCONCLUSIVE" in words
    assert (
        "are decided. To decide more, allow more with --max-memory, or divide large placements with --parts."
        in words
    )
    more = untimed(shell(*SCARCE, "--max-memory", "1G", "-o", "json").out)
    assert (more["verdict"], more["short_of_memory"]) == ("HOLDS FOR ALL", False)
    assert more == untimed(shell(*SCARCE, "-o", "json").out)


def test_what_half_of_the_memory_is_too_little_for_has_all_of_it_in_the_end(shell: Shell) -> None:
    too_little = shell(*SCARCE, "-j", "1", "--max-memory", "5M")
    assert (too_little.code, "INCONCLUSIVE" in too_little.out) == (3, True)
    ran = shell(*SCARCE, "-j", "2", "--max-memory", "10M", "-o", "json")
    assert (ran.code, untimed(ran.out)) == (0, untimed(shell(*SCARCE, "-o", "json").out))


def test_what_was_found_stays_found_when_there_is_less_memory_the_second_time(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("my.py").write_text(OWN)
    whole = untimed(shell(*NONE, "-j", "1").out)
    work = cluster_families.explore_family

    def scarce(task: Any) -> BatchOutcome:
        found = work(task)
        if task.share == 1:
            nothing = (
                ClusterOutcome(c.values, "INCONCLUSIVE", c.states, c.transitions, c.depth)
                for c in found.clusters
            )
            found = replace(found, clusters=tuple(nothing))
        return replace(found, short_of_memory=True)

    monkeypatch.setattr(proof_of_property, "explore_family", scarce)
    monkeypatch.setattr(proof_of_property, "pool_of", lambda *_: Here())
    proof = untimed(shell(*NONE, "-j", "2").out)
    assert whole["violated"] > 0
    assert proof == whole | {"short_of_memory": True}


@pytest.mark.parametrize("scales", [True, False])
def test_a_witness_is_shown_only_if_the_interpreter_confirms_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, scales: bool
) -> None:
    time = ["--time", "scales"] if scales else []
    assert untimed(shell(*SCARCE, *time, "-o", "json").out)["witnesses_reached"]
    work = cluster_families.explore_family

    def too_late(task: Any) -> BatchOutcome:
        found = work(task)
        later = {name: (depth + 1, values) for name, (depth, values) in found.witnesses.items()}
        return replace(found, witnesses=later)

    monkeypatch.setattr(proof_of_property, "explore_family", too_late)
    monkeypatch.setattr(proof_of_property, "pool_of", lambda *_: Here())
    ran = shell(*SCARCE, *time)
    assert (ran.code, ran.out) == (2, "")
    assert "but one by itself does not" in ran.err


def test_a_violation_without_its_counterexample_is_no_proof(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The family's search has memory to its end, and the search for the counterexample has none."""
    Path("my.py").write_text(OWN)
    explore = Explorer.explore

    def scarce(self: Explorer, values: Any, _: Budget) -> Exploration:
        return explore(self, values, Budget(max_memory=1000))

    with monkeypatch.context() as patched:
        patched.setattr(Explorer, "explore", scarce)
        proof = untimed(shell(*NONE).out)
    assert (proof["verdict"], proof["violated"], proof["inconclusive"]) == ("INCONCLUSIVE", 0, 1)
    assert proof["short_of_memory"]


def test_memory_that_lies_in_no_array_counts(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([0])
    monkeypatch.setattr(family_search, "resident_memory", lambda: next(sizes, 2 << 30))
    ran = shell(*SCARCE, "--max-memory", "1G")
    assert ran.code == 3
    assert "Memory ran out: of the" in ran.out


@pytest.mark.parametrize("size", ["4X", "0"])
def test_an_amount_of_memory_that_is_none_is_refused(size: str, shell: Shell) -> None:
    ran = shell(*SCARCE, "--max-memory", size)
    assert (ran.code, ran.out) == (2, "")
    assert f"--max-memory: `{size}` is no amount of memory: write for example 4G or 512M" in ran.err
