"""Where in a file a violation is: the line of the pod that it is about, in a scenario and in manifests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.subjects import with_subjects
from tests.cli.helpers import Shell
from tests.cli.races import nomination

pytestmark = pytest.mark.usefixtures("searched_once")

SCENARIOS = Path(__file__).parents[3] / "scenarios"

SCENARIO = """\
name: race
title: Another pod takes the room
release: "1.13.0"
properties: [S-NOMVIS]
nodes:
  n1: {cpu: 2}
pods:
  v: {cpu: 2, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 2, priority: 10}
  q: {cpu: 1, priority: 10}
scope: {pod_events: 4}
"""


def pod(name: str, cpu: str, *spec: str) -> str:
    """A pod as kubectl writes it in a list: the name comes late."""
    more = "".join(f"    {line}\n" for line in spec)
    return f"""\
- apiVersion: v1
  kind: Pod
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    name: {name}
    namespace: shop
  spec:
    containers:
    - name: c
      resources:
        requests:
          cpu: "{cpu}"
    terminationGracePeriodSeconds: 0
{more}"""


NODE = """\
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
  status:
    allocatable:
      cpu: "2"
      pods: "110"
"""
PODS = [pod("v", "2", "nodeName: n1"), pod("p", "2", "priority: 10"), pod("q", "1", "priority: 10")]
LIST = "apiVersion: v1\nkind: List\nitems:\n"


def line_of(text: str, name: str) -> int:
    """The line, counted from 1, on which a pod of the dump has its name."""
    return text.splitlines().index(f"    name: {name}") + 1


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return Shell(capsys)


def locations(text: str) -> tuple[tuple[str, int], list[tuple[str, int]]]:
    """Where the only result points, and where its steps do."""
    (result,) = json.loads(text)["runs"][0]["results"]

    def spot(location: dict[str, dict[str, dict[str, int | str]]]) -> tuple[str, int]:
        place = location["physicalLocation"]
        return str(place["artifactLocation"]["uri"]), int(place["region"]["startLine"])

    (main,) = result["locations"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    return spot(main), [spot(step["location"]) for step in steps]


def test_a_scenario(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "race.yaml").write_text(SCENARIO)
    main, steps = locations(shell("check", "race.yaml", "-o", "sarif").out)
    assert main == ("race.yaml", 9)  # p, whose room is taken; the last step is one of q
    assert steps[0] == ("race.yaml", 9)
    assert steps[-1] == ("race.yaml", 10)
    annotation = shell("check", "race.yaml", "-o", "github").out
    assert annotation.startswith("::error file=race.yaml,line=9,title=race%2C 1.13.0%3A S-NOMVIS VIOLATED::")
    assert ">race.yaml:9\n" in shell("check", "race.yaml", "-o", "junit").out


def test_a_dump(shell: Shell, tmp_path: Path) -> None:
    text = LIST + NODE + "".join(PODS)
    (tmp_path / "dump.yaml").write_text(text)
    ran = shell("check", "-f", "dump.yaml", "--release", "1.13.0", "--property", "S-NOMVIS", "-o", "sarif")
    main, steps = locations(ran.out)
    assert main == ("dump.yaml", line_of(text, "p"))
    assert {line for _, line in steps} == {line_of(text, name) for name in ("p", "q", "v")}


def test_a_directory_of_manifests(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    texts = {"a.yaml": LIST + NODE + PODS[0], "b.yaml": LIST + PODS[1] + PODS[2]}
    for name, text in texts.items():
        (folder / name).write_text(text)
    ran = shell("check", "-f", "cluster", "--release", "1.13.0", "--property", "S-NOMVIS", "-o", "sarif")
    main, steps = locations(ran.out)
    assert main == ("cluster/b.yaml", line_of(texts["b.yaml"], "p"))
    assert ("cluster/a.yaml", line_of(texts["a.yaml"], "v")) in steps
    assert ("cluster/b.yaml", line_of(texts["b.yaml"], "q")) in steps


def test_a_pod_that_a_workload_owes_is_where_the_workload_is(shell: Shell, tmp_path: Path) -> None:
    text = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: shop
  name: web
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      priority: 10
      containers: [{{name: c, resources: {{requests: {{cpu: "2"}}}}}}]
---
{LIST}{NODE}{PODS[0]}"""
    (tmp_path / "dump.yaml").write_text(text)
    ran = shell("check", "-f", "dump.yaml", "--release", "1.13.0", "--property", "S-NOMVIS", "-o", "sarif")
    assert locations(ran.out)[0] == ("dump.yaml", 5)


def test_a_written_scenario_is_pointed_into(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(LIST + NODE + "".join(PODS))
    asked = ["--release", "1.13.0", "--property", "S-NOMVIS", "-o", "sarif", "--write-scenario", "small.yaml"]
    (file, line), _ = locations(shell("check", "-f", "dump.yaml", *asked).out)
    assert file == "small.yaml"
    assert (tmp_path / file).read_text().splitlines()[line - 1].lstrip().startswith("shop/p:")


def test_an_expectation_that_is_not_met_is_told_at_its_line(shell: Shell, tmp_path: Path) -> None:
    """The file or the scheduler is wrong: one looks at the expectation first. SARIF has the pod."""
    (tmp_path / "race.yaml").write_text(SCENARIO + "expect: {S-NOMVIS: holds}\n")
    ran = shell("test", "race.yaml", "-o", "github", "--report", "out")
    assert ran.out.startswith("::error file=race.yaml,line=12,title=race%2C 1.13.0%3A S-NOMVIS VIOLATED::")
    assert locations((tmp_path / "out" / "report.sarif").read_text())[0] == ("race.yaml", 9)


def test_what_holds_and_what_is_about_no_pod_points_at_the_property(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "race.yaml").write_text(SCENARIO)
    ran = shell("check", "race.yaml", "--max-states", "10", "-o", "github")
    assert ran.out.startswith("::warning file=race.yaml,line=4,title=")


@pytest.mark.parametrize(
    ("name", "pod"),
    [("53647", "p"), ("heartbeats", "q"), ("parked-for-ever", "a"), ("forgotten-wakes-nobody", "a")],
)
def test_properties_of_every_kind(shell: Shell, name: str, pod: str) -> None:
    """L-ISO is a resettability, L-PEND and L-WAKE are livenesses, S-STUCK is deadlock freedom."""
    (_, line), _ = locations(shell("check", name, "-o", "sarif").out)
    written = (SCENARIOS / f"{name}.yaml").read_text().splitlines()[line - 1]
    assert written.lstrip().startswith(f"{pod}:")


def test_the_subject_is_not_who_acts_last() -> None:
    race = nomination()
    (found,) = with_subjects([race.run], [race.finding])
    assert race.finding.story[-1].args == {"pod": "q", "node": "n1"}
    assert found.place is not None
    assert found.place.subject == "p"
