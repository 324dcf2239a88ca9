"""`podrace prove` where the clusters of a placement are explored together: the same verdicts as one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.prove import cluster_families
from tests.cli.find.test_prove import GANG, ON, OWN, of_violated, rewritten
from tests.cli.helpers import Shell

SMALL = ["--scope", "pod_events=1", "--scope", "flush=false", "-j", "1"]
NONE = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19", "-P", "my.py", "--property", "MY-NONE"]
NONE += ["-o", "json", *SMALL]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def untimed(text: str) -> Any:
    (proof,) = json.loads(text)
    del proof["seconds"]
    for group in proof["groups"]:
        del group["finding"]["seconds"]
    return proof


@pytest.mark.ci
def test_clusters_that_no_state_tells_apart_are_one(shell: Shell) -> None:
    """Of the 117 clusters of two pods that all questions tell apart, what states ask leaves 20."""
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.19", "--property", "S-NOM"]
    ran = shell(*line, *SMALL)
    assert ran.code == 0
    words = " ".join(ran.out.split())
    assert "20 clusters can be told apart; each was explored to the end" in words
    assert "of which 5,385 states differ" in words
    together = untimed(shell(*line, "-o", "json", *SMALL).out)
    alone = untimed(shell(*line, "-o", "json", "--one-by-one", *SMALL).out)
    for told in ("verdict", "depth", "constraints_hit", "witnesses_reached", "witnesses_missed", "covers"):
        assert together[told] == alone[told]
    assert sorted(together["steps_never_fired"]) == sorted(alone["steps_never_fired"])
    assert (alone["clusters"], alone["distinct"]) == (117, 0)


@pytest.mark.ci
def test_parts_of_placements_find_what_the_whole_finds(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.19", "--property", "S-NOM", "-o", "json"]
    whole = untimed(shell(*line, *SMALL).out)
    monkeypatch.setattr(cluster_families, "LOOKED_AT", 200)
    line += ["--parts", "3", "--journal", "j"]
    parts = untimed(shell(*line, *SMALL).out)
    assert (whole.pop("parts"), parts.pop("parts")) == (1, 3)
    assert (whole.pop("distinct"), parts.pop("distinct")) == (5385, 5486)
    assert parts == whole
    names = [json.loads(line)[0] for line in Path("j").read_text().splitlines()[1:]]
    assert [names.count(f"2 pods, 1 nodes: 2 waiting #{number}") for number in range(4)] == [1, 1, 1, 0]
    again = untimed(shell(*line, *SMALL).out)
    assert (again.pop("parts"), again.pop("distinct")) == (3, 5486)
    assert again == whole


def test_parts_that_cannot_be_are_refused(shell: Shell) -> None:
    line = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19", "--property", "S-NOM"]
    none = shell(*line, "--parts", "0")
    assert (none.code, none.out) == (2, "")
    assert "--parts: `0` is no number of parts: write a number from 1 to 10,000, such as 8" in none.err
    alone = shell(*line, "--parts", "2", "--one-by-one")
    assert (alone.code, alone.out) == (2, "")
    assert "--parts: the clusters are explored one by one for S-NOM: leave it out" in alone.err


def test_a_small_budget_is_inconclusive_never_a_proof(shell: Shell) -> None:
    line = ["prove", "--pods", "1", "--nodes", "1", "--release", "1.19", "--property", "S-CAP"]
    ran = shell(*line, "--max-states", "5", *SMALL)
    assert ran.code == 3
    assert "could not be decided within the budget" in ran.out


def test_counterexamples_are_confirmed_and_kept(shell: Shell) -> None:
    Path("my.py").write_text(OWN)
    first = untimed(shell(*NONE, "--journal", "j").out)
    again = untimed(shell(*NONE, "--journal", "j").out)
    assert first == again
    assert (first["verdict"], first["violated"], first["clusters"]) == ("VIOLATED", 1, 3)
    alone = untimed(shell(*NONE, "--one-by-one").out)
    assert [group["steps"] for group in first["groups"]] == [group["steps"] for group in alone["groups"]]
    assert [group["example"] for group in first["groups"]] == [group["example"] for group in alone["groups"]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda r: r["clusters"].append(r["clusters"][0]),
            "it is not about the clusters that it should be about",
        ),
        (
            lambda r: r["clusters"][0].update(regions=9),
            "it is not about the clusters that it should be about",
        ),
        (
            lambda r: r["clusters"][0].update(values=[7]),
            "it is not about the clusters that it should be about",
        ),
        (
            lambda r: r["clusters"][0].update(values=[-1, 0, 0]),
            "it is not about the clusters that it should be about",
        ),
        (lambda r: r["clusters"].clear(), "its counts are those of no search"),
        (lambda r: r.update(distinct=0), "its counts are those of no search"),
        (of_violated(lambda c: c["trace"].pop()), "its counterexample is none: "),
        (of_violated(lambda c: c.update(verdict="HOLDS")), "it contradicts itself"),
    ],
)
def test_what_cannot_have_come_out_is_refused(shell: Shell, change: Callable[[Any], None], why: str) -> None:
    """Even if it is signed."""
    Path("my.py").write_text(OWN)
    shell(*NONE, "--journal", "j")
    rewritten(Path("j"), change)
    forged = shell(*NONE, "--journal", "j")
    assert (forged.code, forged.out) == (2, "")
    assert forged.err.partition("j:")[2].partition(": ")[2].startswith(why)


# --- livenesses -------------------------------------------------------------------------------------------------

DRAIN = ["MY-DRAIN" if word == "MY-NONE" else word for word in NONE]


def test_livenesses_are_judged_together_as_alone(shell: Shell) -> None:
    """A pod that fits nowhere stays in the queue for ever."""
    Path("my.py").write_text(OWN)
    together = untimed(shell(*DRAIN).out)
    alone = untimed(shell(*DRAIN, "--one-by-one").out)
    assert (together["verdict"], together["violated"], together["clusters"]) == ("VIOLATED", 1, 3)
    assert (alone["verdict"], alone["violated"], alone["clusters"]) == ("VIOLATED", 1, 4)
    for told in ("steps", "example"):
        assert [group[told] for group in together["groups"]] == [group[told] for group in alone["groups"]]
    kept = untimed(shell(*DRAIN, "--journal", "j").out)
    assert kept == together == untimed(shell(*DRAIN, "--journal", "j").out)


@pytest.mark.ci
def test_two_gangs_on_a_node(shell: Shell) -> None:
    """KEP-4671's promise, as of the classes that `--one-by-one` finds: of 51 classes, 48 are told apart by what states have to ask."""
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
def test_processes_find_the_same_as_one(shell: Shell) -> None:
    line = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.22", "--property", "S-CAP", "-o", "json"]
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
