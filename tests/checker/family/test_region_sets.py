"""Sets of choices by number, against sets of the choices themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.family.cells import Cells
from podrace.checker.family.kernels import ANSWERING, JOINED, WITHOUT, place_of
from podrace.checker.family.region_sets import EVERYTHING, NOTHING, RegionSets, numbers_in
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.parametric.regions import evaluate
from podrace.model.language import INT, Parameter, TransitionSystem, Universe
from podrace.model.language.expressions.expr import const, fresh_graph, less, parameter
from tests.checker.family.cell_of import cell_of
from tests.profiles import examples

A, B, C = (Parameter(name, 1, 4) for name in "abc")
CHOICES = [{A: a, B: b, C: c} for a in range(1, 5) for b in range(1, 5) for c in range(1, 5)]

Operation = tuple[str, int, int]
steps = st.tuples(
    st.sampled_from(["ask", "ask", "without", "joined"]), st.integers(0, 50), st.integers(0, 50)
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(steps, max_size=40))
def test_sets_are_what_they_were_whatever_was_divided_since(drawn: list[Operation]) -> None:
    """Equal sets have one number, and each has the choices that it had when it was made. A and B are connected, C is not."""
    with fresh_graph():
        a, b, c = (parameter(q) for q in (A, B, C))
        questions = [less(a, const(INT, 3)), less(a, b), less(b, const(INT, 2)), less(a + b, const(INT, 5))]
        questions += [less(c, const(INT, n)) for n in (2, 3, 4)]
        system = ParametricSystem(TransitionSystem("none", Universe({}), (), ()), (A, B, C))
        sets = RegionSets(Cells(system, questions))
        said = [[evaluate(q, choice) for choice in CHOICES] for q in questions]

    known: dict[int, frozenset[int]] = {NOTHING: frozenset(), EVERYTHING: frozenset(range(len(CHOICES)))}

    def note(number: int, choices: frozenset[int]) -> None:
        assert known.setdefault(number, choices) == choices

    for kind, one, other in drawn:
        first, second = (sorted(known)[n % len(known)] for n in (one, other))
        if kind == "ask" and first != NOTHING:
            row = [other % len(questions), one % len(questions)]
            name = row[0] * len(questions) + row[1]
            sets.remember_answering(first, name, row)
            example = CHOICES.index(sets.examples[first])
            assert example in known[first]
            alike = frozenset(i for i in known[first] if all(said[q][i] == said[q][example] for q in row))
            note(kept(sets, int(ANSWERING), first, name), alike)
        elif kind == "without":
            sets.remember(int(WITHOUT), first, second)
            note(kept(sets, int(WITHOUT), first, second), known[first] - known[second])
            many = np.array([second, first, max(known), second], np.uint32)[: other % 5]
            assert numbers_in(many) == sorted(set(many.tolist()))
            for before, after in zip(many.tolist(), sets.each_without(many, second).tolist(), strict=True):
                note(after, known[before] - known[second])
        elif kind == "joined":
            sets.remember(int(JOINED), first, second)
            note(kept(sets, int(JOINED), first, second), known[first] | known[second])
        assert len(set(known.values())) == len(known)
    cell_numbers = [cell_of(sets.cells, choice) for choice in CHOICES]
    for number, choices in known.items():
        members = set(sets.members(number).tolist())
        assert frozenset(i for i, cell in enumerate(cell_numbers) if cell in members) == choices


def kept(sets: RegionSets, operation: int, one: int, other: int) -> int:
    """What kernels find of an operation."""
    key = operation << 62 | one << 31 | other
    place = place_of(key, len(sets.keys))  # type: ignore[arg-type]
    while int(sets.keys[place]) != key:
        assert sets.keys[place] != 0, "it was not kept"
        place = (place + 1) % len(sets.keys)
    return int(sets.results[place]) - 1
