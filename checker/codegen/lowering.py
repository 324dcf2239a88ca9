"""Expressions to LLVM instructions: one straight line of code per call, every shared node once.

A bool is an i1, an int an i32 or, where its range asks for it, an i64. The text of the instructions is
written directly: that is ten times faster than building it as objects, and it is the key of the cache.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar

from ...model.language import BOOL, Expr
from ..llvm.text import Assembly, signed, wrapped
from .state_layout import Layout

Literal = tuple[int, int, int]
"""A comparison of some bits of the state: in this word, the bits of this mask equal this pattern."""


class Literals:
    """The conditions that compare one field with a constant, as masks and patterns.

    `free` are the nodes that need no storing because a few bits of the state give them: variables,
    constants and these comparisons.
    """

    def __init__(self, layout: Layout, nodes: Iterable[Expr]) -> None:
        self.fields = layout.fields
        self._found: dict[tuple[Expr, bool], Literal | None] = {}
        self.free = {n for n in nodes if n.op in ("const", "var") or self.of(n) or self.of(n, False)}

    def of(self, node: Expr, wanted: bool = True) -> Literal | None:
        """The literal that says that `node` is `wanted`, if there is one."""
        key = node, wanted
        if key not in self._found:
            self._found[key] = self._find(node, wanted)
        return self._found[key]

    def _find(self, node: Expr, wanted: bool) -> Literal | None:
        if node.op == "not":
            return self.of(node.args[0], not wanted)
        if node.op == "var" and node.sort == BOOL:
            field, code = self.fields[node.value], int(wanted)
        elif node.op == "eq" and node.args[0].op == "var" and node.args[1].op == "const":
            field, code = self.fields[node.args[0].value], node.args[1].value
            if not wanted:
                if field.bits != 1:
                    return None
                code = 2 * field.lo + 1 - code
        else:
            return None
        return field.word, field.mask, field.pattern(code)


def in_order(roots: Iterable[Expr], known: AbstractSet[Expr]) -> list[Expr]:
    """The nodes that have to be computed for the roots, arguments first: all below them that are not `known`, nor below such."""
    order: dict[Expr, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order[node] = None
            elif node not in known and node not in order:
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args))
    return list(order)


class Writing:
    """Writes the code of expressions, every shared node once. How a value is represented, a subclass says."""

    bools: ClassVar[str]
    """The type of a bool."""
    truths: ClassVar[str]
    """The type of what a comparison gives."""
    true: ClassVar[str]
    false: ClassVar[str]

    def __init__(self, out: Assembly, literals: Literals) -> None:
        self.out, self.literals = out, literals
        self._known: dict[Expr, str] = {}

    def width(self, node: Expr) -> int:
        """How many bits a node's value gets."""
        raise NotImplementedError

    def kind(self, size: int) -> str:
        """The type of ints of so many bits."""
        raise NotImplementedError

    def number(self, size: int, value: int) -> str:
        """A constant of this type."""
        raise NotImplementedError

    def truth(self, value: str) -> str:
        """A bool as a comparison gives it."""
        raise NotImplementedError

    def _bool(self, truth: str) -> str:
        """What a comparison gives as a bool."""
        raise NotImplementedError

    def _tests(self, word: int, mask: int, pattern: int) -> Iterable[str]:
        """Bools that say together whether the bits of the mask in a word of the state are the pattern."""
        raise NotImplementedError

    def _read(self, node: Expr) -> str:
        """The value of a variable."""
        raise NotImplementedError

    def _divisor(self, node: Expr, value: str, size: int) -> str:
        """A divisor that can be divided by."""
        return value

    def place(self, nodes: Iterable[Expr]) -> None:
        """Compute nodes; their arguments must be placed or free."""
        for node in nodes:
            self.value(node)

    def value(self, node: Expr) -> str:
        """The value of a placed or free node."""
        if node.op == "const":
            if node.sort == BOOL:
                return self.true if node.value else self.false
            return self.number(self.width(node), node.value)
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._compute(node)
        return known

    def all_of(self, conditions: Iterable[Expr], wanted: bool = True) -> str:
        """A bool: whether every condition is `wanted`. Literals on one word become one comparison."""
        masks: dict[int, list[int]] = {}
        parts = []
        for condition in conditions:
            literal = self.literals.of(condition, wanted)
            if literal is None:
                value = self.value(condition)
                parts.append(value if wanted else self._inverted(value))
            else:
                word, mask, pattern = literal
                entry = masks.setdefault(word, [0, 0])
                if (entry[1] ^ pattern) & entry[0] & mask:
                    return self.false
                entry[0] |= mask
                entry[1] |= pattern
        tests = [test for word, (mask, pattern) in masks.items() for test in self._tests(word, mask, pattern)]
        return self._conjunction(tests + parts)

    def _conjunction(self, parts: list[str]) -> str:
        if not parts:
            return self.true
        result = parts[0]
        for part in parts[1:]:
            result = self.out.value(f"and {self.bools} {result}, {part}")
        return result

    def _inverted(self, value: str) -> str:
        return self.out.value(f"xor {self.bools} {value}, {self.true}")

    def _compute(self, node: Expr) -> str:
        op, out = node.op, self.out
        literal = self.literals.of(node)
        if op == "var" and (literal is None or self.width(node) == 1):
            return self._read(node)
        if literal is not None:
            return self._conjunction(list(self._tests(*literal)))
        if op == "not":
            return self._inverted(self.value(node.args[0]))
        if op == "and":
            return self.all_of(node.args)
        if op == "or":
            return self._inverted(self.all_of(node.args, wanted=False))
        if op == "ite":
            condition, size = self.truth(self.value(node.args[0])), self.width(node)
            a, b = (self._sized(arg, size) for arg in node.args[1:])
            return out.value(
                f"select {self.truths} {condition}, {self.kind(size)} {a}, {self.kind(size)} {b}"
            )
        if op in ("eq", "lt"):
            size = max(self.width(arg) for arg in node.args)
            a, b = (self._sized(arg, size) for arg in node.args)
            return self._bool(out.value(f"icmp {'eq' if op == 'eq' else 'slt'} {self.kind(size)} {a}, {b}"))
        if op in ("add", "sub", "mul"):
            # Modulo 2^size is exact, for the result fits: wider arguments may be cut.
            size = self.width(node)
            a, b = (self._sized(arg, size) for arg in node.args)
            return out.value(f"{op} {self.kind(size)} {a}, {b}")
        if op == "div":
            return self._divide(node)
        if op == "param":
            raise ValueError(f"`{node.value.name}` has no value: native code needs one for each parameter")
        raise ValueError(f"`{op}` is not an operator that native code knows")

    def _divide(self, node: Expr) -> str:
        """Round down: as `sdiv`, which rounds towards zero, less one where a remainder is negative."""
        out = self.out
        size = max(self.width(n) for n in (node, *node.args))
        kind = self.kind(size)
        a, b = (self._sized(arg, size) for arg in node.args)
        b = self._divisor(node.args[1], b, size)
        # Where nothing is negative, both give the same, and one of them is a multiplication when b is a constant.
        quotient = out.value(f"{'sdiv' if node.args[0].lo < 0 else 'udiv'} {kind} {a}, {b}")
        if node.args[0].lo < 0:
            remainder = out.value(f"srem {kind} {a}, {b}")
            negative = out.value(f"icmp slt {kind} {remainder}, {self.number(size, 0)}")
            below = out.value(f"sext {self.truths} {negative} to {kind}")
            quotient = out.value(f"add {kind} {quotient}, {below}")
        return self._resized(quotient, size, self.width(node))

    def _sized(self, node: Expr, size: int) -> str:
        """The value of a node in `size` bits, cut if that is fewer than it has."""
        if node.op == "const" and node.sort != BOOL:
            return self.number(size, node.value)
        return self._resized(self.value(node), self.width(node), size)

    def _resized(self, value: str, size: int, wanted: int, how: str = "sext") -> str:
        if size == wanted:
            return value
        how = "trunc" if size > wanted else how
        return self.out.value(f"{how} {self.kind(size)} {value} to {self.kind(wanted)}")


