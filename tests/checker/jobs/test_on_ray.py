"""The same jobs on a Ray cluster of two workers, one of which is killed half-way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from podrace.checker.jobs import Here, Job, run_jobs

ray = pytest.importorskip("ray", reason="Ray is an optional extra")


def fragile(task: tuple[int, str]) -> int:
    """The worker that is asked for the number 3 first is killed."""
    number, place = task
    mark = Path(place) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.ci
def test_a_killed_worker_of_a_cluster_loses_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from podrace.checker.jobs.on_ray import OnRay

    tasks = [Job(f"#{i}", (i, str(tmp_path))) for i in range(8)]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        found = {c.name: r for c, r in run_jobs(fragile, tasks, OnRay("local"))}
    finally:
        ray.shutdown()
    assert (tmp_path / "died").exists()
    assert found == {c.name: r for c, r in run_jobs(fragile, tasks, Here())}
    assert capsys.readouterr().out == ""  # what Ray says of the killed worker is no result


def test_a_cluster_that_is_not_there_is_named() -> None:
    from podrace.checker.jobs.on_ray import OnRay, RayMissing

    with pytest.raises(RayMissing, match=r"there is no Ray cluster at `127\.0\.0\.1:1`: Connection refused"):
        list(run_jobs(fragile, [Job("#0", 0)], OnRay("127.0.0.1:1")))


@pytest.mark.parametrize("address", ["", "somewhere", "host:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    from podrace.checker.jobs.on_ray import OnRay, RayMissing

    with pytest.raises(RayMissing, match="is no address of a Ray cluster: write HOST:PORT"):
        list(run_jobs(fragile, [Job("#0", 0)], OnRay(address)))
