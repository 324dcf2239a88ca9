"""Expressions over many states at once, as LLVM vectors: a lane for each state.

A word of a state is read as four *quarters* of 16 bits, so that LANES states take one register of 256 bits, or two of 128. An
int whose range allows it has 16 bits in a lane, any other 32 or 64; a bool has 16, all of them set or none. LLVM makes
of these vectors what the processor has.
"""

from collections.abc import Callable, Iterable

from ...model.language import BOOL, Expr
from ..llvm.text import Assembly, wrapped
from .lowering import Literals, Writing, width
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


class Lanes(Writing):
    """Over LANES states; `read` gives the vector of one of their quarters."""

    bools, truths = SHORT, TRUTHS
    true, false = TRUE, FALSE

    def __init__(self, out: Assembly, literals: Literals, read: Callable[[int], str]) -> None:
        super().__init__(out, literals)
        self._read_quarter = read
        self._quarters: dict[int, str] = {}
        self._tested: dict[tuple[int, int, int], str] = {}

    def width(self, node: Expr) -> int:
        return lane_width(node)

    def kind(self, size: int) -> str:
        return vector(size)

    def number(self, size: int, value: int) -> str:
        return constant(size, value)

    def truth(self, value: str) -> str:
        return self.out.value(f"icmp slt {SHORT} {value}, {FALSE}")

    def _bool(self, truth: str) -> str:
        return self.out.value(f"sext {TRUTHS} {truth} to {SHORT}")

    def quarter(self, number: int) -> str:
        """A quarter of the states."""
        if number not in self._quarters:
            self._quarters[number] = self._read_quarter(number)
        return self._quarters[number]

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

    def _conjunction(self, parts: list[str]) -> str:
        return super()._conjunction(list(dict.fromkeys(parts)))

    def _tests(self, word: int, mask: int, pattern: int) -> Iterable[str]:
        for k in range(QUARTERS):
            low = (1 << QUARTER) - 1
            own, wanted = mask >> QUARTER * k & low, pattern >> QUARTER * k & low
            if own:
                key = (QUARTERS * word + k, own, wanted)
                if key not in self._tested:
                    self._tested[key] = self._test(*key)
                yield self._tested[key]

    def _test(self, number: int, mask: int, pattern: int) -> str:
        bits = self.quarter(number)
        if mask != (1 << QUARTER) - 1:
            bits = self.out.value(f"and {SHORT} {bits}, {constant(QUARTER, mask)}")
        return self._bool(self.out.value(f"icmp eq {SHORT} {bits}, {constant(QUARTER, pattern)}"))

    def _divisor(self, node: Expr, value: str, size: int) -> str:
        """It is positive in every state; but a lane without a state may hold anything."""
        if node.op == "const":
            return value
        kind = vector(size)
        positive = self.out.value(f"icmp sgt {kind} {value}, {constant(size, 0)}")
        return self.out.value(f"select {TRUTHS} {positive}, {kind} {value}, {kind} {constant(size, 1)}")

    def _read(self, node: Expr) -> str:
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
