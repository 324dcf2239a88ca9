"""`podrace check FILE.py:CLASS`: systems of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import Shell

COUNTER = '''\
from podrace.model.language import Entity, System, integer, invariant, per, require, step, witness


class Worker(Entity):
    members = 2


class Counter(System):
    n = per(Worker, integer(0, 3))

    @step(actor="worker", each="worker")
    def count(self, worker: Worker) -> None:
        """Counts on."""
        require(self.n[worker] < 3)
        self.n[worker] = self.n[worker] + 1

    @invariant
    def small(self, worker: Worker):
        """Nobody gets beyond 2."""
        return self.n[worker] <= 2

    @invariant
    def tiny(self, worker: Worker):
        return self.n[worker] <= 1

    @invariant
    def bounded(self, worker: Worker):
        return self.n[worker] + 0 <= 3
'''


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER)
    return "counter.py"


def test_each_property_by_itself(shell: Shell, counter: str) -> None:
    ran = shell("check", "counter.py:Counter")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "Counter (counter.py): 2 Worker\n"
        "\n"
        "small: VIOLATED\n"
        "  Nobody gets beyond 2.\n"
        "  Violated after 3 steps, and no run is shorter (10 states, 12 transitions, depth 3 explored).\n"
        "    1. count(worker=worker1): Counts on.\n"
        "         n[worker1]: 0 -> 1\n"
        "    2. count(worker=worker1): Counts on.\n"
        "         n[worker1]: 1 -> 2\n"
        "    3. count(worker=worker1): Counts on.\n"
        "         n[worker1]: 2 -> 3\n"
        "\n"
        "tiny: VIOLATED\n"
        "  Violated after 2 steps, and no run is shorter (10 states, 12 transitions, depth 3 explored).\n"
        "    1. count(worker=worker1): Counts on.\n"
        "         n[worker1]: 0 -> 1\n"
        "    2. count(worker=worker1): Counts on.\n"
        "         n[worker1]: 1 -> 2\n"
        "\n"
        "bounded: HOLDS (vacuous)\n"
        "  Holds in every interleaving: 1 state, 0 transitions, depth 0. Vacuous: no step makes a difference to it.\n"
    )


def test_the_first_violation_ends_the_search(shell: Shell, counter: str) -> None:
    ran = shell("check", counter, "--first", "-o", "json")
    rows = json.loads(ran.out)
    assert ran.code == 1
    assert [(r["property"], r["verdict"], r["states"], r["stopped"]) for r in rows] == [
        ("small", "INCONCLUSIVE", 6, "answered"),
        ("tiny", "VIOLATED", 6, "answered"),
        ("bounded", "INCONCLUSIVE", 6, "answered"),
    ]
    assert [step["label"] for step in rows[1]["trace"]["steps"]] == ["counter.count(worker=worker1)"] * 2
    assert rows[0]["says"] == "Nobody gets beyond 2."
    told = shell("check", counter, "--first").out
    assert (
        "small: INCONCLUSIVE\n  Nobody gets beyond 2.\n  Not decided: the search stopped at the first violation"
        in told
    )


def test_sizes_and_properties(shell: Shell, counter: str) -> None:
    ran = shell("check", counter, "--size", "Worker=3", "--property", "tiny", "-o", "json")
    (row,) = json.loads(ran.out)
    assert (row["states"], row["entities"]) == (10, {"Worker": 3})


def test_a_budget(shell: Shell, counter: str) -> None:
    ran = shell("check", counter, "--property", "small", "--max-states", "3")
    assert ran.code == 3
    assert "Stopped by the limit of states after" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["counter.py:Count"],
            "counter.py: there is no system `Count` in it; did you mean `Counter`? (known: Counter)",
        ),
        (["missing.py"], "missing.py: there is no such file"),
        (
            ["counter.py", "--property", "smal"],
            "Counter (counter.py): Counter has no property `smal`: did you mean `small`?; ",
        ),
        (
            ["counter.py", "--size", "Worker"],
            "--size: `Worker`: write a kind of entity and a number, such as Worker=3",
        ),
        (["counter.py", "--size", "Cook=2"], "Counter has no kind of entity `Cook`; its kinds: Worker"),
        (
            ["counter.py", "--release", "1.36.0"],
            "--release cannot be used with a system of your own: leave it out",
        ),
        (
            ["counter.py", "--pods", "4", "--strict"],
            "--strict, --pods cannot be used with a system of your own: leave them out",
        ),
        (["counter.py", "-o", "html"], "-o html: a system of your own is reported as text or json"),
        (["counter.py", "72124"], "`72124` is no system of your own: check scenarios in a run of their own"),
        (["72124", "--first"], "--size and --first are for systems of your own"),
    ],
)
def test_mistakes(shell: Shell, counter: str, arguments: list[str], said: str) -> None:
    ran = shell("check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("podrace: ")
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "require(self.n[worker] < 3)",
            "pass",
            "counter.py:15: `counter.n[worker1]` holds 0..3, but the assigned value can be 1..4: ",
        ),
        ("require(self.n[worker] < 3)", "1 / 0", "counter.py: line 14: ZeroDivisionError: division by zero"),
        (
            "class Counter(System)",
            "class Counter(object)",
            "counter.py: there is no system in it: write a subclass of ",
        ),
        ("    members = 2", "    pass", "how many Worker are there? Write `members = 3`"),
        ("import Entity", "import Entty", "ImportError: cannot import name 'Entty'"),
        (
            "integer(0, 3)",
            "integer(3, 2)",
            "podrace: counter.py: line 9: an integer cannot range over 3..2\n",
        ),
        (
            "require(self.n[worker] < 3)",
            "{0: 1}[self.n[worker]]",
            "counter.py:14: a hash, as of a key or in a set, says nothing of what a symbolic value holds: ",
        ),
        (
            "require(self.n[worker] < 3)",
            "[one for one in Worker]",
            "line 14: TypeError: 'type' object is not iterable; the entities of a kind are `self.universe[Kind]`",
        ),
        (
            "require(self.n[worker] < 3)",
            "self.n[worker].is_some()",
            "is for references; this is a value of sort int",
        ),
        (
            "per(Worker,",
            "per(int,",
            "line 9: `per` needs a kind of entity, an enum or a range, not `<class 'int'>`\n",
        ),
    ],
)
def test_mistakes_in_the_file_name_the_line(
    shell: Shell, counter: str, old: str, new: str, said: str
) -> None:
    Path(counter).write_text(COUNTER.replace(old, new))
    ran = shell("check", counter)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


ALIKE = """\
from enum import Enum

