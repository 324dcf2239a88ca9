"""States in files: the same answers, checkpoints, and whatever can go wrong with a directory."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget, CheckpointProblem, Exploration
from podrace.checker.core.signing import signature
from podrace.checker.explicit import checkpoint, explore
from podrace.checker.explicit.states import arrays
from podrace.checker.explicit.states.bfs_kernel import COUNT, HEAD, LEVEL_END
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import counting, pell_lucas, philosophers, ring
from tests.checker.explicit.test_search import untimed
from tests.profiles import examples
from tests.random_systems import systems


def written(folder: Path) -> Any:
    """The checkpoint as it is on the disk."""
    return json.loads((folder / "checkpoint.json").read_text())


def resumed(system: TransitionSystem, budget: Budget, *bounds: int) -> Exploration:
    """The answer of a search that was stopped at each of these numbers of states, and went on."""
    for most in bounds:
        found = explore(system, replace(budget, max_states=most, resume=True))
        assert found.states <= most
    return explore(system, replace(budget, resume=True))


def test_the_answer_is_the_same(tmp_path: Path) -> None:
    system = philosophers(12)
    found = explore(system, Budget(disk=tmp_path / "new" / "folder"))
    assert untimed(found) == untimed(explore(system))
    assert sorted(f.name for f in (tmp_path / "new" / "folder").iterdir()) == [
        "checkpoint.json", "lock", "origins", "states",
    ]  # fmt: skip


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), deadline=None)
@given(systems(), st.lists(st.integers(1, 40), max_size=3), st.integers(1, 2))
def test_a_search_that_was_stopped_goes_on(
    tmp_path_factory: pytest.TempPathFactory, system: TransitionSystem, bounds: list[int], jobs: int
) -> None:
    budget = Budget(disk=tmp_path_factory.mktemp("disk"), jobs=jobs)
    assert untimed(resumed(system, budget, *sorted(bounds))) == untimed(explore(system))


def test_it_goes_on_in_the_midst_of_a_level(tmp_path: Path) -> None:
    system = philosophers(11)
    found = resumed(system, Budget(disk=tmp_path), 10, 11, 500, 3000, 3001, 9999)
    assert untimed(found) == untimed(explore(system))


def test_a_finished_search_answers_at_once(tmp_path: Path) -> None:
    system = philosophers(9)
    first = explore(system, Budget(disk=tmp_path))
    earlier = written(tmp_path)["seconds"]
    again = explore(system, Budget(disk=tmp_path, resume=True))
    assert untimed(again) == untimed(first)
    assert 0 < earlier < again.seconds  # both runs count


@pytest.mark.parametrize("name", ["states", "origins"])
def test_what_a_search_left_that_was_never_written_down_goes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff" * 10_000_000)
    assert untimed(explore(ring(5), Budget(disk=tmp_path))) == untimed(explore(ring(5)))
    assert (tmp_path / name).stat().st_size < 1_000_000


def test_an_answered_search_answers_at_once(tmp_path: Path) -> None:
    system = philosophers(7).with_predicates(resettabilities={})
    first = explore(system, Budget(disk=tmp_path))
    assert first.stopped == "answered"
    assert untimed(explore(system, Budget(disk=tmp_path, resume=True))) == untimed(first)


def test_one_that_timed_out_goes_on_with_more_threads(tmp_path: Path) -> None:
    system = ring(14)
    stopped = explore(system, Budget(disk=tmp_path, timeout=0))
    assert stopped.stopped == "timeout"
    found = explore(system, Budget(disk=tmp_path, resume=True, jobs=2))
    assert untimed(found) == untimed(explore(system))


def test_states_on_disk_are_not_memory(tmp_path: Path) -> None:
    system = philosophers(13).with_predicates(resettabilities={}, invariants={})
    budget = Budget(max_memory=700_000)
    assert explore(system, budget).stopped == "memory"
    found = explore(system, replace(budget, disk=tmp_path))
    assert (found.complete, found.states) == (True, pell_lucas(13))


def test_a_search_short_of_memory_goes_on_with_more(tmp_path: Path) -> None:
    system = philosophers(13)
    stopped = explore(system, Budget(disk=tmp_path, max_memory=500_000))
    assert stopped.stopped == "memory"
    assert 0 < stopped.states < pell_lucas(13)
    assert untimed(explore(system, Budget(disk=tmp_path, resume=True))) == untimed(explore(system))


@pytest.mark.parametrize("where", ["states", "origins"])
def test_a_full_disk_ends_the_search_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    system = philosophers(12)
    take = arrays._take
    limit = {"states": 100_000, "origins": 600}[where]

    def full(file: int, first: int, last: int) -> None:
        if os.readlink(f"/proc/self/fd/{file}").endswith(where) and last > limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        take(file, first, last)

    with monkeypatch.context() as patch:
        patch.setattr(arrays, "_take", full)
        found = explore(system, Budget(disk=tmp_path))
    assert (found.stopped, found.complete) == ("disk", False)
    assert 0 < found.states < pell_lucas(12)
    assert untimed(explore(system, Budget(disk=tmp_path, resume=True))) == untimed(explore(system))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_limit_on_files_is_a_full_disk(tmp_path: Path) -> None:
    system = philosophers(12)
    explore(system, Budget(max_states=1))  # compiles: its files are large
    with largest_file(150_000):
        found = explore(system, Budget(disk=tmp_path))
    assert (found.stopped, found.complete) == ("disk", False)
    assert untimed(explore(system, Budget(disk=tmp_path, resume=True))) == untimed(explore(system))


def test_no_room_for_the_checkpoint_leaves_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    system = ring(12)
    explore(system, Budget(disk=tmp_path, max_states=100))
    before = (tmp_path / "checkpoint.json").read_bytes()

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        found = explore(system, Budget(disk=tmp_path, resume=True))
    assert found.stopped == "disk"
    assert (tmp_path / "checkpoint.json").read_bytes() == before
    assert untimed(explore(system, Budget(disk=tmp_path, resume=True))) == untimed(explore(system))


def problem(system: TransitionSystem, budget: Budget) -> str:
    with pytest.raises(CheckpointProblem) as caught:
        explore(system, budget)
    return str(caught.value)


def test_a_search_is_not_overwritten(tmp_path: Path) -> None:
    explore(ring(5), Budget(disk=tmp_path))
    assert "holds a search already: add --resume" in problem(ring(5), Budget(disk=tmp_path))


def another_limit() -> TransitionSystem:
    return counting(9, invariants={"small": lambda value: value < 9})


@pytest.mark.parametrize(
    "other",
    [
        counting(10, invariants={"small": lambda value: value < 10}),
        counting(9, invariants={"little": lambda value: value < 9}),
        counting(9, invariants={"small": lambda value: value < 8}),
        replace(another_limit(), name="another"),
    ],
)
def test_a_search_of_another_system_is_refused(tmp_path: Path, other: TransitionSystem) -> None:
    explore(another_limit(), Budget(disk=tmp_path))
    assert "another system" in problem(other, Budget(disk=tmp_path, resume=True))
    explore(another_limit(), Budget(disk=tmp_path, resume=True))


def test_a_search_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explore(ring(5), Budget(disk=tmp_path))
    monkeypatch.setattr(checkpoint, "version_of_package", lambda name: "99")
    assert "another version" in problem(ring(5), Budget(disk=tmp_path, resume=True))


def edited(**changes: Any) -> Any:
    def edit(folder: Path) -> None:
        (folder / "checkpoint.json").write_text(json.dumps({**written(folder), **changes}))

    return edit


def signed(**changes: Any) -> Any:
    """As anybody with the key may write it."""

    def edit(folder: Path) -> None:
        found = {**written(folder), **changes}
        kept = {name: value for name, value in found.items() if name not in ("format", "signature")}
        made = signature(checkpoint._USE, checkpoint._canonical(kept))
        assert made is not None
        edited(**changes, signature=made.hex())(folder)

    return edit


def cut(name: str) -> Any:
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size // 50)


def changed(name: str, place: int) -> Any:
    def change(folder: Path) -> None:
        with open(folder / name, "r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1]))

    return change


def expanded(folder: Path) -> None:
    """Everything that was found is said to have been expanded, which would end the search."""
    control = written(folder)["control"]
    control[HEAD] = control[LEVEL_END] = control[COUNT]
    edited(control=control)(folder)


@pytest.mark.parametrize(
    "harm",
    [
        cut("checkpoint.json"),
        cut("states"),
        cut("origins"),
        lambda folder: (folder / "checkpoint.json").write_bytes(b"\xff\xfe"),
        lambda folder: (folder / "checkpoint.json").write_text("[]"),
        edited(control=[1, 2]),
        edited(control="none"),
        edited(control=[5, 4, 3] + 11 * [0]),
        edited(arrays=["", ""]),
        edited(fired=[1]),
        edited(more=1),
        edited(signature="00" * 32),
        signed(control=[1, 2]),
        signed(control=[5, 4, 3] + 11 * [0]),
        signed(
            control=12 * [0], arrays=2 * [sha256().hexdigest()]
        ),  # nothing, of which the digests are right
        signed(fired=[1]),
        signed(more=1),
        edited(signature=None),
        expanded,
        changed("states", 8 * 100),
        changed("origins", 4),
        changed("origins", 4 * 30),
        lambda folder: (folder / "origins").unlink(),
        lambda folder: (folder / "states").unlink(),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, harm: Any) -> None:
    explore(ring(10), Budget(disk=tmp_path, max_states=5000))
    harm(tmp_path)
    assert problem(ring(10), Budget(disk=tmp_path, resume=True)) == (
        "its checkpoint is damaged, or was not written by podrace for you: remove the directory and begin again"
    )


def test_a_checkpoint_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or one that was signed as something else of the same user's."""
    explore(ring(10), Budget(disk=tmp_path, max_states=5000))
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "_USE", "verdict")
        assert "was not written by podrace for you" in problem(ring(10), Budget(disk=tmp_path, resume=True))
    with monkeypatch.context() as patch:
        patch.setenv("PODRACE_KEY", "the secret of somebody else")
        assert "was not written by podrace for you" in problem(ring(10), Budget(disk=tmp_path, resume=True))
    assert untimed(explore(ring(10), Budget(disk=tmp_path, resume=True))) == untimed(explore(ring(10)))


