"""`podrace check -f`: a cluster's objects are read, reduced, checked and reported under their own names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from podrace.manifests import read_manifests
from podrace.model.environment.cluster.placement_rules import SpreadConstraint
from podrace.model.environment.objects import Selector
from podrace.scenarios import parse_scenario, read_scenario
from tests.cli.helpers import Shell
from tests.kubectl_dump import GENERAL, GPU, HIGHMEM, dump
from tests.manifests.manifest_objects import objects, text_of

pytestmark = pytest.mark.usefixtures("searched_once")

PREEMPTOR, VICTIM, RIVAL, NODE = (
    "shop/checkout-nnfkt7xhz-9shg5", "batch/report-hs9sh", "shop/payment-gtnln6swm-vqtz7", "ip-10-0-0-8.internal",
)  # fmt: skip
RACE = ["--release", "1.13.0", "--property", "S-NOMVIS"]


@pytest.fixture(scope="module")
def realistic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("cluster") / "dump.yaml"
    file.write_text(dump())
    return file


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(text_of(objects("node", "class", "namespace", "victim", "preemptor", "rival", "budget")))
    return file


def test_a_realistic_dump_is_read_whole(realistic: Path) -> None:
    read = read_manifests([str(realistic)])
    assert len(read.nodes) == GENERAL + HIGHMEM + GPU >= 50
    assert (len(read.bound), len(read.pending), read.set_aside) == (462, 22, {"finished": 20})
    assert len(read.bound) + len(read.pending) + 20 >= 500
    assert (read.classes, len(read.budgets)) == (6, 5)
    assert not read.remarks


@pytest.mark.ci
def test_the_race_shows_up_under_the_real_names(realistic: Path, shell: Shell) -> None:
    ran = shell("check", "-f", str(realistic), *RACE)
    assert ran.code == 1
    account, _, report = ran.out.partition("\n\n")
    lines = account.splitlines()
    assert lines[0].startswith(
        "version 1.37.0, by the newest kubelet; podrace checks 1.13.0, as --release says"
    )
    assert lines[1].startswith("cluster: 58 nodes of 17 kinds, 462 bound and 22 waiting pods of 14 kinds")
    assert "representative: 3 pods and 1 node that represent 484 pods and 58 nodes" in lines
    assert (
        f"  {NODE}: one of 9 nodes alike; left out: 6 pods on it, still using memory 4288Mi, cpu 4200m"
        in lines
    )
    (rest,) = (line for line in lines if line.startswith("left out: "))
    assert rest.startswith("left out: 57 nodes, 461 pods on nodes, 20 pods that wait; ")
    assert "S-NOMVIS VIOLATED" in report
    told = " ".join(report.split())
    assert f"Preemption decides: {PREEMPTOR} is to go to {NODE}." in told
    assert f"The containers of {VICTIM} have stopped: the kubelet removes the object." in told
    assert f"The scheduler assumes {RIVAL} on {NODE}: in its cache the pod is there already." in told
    assert (
        f"the verdict is about {PREEMPTOR}, {VICTIM} and {RIVAL} on {NODE}, not about the whole cluster"
        in told
    )


def test_with_the_fix_the_same_cluster_holds(small: Path, shell: Shell) -> None:
    assert shell("check", "-f", str(small), *RACE).code == 1
    ran = shell("check", "-f", str(small), "--release", "1.34.0", "--property", "S-NOMVIS")
    assert (ran.code, "S-NOMVIS HOLDS" in ran.out) == (0, True)


def test_forms_for_programs_say_what_the_verdict_is_about(small: Path, shell: Shell) -> None:
    """The account goes to stderr, so that stdout is what the form promises."""
    ran = shell("check", "-f", str(small), *RACE, "-o", "json")
    (row,) = json.loads(ran.out)
    assert row["title"] == "3 pods and 1 node that represent 3 pods and 1 node"
    assert any("not about the whole cluster" in note for note in row["notes"])
    assert ran.err.startswith("cluster: 1 node of 1 kind, ")


def test_the_scenario_that_is_written_is_the_one_that_was_checked(
    small: Path, tmp_path: Path, shell: Shell
) -> None:
    file = tmp_path / "kept.yaml"
    first = shell("check", "-f", str(small), *RACE, "--write-scenario", str(file), "-o", "json")
    again = shell("check", str(file), *RACE[2:], "-o", "json")
    assert (first.code, again.code) == (1, 1)
    assert re.findall(r'"states": ?\d+', first.out) == re.findall(r'"states": ?\d+', again.out) != []
    found = read_scenario(file)
    assert found.release == RACE[1]
    assert [p.name for p in found.spec.pods] == ["shop/api-1", "shop/batch-1", "shop/search-1"]
    assert [p.namespace for p in found.spec.pods] == ["shop"] * 3
    assert [b.name for b in found.spec.budgets] == ["shop/batch"]
    spread = SpreadConstraint("zone", Selector({"app": "api"}), 2)
    assert [p.spread for p in found.spec.pods] == [(spread,), (), ()]


def test_the_scenario_asks_what_was_asked(small: Path, shell: Shell) -> None:
    asked = ("check", "-f", str(small), "--write-scenario", "-", "--release", "1.19.0")
    ran = shell(
        *asked, "--property", "s-stuck", "--property", "S-TOLD", "--with-fix", "124709", "--time", "scales"
    )
    assert "\nproperties: [S-STUCK, S-TOLD]\n" in ran.out
    assert ran.err.splitlines()[-1] == (
        "note: the scenario does not say --with-fix and --time: give that again when you check it"
    )
    ran = shell(*asked, "--property", "S-SUCK")
    assert (ran.code, ran.out) == (2, "")
    assert "unknown property `S-SUCK`" in ran.err


def test_a_field_that_older_releases_do_not_know_is_noted_on_stderr(tmp_path: Path, shell: Shell) -> None:
    some = objects("node", "class", "preemptor")
    some[2]["spec"]["topologySpreadConstraints"][0] |= {"minDomains": 2, "matchLabelKeys": ["app"]}
    (tmp_path / "m.yaml").write_text(text_of(some))
    ran = shell("check", "-f", str(tmp_path / "m.yaml"), "--property", "S-CAP", "--release", "1.34.0")
    assert ran.code == 0
    assert [line.partition(" of a topology spread")[0] for line in ran.err.splitlines()] == [
        "note: matchLabelKeys",
    ]
    line = 1 + (tmp_path / "m.yaml").read_text().splitlines().index("  name: api-1")
    assert ran.err.endswith(f" (Pod/shop/api-1 at {tmp_path / 'm.yaml'}:{line})\n")


def test_its_counterexample_can_be_stored_and_replayed(small: Path, tmp_path: Path, shell: Shell) -> None:
    trace = tmp_path / "trace.json"
    assert shell("check", "-f", str(small), *RACE, "--save-trace", str(trace)).code == 1
    ran = shell("replay", str(trace))
    assert (ran.code, "shop/search-1" in ran.out) == (0, True)  # the same run as stored


def test_the_standard_input(small: Path) -> None:
    ran = subprocess.run(
        [Path(sys.executable).with_name("podrace"), "check", "-f", "-", *RACE],
        input=small.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, b"shop/api-1" in ran.stdout) == (1, True)


def test_focus_and_limits(realistic: Path, shell: Shell) -> None:
    ran = shell(
        "check", "-f", str(realistic), "--focus", "ml/train-hxnjp", "--nodes", "1", "--property", "S-CAP"
    )
    assert (ran.code, "  ml/train-hxnjp: waits; priority 1000" in ran.out) == (0, True)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--strict"], "podrace: --strict is about the objects of a cluster: name them with -f, such as -f cluster.yaml"),
        (["72124", "--upgrade", "1.33x"], "podrace: --upgrade is about the objects of a cluster: name them with -f, such as -f cluster.yaml"),
        (["-f", "FILE", "--pods", "1"], "podrace: --pods: write a number from 2 to 16; each more multiplies the states"),
        (["-f", "FILE", "--nodes", "x"], "podrace: --nodes: write a number from 1 to 16; each more multiplies the states"),
        (["-f", "FILE", "--focus", "shop/none"], "podrace: --focus: no pod `shop/none` waits to be scheduled; "),
        (["-f", "gone.yaml"], "podrace: gone.yaml: no such file or directory: -f names manifests"),
        (["-f", "-", "-f", "-"], "podrace: -f -: the standard input can be read only once: name it once"),
    ],
)  # fmt: skip
def test_wrong_options(options: list[str], line: str, small: Path, shell: Shell) -> None:
    ran = shell("check", *(str(small) if o == "FILE" else o for o in options))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1


def test_names_with_a_namespace_are_read_in_scenarios() -> None:
    text = "nodes: {n: {cpu: 1}}\npods: {shop/p: {cpu: 1}, q: {cpu: 1, namespace: shop}}\n"
    assert [(p.name, p.namespace) for p in parse_scenario(text).spec.pods] == [
        ("shop/p", "shop"),
        ("q", "shop"),
    ]
    with pytest.raises(
        Exception, match="namespace: the name says `shop` before its slash: remove one of them"
    ):
        parse_scenario("nodes: {n: {cpu: 1}}\npods: {shop/p: {cpu: 1, namespace: other}}\n")
    with pytest.raises(Exception, match="expected a name"):
        parse_scenario("nodes: {a/n: {cpu: 1}}\npods: {p: {cpu: 1}}\n")


def test_the_scenario_may_be_the_result(shell: Shell, small: Path, tmp_path: Path) -> None:
    written = tmp_path / "kept.yaml"
    shell(
        "check",
        "-f",
        str(small),
        "--property",
        "S-CAP",
        "--max-states",
        "1",
        "--write-scenario",
        str(written),
    )
    ran = shell("check", "-f", str(small), "--property", "S-CAP", "--write-scenario", "-")
    assert (ran.code, ran.out) == (0, written.read_text())
    assert not Path("-").exists()
