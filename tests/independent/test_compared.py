"""podrace and oracles that share no code with it give the same answers: a sample of each kind, and that a wrong one is seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from podrace.checker.explicit import explore
from podrace.checker.explicit.liveness import fair_graph
from podrace.checker.reduction.questions import explored_slice
from podrace.model.history import resolve
from podrace.properties import PROPERTIES
from podrace.scenarios import find_scenarios
from tests.independent.campaign import COLUMNS, KINDS, Table, compare, main, run
from tests.independent.kinds import searches
from tests.independent.oracle.graph import graph_of
from tests.independent.question import Question, Tally
from tests.profiles import by_profile
from tests.traced import traced

HERE = Path(__file__).parent
COMPARED = HERE / "compared.tsv"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_sample_agrees(kind: str, half: int) -> None:
    size = by_profile(fast=-(-KINDS[kind].size // 4), full=KINDS[kind].size)
    tally = compare(kind, range(half * size, (half + 1) * size))
    assert tally.disagreements == []
    assert tally.comparisons > 0
    assert tally.telling > 0


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_a_million_comparisons_agree(kind: str) -> None:
    """All kinds together; numbers that no other run of the tests asks about."""
    table = run([kind], first=1000, batches=100, seconds=float("inf"), processes=1, file=None)
    assert table.disagreements() == []
    assert (table.first, table.end) == (1000, 1100)


def test_the_oracles_use_nothing_of_the_checker() -> None:
    files = sorted((HERE / "oracle").glob("*.py"))
    imported = {
        node.module or ""
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    assert len(files) == 4
    assert {name for name in imported if name.startswith("podrace")} == {"podrace.model.language"}
    assert {name for name in imported if name.startswith("tests")} == {
        "tests.independent.oracle.graph",
        "tests.independent.oracle.reading",
    }


@pytest.mark.parametrize("kind", ["liveness-sets", "liveness-conditions", "liveness-both"])
def test_a_word_that_is_forgotten_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first 64 fair sets and conditions count: nobody would see it with fewer."""

    def first_alone(mask: int, count: int) -> np.ndarray:
        return np.array([mask & (1 << 64) - 1, *[0] * (count - 1)][:count], np.uint64)

    monkeypatch.setattr(fair_graph, "as_words", first_alone)
    assert compare("liveness", range(6)).disagreements == []
    assert len(compare(kind, range(12)).disagreements) > 0


def test_who_fails_to_answer_disagrees() -> None:
    def fails(seed: int) -> Iterator[Question]:
        yield Question("depth", 3, 3, True)
        raise AssertionError("not strongly connected")

    tally = Tally()
    tally.add(fails, 4)
    assert tally.disagreements == ["4: AssertionError: not strongly connected"]
    assert (tally.systems, tally.comparisons) == (1, 1)


def test_a_disagreement_names_the_system_and_the_question() -> None:
    tally = Tally()
    tally.add(lambda seed: iter([Question("depth", 3, 4, True), Question("states", 5, 5, False)]), 17)
    assert tally.disagreements == ["17: depth: podrace 3, oracle 4"]
    table = Table({"search": tally}, 2, 3)
    assert table.rows() == [("search", 200, 299, 1, 0, 2, 1, 1)]
    assert str(table).splitlines() == [
        "kind                     systems  comparisons    telling  disagreements",
        "search                         1            2          1              1",
        "all                            1            2          1              1",
        "search: 17: depth: podrace 3, oracle 4",
    ]


def test_the_same_numbers_give_the_same_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.tsv", tmp_path / "other.tsv"
    arguments = ["--kind", "minimal-sets", "--kind", "parametric", "--first", "3", "--batches", "1"]
    assert main([*arguments, "--table", str(one)]) == 0
    assert main([*arguments, "--table", str(other), "--processes", "2"]) == 0
    assert one.read_text() == other.read_text()
    assert one.read_text().splitlines()[1].startswith("minimal-sets\t1500\t1999\t500\t0\t500\t")
    assert capsys.readouterr().out.endswith("--first 4 goes on from here\n")


def test_a_race_of_the_catalogue_has_the_states_that_the_oracle_walks_over() -> None:
    """Also the model's own system, where expressions are deep and shared: 53647, without its fix and with it."""
    (scenario,) = find_scenarios("53647")
    for added, states, violation in (((), 709, None), (("53647",), 913, None)):
        classes = resolve("1.8", added, ()).classes
        system = explored_slice(traced(scenario.spec, classes, [PROPERTIES["L-ISO"]]), "L-ISO")
        graph, found = graph_of(system, most=1000), explore(system)
        assert graph.counts() == (
            found.states, found.transitions, found.depth, found.fired, found.constraints_hit,
        )  # fmt: skip
        assert found.states == states
        home = graph.stranded(system.resettabilities["L-ISO"])
        assert home == (2 if not added else violation)


def test_the_kept_table_has_every_kind_and_no_disagreement() -> None:
    head, *lines = (line.split("\t") for line in COMPARED.read_text().splitlines())
    assert tuple(head) == COLUMNS
    assert [line[0] for line in lines] == [*KINDS]
    assert {line[-1] for line in lines} == {"0"}


def test_searches_ask_from_states_that_differ() -> None:
    asked = [q.about.partition(":")[0] for q in searches.search(0)]
    assert len(set(asked)) > 1
