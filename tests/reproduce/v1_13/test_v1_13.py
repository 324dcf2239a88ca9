"""The module of 1.13.0: versions out of its Godeps.json, and the driver's files for it; with Go, the races of 1.13 on the real scheduler."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from podrace.analysis.chain import verdicts
from podrace.analysis.request.method import budget_for
from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.stored.saved_trace import stored_trace
from podrace.reports.document import Value
from podrace.reports.reproduction import Reproduction
from podrace.reports.stored import StoredLasso, StoredScenario, StoredStep, StoredTrace, format_trace
from podrace.reproduce.modules.driver import path_in_module
from podrace.reproduce.modules.module import OWN_DRIVERS, OwnDriver, parse_version
from podrace.reproduce.modules.toolchain import Go, GoProblem, find_go
from podrace.reproduce.reproducing import prepare, reproduce
from podrace.reproduce.request import Wanted, questions
from podrace.reproduce.running import driver_files as files_for
from tests.reproduce.v1_13.module import (
    COMMON,
    COPIED,
    HERE,
    NEWER,
    VERSION,
    driver_files,
    go_mod,
    module_versions,
    unlike_godeps,
    write_module,
)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """podrace knows the version in these tests alone."""
    monkeypatch.setitem(OWN_DRIVERS, VERSION, OwnDriver(driver_files(), write_module))


def test_the_version_is_known() -> None:
    assert parse_version("1.13.0") == VERSION
    assert files_for(VERSION) == driver_files()


def test_go_mod() -> None:
    """Every module is pinned; those that were not published lie beside the driver."""
    assert go_mod({"k8s.io/api": "v0.0.0-1", "k8s.io/csi-api": COPIED}) == (
        "module k8s.io/kubernetes/pkg/scheduler/podrace\n\ngo 1.26.0\n\nrequire (\n"
        "\tk8s.io/kubernetes v1.13.0\n\tk8s.io/api v0.0.0-1\n\tk8s.io/csi-api v0.0.0\n)\n\nreplace (\n"
        "\tk8s.io/api => k8s.io/api v0.0.0-1\n\tk8s.io/csi-api => ./staging/src/k8s.io/csi-api\n)\n"
    )


def test_the_modules() -> None:
    versions = module_versions()
    assert len(versions) == 43
    assert {path for path, version in versions.items() if version == COPIED} == {
        "k8s.io/cloud-provider",
        "k8s.io/csi-api",
    }
    assert versions.keys() >= NEWER


def test_they_are_held_against_godeps(tmp_path: Path) -> None:
    """By the revision that a version ends with, or by the tag; staging modules and those that have to be newer are let be."""
    (tmp_path / "staging/src/k8s.io/api").mkdir(parents=True)
    (tmp_path / "Godeps").mkdir()
    rows = [
        {"ImportPath": "github.com/a/b/c", "Rev": "0123456789abcdef"},
        {"ImportPath": "gopkg.in/yaml.v2", "Rev": "ff", "Comment": "v2.2.1"},
        {"ImportPath": "golang.org/x/net/html", "Rev": "fedcba9876543210"},
    ]
    (tmp_path / "Godeps/Godeps.json").write_text(json.dumps({"Deps": rows}), encoding="utf-8")
    versions = {
        "github.com/a/b": "v1.0.0-20180101000000-0123456789ab+incompatible",
        "gopkg.in/yaml.v2": "v2.2.1",
        "golang.org/x/net": "v0.0.0-20180101000000-0123456789ab",
        "github.com/json-iterator/go": "v1.1.12",
        "k8s.io/api": "v0.0.0-20181204000039-89a74a8d264d",
    }
    assert unlike_godeps(tmp_path, versions) == {"golang.org/x/net": "fedcba9876543210"}


def test_the_driver() -> None:
    """The files of 1.13 are its own and those that it has in common with the releases of the framework."""
    files = driver_files()
    own = {path.relative_to(HERE / "driver").as_posix() for path in HERE.rglob("*.go")}
    assert files.keys() == {path_in_module(path) for path in (*own, *COMMON)}
    assert {"stage_stage.go", "play_case.go", "stage_settle.go", "play_steps.go"} <= files.keys()
    assert {"gen/main.go", "gen/old.go"} <= files.keys()
    assert "Gosched" in files["stage_settle.go"]


def installed_go() -> Go:
    try:
        return find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))


def on_1_13(stored: StoredTrace, folder: Path) -> Reproduction:
    """What becomes of a trace on the real scheduler of 1.13.0."""
    file = folder / "trace.json"
    file.write_text(format_trace(stored), encoding="utf-8")
    asked = questions(Wanted(str(file), release="1.13.0"), budget_for())
    (found,) = reproduce(prepare(asked), installed_go(), print)
    return found


def trace_of(race: str) -> StoredTrace:
    (run,) = plan(Selection(names=[race]))
    (finding,) = verdicts([run], budget_for())
    return stored_trace(run, finding)


@pytest.mark.real
@pytest.mark.parametrize(
    "race", ["72124", "heartbeats", "untainted-arrival", "parked-for-ever", "forgotten-move-request"]
)
def test_races_of_1_13(race: str, tmp_path: Path) -> None:
    """Each step is forced, no state differs, and the property is violated really.

    The last two are looked for without status updates of nodes, which wake parked pods in 1.13 sooner or later; their runs have none.
    """
    found = on_1_13(trace_of(race), tmp_path)
    assert found.verdict == "REPRODUCED"
    assert not any(step.differs for step in found.steps)


@pytest.mark.real
def test_two_equals_take_turns(tmp_path: Path) -> None:
    """The model has any of several equal pods as the head of the heap. Of two, the real heap gives the one that was there before."""
    found = on_1_13(trace_of("any-of-equals"), tmp_path)
    assert (found.verdict, found.at) == ("CANNOT BE FORCED", 10)
    assert "the queue gives q, not p" in found.words


THREE = """\
name: one-of-three-equals
release: "1.13.0"
properties: [L-PEND]
nodes:
  n1: {cpu: 2}
