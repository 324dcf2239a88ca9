"""What the translation of kernels knows of a value while it writes the code: kinds of numbers, arrays, tuples."""

from __future__ import annotations

from enum import Enum

from ...base.structs import Data


class NumberKind(Enum):
    """How a number is read. All but truths are i64 in the code; a truth is an i1.

    SMALL numbers, which come from arrays of less than 64 bits, are nonnegative where they meet unsigned
    ones, so they and LITERALs go with numbers of either sort. A SIGNED number never meets an UNSIGNED one.
    """

    SIGNED = "a signed number"
    UNSIGNED = "an unsigned number"
    SMALL = "a small number"
    LITERAL = "a literal"
    TRUTH = "a truth value"


class Untranslatable(TypeError):
    """A kernel does what the translation has no words for. Names the function and the line."""


class Number(Data):
    """A number or a truth: the name of an LLVM value, or its text if it is a constant."""

    text: str
    kind: NumberKind

    @property
    def constant(self) -> int | None:
        """The value, where the text gives it."""
        if self.kind is NumberKind.TRUTH:
            return {"true": 1, "false": 0}.get(self.text)
        return None if self.text.startswith("%") else int(self.text)


class Element(Data):
    """The type of an array's elements."""

    bits: int
    signed: bool
    truth: bool = False

    @property
    def kind(self) -> NumberKind:
        """What an element is once it was read."""
        if self.truth:
            return NumberKind.TRUTH
        if self.bits < 64:
            return NumberKind.SMALL
        return NumberKind.SIGNED if self.signed else NumberKind.UNSIGNED


class Array(Data):
    """A contiguous array: its address (an i64 and a ptr), its length, and the length of a row if it has two dimensions."""

    address: str
    pointer: str
    length: str
    columns: str | None
    element: Element


class Group(Data):
    """A tuple; with the names of its items if it has names."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()


class Nothing(Data):
    """None, or the result of a function that returns nothing."""


class KernelVariable(Data):
    """A local number: the stack slot where it lies, which LLVM turns into registers."""

    slot: str
    kind: NumberKind


Value = Number | Array | Group | Nothing


def common(a: NumberKind, b: NumberKind) -> NumberKind | None:
    """The kind of what comes out of arithmetic on two numbers; None if they cannot meet."""
    a, b = (NumberKind.LITERAL if k is NumberKind.TRUTH else k for k in (a, b))
    for kind in (NumberKind.LITERAL, NumberKind.SMALL):
        if a is kind:
            return b
        if b is kind:
            return a
    return a if a is b else None


def literal(value: int) -> Number:
    """A constant."""
    return Number(str((value + 2**63) % 2**64 - 2**63), NumberKind.LITERAL)
