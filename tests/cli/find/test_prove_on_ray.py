"""A proof on a Ray cluster of two workers, one of which is killed half-way, finds what one process here finds: one by one, and in parts."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis.prove import cluster_families, proof_of_property
from podrace.analysis.prove.cluster_batches import Task, work
from podrace.analysis.prove.cluster_families import FamilyTask
from podrace.analysis.prove.outcomes import BatchOutcome
from podrace.checker.jobs.job import JobFunction
from tests.cli.helpers import Shell

ray = pytest.importorskip("ray", reason="Ray is an optional extra")

PROOF = ["prove", "--pods", "2", "--nodes", "1", "--release", "1.19", "--property", "S-NOM", "-o", "json"]
PROOF += ["--scope", "pod_events=1", "--scope", "flush=false", "-j", "1"]
PARTS_AND_SMALL = 11
CHUNK = 3
"""Clusters per chunk, so that there are enough chunks for a half-way."""


def killed_half_way(folder: Path, after: int) -> JobFunction:
    """The real work, noted in `folder`; whoever has done the last of so many chunks is killed with the result in hand."""

    def fragile(task: Task | FamilyTask) -> BatchOutcome:
        found = work(task)
        with (folder / "workers").open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len((folder / "workers").read_text().split()) >= after:
            try:
                (folder / "killed").open("x").write(str(os.getpid()))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return found

    return fragile


def untimed(text: str) -> Any:
    """The surveys that were printed, without the seconds."""
    surveys = json.loads(text)
    for survey in surveys:
        del survey["seconds"]
    return surveys


@pytest.mark.ci
@pytest.mark.parametrize(
    ("way", "clusters", "jobs"), [("--one-by-one", 117, 41), ("--parts=4", 20, PARTS_AND_SMALL)]
)
def test_a_proof_loses_nothing_when_a_worker_of_the_cluster_is_killed(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    way: str,
    clusters: int,
    jobs: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proof_of_property, "CHUNK", CHUNK)
    monkeypatch.setattr(cluster_families, "LOOKED_AT", 200)
    shell = Shell(capsys)
    here = shell(*PROOF, way, "--journal", "here")
    (survey,) = untimed(here.out)
    chunks = len(Path("here").read_text().splitlines()) - 1
    assert (survey["clusters"], chunks) == (clusters, jobs)

    monkeypatch.setattr(proof_of_property, "work", killed_half_way(tmp_path, chunks // 2))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        there = shell(*PROOF, way, "--ray", "local")
    finally:
        ray.shutdown()

    workers = (tmp_path / "workers").read_text().split()
    killed = (tmp_path / "killed").read_text()
    assert len(workers) == chunks + 1  # what the killed one had in hand was done again
    assert len(set(workers)) >= 2
    assert not Path("/proc", killed).exists()
    assert (there.code, untimed(there.out)) == (here.code, untimed(here.out))
