"""Expressions over many states at once, as LLVM vectors: a lane for each state.

A word of a state is read as four *quarters* of 16 bits, so that LANES states take one register of 256 bits, or two of 128. An
int whose range allows it has 16 bits in a lane, any other 32 or 64; a bool has 16, all of them set or none. LLVM makes
of these vectors what the processor has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...model.language import BOOL, Expr
from ..llvm.text import Assembly, wrapped
from .lowering import Literals, width
from .state_layout import Field

LANES = 16
"""States in a vector."""

QUARTER = 16
QUARTERS = 4
"""Bits of a quarter, and quarters of a word."""

TRUTHS = f"<{LANES} x i1>"


def vector(bits: int) -> str:
    """The type of a vector of integers."""
    return f"<{LANES} x i{bits}>"


def constant(bits: int, value: int) -> str:
    """A vector with the same integer in every lane."""
    return f"splat (i{bits} {wrapped(value, bits)})"


SHORT = vector(QUARTER)
TRUE, FALSE = constant(QUARTER, -1), constant(QUARTER, 0)


def lane_width(node: Expr) -> int:
    """How many bits a node's value gets in a lane. Raises ValueError if it needs more than 64."""
    if node.sort == BOOL or (-(2**15) <= node.lo and node.hi < 2**15):
        return QUARTER
    return width(node)


