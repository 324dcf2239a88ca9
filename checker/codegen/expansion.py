"""The function that finds the successors of states, as `codegen` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from ...model.language import Expr, Transition, TransitionSystem, topological
from ..llvm.text import Assembly, function, load, loop, pointers, signed, store, words
from .branches import Branch, branch_tree, place, split
from .lowering import Literals, Lowering
from .memo import LEAST_NODES, Memo
from .state_layout import Layout

_MOST_NODES = 4000
"""How many expressions one function computes, about: twice as many take more than twice as long to compile."""

_PART = ("states", "i", "filled", "out", "which", "hits", "last")


class Expansion:
    """Writes `expand`: a loop over the states, functions for parts of the transitions, and one for each transition
    whose changes are remembered, called where they are not known yet.

    The parts keep each function small: the time to compile one grows faster than its size.
    """

    def __init__(self, system: TransitionSystem, layout: Layout) -> None:
        self.system, self.layout = system, layout
        self.constraint_number = {name: i for i, name in enumerate(self.system.constraints)}
        self.literals = Literals(self.layout, topological(self.system.roots()))

    @cached_property
    def memos(self) -> dict[int, Memo]:
        """The tables of the transitions that have one, by the transition's number."""
        found = {}
        for number, transition in enumerate(self.system.transitions):
            updates = list(self._updates(transition))
            nodes = topological([value for value, *_ in updates])
            if sum(1 for node in nodes if node not in self.literals.free) < LEAST_NODES:
                continue
            fields = [self.layout.fields[node.value] for node in nodes if node.op == "var"]
            found[number] = Memo(
                number,
                _masks((f.word, f.mask) for f in fields if f.bits),
                _masks((word, mask) for value, word, mask, *_ in updates if value.op != "const"),
            )
        return found

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
        for memo in self.memos.values():
            functions += [memo.definition(), self._renewal(memo)]
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
            needed = [constraint for _, constraint in transition.constraints]
            if branch.transition not in self.memos:
                needed += [value for value, *_ in self._updates(transition)]
            yield branch, needed
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
        if not transition.constraints:
            return self._successor(number, filled)
        allowed, stopped, after = out.new_label("allowed"), out.new_label("stopped"), out.new_label("end")
        condition = self.lowering.all_of(constraint for _, constraint in transition.constraints)
        out.do(f"br i1 {condition}, label %{allowed}, label %{stopped}")
        out.begin(stopped)
        with self.lowering.branch():
            self._hits(number)
        out.do(f"br label %{after}")
        out.begin(allowed)
        with self.lowering.branch():
            more = self._successor(number, filled)
        end = out.block
        out.do(f"br label %{after}")
        out.begin(after)
        return out.value(f"phi i64 [ {filled}, %{stopped} ], [ {more}, %{end} ]")

    def _hits(self, number: int) -> None:
        """Note which constraints stop the transition."""
        out = self.out
        counts = out.value(f"icmp ult i64 {number}, %last")
        for name, constraint in self.system.transitions[number].constraints:
            word, bit = divmod(self.constraint_number[name], 64)
            hit = out.value(f"xor i1 {self.lowering.value(constraint)}, true")
            hit = out.value(f"and i1 {hit}, {counts}")
            bits = out.value(f"select i1 {hit}, i64 {signed(1 << bit)}, i64 0")
            known = load(out, "hits", str(word))
            store(out, "hits", str(word), out.value(f"or i64 {known}, {bits}"))

    def _successor(self, number: int, filled: str) -> str:
        """Write the state after a transition, and the transition."""
        out = self.out
        if number in self.memos:
            self._remembered(self.memos[number], filled)
        else:
            self._write(self.system.transitions[number], filled, self._changes(number))
        at = out.value(f"getelementptr i32, ptr %which.p, i64 {filled}")
        out.do(f"store i32 {number}, ptr {at}")
        return out.value(f"add i64 {filled}, 1")

    def _remembered(self, memo: Memo, filled: str) -> None:
        """Write the state after a transition whose changes are remembered, or call what computes them."""
        out = self.out
        found, entry, changes = memo.find(out, self.lowering.words)
        known, unknown, after = out.new_label("known"), out.new_label("unknown"), out.new_label("end")
        out.do(f"br i1 {found}, label %{known}, label %{unknown}")
        out.begin(unknown)
        place = out.value(f"ptrtoint ptr {entry} to i64")
        out.value(f"call i64 @renew{memo.number}(i64 %states, i64 %i, i64 {filled}, i64 %out, i64 {place})")
        out.do(f"br label %{after}")
        out.begin(known)
        self._write(self.system.transitions[memo.number], filled, changes)
        out.do(f"br label %{after}")
        out.begin(after)

    def _renewal(self, memo: Memo) -> str:
        """A function that computes what a transition changes, writes the state after it, and remembers."""
        self.out = out = Assembly()
        pointers(out, "states", "out", "found")
        self.lowering = Lowering(out, self.layout, self.literals, words(out, self.layout.words))
        leaf = Branch(())
        transition = self.system.transitions[memo.number]
        place(leaf, {leaf: [value for value, *_ in self._updates(transition)]}, self.literals.free)
        self.lowering.place(leaf.nodes)
        changes = self._changes(memo.number)
        self._write(transition, "%filled", changes)
        memo.enter(out, "%found.p", self.lowering.words, changes)
        parameters = ("states", "i", "filled", "out", "found")
        return function(f"renew{memo.number}", parameters, out, result="0", linkage="internal")

    def _changes(self, number: int) -> dict[int, str]:
        """By word, the new bits of the fields that a transition does not set to constants."""
        parts: dict[int, str] = {}
        for value, word, _, shift, lo in self._updates(self.system.transitions[number]):
            if value.op != "const":
                bits = self.lowering.field(value, shift, lo)
                parts[word] = self.out.value(f"or i64 {parts[word]}, {bits}") if word in parts else bits
        return parts

    def _write(self, transition: Transition, filled: str, changes: dict[int, str]) -> None:
        """Write the state after a transition: the parent's words with the changed fields replaced."""
        out = self.out
        changed = _masks((word, mask) for _, word, mask, *_ in self._updates(transition))
        constant = _masks(
            (word, (value.value - lo) << shift)
            for value, word, _, shift, lo in self._updates(transition)
            if value.op == "const"
        )
        place = out.value(f"mul i64 {filled}, {self.layout.words}")
        for word, result in enumerate(self.lowering.words):
            if word in changed:
                result = out.value(f"and i64 {result}, {signed(~changed[word] % 2**64)}")
                if constant.get(word):
                    result = out.value(f"or i64 {result}, {signed(constant[word])}")
                if word in changes:
                    result = out.value(f"or i64 {result}, {changes[word]}")
            store(out, "out", out.value(f"add i64 {place}, {word}") if word else place, result)


def _masks(parts: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The parts of each word together."""
    found: dict[int, int] = {}
    for word, bits in parts:
        found[word] = found.get(word, 0) | bits
    return found