pods:
  x: {cpu: 1, nodeName: n1}
  p: {cpu: 2}
  q: {cpu: 1}
  r: {cpu: 2}
scope: {pod_events: 3, flush: false}
"""
"""p and r fit nowhere, q fits."""


def attempt(pod: str) -> list[StoredStep]:
    """An attempt that fails, and the status update of the node that wakes the pod again."""
    here: dict[str, Value] = {"pod": pod, "node": "n1"}
    steps = [
        "scheduler.pop",
        "scheduler.take_snapshot",
        "scheduler.filter",
        "scheduler.fail",
        "failure.patch",
    ]
    steps += ["scheduler.reread_preemptor", "scheduler.dry_run", "failure.live_get", "failure.add_fetched"]
    on_node = ("scheduler.filter", "scheduler.dry_run")
    return [StoredStep(step, here if step in on_node else {"pod": pod}) for step in steps]


def events(pod: str) -> list[StoredStep]:
    """What the watch tells of the first attempt, which wrote the condition."""
    return [StoredStep(f"handlers.{step}", {"pod": pod}) for step in ("handle_for_queue", "update_queue")]


@pytest.mark.real
def test_one_of_three_equals_is_never_tried(tmp_path: Path) -> None:
    """71488: the pod that comes back goes to the end of the heap, and Pop puts the last of the heap into the place of the first.

    So two of three equal pods overtake the third again and again.
    """
    beat = [StoredStep("handlers.handle_heartbeat", {"node": "n1"})]
    first = [step for pod in "pr" for step in (*attempt(pod), *events(pod), *beat)]
    round_ = [step for pod in "pr" for step in (*attempt(pod), *beat)]
    stored = StoredTrace(
        scenario=StoredScenario(name="one-of-three-equals", file="three.yaml", text=THREE),
        release="1.13.0",
        property="L-PEND",
        steps=(*first, *round_, *round_),
        lasso=StoredLasso("q waits indefinitely although it fits", len(first) + len(round_)),
    )
    found = on_1_13(stored, tmp_path)
    assert found.verdict == "REPRODUCED"
    assert len(found.steps) == 64
    assert not any(step.differs for step in found.steps)


def test_its_driver_knows_pods_by_their_names() -> None:
    asked = questions(Wanted("namesake-bound", "v1.13.0"), budget_for())
    (found,) = [one.reproduction for one in prepare(list(asked))]
    assert found is not None
    assert (found.verdict, found.words) == (
        "NOT THERE",
        "web-again takes the name of web, and the driver of this version knows pods by their names.",
    )
