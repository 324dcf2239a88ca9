"""What nothing tested does not look like success, in any form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.request.release_names import NEWEST
from podrace.manifests.telling.scenario_text import DEFAULT_PROPERTIES
from podrace.properties import PROPERTIES
from tests.cli.helpers import Shell
from tests.manifests.big_dump import crowded
from tests.manifests.manifest_objects import text_of
from tests.manifests.test_representative import node, pod

pytestmark = pytest.mark.usefixtures("searched_once")

IDLE = """\
name: idle
title: Nobody waits
release: "1.36.0"
nodes: {n: {cpu: 2}}
pods: {p: {cpu: 1, nodeName: n}}
"""
TWO = """\
name: two
nodes: {n: {cpu: 2}}
pods: {v: {cpu: 2, nodeName: n, terminationGracePeriodSeconds: 0}, p: {cpu: 2, priority: 10}}
"""
RIVAL = """\
name: rival
release: "1.13.0"
properties: [S-NOMVIS]
nodes: {n1: {cpu: 2, labels: {disk: ssd}}}
pods:
  v: {cpu: 2, nodeName: n1}
  p: {cpu: 2, priority: 10}
  q: {cpu: 2, priority: 10, nodeSelector: {disk: ASKED}}
scope: {pod_events: 1, flush: false}
"""
TERM = "{labelSelector: {matchLabels: {app: ASKED}}, topologyKey: kubernetes.io/hostname"
SOMEBODY_ELSE = "a: {cpu: 1, nodeName: n1, labels: {app: web}}"
CLUSTERS = {
    "S-AFF": f"""\
nodes: {{n1: {{cpu: 2}}, n2: {{cpu: 2}}}}
pods:
  {SOMEBODY_ELSE}
  b: {{cpu: 1, podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{TERM}}}]}}}}
""",
    "S-SPREAD": f"""\
nodes: {{n1: {{cpu: 4}}, n2: {{cpu: 4}}}}
pods:
  {SOMEBODY_ELSE}
  b: {{cpu: 1, labels: {{app: web}}, topologySpreadConstraints: [{TERM}, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}}]}}
""",
    "S-COND": """\
nodes: {n1: {cpu: 1, labels: {app: web}}}
pods: {v: {cpu: 1, nodeName: n1}, p: {cpu: 1, nodeSelector: {app: ASKED}}}
""",
    "S-CAP": """\
nodes: {n1: {cpu: 2, labels: {app: web}}, n2: {cpu: 9}}
pods: {p: {cpu: 1}, q: {cpu: 2, nodeSelector: {app: ASKED}}}
""",
    "MY-NEVER": SOMEBODY_ELSE.join(["nodes: {n1: {cpu: 2}}\npods:\n  ", "\n  p: {cpu: 1}\n"]),
}
OWN = """\
from podrace.properties import Property
from podrace.model.language import any_of, as_expr, boolean


class Never(Property):
    \"\"\"What is never noted is not so.\"\"\"

    id = "MY-NEVER"
    seen = boolean()

    def holds(self):
        return CLAIM

    def witnesses(self):
        return {"a pod is assumed": any_of(self.cache.is_assumed(p) for p in self.pods)}
"""
COUNT = (
    "vacuous: {} of {}: no run tested the property, so it is no evidence; "
    "with --fail-on-vacuous, the exit code is 1"
)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("idle") / "idle.yaml"
    file.write_text(IDLE)
    return str(file)


@pytest.fixture(scope="module")
def lonely(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A preemptor without a rival."""
    file = tmp_path_factory.mktemp("lonely") / "lonely.yaml"
    file.write_text(text_of([node("n1", "2"), pod("v", "2", 0, "n1"), pod("p", "2", 10)]))
    return str(file)


def joined(text: str) -> str:
    return " ".join(text.split())


def test_no_waiting_pod_is_no_success(shell: Shell, idle: str) -> None:
    ran = shell("check", idle)
    assert ran.code == 0
    rows = [row.split() for row in ran.out.splitlines() if row.startswith("idle  ")]
    assert [" ".join(row[2:5]) for row in rows] == [f"{name} HOLDS (vacuous)" for name in PROPERTIES]
    assert COUNT.format(len(PROPERTIES), f"{len(PROPERTIES)} verdicts") in joined(ran.out)
    assert (
        "note: idle, 1.36.0: no pod waits to be scheduled: every pod is on a node from the start; leave out the nodeName of one, "
        "or add another"
    ) in joined(ran.out)
    assert shell("check", idle, "--fail-on-vacuous").code == 1


