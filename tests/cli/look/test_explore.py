"""`podrace explore` in a terminal, by a pipe."""

import io
import json
import sys
from pathlib import Path

import pytest

from podrace.cli.walking.terminal_form import HELP
from tests.cli.helpers import TINY

BEGINS = """\
tiny, 1.19.0
The cluster: node n has 1 cpu.
Pod p asks for 1 cpu, has priority 0 and is pending.

Before the first step.
scheduler
  1. The scheduler takes p from the head of activeQ.
36 other steps cannot come next: `why` says why.
"""

GOES_ON = """\

After step 1 of 1: The scheduler takes p from the head of activeQ.
scheduler
  1. The scheduler takes its snapshot of the cache. The rest of the cycle for p relies on it.
36 other steps cannot come next: `why` says why.
"""

BACK = """\

Before step 1 of 1.
scheduler
  1. The scheduler takes p from the head of activeQ.
36 other steps cannot come next: `why` says why.
"""

WHY = """\
scheduler
  scheduler.pop(p)
      it needs: queue: p in activeQ (there: queue: p in no queue)
      it needs: scheduler.phase is IDLE (there: scheduling cycle: the cycle phase POPPED)
"""

WRONG = """\
  S-CAP is violated: The pods that are bound to or assumed on a node never request more than the node can allocate,
    and no two of these pods have the same host port: no walk from here leads there, within the scope (1 state
    searched).
"""

LINE = (
    "podrace explore tiny.yaml --release 1.19 --walk 'scheduler.pop(p); scheduler.take_snapshot(p); scheduler.filter(p, n); "
    "scheduler.assume(p, n); scheduler.start_binding(p); binding.bind(p, ANSWERED)'\n"
)


@pytest.fixture
def piped(shell, tmp_path, monkeypatch):
    """Runs `podrace explore` with these lines on stdin."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")

    def run(lines, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return shell("explore", *(arguments or ("tiny.yaml",)))

    return run


def test_steps_are_taken_and_taken_back(piped):
    ran = piped("1\nwhy pop\nb\nf\nwrong\n?\nquit\n1\n")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{BEGINS}{GOES_ON}{WHY}{BACK}{GOES_ON}{WRONG}{HELP}\n"


def test_a_found_walk_is_saved_replayed_and_shared(piped, shell):
    ran = piped("find p bound to n\nsave walk.json\nline\n", "tiny.yaml", "--release", "1.19")
    assert ran.code == 0
    assert "API server: p on n: 6 steps from here, and no fewer (7 states searched)." in ran.out
    assert "An event about p goes out on the pod watch; it still has to reach the lister" in ran.out
    assert "wrote walk.json: the walk of 6 steps\n" in ran.out
    assert ran.out.endswith(LINE)
    stored = json.loads(Path("walk.json").read_text(encoding="utf-8"))
    assert (stored["property"], stored["asks"]) == ("ASK", ["binding.bind(pod=p, reply=ANSWERED)"])
    again = shell("replay", "walk.json")
    assert again.code == 0
    assert "6. The binding goroutine binds p: the API server has it on n." in again.out
    along = piped("walk\n", "walk.json")
    assert "  6. (ahead) The binding goroutine binds p: the API server has it on n.\n" in along.out
    walk = LINE.partition("--walk ")[2].strip().strip("'")
    shared = piped("state\n", "tiny.yaml", "--walk", walk)
    assert "After step 6 of 6: The binding goroutine binds p" in shared.out
    assert "The cluster as the scheduler believes. On n: p (assumed)." in shared.out


MISTAKES = {
    "7": "there is no step 7 in the list: it has 1",
    "j 3": "there is no step 3: the walk has 0 steps",
    "j x": "`x` is no number: write that of a step",
    "b": "this is the start: there is no step before it",
    "branch 1": "there is no branch 1 of 0",
    "fly": "`fly` is no command: `?` lists them",
    "save x.json": "the walk has no step yet: take one, then save it",
    "save": "save: write a file behind it",
    "go scheduler.bind(p, n)": "step 1: `scheduler.bind(p, n)` is no step of tiny: write it as `line` does",
}


def test_what_cannot_be_obeyed_is_one_line_and_changes_nothing(piped):
    ran = piped("".join(f"{line}\n" for line in [*MISTAKES, "find p flies"]))
    assert ran.code == 2
    *said, nearest = ran.out.removeprefix(BEGINS).splitlines()[: len(MISTAKES) + 1]
    assert said == list(MISTAKES.values())
    assert nearest.startswith("`p flies`: no state of tiny has these words; the nearest: ")


def test_a_mistake_is_told_before_anything_is_shown(piped):
    assert piped("", "nonsense").err.startswith("podrace: unknown scenario `nonsense`;")
    assert piped("", "tiny.yaml", "--walk", "scheduler.fly(p)").err == (
        "podrace: step 1: `scheduler.fly(p)` is no step of tiny: write it as `line` does\n"
    )
    assert piped("", "tiny.yaml", "--page", "--port", "99999").code == 2


def test_a_system_of_ones_own_is_walked(piped):
    Path("lock.py").write_text(OWN, encoding="utf-8")
    ran = piped(
        "1\nstate\nfind worker2 holds\nwrong\nwhy take\nline\nsave x.json\nfind never_two\nfind worker1 idle\n",
        "lock.py",
        "--size",
        "Worker=2",
    )
    assert ran.code == 2  # a walk of it cannot be saved, and one search has no such state
    lines = ran.out.splitlines()
    assert lines[:2] == ["Lock, lock.py", "2 Workers."]
    assert "  lock: lock: holder worker1; worker1: phase HOLDS; worker2: phase WAITS" in lines
    assert "lock: worker2 phase HOLDS: 2 steps from here, and no fewer (3 states searched)." in lines
    assert (
        "  never_two is violated: Two never hold: no walk from here leads there, within the scope (3 states searched)."
        in lines
    )
    assert "      it needs: lock: lock no holder (there: lock: lock holder worker2)" in lines
    assert (
        "podrace explore lock.py --size Worker=2 --walk 'lock.take(worker1); lock.give(worker1); lock.take(worker2)'"
        in lines
    )
    assert "a walk in Lock cannot be saved, for it is a system of your own: `line` shares it" in lines
    assert piped("", "lock.py", "--release", "1.36").err == (
        "podrace: lock.py: a system of your own has no releases, changes and gates: leave out these options\n"
    )
    assert (
        piped("", "tiny.yaml", "--size", "Worker=2").err
        == "podrace: --size is for a system of your own: leave it out\n"
    )


OWN = '''
from enum import Enum

from podrace.model.language import Entity, System, Value, enum, invariant, per, ref, require, step


class Worker(Entity):
    members = 3


class Phase(Enum):
    WAITS = 0
    HOLDS = 1


class Lock(System):
    holder = ref(Worker)
    phase = per(Worker, enum(Phase))

    @step(actor="worker", each="who")
    def take(self, who: Worker) -> None:
        """Takes the lock."""
        require(self.holder.is_none)
        self.holder = who
        self.phase[who] = Phase.HOLDS

    @step(actor="worker", each="who")
    def give(self, who: Worker) -> None:
        """Gives it back."""
        require(self.phase[who] == Phase.HOLDS)
        self.holder = None
        self.phase[who] = Phase.WAITS

    @invariant
    def never_two(self, one: Worker, other: Worker) -> Value:
        """Two never hold."""
        if one is other:
            return True
        return (self.phase[one] == Phase.WAITS) | (self.phase[other] == Phase.WAITS)
'''
