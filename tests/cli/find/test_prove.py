"""`podrace prove`: exact counts for the smallest sizes, groups, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.prove import proof_of_property
from podrace.base.problems import Terminated
from podrace.reports.answers.proof_report import Proof
from tests.cli.helpers import Shell

SMALL = ["--scope", "pod_events=1", "--scope", "flush=false", "-j", "1"]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_one_pod_and_one_node_are_three_clusters(shell: Shell) -> None:
    """The pod does not fit, fits, or is bound already: there is no fourth."""
    ran = shell("prove", "--pods", "1", "--nodes", "1", "--release", "1.19.0", "--property", "S-CAP", *SMALL)
    assert ran.code == 0
    assert ran.out.startswith("S-CAP on 1.19.0, up to 1 pod and 1 node: HOLDS FOR ALL\n")
    words = " ".join(ran.out.split())
    assert "3 clusters can be told apart; each was explored to the end" in words
    assert "Covers all requests from 0 and all capacities up to 2^40 units of cpu" in words
    assert "Not vacuous: a pod is assumed where not all fit." in words


@pytest.mark.nightly
def test_violating_clusters_are_grouped_with_the_simplest_of_each(shell: Shell, tmp_path: Path) -> None:
    """Clusters are told apart by what the states that they reach ask; all are explored to the end, so none is undecided."""
    ran = shell(
        "prove", "--pods", "3", "--nodes", "1", "--release", "1.13.0", "--property", "S-NOMVIS", "--zero-grace",
        "--no-empty-requests", "--examples", "found", *SMALL,
    )  # fmt: skip
    assert ran.code == 1
    words = " ".join(ran.out.split())
    assert "S-NOMVIS on 1.13.0, up to 3 pods and 1 node: VIOLATED" in words
    assert "326 clusters can be told apart; 17 of them are violating (168,649,554 states" in words
    assert "3 1 1 on n1, 2 waiting 147 163,542,802 17 0" in words
    assert (
        "Group 1: 6 clusters, 30 steps; the simplest: n1 has 2 cpu; p1 asks for 1 cpu with priority 0, on n1"
        in words
    )
    assert "Group 2: 11 clusters, 31 steps" in words
    files = sorted((tmp_path / "found").iterdir())
    assert [f.name for f in files] == ["s-nomvis-group-1.yaml", "s-nomvis-group-2.yaml"]
    again = shell("check", str(files[0]))
    assert again.code == 1
    assert "Violated after 30 steps" in again.out


@pytest.mark.ci
def test_a_proof_that_is_cut_has_the_groups_that_were_found(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told to end searches nothing more: a group has its simplest cluster, and its scenario shows the counterexample."""

    def told_to_end(*_: object) -> None:
        raise Terminated

    monkeypatch.setattr(proof_of_property, "verdict_on", told_to_end)
    line = ("prove", "--pods", "2", "--nodes", "1", "--release", "1.36.3", "--property", "S-STUCK", "-j", "1")
    ran = shell(*line, "--time", "any", "--examples", "found")
    words = " ".join(ran.out.split())
    assert (ran.code, "VIOLATED" in words) == (1, True)
    assert "24 clusters can be told apart; 2 of them are violating" in words
    assert (
        "note: podrace was told to end before every cluster was explored and every counterexample shown"
        in words
    )
    assert "note: --examples DIR writes one cluster of each group as a scenario" in words
    assert "Group 1: 2 clusters, 38 steps; the simplest: n1 has" in words
    assert "What happens" not in words
    assert [f.name for f in (tmp_path / "found").iterdir()] == ["s-stuck-group-1.yaml"]
    again = shell("check", "found/s-stuck-group-1.yaml", "--time", "any")
    assert (again.code, "Violated after 38 steps" in " ".join(again.out.split())) == (1, True)


