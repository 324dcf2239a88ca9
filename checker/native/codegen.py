"""A transition system as an LLVM module of three functions over packed states.

Every argument and result is an i64, addresses included. A state is `words` consecutive i64.

    expand(states, count, out, which, ends, hits, last)
        Write the successors of `count` states to `out`, and the transition of each to `which` (i32),
        ordered by parent, then by transition; ends[i] is where those of parent i end. Returns their
        number. For a limit that stops a transition before number `last`, set its bit in `hits`.
    check(states, count, seen, found)
        The position of the first state with a predicate bit that `seen` lacks, or `count`. That
        state's bits go to `found`. The bits: invariants broken, then goals reached.
    recovered(states, count, out)
        Write the recoveries that hold in each state, as bits of `recovery_words` i64 a state.

The text depends on nothing but the system: equal systems give equal text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ...model.language import Expr, Transition, TransitionSystem, topological
from .branches import Branch, branch_tree, place, split
from .layout import Layout
from .lowering import Assembly, Literals, Lowering, signed

_MOST_NODES = 4000
"""How many expressions one function computes, about: twice as many take more than twice as long to compile."""

_PART = ("states", "i", "filled", "out", "which", "hits", "last")


@dataclass(frozen=True)
class Program:
    """The code of a system, and the numbers that its caller needs to reserve room for results."""

    system: TransitionSystem
    layout: Layout

    @cached_property
    def ir(self) -> str:
        """The module's text. Raises ValueError for an expression that has no native code."""
        return "\n".join([_expand(self), _check(self), _recovered(self)])

    @property
    def limit_words(self) -> int:
        """How many i64 hold one bit per limit."""
        return _words_for(len(self.system.limits))

    @property
    def predicate_words(self) -> int:
        """How many i64 hold one bit per invariant and goal."""
        return _words_for(len(self.system.invariants) + len(self.system.goals))

    @property
    def recovery_words(self) -> int:
        """How many i64 hold one bit per recovery."""
        return _words_for(len(self.system.recoveries))


def generate(system: TransitionSystem) -> Program:
    """The program of a system."""
    return Program(system, Layout(system.variables))


def _words_for(bits: int) -> int:
    return (bits + 63) // 64


def _expand(program: Program) -> str:
    return _Expansion(program).text()


def _check(program: Program) -> str:
    """Straight-line code: few predicates are so large that it pays to skip parts of them."""
    invariants, goals = list(program.system.invariants.values()), list(program.system.goals.values())
    bits = [(e, False) for e in invariants] + [(e, True) for e in goals]
    out, count = Assembly(), program.predicate_words
    _pointers(out, "states", "seen", "found")
    known = [_load(out, "seen", str(w)) for w in range(count)]
    with _each_state(out, program, [e for e, _ in bits]) as lowering:
        masks = list(_masks(lowering, bits))
        news = "0"
        for mask, seen in zip(masks, known, strict=True):
            unseen = out.value(f"xor i64 {seen}, -1")
            news = out.value(f"or i64 {news}, {out.value(f'and i64 {mask}, {unseen}')}")
        stop, go_on = out.new_label("stop"), out.new_label("next")
        out.do(f"br i1 {out.value(f'icmp ne i64 {news}, 0')}, label %{stop}, label %{go_on}, !prof !0")
        out.begin(stop)
        for w, mask in enumerate(masks):
            _store(out, "found", str(w), mask)
        out.do("ret i64 %i")
        out.begin(go_on)
    return _function("check", ("states", "count", "seen", "found"), out, result="%count") + _PROFILE


def _recovered(program: Program) -> str:
    predicates = list(program.system.recoveries.values())
    out, count = Assembly(), program.recovery_words
    _pointers(out, "states", "out")
    with _each_state(out, program, predicates) as lowering:
        start = out.value(f"mul i64 %i, {count}")
        for w, mask in enumerate(_masks(lowering, [(e, True) for e in predicates])):
            _store(out, "out", out.value(f"add i64 {start}, {w}"), mask)
    return _function("recovered", ("states", "count", "out"), out, result="%count")


