"""`podrace prove`: exact counts for the smallest sizes, groups, journal, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.prove import proof_of_property
from podrace.reports.answers.proof_report import Proof
from tests.cli.helpers import Shell

SMALL = ["--scope", "pod_events=1", "--scope", "flush=false", "-j", "1"]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_one_pod_and_one_node_are_four_clusters(shell: Shell) -> None:
    """The pod does not fit, fits once or twice, or is bound already: there is no fifth.

    Twice, because a pod that is tried while the node has it already counts among the pods there.
    """
    ran = shell("prove", "--pods", "1", "--nodes", "1", "--release", "1.19", "--property", "S-CAP", *SMALL)
    assert ran.code == 0
    assert ran.out.startswith("S-CAP on 1.19, up to 1 pod and 1 node: HOLDS FOR ALL\n")
    words = " ".join(ran.out.split())
    assert "4 clusters can be told apart; each was explored to the end" in words
    assert "Covers all requests from 0 and all capacities up to 2^40 units of cpu" in words
    assert "Not vacuous: a pod is assumed." in words


def test_counts_of_two_pods_are_exact(shell: Shell) -> None:
    ran = shell(
        "prove",
        "--pods",
        "2",
        "--nodes",
        "1",
        "--release",
        "1.19",
        "--property",
        "S-NOM",
        "-o",
        "json",
        *SMALL,
    )
    assert ran.code == 0
    (proof,) = json.loads(ran.out)
    assert proof["verdict"] == "HOLDS FOR ALL"
    assert {
        row["placement"]: (row["clusters"], row["explored"]) for row in proof["rows"] if row["pods"] == 2
    } == {
        "2 waiting": (63, 63),
        "1 on n1, 1 waiting": (51, 51),
        "2 on n1": (1, 1),
    }
    assert proof["clusters"] == sum(row["clusters"] for row in proof["rows"]) == 117
    assert proof["states"] == sum(row["states"] for row in proof["rows"])
    assert (proof["states"], proof["depth"]) == (23587, 53)


@pytest.mark.ci
def test_violating_clusters_are_grouped_with_the_simplest_of_each(shell: Shell, tmp_path: Path) -> None:
    ran = shell(
        "prove", "--pods", "3", "--nodes", "1", "--release", "1.13", "--property", "S-NOMVIS", "--zero-grace",
        "--no-empty-requests", "--max-states", "20000", "--examples", "found", *SMALL,
    )  # fmt: skip
    assert ran.code == 1
    words = " ".join(ran.out.split())
    assert "S-NOMVIS on 1.13, up to 3 pods and 1 node: VIOLATED" in words
    assert "12,993 clusters can be told apart" in words
    assert "100 of them are violating; 1,248 could not be decided" in words
    assert (
        "Group 1: 72 clusters, 30 steps; the simplest: n1 has 2 cpu; p1 asks for 1 cpu with priority 0, on n1"
        in words
    )
    assert "Group 2: 28 clusters, 31 steps" in words
    files = sorted((tmp_path / "found").iterdir())
    assert [f.name for f in files] == ["s-nomvis-group-1.yaml", "s-nomvis-group-2.yaml"]
    again = shell("check", str(files[0]))
    assert again.code == 1
    assert "Violated after 30 steps" in again.out


def test_a_small_budget_is_inconclusive_never_a_proof(shell: Shell) -> None:
    ran = shell(
        "prove",
        "--pods",
        "1",
        "--nodes",
        "1",
        "--release",
        "1.19",
        "--property",
        "S-CAP",
        "--max-states",
        "5",
        *SMALL,
    )
    assert ran.code == 3
    assert "INCONCLUSIVE" in ran.out
    assert "could not be decided within the budget" in ran.out


@pytest.mark.ci
def test_a_journal_goes_on_and_says_the_same(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    line = [
        "prove",
        "--pods",
        "2",
        "--nodes",
        "1",
        "--release",
        "1.19",
        "--property",
        "S-CAP",
        "-o",
        "json",
        *SMALL,
    ]
    plain = json.loads(shell(*line).out)
    monkeypatch.setattr(proof_of_property, "CHUNK", 5)
    whole = json.loads(shell(*line, "--journal", "j").out)
    lines = Path("j").read_text().splitlines(keepends=True)
    assert len(lines) > 3
    Path("j").write_text("".join(lines[:3]))
    resumed = json.loads(shell(*line, "--journal", "j").out)
    for found in (plain, whole, resumed):
        del found[0]["seconds"]
    assert plain == whole == resumed
    monkeypatch.setattr(proof_of_property, "CHUNK", 6)  # its chunks have the names of others
    divided = shell(*line, "--journal", "j")
    assert (divided.code, divided.out) == (2, "")
    assert "j: is the journal of other jobs" in divided.err
    other = shell(
        "prove",
        "--pods",
        "1",
        "--nodes",
        "1",
        "--release",
        "1.19",
        "--property",
        "S-CAP",
        "--journal",
        "j",
        *SMALL,
    )
    assert (other.code, other.out) == (2, "")
    assert "j: is the journal of other jobs" in other.err


@pytest.mark.ci
def test_processes_find_the_same_as_one(shell: Shell) -> None:
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.22", "--property", "S-CAP", "-o", "json"]
    line += ["--scope", "pod_events=1"]
    one, two = (json.loads(shell(*line, "-j", jobs).out) for jobs in ("1", "2"))
    for found in (one, two):
        del found[0]["seconds"]
    assert one == two


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pods", "0", "--nodes", "1"], "--pods: `0` is no size: write a number from 1 to 6"),
        (["--pods", "2", "--nodes", "x"], "--nodes: `x` is no size: write a number from 1 to 6"),
        (["--pods", "1", "--nodes", "1", "--property", "S-NO"], "unknown property `S-NO`"),
        (["--pods", "1", "--nodes", "1", "--scope", "flush"], "--scope: `flush`: write NAME=VALUE"),
        (
            ["--pods", "1", "--nodes", "1", "--scope", "flash=1"],
            "--scope:1: unknown field `flash`; did you mean `flush`?",
        ),
        (
            ["--pods", "1", "--nodes", "1", "--journal", "j"],
            "--journal is for one property, and this asks for 3",
        ),
        (
            ["--pods", "1", "--nodes", "1", "--property", "S-CAP", "--journal", "."],
            "--journal: `.` is a directory: name a file",
        ),
    ],
)
def test_what_is_refused_is_one_line(shell: Shell, words: list[str], message: str) -> None:
    ran = shell("prove", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {message}")
    assert ran.err.count("\n") == 1


def test_what_holds_in_no_cluster_that_tests_it_is_vacuous() -> None:
    proof = Proof(
        property="P", release="1", verdict="HOLDS FOR ALL", pods=1, nodes=1, clusters=1, explored=1, states=1,
        transitions=0, depth=0, violated=0, inconclusive=0, seconds=0.0, covers="", rows=(), groups=(), witnesses_missed=("g",),
    )  # fmt: skip
    assert proof.vacuous