@pytest.mark.parametrize(
    ("asked", "code", "verdict"),
    [("ssd", 1, "VIOLATED"), ("sdd", 1, "HOLDS (vacuous)")],
    ids=["right", "misspelt"],
)
def test_a_rival_that_no_node_takes_is_none(
    shell: Shell, tmp_path: Path, asked: str, code: int, verdict: str
) -> None:
    """A misspelt label makes S-NOMVIS hold: the room that preemption frees cannot be taken."""
    file = tmp_path / "rival.yaml"
    file.write_text(RIVAL.replace("ASKED", asked))
    ran = shell("check", str(file), "--fail-on-vacuous", "--closing", "0s")
    assert ran.code == code
    (row,) = (row for row in ran.out.splitlines() if row.startswith("rival  "))
    assert " ".join(row.split()[3:5]).startswith(verdict)
    note = (
        "note: rival, 1.13.0: no node has the labels that q asks for: nothing about it on a node was tested"
    )
    assert (note in joined(ran.out)) == (asked == "sdd")


@pytest.mark.parametrize("name", [name for name in CLUSTERS if name in PROPERTIES])
@pytest.mark.parametrize("asked", ["web", "wbe"])
def test_what_nothing_in_the_cluster_can_violate_was_not_tested(
    shell: Shell, tmp_path: Path, name: str, asked: str
) -> None:
    """With one letter wrong nobody is to be kept apart, no room is short, and a pod that fails is placed nowhere."""
    file = tmp_path / "one.yaml"
    text = CLUSTERS[name].replace("ASKED", asked)
    file.write_text(f"release: '1.36.0'\n{text}scope: {{pod_events: 2, pod_deletions: 1, flush: false}}\n")
    ran = shell("check", str(file), "--property", name, "--fail-on-vacuous", "--closing", "0s", "-o", "json")
    (row,) = json.loads(ran.out)
    assert row["vacuous"] == (asked == "wbe")
    assert row["verdict"] == ("VIOLATED" if (name, asked) == ("S-COND", "web") else "HOLDS")


@pytest.mark.parametrize("claim", ["as_expr(True)", "~self.seen", "self.seen | ~self.seen"])
def test_a_property_of_ones_own_that_nothing_changes_says_nothing(
    shell: Shell, tmp_path: Path, claim: str
) -> None:
    """Its witness is reached, and has nothing to do with it."""
    file, own = tmp_path / "one.yaml", tmp_path / "own.py"
    file.write_text(CLUSTERS["MY-NEVER"])
    own.write_text(OWN.replace("CLAIM", claim))
    ran = shell("check", str(file), "-P", str(own), "--property", "MY-NEVER", "--fail-on-vacuous")
    assert (ran.code, "MY-NEVER HOLDS (vacuous)" in joined(ran.out)) == (1, True)
    assert "Vacuous: never reached: MY-NEVER: a state that could violate it." in joined(ran.out)


def test_markdown_and_the_page_mark_it(shell: Shell, idle: str, tmp_path: Path) -> None:
    ran = shell("check", idle, "--property", "S-CAP", "-o", "markdown", "--report", str(tmp_path / "r"))
    assert "| ⚠️ | idle | 1.36.0 | S-CAP | HOLDS (vacuous) |" in ran.out
    assert f"> {COUNT.format(1, '1 verdict')}" in ran.out
    page = shell("check", idle, "--property", "S-CAP", "-o", "html").out
    assert '<span class="badge vacuous">HOLDS (vacuous)</span>' in page
    assert "1 property was checked: 1 holding; 1 vacuous, as nothing tested it." in page


