"""The body of a function while it is written: its blocks, its local variables, and the kernels that are being written out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..llvm.text import Assembly
from .kinds import KernelVariable, Number, NumberKind, Untranslatable, Value, common
from .operations import Operations


@dataclass(slots=True)
class NameScope:
    """One call of a kernel: its names, where it goes when it returns, and what it returns."""

    function: Callable[..., Any]
    names: dict[str, Value | KernelVariable]
    exit: str
    result: Value | None = None
    slots: list[KernelVariable] = field(default_factory=list)
    loops: list[tuple[str, str]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


class Body:
    """Writes the blocks and variables of one LLVM function.

    `alive` is false after a branch, until the next block begins: what would follow cannot be reached.
    """

    def __init__(self) -> None:
        self.out = Assembly()
        self.do = Operations(self.out)
        self.messages: list[str] = []
        """What the function says where it raises; it gives the position + 1, or 0."""
        self.alive = True
        self.scopes: list[NameScope] = []
        self._slots: list[str] = []

    @property
    def lines(self) -> list[str]:
        """The text, stack slots first."""
        return [*self._slots, *self.out.lines]

    @property
    def scope(self) -> NameScope:
        """The innermost call."""
        return self.scopes[-1]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.out.begin(label)
        self.alive = True

    def go(self, label: str) -> None:
        """End the block by a jump."""
        self.out.do(f"br label %{label}")
        self.alive = False

    def new_variable(self, kind: NumberKind) -> KernelVariable:
        """A local variable."""
        kind = NumberKind.SIGNED if kind is NumberKind.LITERAL else kind
        slot = f"%s{len(self._slots)}"
        self._slots.append(f"  {slot} = alloca {'i1' if kind is NumberKind.TRUTH else 'i64'}")
        return KernelVariable(slot, kind)

    def write(self, variable: KernelVariable, value: Number, name: str) -> None:
        """Assign to a variable, which messages call `name`. Raises Untranslatable if it cannot hold the value."""
        if variable.kind is NumberKind.TRUTH:
            value = self.do.as_truth(value)
            self.out.do(f"store i1 {value.text}, ptr {variable.slot}")
            return
        if common(variable.kind, value.kind) is not variable.kind:
            raise Untranslatable(f"`{name}` is {variable.kind.value}, and gets {value.kind.value}")
        self.out.do(f"store i64 {self.do.as_number(value).text}, ptr {variable.slot}")

    def read(self, variable: KernelVariable) -> Number:
        """What a variable holds now."""
        size = "i1" if variable.kind is NumberKind.TRUTH else "i64"
        return Number(self.out.value(f"load {size}, ptr {variable.slot}"), variable.kind)