def quarters_of(field: Field) -> range:
    """The quarters of a state, numbered through its words, in which a field has bits."""
    start = QUARTERS * field.word
    return range(start + field.shift // QUARTER, start + (field.shift + field.bits - 1) // QUARTER + 1)


class Lanes:
    """Writes the code of expressions over LANES states; `read` gives the vector of one of their quarters."""

    def __init__(self, out: Assembly, literals: Literals, read: Callable[[int], str]) -> None:
        self.out, self.literals, self._read_quarter = out, literals, read
        self._quarters: dict[int, str] = {}
        self._known: dict[Expr, str] = {}
        self._tests: dict[tuple[int, int, int], str] = {}

    def quarter(self, number: int) -> str:
        """A quarter of the states."""
        if number not in self._quarters:
            self._quarters[number] = self._read_quarter(number)
        return self._quarters[number]

    def place(self, nodes: Iterable[Expr]) -> None:
        """Compute nodes, arguments first."""
        for node in nodes:
            self.value(node)

    def value(self, node: Expr) -> str:
        """The value of a node whose arguments were placed or are free."""
        if node.op == "const":
            if node.sort == BOOL:
                return TRUE if node.value else FALSE
            return constant(lane_width(node), node.value)
        if node not in self._known:
            self._known[node] = self._compute(node)
        return self._known[node]

    def all_of(self, conditions: Iterable[Expr], wanted: bool = True) -> str:
        """Where every condition is `wanted`. Literals on one quarter become one comparison."""
        masks: dict[int, list[int]] = {}
        parts: dict[str, None] = {}
        for condition in conditions:
            literal = self.literals.of(condition, wanted)
            if literal is None:
                value = self.value(condition)
                parts[value if wanted else self._inverted(value)] = None
            else:
                word, mask, pattern = literal
                entry = masks.setdefault(word, [0, 0])
                if (entry[1] ^ pattern) & entry[0] & mask:
                    return FALSE
                entry[0] |= mask
                entry[1] |= pattern
        tests: dict[str, None] = {}
        for word, (mask, pattern) in masks.items():
            tests |= dict.fromkeys(self._tests_of(word, mask, pattern))
        return self._conjunction([*tests, *parts])

    def field(self, node: Expr, field: Field) -> dict[int, str]:
        """The bits of a field that holds the value of `node`, by quarter; the value must fit the field."""
        if node.sort == BOOL:
            (number,) = quarters_of(field)
            bit = constant(QUARTER, 1 << field.shift % QUARTER)
            return {number: self.out.value(f"and {SHORT} {self.value(node)}, {bit}")}
        size = next(s for s in (16, 32, 64) if field.bits <= s)
        code = self._sized(node, size)
        if field.lo:
            code = self.out.value(f"sub {vector(size)} {code}, {constant(size, field.lo)}")
        found = {}
        for number in quarters_of(field):
            shift = field.shift - QUARTER * (number % QUARTERS)
            if shift < 0:
                part = self._resized(self._shifted("lshr", code, size, -shift), size, QUARTER)
            else:
                part = self._shifted("shl", self._resized(code, size, QUARTER), QUARTER, shift)
            found[number] = part
        return found

    def _tests_of(self, word: int, mask: int, pattern: int) -> Iterable[str]:
        for k in range(QUARTERS):
            low = (1 << QUARTER) - 1
            own, wanted = mask >> QUARTER * k & low, pattern >> QUARTER * k & low
            if own:
                key = (QUARTERS * word + k, own, wanted)
                if key not in self._tests:
                    self._tests[key] = self._test(*key)
                yield self._tests[key]

    def _test(self, number: int, mask: int, pattern: int) -> str:
        bits = self.quarter(number)
        if mask != (1 << QUARTER) - 1:
            bits = self.out.value(f"and {SHORT} {bits}, {constant(QUARTER, mask)}")
        truth = self.out.value(f"icmp eq {SHORT} {bits}, {constant(QUARTER, pattern)}")
        return self.out.value(f"sext {TRUTHS} {truth} to {SHORT}")

    def _conjunction(self, parts: list[str]) -> str:
        if not parts:
            return TRUE
        result = parts[0]
        for part in parts[1:]:
            result = self.out.value(f"and {SHORT} {result}, {part}")
        return result

    def _inverted(self, value: str) -> str:
        return self.out.value(f"xor {SHORT} {value}, {TRUE}")

    def truth(self, value: str) -> str:
        """A bool as LLVM's own vector of truths."""
        return self.out.value(f"icmp slt {SHORT} {value}, {FALSE}")

    def _compute(self, node: Expr) -> str:
        op, out = node.op, self.out
        literal = self.literals.of(node)
        if literal is not None:
            return self._conjunction(list(self._tests_of(*literal)))
        if op == "var":
            return self._variable(node)
        if op == "not":
            return self._inverted(self.value(node.args[0]))
        if op == "and":
            return self.all_of(node.args)
        if op == "or":
            return self._inverted(self.all_of(node.args, wanted=False))
        if op == "ite":
            size = lane_width(node)
            condition = self.truth(self.value(node.args[0]))
            a, b = (self._sized(arg, size) for arg in node.args[1:])
            return out.value(f"select {TRUTHS} {condition}, {vector(size)} {a}, {vector(size)} {b}")
        if op in ("eq", "lt"):
            size = max(lane_width(arg) for arg in node.args)
            a, b = (self._sized(arg, size) for arg in node.args)
            truth = out.value(f"icmp {'eq' if op == 'eq' else 'slt'} {vector(size)} {a}, {b}")
            return out.value(f"sext {TRUTHS} {truth} to {SHORT}")
        if op in ("add", "sub", "mul"):
            # Modulo 2^size is exact, for the result fits: wider arguments may be cut.
            size = lane_width(node)
            a, b = (self._sized(arg, size) for arg in node.args)
            return out.value(f"{op} {vector(size)} {a}, {b}")
        if op == "div":
            return self._divide(node)
        if op == "param":
            raise ValueError(f"`{node.value.name}` has no value: native code needs one for each parameter")
        raise ValueError(f"`{op}` is not an operator that native code knows")

    def _divide(self, node: Expr) -> str:
        """Round down: as `sdiv`, which rounds towards zero, less one where a remainder is negative."""
        out = self.out
        size = max(lane_width(n) for n in (node, *node.args))
        kind = vector(size)
        a, b = (self._sized(arg, size) for arg in node.args)
        if node.args[1].op != "const":
            # A divisor is positive in every state; but a lane without a state may hold anything.
            positive = out.value(f"icmp sgt {kind} {b}, {constant(size, 0)}")
            b = out.value(f"select {TRUTHS} {positive}, {kind} {b}, {kind} {constant(size, 1)}")
        # Where nothing is negative, both give the same, and one of them is a multiplication when b is a constant.
        quotient = out.value(f"{'sdiv' if node.args[0].lo < 0 else 'udiv'} {kind} {a}, {b}")
        if node.args[0].lo < 0:
            remainder = out.value(f"srem {kind} {a}, {b}")
            negative = out.value(f"icmp slt {kind} {remainder}, {constant(size, 0)}")
            below = out.value(f"sext {TRUTHS} {negative} to {kind}")
            quotient = out.value(f"add {kind} {quotient}, {below}")
        return self._resized(quotient, size, lane_width(node))

    def _variable(self, node: Expr) -> str:
        """An int: its field, put together of its quarters."""
        field, size = self.literals.fields[node.value], lane_width(node)
        value = ""
        for number in quarters_of(field):
            part = self._resized(self.quarter(number), QUARTER, size, "zext")
            shift = QUARTER * (number % QUARTERS) - field.shift
            part = self._shifted("lshr" if shift < 0 else "shl", part, size, abs(shift))
            value = self.out.value(f"or {vector(size)} {value}, {part}") if value else part
        if field.bits < size:
            value = self.out.value(f"and {vector(size)} {value}, {constant(size, (1 << field.bits) - 1)}")
        if field.lo:
            value = self.out.value(f"add {vector(size)} {value}, {constant(size, field.lo)}")
        return value

    def _shifted(self, operation: str, value: str, size: int, by: int) -> str:
        return self.out.value(f"{operation} {vector(size)} {value}, {constant(size, by)}") if by else value

    def _sized(self, node: Expr, size: int) -> str:
        """The value of a node in lanes of `size` bits, cut if that is fewer than it has."""
        if node.op == "const" and node.sort != BOOL:
            return constant(size, node.value)
        return self._resized(self.value(node), lane_width(node), size)

    def _resized(self, value: str, size: int, wanted: int, how: str = "sext") -> str:
        if size == wanted:
            return value
        how = "trunc" if size > wanted else how
        return self.out.value(f"{how} {vector(size)} {value} to {vector(wanted)}")
