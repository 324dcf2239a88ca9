"""What exports look like, word for word, and what they refuse. `golden/` is renewed by hand, after a look."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.checker import explicit as native
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    Parameter,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    as_expr,
    negate,
    topological,
)
from podrace.model.language.expressions.expr import divide, fresh_graph, less, multiply, parameter, variable
from tests.checker.export.combined import step
from tests.checker.export.samples import crossing
from tests.checker.export.tools import TLC_JAR, require_spin, require_tlc
from tests.random_universe import UNIVERSE
from tests.tools.export import to_promela, to_tlaplus
from tests.tools.export.names import Names
from tests.tools.export.notation import shared, wrapped, written_size
from tests.tools.export.promela import type_of
from tests.tools.spin import ToolFailure, compiled_for, parse, run_spin
from tests.tools.tlc import TlcAnswer as TlcFound
from tests.tools.tlc import parse as parse_tlc
from tests.tools.tlc import run_tlc

GOLDEN = Path(__file__).parent / "golden"


def test_promela_word_for_word() -> None:
    assert to_promela(crossing(), "Cars.\n\nAt a light.") == (GOLDEN / "crossing.pml").read_text()


def test_tlaplus_word_for_word() -> None:
    module = to_tlaplus(crossing(), "Cars.\n\nAt a light.")
    assert module.name == "crossing"
    assert module.text == (GOLDEN / "crossing.tla").read_text()
    assert module.configuration == (GOLDEN / "crossing.cfg").read_text()


def test_spin_understands_the_sample() -> None:
    require_spin()
    graph = native.explore(replace(crossing(), invariants={}))
    with tempfile.TemporaryDirectory() as folder:
        found = run_spin(crossing(), Path(folder), states=graph.states, options=["-O0"])
    assert (found.states, found.transitions) == (graph.states, graph.transitions) == (20, 31)
    assert not found.holds


def test_tlc_understands_the_sample() -> None:
    require_tlc()
    with tempfile.TemporaryDirectory() as folder:
        found = run_tlc(replace(crossing(), invariants={}), Path(folder), TLC_JAR)
    assert found == TlcFound(complete=True, states=20, depth=8, violated=frozenset(), transitions=31)


def one_variable(v: Variable, new: Expr | None = None, guard: Expr | None = None) -> TransitionSystem:
    transition = step("go", as_expr(True) if guard is None else guard, {} if new is None else {v: new})
    return TransitionSystem(name="one", universe=UNIVERSE, variables=(v,), transitions=(transition,))


@pytest.mark.parametrize(
    ("lo", "hi", "kind"),
    [
        (0, 1, ("bit", "")),
        (0, 3, ("unsigned", " : 2")),
        (5, 7, ("unsigned", " : 3")),
        (0, 255, ("byte", "")),
        (0, 256, ("unsigned", " : 9")),
        (0, 2**31 - 1, ("unsigned", " : 31")),
        (-1, 0, ("short", "")),
        (-(2**15), 2**15 - 1, ("short", "")),
        (-1, 2**15, ("int", "")),
    ],
)
def test_each_variable_has_the_smallest_type(lo: int, hi: int, kind: tuple[str, str]) -> None:
    assert type_of(Variable("v", INT, lo, hi, lo)) == kind


def test_a_bool_is_a_bool() -> None:
    assert type_of(Variable("v", BOOL, 0, 1, 0)) == ("bool", "")


def test_names_are_legal_and_never_the_same() -> None:
    names = Names({"int", "x"})
    given = [names.new(text) for text in ("a.b[c]", "a_b_c", "a.b-c", "int", "x", "7", "", "_a_", "é")]
    assert given == ["a_b_c", "a_b_c_2", "a_b_c_3", "int_2", "x_2", "x_7", "x_3", "a", "x_4"]


def test_text_stays_short_where_the_graph_shares() -> None:
    v = Variable("v", INT, 0, 1, 0)
    with fresh_graph():
        e = variable(v)
        for _ in range(25):  # written out, this has 2^25 leaves
            e = e + (e + 1)
        system = one_variable(v, divide(e, 2**30))
        assert written_size([e])[e] > 2**25
        assert len(shared([e])) <= len(topological([e]))
        assert len(to_promela(system)) < 3000
        assert len(to_tlaplus(system).text) < 3000
        with pytest.raises(
            ValueError, match=r"^a condition has [\d,]+ nodes when it is written out, too many for SPIN"
        ):
            to_promela(one_variable(v, guard=less(e, 2**25 + 5)))


def test_the_negation_of_a_named_comparison_keeps_its_name() -> None:
    """Only what stands in parentheses loses them: `!shared_1` is none of that."""
    v, w = Variable("v", INT, 0, 3, 0), Variable("w", INT, 0, 3, 0)
    with fresh_graph():
        total = variable(v)
        for _ in range(5):
            total = total + variable(w)
        full = less(3, total)
        system = one_variable(v, as_expr(0), guard=all_of([negate(full), less(variable(w), 2)]))
        system = replace(system, variables=(v, w), invariants={"I": any_of([full, less(variable(v), 2)])})
        text = to_promela(system)
        assert "#define shared_1 (3 < " in text
        assert "&& !shared_1" in text or "( !shared_1" in text


def test_a_value_beyond_32_bits_is_refused_with_its_place() -> None:
    v = Variable("v", INT, 0, 1, 0)
    with fresh_graph():
        wide = multiply(variable(v), 2**31)
        with pytest.raises(
            ValueError, match=r"^the value 2147483648 does not fit SPIN's 32 bits \(.*test_text.py:\d+\)$"
        ):
            to_promela(one_variable(v, divide(wide, 2**31)))


def test_an_open_parameter_is_a_constant_to_be_given() -> None:
    v, size = Variable("v", INT, 0, 9, 0), Parameter("cap size", 1, 9)
    with fresh_graph():
        system = one_variable(v, parameter(size))
    assert (
        "#ifndef cap_size\n#error give the parameter cap_size, 1 to 9: spin -a -Dcap_size=..."
        in to_promela(system)
    )
    assert "#define cap_size 4\n" in to_promela(system, parameters={"cap size": 4})
    module = to_tlaplus(system)
    assert "CONSTANT cap_size\nASSUME cap_size \\in 1..9\n" in module.text
    assert "\\* Fill in, from 1 to 9:  CONSTANT cap_size =" in module.configuration
    assert "\nCONSTANT cap_size = 4\n" in to_tlaplus(system, parameters={"cap size": 4}).configuration


def test_systems_without_variables_or_transitions() -> None:
    require_spin()
    nothing = TransitionSystem(name="nothing", universe=UNIVERSE, variables=(), transitions=())
    still = replace(
        nothing, transitions=(step("wait", as_expr(True), {}),), invariants={"no": as_expr(False)}
    )
    with tempfile.TemporaryDirectory() as folder:
        assert run_spin(nothing, Path(folder), states=1, options=["-O0"]).states == 1
        found = run_spin(still, Path(folder), states=1, options=["-O0"])
    assert (found.states, found.transitions, found.errors) == (1, 1, 1)


REPORT = """\
State-vector 20 byte, depth reached 8, errors: 2
       34 states, stored
       22 states, matched
  128.653	total actual memory usage
