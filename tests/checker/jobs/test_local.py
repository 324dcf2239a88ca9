"""Jobs on this machine: every one once, also when workers die, with one result whoever works."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from podrace.checker.jobs import Here, Job, LostWorker, Processes


def square(number: int) -> int:
    return number * number


def fragile(task: tuple[int, str]) -> int:
    """Dies the first time that it is asked for the number 3."""
    number, place = task
    mark = Path(place) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def deadly(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number: int) -> int:
    raise ValueError(f"{number} is wrong")


def endless(place: str) -> None:
    with open(place, "w") as pipe:
        pipe.write("working\n")
        pipe.flush()
        threading.Event().wait()


FOR_EVER = """
import sys
from podrace.checker.jobs import Job, Processes
from tests.checker.jobs.test_local import endless
list(Processes(1).results(endless, [Job("#0", sys.argv[1])]))
"""


def jobs(count: int) -> list[Job]:
    return [Job(f"#{i}", i) for i in range(count)]


def test_this_process_works_in_order() -> None:
    assert [(c.name, r) for c, r in Here().results(square, jobs(3))] == [("#0", 0), ("#1", 1), ("#2", 4)]


def test_processes_give_the_same_results() -> None:
    found = {c.name: r for c, r in Processes(2).results(square, jobs(7))}
    assert found == {c.name: r for c, r in Here().results(square, jobs(7))}


def test_a_killed_worker_loses_no_result(tmp_path: Path) -> None:
    tasks = [Job(f"#{i}", (i, str(tmp_path))) for i in range(8)]
    found = list(Processes(2).results(fragile, tasks))
    assert (tmp_path / "died").exists()
    assert sorted((c.name, r) for c, r in found) == [(f"#{i}", i * i) for i in range(8)]


def test_workers_that_keep_dying_end_the_batch() -> None:
    with pytest.raises(
        LostWorker, match="3 times in a row worker processes were killed: use fewer with --jobs"
    ):
        list(Processes(1).results(deadly, jobs(1)))


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_workers_end_with_the_process_that_they_work_for(tmp_path: Path) -> None:
    """The pipe that a worker holds open ends with it."""
    place = tmp_path / "pipe"
    os.mkfifo(place)
    root = Path(__file__).parents[3]
    boss = subprocess.Popen([sys.executable, "-c", FOR_EVER, str(place)], cwd=root)
    with boss, open(place) as pipe:
        assert pipe.readline() == "working\n"
        boss.kill()
        ended, _, _ = select.select([pipe], [], [], 60)
        assert ended
        assert pipe.read() == ""


def test_a_mistake_in_the_work_is_raised_here() -> None:
    for pool in (Here(), Processes(1)):
        with pytest.raises(ValueError, match="0 is wrong"):
            list(pool.results(wrong, jobs(1)))