from podrace.model.language import Component, Model, Value, fifo, integer, invariant, require, resettable, step


class At(Enum):
    IDLE = 0


class Side(Component):
    x = integer(0, 3)
    sent = fifo(1, integer(1, 3))

    @step(actor="side")
    def go(self) -> None:
        require(self.x < 3)
        self.x = self.x + 1
        self.sent.push(1)

    @invariant
    def low(self) -> Value:
        return self.x < 1

    @resettable
    def far(self) -> Value:
        return self.x == 2


class Both(Model):
    left: Side
    right: Side
"""


def test_parts_of_one_class_have_their_names(shell: Shell, counter: str) -> None:
    Path(counter).write_text(ALIKE)
    ran = shell("check", counter, "--property", "right.low", "--property", "left.far")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "Both (counter.py)\n"
        "\n"
        "right.low: VIOLATED\n"
        "  Violated after 1 step, and no run is shorter (2 states, 1 transition, depth 1 explored).\n"
        "    1. right.go()\n"
        "         right.x: 0 -> 1\n"
        "         right.sent.length: 0 -> 1\n"
        "\n"
        "left.far: VIOLATED\n"
        "  Violated in the initial state: from there, fair steps alone never lead back (executed again in the 4 states that they\n"
        "  lead to; 2 states, 1 transition, depth 1 explored). Within these constraints, which were hit, and which may be what is\n"
        "  in the way: left.sent holds at most 1.\n"
    )


def test_a_member_that_there_is_not(shell: Shell, counter: str) -> None:
    Path(counter).write_text(ALIKE.replace("self.x < 1", "At.IDEL"))
    ran = shell("check", counter)
    assert (ran.code, ran.out) == (2, "")
    assert "AttributeError: IDEL; At has no such member: did you mean `IDLE`?" in ran.err


def test_a_declaration_in_a_helper_has_both_places(shell: Shell, counter: str) -> None:
    Path("sizes.py").write_text(
        "from podrace.model.language import integer\n\n\ndef few():\n    return integer(3, 2)\n"
    )
    Path(counter).write_text(
        COUNTER.replace("class Worker", "from sizes import few\n\n\nclass Worker").replace(
            "integer(0, 3)", "few()"
        )
    )
    ran = shell("check", counter)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: counter.py: line 12: sizes.py:5: an integer cannot range over 3..2\n"


def test_names_that_would_act_on_a_terminal_do_not(shell: Shell, counter: str) -> None:
    Path(counter).write_text(COUNTER.replace("members = 2", "members = ('a\\x1b[31m', '::error::b')"))
    ran = shell("check", counter, "--property", "tiny")
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert not any(line.startswith("::") for line in ran.out.splitlines())
