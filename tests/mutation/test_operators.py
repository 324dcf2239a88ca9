"""Mutants: what is changed and what is not, each a text that still parses, and the copy in which they are tested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.operators import functions_of, mutants_of
from tests.mutation.run import COLUMNS, Killer, all_mutants, killers_of
from tests.mutation.workshop import ROOT

TABLE = Path(__file__).parent / "mutants.tsv"
JUDGED = Path(__file__).parent / "survivors.tsv"


def changes(source: str) -> list[tuple[int, str, str]]:
    return [(m.line, m.operator, m.change) for m in mutants_of("file.py", source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b <= c", [(1, "comparison", "< -> <="), (1, "comparison", "<= -> <")]),
        ("x = a not in b", [(1, "comparison", "not in -> in")]),
        ("x = a is not None", [(1, "comparison", "is not -> is")]),
        ("x = a + b // c", [(1, "operation", "+ -> -"), (1, "operation", "// -> *")]),
        ("x = a and b and c", [(1, "and / or", "and -> or"), (1, "and / or", "and -> or")]),
        ("x = ~a", [(1, "dropped not", "~a -> (a)")]),
        ("x = f(3)", [(1, "constant", "3 -> 4"), (1, "constant", "3 -> 2")]),
        ("x = -1", [(1, "constant", "-1 -> 1")]),
        ("x = f(True)", [(1, "constant", "True -> False")]),
        ("x = a if c else b", [(1, "swapped branches", "a if c else b -> (b if (c) else a)")]),
        ("x.y = a", [(1, "dropped assignment", "x.y = a -> pass")]),
        ("x += a", [(1, "dropped assignment", "x += a -> pass")]),
        ("f(a)", [(1, "dropped statement", "f(a) -> pass")]),
        ("require(a)", [(1, "dropped require", "require(a) -> pass")]),
        ("with when(a):\n    f(b)", [(1, "dropped when", "a -> True"), (2, "dropped statement", "f(b) -> pass")]),
        ("if a:\n    f(b)", [(1, "negated condition", "a -> not (a)"), (2, "dropped statement", "f(b) -> pass")]),
        ("while a:\n    break", [(2, "continue / break", "break -> continue")]),
        ("raise ValueError(f'{a + 1}')", [(1, "dropped statement", "raise ValueError(f'{a + 1}') -> pass")]),
        ("@step(fair=False)\ndef f(): g", [(1, "constant", "False -> True")]),
    ],
)  # fmt: skip
def test_what_is_changed(source: str, expected: list[tuple[int, str, str]]) -> None:
    assert sorted(changes(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring: 1 < 2."""',
        "if TYPE_CHECKING:\n    x = 1 + 2",
        "x: Literal[1, 2]",
        "MOST = 1 << 18",
        "STARTS = 64",
        "x = f'{a + 1}'",
        "@dataclass(frozen=True)\nclass A: ...",
        "@before('x', first_in=3)\nclass A: ...",
        "def f() -> Literal[3]: ...",
        "class A:\n    def __repr__(self): return f(1)",
        "prefetch(table, 3)",
        "self.look(3)",
        "assert a < b",
        "__all__ = ['a']",
        "from . import a",
        "x = 'a' + b",
    ],
)
def test_what_is_left_alone(source: str) -> None:
    assert changes(source) == []


def test_every_mutant_parses_and_is_another_program() -> None:
    mutants = all_mutants()
    assert len(mutants) > 8000
    assert {m.file.split("/")[0] for m in mutants} == {"checker", "model"}
    for mutant in mutants[::20]:
        source = (ROOT / mutant.file).read_bytes()
        assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


def test_bytes_are_counted_not_characters() -> None:
    source = "x = 'ä'; y = a < b".encode()
    (mutant,) = mutants_of("file.py", source)
    assert mutant.applied(source).decode() == "x = 'ä'; y = a <= b"


def test_the_inner_function_is_the_last_one() -> None:
    found = [*functions_of(b"def f():\n    def g():\n        pass\n    return g\n")]
    assert found == [("f", 1, 4), ("g", 2, 3)]


def test_tests_that_mirror_the_file_come_first_and_those_that_do_not_reach_it_never() -> None:
    (mutant, *_) = [m for m in all_mutants("checker/divergence.py") if m.operator == "comparison"]
    source = (ROOT / mutant.file).read_bytes()
    *_, here = [f"{n}:{a}" for n, a, b in functions_of(source) if a <= mutant.line <= b]
    killers = [
        Killer("tests/quick.py", 1.0, {"checker/divergence.py": [here]}),
        Killer("tests/long.py", 50.0, {"checker/divergence.py": [here]}),
        Killer("tests/checker/test_divergence.py", 5.0, {"checker/divergence.py": [here]}),
        Killer("tests/elsewhere.py", 1.0, {"checker/divergence.py": ["other:1"]}),
    ]
    assert [k.file for k in killers_of(mutant, killers, 45.0)] == [
        "tests/checker/test_divergence.py",
        "tests/quick.py",
    ]
    assert len(killers_of(mutant, killers, 60.0)) == 3


def test_a_file_of_names_alone_is_reached_by_whoever_reaches_its_folder() -> None:
    """It has no function that could run: three mutants of phases were once taken to be reached by nobody."""
    mutant, *_ = all_mutants("model/scheduler/framework/status.py")
    killers = [
        Killer("tests/model/test_filters.py", 2.0, {"model/scheduler/framework/filters.py": ["run:1"]}),
        Killer("tests/model/test_queue.py", 1.0, {"model/scheduler/queue/clock.py": ["left:1"]}),
    ]
    assert [k.file for k in killers_of(mutant, killers, 60.0)] == ["tests/model/test_filters.py"]


def test_the_kept_table_is_two_draws_one_of_all_and_one_of_the_model() -> None:
    """200 of all that was mutated then, of which the model had its share (2,149 of 8,455), and 100 of the model alone."""
    places = [line.split("\t")[0] for line in TABLE.read_text().splitlines()[1:]]
    assert len(places) == 300
    assert sum(place.startswith("model/") for place in places[:200]) == 42
    assert all(place.startswith("model/") for place in places[200:])


def test_every_survivor_of_the_kept_table_is_judged() -> None:
    head, *lines = (line.split("\t") for line in TABLE.read_text().splitlines())
    assert tuple(head) == COLUMNS
    survivors = {tuple(line[:3]) for line in lines if line[3] == "survived"}
    judged = [line.split("\t") for line in JUDGED.read_text().splitlines()[1:]]
    assert survivors == {tuple(line[:3]) for line in judged if line[3] != "killed since"}
    assert {line[3] for line in judged} <= {
        "equivalent",
        "effort",
        "message",
        "unreachable",
        "killed since",
        "open",
    }
    assert all(len(line[4]) > 20 for line in judged)