def test_a_checkpoint_that_cannot_be_signed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODRACE_KEY", "too short")
    assert problem(ring(5), Budget(disk=tmp_path / "new")).startswith("cannot be signed, since `")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["states", "origins"])
def test_a_pipe_or_a_directory_is_no_array(tmp_path: Path, name: str) -> None:
    explore(ring(5), Budget(disk=tmp_path))
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert problem(ring(5), Budget(disk=tmp_path, resume=True)) == "cannot be used: Is a directory"
    (tmp_path / name).rmdir()
    os.mkfifo(tmp_path / name)
    assert problem(ring(5), Budget(disk=tmp_path, resume=True)).startswith("cannot be used: ")


def test_a_draft_of_a_search_that_was_killed_goes(tmp_path: Path) -> None:
    explore(ring(5), Budget(disk=tmp_path))
    (tmp_path / ".podrace-0.draft").write_text("half")
    explore(ring(5), Budget(disk=tmp_path, resume=True))
    assert not (tmp_path / ".podrace-0.draft").exists()


def test_two_searches_cannot_share_a_directory(tmp_path: Path) -> None:
    def meanwhile(progress: object) -> None:
        raise AssertionError(problem(ring(5), Budget(disk=tmp_path)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podrace.checker.explicit.states.budget._SECONDS_BETWEEN_REPORTS", 0)
        with pytest.raises(AssertionError, match="another search is using it"):
            explore(ring(14), Budget(disk=tmp_path), meanwhile)


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert problem(ring(3), Budget(disk=tmp_path / "file")) == "cannot be used: File exists"
    assert problem(ring(3), Budget(disk=tmp_path / "file" / "x")) == "cannot be used: Not a directory"


SEARCH = """
import os, signal, sys, threading
from contextlib import nullcontext
from pathlib import Path
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import checkpoint, explore
from podrace.checker.explicit.states.budget import Pace
from tests.checker.explicit.systems import ring

least, dying = int(sys.argv[2]), []
write = checkpoint.Checkpoint.write

def write_and_die(self, state, seconds):
    # Written down once, beyond so many states; killed anywhere from there to where it would be written down again.
    if dying:
        threading.Event().wait()
    if state.states >= least:
        write(self, state, seconds)
        dying.append(threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGKILL)))
        dying[0].start()

checkpoint.SECONDS = 0.01
if least:
    checkpoint.Checkpoint.due = True
    checkpoint.Checkpoint.write = write_and_die
    Pace.measuring = lambda self, done: nullcontext()  # it would take longer and longer breaths
print("begun", flush=True)
found = explore(ring(17), Budget(disk=Path(sys.argv[1]), resume=True, jobs=2))
print(found.states, found.transitions, found.depth, flush=True)
"""


def search(folder: Path, least: int = 0) -> subprocess.Popen[str]:
    """A search that, where `least` is given, is killed some time after it wrote down that many states."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", SEARCH, str(folder), str(least)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ended(folder: Path) -> list[str]:
    """What a search prints that is left alone."""
    with search(folder) as process:
        return process.communicate()[0].split()[1:]


N = 17
STATES = N * 2**N
EXPECTED = [str(STATES), str(N * N * 2 ** (N - 1) + STATES), str(2 * N - 1)]


def test_kill_9_loses_nothing(tmp_path: Path) -> None:
    for least in (50_000, 500_000):
        with search(tmp_path, least) as process:
            assert process.wait() == -signal.SIGKILL
        assert least <= int(written(tmp_path)["control"][COUNT]) < STATES / 2
    assert ended(tmp_path) == EXPECTED


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_kill_9_at_random_moments(tmp_path: Path, seed: int) -> None:
    for _ in range(3):
        with search(tmp_path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.Random(seed).uniform(0, 2))
            process.kill()
    assert ended(tmp_path) == EXPECTED