def test_an_expectation_that_nothing_tested_fails_if_asked_to(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "idle.yaml"
    file.write_text(f"{IDLE}expect: {{S-CAP: holds}}\n")
    ran = shell("test", str(file))
    assert ran.code == 0
    assert COUNT.format(1, "1 verdict") in joined(ran.out)
    for form in ("text", "junit", "github"):
        ran = shell("test", str(file), "--fail-on-vacuous", "-o", form)
        assert ran.code == 1
        assert "Expected: HOLDS, and that something tests it." in joined(ran.out)
        assert "As expected" not in ran.out


def test_a_proof_that_nothing_tested_is_marked(shell: Shell) -> None:
    asked = ("--pods", "1", "--nodes", "1", "--property", "S-NOM", "--release", "1.19.0")
    ran = shell("prove", *asked)
    assert ran.out.startswith("S-NOM on 1.19.0, up to 1 pod and 1 node: HOLDS FOR ALL (vacuous)\n")


def test_a_comparison_that_nothing_tested_is_marked(shell: Shell, tmp_path: Path) -> None:
    asked = ("verify", "77990", "--release", "1.13.0", "--property", "S-NOM")
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    on_two = (*asked, "--scenario", str(file))
    assert (
        "| ⚠️ | S-NOM | two | HOLDS | HOLDS | holds both (vacuous) |" in shell(*on_two, "-o", "markdown").out
    )
    said = joined(shell(*on_two, "--minimal").out)
    assert "None of the changes is needed: everything holds without them (S-NOM in two on 1.13.0)." in said
    assert "Vacuous, because something that should happen did not happen: with none of the changes." in said


def test_a_run_on_objects_says_what_it_could_not_test(shell: Shell, lonely: str) -> None:
    ran = shell("check", "-f", lonely)
    said = joined(ran.out)
    for name in ("S-NOM", "S-NOMVIS"):
        why = "no other pod may take the room that shop/p makes on n1"
        assert f"note: lonely, {NEWEST}: {name} was not tested: {why}" in said
    assert "S-NOM HOLDS (vacuous)" in said
    assert "S-CAP HOLDS (vacuous)" not in said
    assert "not checked by default: S-AFF: no two kept pods keep away from each other" in said
    assert shell("check", "-f", lonely, "--property", "S-NOM").code == 0
    assert shell("check", "-f", lonely, "--property", "S-NOM", "--fail-on-vacuous").code == 1


def test_what_is_said_of_objects_is_not_said_of_a_scenario_beside(
    shell: Shell, lonely: str, idle: str
) -> None:
    ran = shell("check", "-f", lonely, idle, "--property", "S-NOM", "-o", "json")
    of_objects, beside = json.loads(ran.out)
    assert any("not about the whole cluster" in note for note in of_objects["notes"])
    assert any(note.startswith("S-NOM was not tested: ") for note in of_objects["notes"])
    assert "about" in of_objects
    assert "about" not in beside
    assert not any("whole cluster" in note or "was not tested" in note for note in beside["notes"])


@pytest.mark.parametrize("form", ["json", "markdown", "html"])
def test_what_was_left_out_is_in_every_form(shell: Shell, lonely: str, form: str) -> None:
    ran = shell("check", "-f", lonely, "--property", "S-CAP", "-o", form)
    assert "representative: 2 pods and 1 node that represent 2 pods and 1 node" in ran.out
    if form == "json":
        (row,) = json.loads(ran.out)
        assert row["about"][-1] == (
            "not checked by default: S-SPREAD: no kept pod that waits has a hard topology spread constraint"
        )


@pytest.mark.nightly
def test_the_race_of_a_large_cluster_is_found_where_a_rival_is_kept(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "crowded.json"
    file.write_text(crowded())
    asked = ("check", "-f", str(file), "--release", "1.13.0", "--property", "S-NOM", "-o", "json")
    (row,) = json.loads(shell(*asked).out)  # --pods 5, as no question needs fewer than four
    assert (row["verdict"], len(row["trace"])) == ("VIOLATED", 42)
    assert "  every node has too little room for shop/wants-0: 3 pods have to go" in row["about"]
    (row,) = json.loads(shell(*asked, "--pods", "4").out)
    assert (row["verdict"], row["vacuous"]) == ("HOLDS", True)
    assert row["notes"][-1] == (
        "S-NOM was not tested: no rival of shop/wants-0 is kept: --pods 5 keeps shop/wants-1, too"
    )


@pytest.mark.ci
def test_of_a_large_cluster_each_default_property_is_tested_or_said_not_to_be(
    shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "crowded.json"
    file.write_text(crowded(victims=1))
    rows = json.loads(shell("check", "-f", str(file), "-o", "json").out)
    about = rows[0]["about"]
    assert about[0].startswith("cluster: 300 nodes of 1 kind, 2,700 bound and 6 waiting pods of ")
    assert any(line.startswith("  shop/wants-1: waits, and may want the same room") for line in about)
    verdicts = {row["property"]: (row["verdict"], row["vacuous"]) for row in rows}
    assert verdicts == {
        "S-CAP": ("HOLDS", False),
        "S-NOM": ("HOLDS", False),
        "S-NOMVIS": ("HOLDS", False),
        "S-STUCK": ("VIOLATED", False),
        "L-PLACE": ("HOLDS", True),
    }
    untold = [name for name in DEFAULT_PROPERTIES if name not in verdicts]
    assert [line.split(":")[1].strip() for line in about if line.startswith("not checked")] == untold