class Lowering(Writing):
    """Over one packed state, whose words are the values `words`."""

    bools = truths = "i1"
    true, false = "true", "false"

    def __init__(self, out: Assembly, layout: Layout, literals: Literals, words: Sequence[str]) -> None:
        super().__init__(out, literals)
        self.layout, self.words = layout, words

    def width(self, node: Expr) -> int:
        return width(node)

    def kind(self, size: int) -> str:
        return f"i{size}"

    def number(self, size: int, value: int) -> str:
        return str(wrapped(value, size))

    def truth(self, value: str) -> str:
        return value

    def _bool(self, truth: str) -> str:
        return truth

    def field(self, node: Expr, shift: int, lo: int) -> str:
        """An i64 with the value of `node`, less `lo`, at bit `shift`; the value must fit its field."""
        size = width(node)
        value = self._resized(self.value(node), size, 64, "zext" if size == 1 else "sext")
        if lo:
            value = self.out.value(f"sub i64 {value}, {lo}")
        return self.out.value(f"shl i64 {value}, {shift}") if shift else value

    def _tests(self, word: int, mask: int, pattern: int) -> Iterable[str]:
        bits = self.out.value(f"and i64 {self.words[word]}, {signed(mask)}")
        yield self.out.value(f"icmp eq i64 {bits}, {signed(pattern)}")

    def _read(self, node: Expr) -> str:
        out, field, size = self.out, self.layout.fields[node.value], width(node)
        word = self.words[field.word]
        if size == 1:
            bit = out.value(f"and i64 {word}, {signed(field.mask)}")
            return out.value(f"icmp ne i64 {bit}, 0")
        value = out.value(f"lshr i64 {word}, {field.shift}") if field.shift else word
        value = out.value(f"and i64 {value}, {signed((1 << field.bits) - 1)}")
        if field.lo:
            value = out.value(f"add i64 {value}, {field.lo}")
        return self._resized(value, 64, size)


def width(node: Expr) -> int:
    """How many bits a node's value gets: 1 for a bool, 32 or 64 for an int."""
    if node.sort == BOOL:
        return 1
    if -(2**31) <= node.lo and node.hi < 2**31:
        return 32
    if -(2**63) <= node.lo and node.hi < 2**63:
        return 64
    raise ValueError(
        f"a value in {node.lo}..{node.hi} needs more than 64 bits: {node.location[0]}:{node.location[1]}"
    )