class _Expansion:
    """Writes `expand`: a loop over the states, and functions for parts of the transitions.

    The parts keep each function small: the time to compile one grows faster than its size.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.system, self.layout = program, program.system, program.layout
        self.limit_number = {name: i for i, name in enumerate(self.system.limits)}
        self.literals = Literals(self.layout, topological(self.system.roots()))

    def text(self) -> str:
        tree = branch_tree(self.system.transitions, self.literals.free)
        own = dict(self._own(tree))
        place(tree, own, self.literals.free)
        parts = split(tree, _MOST_NODES)
        functions = []
        for number, part in enumerate(parts):
            place(part, own, self.literals.free)
            functions.append(self._part(number, part))
        return "\n".join([*functions, self._loop(len(parts))])

    def _part(self, number: int, root: Branch) -> str:
        """A function that writes the successors of one state by some of the transitions."""
        self.out = out = Assembly()
        _pointers(out, "states", "out", "which", "hits")
        self.lowering = Lowering(out, self.layout, self.literals, _words(out, self.layout.words))
        self.lowering.place(root.nodes)
        filled = self._children(root, "%filled")
        return _function(f"part{number}", _PART, out, result=filled, linkage="internal")

    def _loop(self, parts: int) -> str:
        out = Assembly()
        _pointers(out, "ends")
        with _loop(out, carried="%filled") as end:
            filled = "%filled"
            for number in range(parts):
                arguments = ", ".join(f"i64 {filled if p == 'filled' else '%' + p}" for p in _PART)
                filled = out.value(f"call i64 @part{number}({arguments})")
            _store(out, "ends", "%i", filled)
            end(filled)
        parameters = ("states", "count", "out", "which", "ends", "hits", "last")
        return _function("expand", parameters, out, result="%filled")

    def _updates(self, transition: Transition) -> Iterator[tuple[Expr, int, int, int, int]]:
        """Of each update: the new value, and its field's word, mask, shift and lo."""
        for variable, value in transition.updates.items():
            field = self.layout.fields.get(variable)
            if field is not None and field.bits:  # other variables have one value only, and no place
                yield value, field.word, field.mask, field.shift, field.lo

    def _own(self, branch: Branch) -> Iterator[tuple[Branch, list[Expr]]]:
        """The expressions that the code of each transition needs, by its branch."""
        if branch.transition is not None:
            transition = self.system.transitions[branch.transition]
            bounds = [bound for _, bound in transition.limits]
            yield branch, bounds + [value for value, *_ in self._updates(transition)]
        for child in branch.children:
            yield from self._own(child)

    def _children(self, branch: Branch, filled: str) -> str:
        """The code of the branches inside; gives how many successors there are after them."""
        out = self.out
        for child in branch.children:
            inside, after = out.new_label("if"), out.new_label("end")
            condition = self.lowering.all_of(child.condition)
            origin = out.block
            out.do(f"br i1 {condition}, label %{inside}, label %{after}")
            out.begin(inside)
            with self.lowering.branch():
                self.lowering.place(child.nodes)
                if child.transition is None:
                    more = self._children(child, filled)
                else:
                    more = self._transition(child.transition, filled)
            end = out.block
            out.do(f"br label %{after}")
            out.begin(after)
            filled = out.value(f"phi i64 [ {filled}, %{origin} ], [ {more}, %{end} ]")
        return filled

    def _transition(self, number: int, filled: str) -> str:
        transition = self.system.transitions[number]
        out = self.out
        if not transition.limits:
            return self._successor(number, filled)
        allowed, stopped, after = out.new_label("allowed"), out.new_label("stopped"), out.new_label("end")
        condition = self.lowering.all_of(bound for _, bound in transition.limits)
        out.do(f"br i1 {condition}, label %{allowed}, label %{stopped}")
        out.begin(stopped)
        with self.lowering.branch():
            self._hits(number)
        out.do(f"br label %{after}")
        out.begin(allowed)
        with self.lowering.branch():
            more = self._successor(number, filled)
        out.do(f"br label %{after}")
        out.begin(after)
        return out.value(f"phi i64 [ {filled}, %{stopped} ], [ {more}, %{allowed} ]")

    def _hits(self, number: int) -> None:
        """Note which limits stop the transition."""
        out = self.out
        counts = out.value(f"icmp ult i64 {number}, %last")
        for name, bound in self.system.transitions[number].limits:
            word, bit = divmod(self.limit_number[name], 64)
            hit = out.value(f"xor i1 {self.lowering.value(bound)}, true")
            hit = out.value(f"and i1 {hit}, {counts}")
            bits = out.value(f"select i1 {hit}, i64 {signed(1 << bit)}, i64 0")
            known = _load(out, "hits", str(word))
            _store(out, "hits", str(word), out.value(f"or i64 {known}, {bits}"))

    def _successor(self, number: int, filled: str) -> str:
        """Write the state after a transition: the parent's words with the changed fields replaced."""
        out = self.out
        changed: dict[int, int] = {}
        constant: dict[int, int] = {}
        values: dict[int, list[str]] = {}
        for value, word, mask, shift, lo in self._updates(self.system.transitions[number]):
            changed[word] = changed.get(word, 0) | mask
            if value.op == "const":
                constant[word] = constant.get(word, 0) | (value.value - lo) << shift
            else:
                values.setdefault(word, []).append(self.lowering.field(value, shift, lo))
        place = out.value(f"mul i64 {filled}, {self.layout.words}")
        for word, result in enumerate(self.lowering.words):
            if word in changed:
                result = out.value(f"and i64 {result}, {signed(~changed[word] % 2**64)}")
                for part in [str(signed(constant.get(word, 0))), *values.get(word, [])]:
                    if part != "0":
                        result = out.value(f"or i64 {result}, {part}")
            _store(out, "out", out.value(f"add i64 {place}, {word}") if word else place, result)
        at = out.value(f"getelementptr i32, ptr %which.p, i64 {filled}")
        out.do(f"store i32 {number}, ptr {at}")
        return out.value(f"add i64 {filled}, 1")