@pytest.mark.ci
def test_an_example_with_gangs_is_the_violating_cluster(shell: Shell, tmp_path: Path) -> None:
    """What is written has the groups, and the gate with which they are heeded."""
    ran = shell(
        "prove", "--gang", "2", "--gang", "2", "--pods", "0", "--nodes", "1", "--property", "L-DEADLOCK", "--release", "1.35.4",
        "--gate", "GangScheduling=true", "--one-priority", "--no-empty-requests", "--scope", "pod_events=1", "--scope", "flush=false",
        "--examples", "found",
    )  # fmt: skip
    assert ran.code == 1
    (file,) = (tmp_path / "found").iterdir()
    assert file.read_text() == (
        "# Found by podrace prove on 1.35.4 GangScheduling=true. To see it: podrace check FILE\n"
        "name: l-deadlock-group-1\n"
        "title: The simplest of several violating clusters\n"
        'release: "1.35.4"\n'
        "featureGates: {GangScheduling: true}\n"
        "properties: [L-DEADLOCK]\n"
        "nodes:\n  n1: {cpu: 2}\n"
        "podGroups:\n  g1: {minCount: 2}\n  g2: {minCount: 2}\n"
        "pods:\n"
        "  p1: {cpu: 1, priority: 0, podGroup: g1, creationTimestamp: '2024-01-01T00:00:00Z'}\n"
        "  p2: {cpu: 1, priority: 0, podGroup: g2, creationTimestamp: '2024-01-01T00:00:01Z'}\n"
        "  p3: {cpu: 1, priority: 0, podGroup: g1, creationTimestamp: '2024-01-01T00:00:02Z'}\n"
        "  p4: {cpu: 1, priority: 0, podGroup: g2, creationTimestamp: '2024-01-01T00:00:03Z'}\n"
        "scope: {pod_events: 1, node_events: 2, flush: false}\n"
    )
    again = shell("check", str(file))
    assert again.code == 1
    assert again.out.startswith("l-deadlock-group-1, 1.35.4 GangScheduling=true: L-DEADLOCK VIOLATED\n")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("property_", "release", "options", "size"),
    [
        ("S-NOM", "1.13.0", ["--with-fix", "72259"], ["3", "1"]),
        ("L-WAKE", "1.19.0", [], ["2", "1"]),
    ],
)
def test_the_command_that_an_example_names_gives_its_verdict(
    shell: Shell, tmp_path: Path, property_: str, release: str, options: list[str], size: list[str]
) -> None:
    bounds = ["--scope", "pod_events=1", "--scope", "flush=false", "--max-states", "20000", "-j", "1"]
    pods, nodes = size
    shell(
        "prove", "--pods", pods, "--nodes", nodes, "--release", release, "--property", property_, "--zero-grace",
        "--no-empty-requests", *bounds, *options, "--examples", "found",
    )  # fmt: skip
    for file in sorted((tmp_path / "found").iterdir()):
        command = file.read_text().splitlines()[0].rpartition("podrace check FILE")[2].split()
        assert command == options
        assert shell("check", str(file), *command).code == 1


def test_a_small_budget_is_inconclusive_never_a_proof(shell: Shell) -> None:
    ran = shell(
        "prove",
        "--pods",
        "1",
        "--nodes",
        "1",
        "--release",
        "1.19.0",
        "--property",
        "S-CAP",
        "--max-states",
        "5",
        *SMALL,
    )
    assert ran.code == 3
    assert "INCONCLUSIVE" in ran.out
    assert "could not be decided within the budget" in ran.out


ALONE = [
    "prove",
    "--pods",
    "1",
    "--nodes",
    "1",
    "--release",
    "1.19.0",
    "-P",
    "my.py",
    "-o",
    "json",
    *SMALL,
]

