"""The function that finds the successors of states, as `codegen` describes it."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.language import Expr, Transition, TransitionSystem, topological
from .assembly import Assembly, function, load, loop, pointers, signed, store, words
from .branches import Branch, branch_tree, place, split
from .layout import Layout
from .lowering import Literals, Lowering

_MOST_NODES = 4000
"""How many expressions one function computes, about: twice as many take more than twice as long to compile."""

_PART = ("states", "i", "filled", "out", "which", "hits", "last")


class Expansion:
    """Writes `expand`: a loop over the states, and functions for parts of the transitions.

    The parts keep each function small: the time to compile one grows faster than its size.
    """

    def __init__(self, system: TransitionSystem, layout: Layout, folded: bool = False) -> None:
        self.system, self.layout, self.folded = system, layout, folded
        self.limit_number = {name: i for i, name in enumerate(self.system.limits)}
        self.literals = Literals(self.layout, topological(self.system.roots()))

    def text(self) -> str:
        """All its functions."""
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
        pointers(out, "states", "out", "which", "hits")
        self.lowering = Lowering(out, self.layout, self.literals, words(out, self.layout.words))
        self.lowering.place(root.nodes)
        filled = self._children(root, "%filled")
        return function(f"part{number}", _PART, out, result=filled, linkage="internal")

    def _loop(self, parts: int) -> str:
        """The function that goes over the states and calls every part for each."""
        out = Assembly()
        pointers(out, "ends")
        with loop(out, carried="%filled") as end:
            filled = "%filled"
            for number in range(parts):
                arguments = ", ".join(f"i64 {filled if p == 'filled' else '%' + p}" for p in _PART)
                filled = out.value(f"call i64 @part{number}({arguments})")
            store(out, "ends", "%i", filled)
            end(filled)
        if self.folded:
            out.value("call i64 @canonical(i64 %out, i64 %filled)")
        parameters = ("states", "count", "out", "which", "ends", "hits", "last")
        return function("expand", parameters, out, result="%filled")

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
            known = load(out, "hits", str(word))
            store(out, "hits", str(word), out.value(f"or i64 {known}, {bits}"))

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
            store(out, "out", out.value(f"add i64 {place}, {word}") if word else place, result)
        at = out.value(f"getelementptr i32, ptr %which.p, i64 {filled}")
        out.do(f"store i32 {number}, ptr {at}")
        return out.value(f"add i64 {filled}, 1")