def _pointers(out: Assembly, *names: str) -> None:
    for name in names:
        out.do(f"%{name}.p = inttoptr i64 %{name} to ptr")


def _function(name: str, parameters: Iterable[str], out: Assembly, result: str, linkage: str = "") -> str:
    head = ", ".join(f"i64 %{p}" for p in parameters)
    return "\n".join(
        [
            f"define {linkage} i64 @{name}({head}) nounwind {{",
            "entry:",
            *out.lines,
            f"  ret i64 {result}",
            "}\n",
        ]
    )


# A state in which a predicate shows for the first time is rare.
_PROFILE = '!0 = !{!"branch_weights", i32 1, i32 100000}\n'


@contextmanager
def _loop(out: Assembly, carried: str | None = None) -> Iterator[Callable[[str], None]]:
    """The code inside runs for %i = 0 .. %count - 1; a carried value starts at 0.

    Call the yielded function with the carried value's name at the end of the round.
    """
    origin, head, body, done = out.block, "loop", "body", "done"
    final: list[str] = []
    out.do(f"br label %{head}")
    out.begin(head)
    header = len(out.lines)
    out.do("%more = icmp ult i64 %i, %count")
    out.do(f"br i1 %more, label %{body}, label %{done}")
    out.begin(body)
    yield final.append
    out.do("%i.next = add i64 %i, 1")
    out.do(f"br label %{head}")
    phis = [f"  %i = phi i64 [ 0, %{origin} ], [ %i.next, %{out.block} ]"]
    if carried is not None:
        phis.append(f"  {carried} = phi i64 [ 0, %{origin} ], [ {final[0]}, %{out.block} ]")
    out.lines[header:header] = phis
    out.begin(done)


@contextmanager
def _each_state(out: Assembly, program: Program, roots: list[Expr]) -> Iterator[Lowering]:
    """A loop over the states, with `roots` computed for each."""
    literals = Literals(program.layout, topological(roots))
    with _loop(out):
        lowering = Lowering(out, program.layout, literals, _words(out, program.layout.words))
        all_states = Branch(())
        place(all_states, {all_states: roots}, literals.free)
        lowering.place(all_states.nodes)
        yield lowering


def _words(out: Assembly, count: int) -> list[str]:
    start = out.value(f"mul i64 %i, {count}")
    return [_load(out, "states", out.value(f"add i64 {start}, {w}") if w else start) for w in range(count)]


def _masks(lowering: Lowering, bits: list[tuple[Expr, bool]]) -> Iterator[str]:
    """Words with one bit per predicate: set where its value is the wanted one."""
    out = lowering.out
    for start in range(0, len(bits), 64):
        mask = "0"
        for i, (predicate, wanted) in enumerate(bits[start : start + 64]):
            yes, no = (signed(1 << i), 0) if wanted else (0, signed(1 << i))
            bit = out.value(f"select i1 {lowering.value(predicate)}, i64 {yes}, i64 {no}")
            mask = out.value(f"or i64 {mask}, {bit}")
        yield mask


def _load(out: Assembly, array: str, index: str) -> str:
    at = out.value(f"getelementptr i64, ptr %{array}.p, i64 {index}")
    return out.value(f"load i64, ptr {at}")


def _store(out: Assembly, array: str, index: str, value: str) -> None:
    at = out.value(f"getelementptr i64, ptr %{array}.p, i64 {index}")
    out.do(f"store i64 {value}, ptr {at}")
