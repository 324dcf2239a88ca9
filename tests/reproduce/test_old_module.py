"""The module of 1.13.0: versions out of its Godeps.json, and the driver's files for it; with Go, the races of 1.13 on the real scheduler."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from podrace.analysis.asked.method import budget_for
from podrace.analysis.asked.plan import Selection, plan
from podrace.analysis.chain import verdicts
from podrace.analysis.stored.saved_trace import stored_trace
from podrace.reports.stored import format_trace
from podrace.reproduce.asked import Wanted, questions
from podrace.reproduce.module import BEFORE_MODULES, parse_version
from podrace.reproduce.old_module import (
    COPIED,
    NEWER,
    go_mod,
    module_versions,
    old_driver_files,
    unlike_godeps,
)
from podrace.reproduce.reproducing import prepare, reproduce
from podrace.reproduce.toolchain import GoProblem, find_go


def test_the_version_is_known() -> None:
    assert parse_version("1.13") == BEFORE_MODULES


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
    files = old_driver_files()
    assert {"stage.go", "case.go", "settle.go", "steps.go", "gen/main.go", "gen/old.go"} <= files.keys()
    assert "Gosched" in files["settle.go"]


@pytest.mark.real
@pytest.mark.parametrize("race", ["72124", "heartbeats", "parked-for-ever", "forgotten-move-request"])
def test_races_of_1_13(race: str, tmp_path: Path) -> None:
    """Each step is forced, no state differs, and the property is violated really.

    The last two are looked for without status updates of nodes, which wake parked pods in 1.13 sooner or later; their runs have none.
    """
    try:
        go = find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))
    file = tmp_path / "trace.json"
    (run,) = plan(Selection(names=[race]))
    (finding,) = verdicts([run], budget_for())
    file.write_text(format_trace(stored_trace(run, finding)), encoding="utf-8")
    (found,) = reproduce(prepare(questions(Wanted(str(file), release="1.13"), budget_for())), go, print)
    assert found.verdict == "REPRODUCED"
    assert not any(step.differs for step in found.steps)