pan: elapsed time 0.5 seconds
"""


def test_what_spin_prints_is_read() -> None:
    found = parse(REPORT, 2.0)
    assert (found.states, found.transitions, found.errors, found.holds) == (34, 53, 2, False)
    assert (found.search, found.total, found.memory) == (0.5, 2.0, 128.653)


def test_large_numbers_have_an_exponent() -> None:
    found = parse(
        REPORT.replace("       34 states", " 40958486 states").replace(
            "       22 states", "2.2071527e+08 states"
        )
    )
    assert (found.states, found.transitions) == (40_958_486, 40_958_485 + 220_715_270 - 2)


@pytest.mark.parametrize(
    "line",
    [
        "error: max search depth too small",
        "Warning: Search not completed",
        "pan: out of memory",
        "Bit statespace search for:",
        "+ Hash-Compact 4",
    ],
)
def test_a_search_that_was_not_exact_is_no_answer(line: str) -> None:
    with pytest.raises(ToolFailure):
        parse(f"{line}\n{REPORT}")
    with pytest.raises(ToolFailure):
        parse(REPORT.replace("states, stored", "nominal states"))


def test_a_depth_that_is_too_small_is_no_answer() -> None:
    require_spin()
    v = Variable("v", INT, 0, 4000, 0)
    system = one_variable(v, variable(v) + 1, less(variable(v), 4000))
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.raises(ToolFailure, match="max search depth too small"),
    ):
        run_spin(system, Path(folder), states=100, options=["-O0"])


def test_a_large_state_gets_room() -> None:
    many = tuple(Variable(f"v{i}", INT, -(2**20), 2**20, 0) for i in range(300))
    system = TransitionSystem(name="large", universe=UNIVERSE, variables=many, transitions=())
    assert compiled_for(system) == ["-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=2528"]


def test_tlc_must_end_or_find_something() -> None:
    end = "10 states generated, 7 distinct states found, 0 states left on queue.\n"
    depth = "The depth of the complete state graph search is 3.\n"
    assert parse_tlc(end + depth) == TlcFound(
        complete=True, states=7, depth=2, violated=frozenset(), transitions=9
    )
    stopped = parse_tlc(
        "Error: Invariant S_CAP is violated.\n" + end.replace("0 states left", "4 states left")
    )
    assert (stopped.complete, stopped.violated) == (False, frozenset({"S_CAP"}))
    for broken in ("", end, "Error: Invariant Type is violated.\n" + end + depth):
        with pytest.raises(ToolFailure):
            parse_tlc(broken)


@pytest.mark.parametrize(
    ("first", "end", "indent"),
    [("x = ", "", 6), ("x = ", ";", 6), ("a very long beginning of it = ", "", 18)],
)
def test_what_is_too_long_goes_on_below(first: str, end: str, indent: int) -> None:
    head, *rest = wrapped(first, " && ".join(f"variable{i} == {i}" for i in range(30)), end).split("\n")
    assert head.startswith(f"{first}variable0")
    assert [len(line) - len(line.lstrip()) for line in rest] == [indent] * len(rest)
    assert [line[len(line) - len(end) :] for line in (head, *rest[:-1])] == [end] * len(rest)
    assert 100 < max(map(len, (head, *rest))) <= 110