OWN = '''\
from podrace.model.language import Case, any_of
from podrace.properties import Property


class NobodyAssumed(Property):
    """No pod is ever assumed."""

    id = "MY-NONE"

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)


class QueueDrains(Property):
    """No pod stays in the queue indefinitely."""

    id = "MY-DRAIN"
    kind = "liveness"

    def cases(self):
        return [Case(f"{p.name} stays in the queue", self.queue.contains(p)) for p in self.pods]


class Returns(Property):
    """The queue can be emptied of a pod without deleting it."""

    id = "MY-RESET"
    kind = "resettability"

    def holds(self):
        return ~any_of(self.queue.contains(p) for p in self.pods)
'''


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
        # Until now such proofs held, for no node could ever get the taint.
        (
            ["--pods", "1", "--nodes", "1", "--scope", "node_lifecycle=true", "--scope", "heartbeat_losses=1"],
            "--scope: not in the clusters of a proof, for which `podrace check` takes a scenario: it would be read with other nodes n1 later True+unreachable:NoSchedule",
        ),
        (
            ["--pods", "1", "--nodes", "1", "--scope", "scale_downs=1", "--scope", "scale_down_taints=true"],
            "--scope: not in the clusters of a proof, for which `podrace check` takes a scenario: scope: node n1 has no update with the taint ToBeDeletedByClusterAutoscaler",
        ),
        *(
            (
                ["--pods", "0", "--nodes", "1", "--gang", "2", "--release", "1.36.3", "--gate", "GangScheduling=true", "--scope", f"{fault}=1"],
                f"--scope: not in the clusters of a proof, for which `podrace check` takes a scenario: scope.{fault}: with groups of pods this is not modelled",
            )
            for fault in ("restarts", "leader_changes", "relists")
        ),
        (
            ["--pods", "1", "--nodes", "1", "--release", "1.38.0-beta.0", "--gate", "TopologyAwareWorkloadScheduling=true"],
            "--gate: TopologyAwareWorkloadScheduling needs GenericWorkload: add --gate GenericWorkload=true",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_is_one_line(shell: Shell, words: list[str], message: str) -> None:
    ran = shell("prove", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {message}")
    assert ran.err.count("\n") == 1


def test_what_holds_in_no_cluster_that_tests_it_is_vacuous() -> None:
    proof = Proof(
        property="P", release="1", verdict="HOLDS FOR ALL", pods=1, nodes=1, clusters=1, states=1,
        transitions=0, depth=0, violated=0, inconclusive=0, seconds=0.0, covers="", rows=(), groups=(), witnesses_missed=("g",),
    )  # fmt: skip
    assert proof.vacuous


# --- gangs ------------------------------------------------------------------------------------------------------

GANG = ["--gang", "2", "--nodes", "1", "--release", "1.36.3", "--one-priority", "--no-empty-requests"]
ON = ["--gate", "GangScheduling=true"]


@pytest.mark.ci
def test_a_gang_and_a_single_pod_on_a_node(shell: Shell) -> None:
    ran = shell("prove", "--pods", "1", "--property", "L-GANG", "-o", "json", *GANG, *ON, *SMALL)
    assert ran.code == 0
    (proof,) = json.loads(ran.out)
    assert (proof["verdict"], proof["gangs"]) == ("HOLDS FOR ALL", [2])
    assert {row["placement"]: (row["clusters"], row["states"]) for row in proof["rows"]} == {
        "waiting g1 g1": (3, 621),
        "waiting g1 g1 single": (8, 5309),
        "waiting g1 single g1": (8, 5309),
        "waiting single g1 g1": (9, 7102),
        "1 on n1, waiting g1 g1": (4, 912),
    }
    assert not proof["witnesses_missed"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "--gang: gangs are for where the feature gate of groups is on: add --gate GangScheduling=true with release 1.35 or 1.36, or --gate GenericWorkload=true from 1.37 on"),
        ([*ON, "--gang", "0"], "--gang: `0` is no size: write a number from 1"),
    ],
)  # fmt: skip
def test_what_is_refused_of_gangs(shell: Shell, given: list[str], said: str) -> None:
    ran = shell("prove", "--pods", "1", "--property", "L-GANG", *GANG, *given)
    assert ran.code == 2
    assert said in " ".join((ran.out + ran.err).split())


def test_gangs_of_1_37_have_one_priority(shell: Shell) -> None:
    given = ("--release", "1.37.2", "--gate", "GenericWorkload=true", "--nodes", "1")
    ran = shell("prove", "--gang", "2", "--pods", "0", "--property", "L-GANG", *given)
    assert ran.code == 2
    assert "and a proof leaves them open: add --one-priority" in ran.out + ran.err


def test_together_is_about_gangs(shell: Shell) -> None:
    ran = shell("prove", "--pods", "1", "--nodes", "1", "--together")
    assert ran.code == 2
    assert "--together is about the pods of gangs: add --gang N" in ran.out + ran.err


def test_what_numbers_decide_at_the_start_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    """L-PLACE remembers what could be placed together at the start, which is one value of a variable."""
    words = "podrace: L-PLACE cannot be asked while numbers are left open, as `prove` and ranges such as 1..2 do: they decide what `L-PLACE.owed` is at the start. "
    ran = shell("prove", "--pods", "1", "--nodes", "1", "--property", "L-PLACE", *SMALL)
    assert (ran.code, ran.err.startswith(words), ran.err.count("\n")) == (2, True, 1)
    (tmp_path / "r.yaml").write_text("name: r\nnodes: {n1: {cpu: 1..2}}\npods: {p: {cpu: 1..2}}\n")
    ran = shell("check", "r.yaml", "--property", "L-PLACE")
    assert (ran.code, ran.err.startswith(words), ran.err.count("\n")) == (2, True, 1)
