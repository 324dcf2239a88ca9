"""A transition system as an LLVM module of functions over packed states.

Every argument and result is an i64, addresses included. A state is `words` consecutive i64.

    expand(states, count, out, which, ends, hits, last, room)
        Write the successors of `count` states to `out`, and the transition of each to `which` (i32),
        ordered by parent, then by transition; ends[i] is where those of parent i end. Returns their
        number. For a constraint that stops a transition before number `last`, set its bit in `hits`.
        `room` are `room.bytes` bytes of the caller's, for this call alone; from `taken` on, how many successors
        each transition has (i64) is left there.
    enabled(states, n, hits, last, room), then moved(states, n, filled, out, which, ends, room)
        The same in two parts for n states, at most `room.CHUNK`, after `filled` other successors. Between them, `room`
        says which states have which transition (`masks`), and how many each state has (`counts`): what is taken out of both is not
        written. `moved` adds to what lies in `taken`.
    check(states, count, seen, found)
        The position of the first state with a predicate bit that `seen` lacks, or `count`. That
        state's bits go to `found`. The bits: invariants broken, then witnesses reached.
    recovered(states, count, out)
        Write the resettabilities that hold in each state, as bits of `resettability_words` i64 a state.
    observed(states, count, out)
        Write what liveness looks at in each state: `case_words` i64 with what holds of the cases' conditions, then
        `set_words` i64 with the fair sets that wait.

The text depends on nothing but the system: equal systems give equal text.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from ...base.structs import Data
from ...model.language import Expr, TransitionSystem, any_of, topological
from ...model.language.expressions.expr import fresh_graph
from ..llvm.machine_code import LARGE
from ..llvm.text import Assembly, function, load, loop, pointers, signed, store, words
from .expansion import Expansion
from .lowering import Literals, Lowering, in_order
from .room import Room
from .state_layout import Layout


class Program(Data, slots=False):
    """The code of a system, and the numbers that its caller needs to reserve room for results."""

    system: TransitionSystem
    layout: Layout

    @cached_property
    def _expansion(self) -> Expansion:
        return Expansion(self.system, self.layout)

    @cached_property
    def ir(self) -> str:
        """The module's text, with its large functions after LARGE. Raises ValueError for an expression that has no native code."""
        expansion, large = self._expansion.text()
        return expansion + LARGE + "\n".join([large, _check(self), _recovered(self), _observed(self)])

    @property
    def room(self) -> Room:
        """What a caller of `expand` keeps for it: `bytes` of them, and from which on it leaves how many successors each transition has (`taken`, i64), `enabled` a bit for
        each state, in words for each transition (`masks`), and how many transitions each state has (`counts`, i32); counted from a place as `ALIGNMENT` asks.
        """
        return self._expansion.room

    @property
    def constraint_words(self) -> int:
        """How many i64 hold one bit per constraint."""
        return _words_for(len(self.system.constraints))

    @property
    def predicate_words(self) -> int:
        """How many i64 hold one bit per invariant and witness."""
        return _words_for(len(self.system.invariants) + len(self.system.witnesses))

    @property
    def resettability_words(self) -> int:
        """How many i64 hold one bit per resettability."""
        return _words_for(len(self.system.resettabilities))

    @property
    def case_words(self) -> int:
        """How many i64 hold one bit per condition of a liveness case."""
        return _words_for(len(self.system.liveness_predicates()))

    @property
    def set_words(self) -> int:
        """How many i64 hold one bit per fair set, where a liveness is asked."""
        return _words_for(len(self.system.fair_sets)) if self.system.livenesses else 0


def generate(system: TransitionSystem) -> Program:
    """The program of a system. Raises ValueError for a variable that no word can hold."""
    return Program(system, Layout(system.variables))


def _words_for(bits: int) -> int:
    """How many i64 hold so many bits."""
    return (bits + 63) // 64


def _check(program: Program) -> str:
    """Straight-line code: few predicates are so large that it pays to skip parts of them."""
    invariants, witnesses = list(program.system.invariants.values()), list(program.system.witnesses.values())
    bits = [(e, False) for e in invariants] + [(e, True) for e in witnesses]
    out, count = Assembly(), program.predicate_words
    pointers(out, "states", "seen", "found")
    known = [load(out, "seen", str(w)) for w in range(count)]
    with each_state(out, program, [e for e, _ in bits]) as lowering:
        found = list(masks(lowering, bits))
        news = "0"
        for mask, seen in zip(found, known, strict=True):
            unseen = out.value(f"xor i64 {seen}, -1")
            news = out.value(f"or i64 {news}, {out.value(f'and i64 {mask}, {unseen}')}")
        stop, go_on = out.new_label("stop"), out.new_label("next")
        out.do(f"br i1 {out.value(f'icmp ne i64 {news}, 0')}, label %{stop}, label %{go_on}, !prof !0")
        out.begin(stop)
        for w, mask in enumerate(found):
            store(out, "found", str(w), mask)
        out.do("ret i64 %i")
        out.begin(go_on)
    return function("check", ("states", "count", "seen", "found"), out, result="%count") + _PROFILE


def _recovered(program: Program) -> str:
    return _truths(program, "recovered", list(program.system.resettabilities.values()))


def _observed(program: Program) -> str:
    system = program.system
    waits: list[Expr] = []
    if system.livenesses:
        with fresh_graph():
            waits = [
                any_of(system.transitions[i].waits(f) for i in members)
                for f, members in system.fair_sets.items()
            ]
    return _truths(program, "observed", system.liveness_predicates(), waits)


def _truths(program: Program, name: str, *groups: list[Expr]) -> str:
    """name(states, count, out): what holds in each state, a bit each; every group begins a word."""
    out, count = Assembly(), sum(_words_for(len(group)) for group in groups)
    pointers(out, "states", "out")
    with each_state(out, program, [e for group in groups for e in group]) as lowering:
        start = out.value(f"mul i64 %i, {count}")
        found = [mask for group in groups for mask in masks(lowering, [(e, True) for e in group])]
        for w, mask in enumerate(found):
            store(out, "out", out.value(f"add i64 {start}, {w}"), mask)
    return function(name, ("states", "count", "out"), out, result="%count")


# A state in which a predicate shows for the first time is rare.
_PROFILE = '!0 = !{!"branch_weights", i32 1, i32 100000}\n'


@contextmanager
def each_state(out: Assembly, program: Program, roots: list[Expr]) -> Iterator[Lowering]:
    """A loop over the states, with `roots` computed for each."""
    literals = Literals(program.layout, topological(roots))
    with loop(out):
        lowering = Lowering(out, program.layout, literals, words(out, program.layout.words))
        lowering.place(in_order(roots, literals.free))
        yield lowering


def masks(lowering: Lowering, bits: list[tuple[Expr, bool]]) -> Iterator[str]:
    """Words with one bit per predicate: set where its value is the wanted one."""
    out = lowering.out
    for start in range(0, len(bits), 64):
        mask = "0"
        for i, (predicate, wanted) in enumerate(bits[start : start + 64]):
            yes, no = (signed(1 << i), 0) if wanted else (0, signed(1 << i))
            bit = out.value(f"select i1 {lowering.value(predicate)}, i64 {yes}, i64 {no}")
            mask = out.value(f"or i64 {mask}, {bit}")
        yield mask
