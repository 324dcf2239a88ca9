"""Instructions that Python has no words for, for kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .kernel_expressions import Expressions, Intrinsic
from .kinds import Array, Group, Kind, Nothing, Number, Untranslatable, Value


@dataclass(frozen=True, slots=True)
class _Word:
    """A name that only kernels can call."""

    intrinsic: Intrinsic


def word(write: Intrinsic) -> Any:
    """Make a function that writes instructions callable by kernels."""
    return _Word(write)


def on_array(
    write: Callable[[Expressions, Array, str, list[Number]], Value],
) -> Intrinsic:
    """The same where the first arguments are an array and an index."""

    def intrinsic(code: Expressions, arguments: Sequence[Value]) -> Value:
        array, *numbers = arguments
        if not isinstance(array, Array) or not all(isinstance(n, Number) for n in numbers):
            raise Untranslatable("an array and numbers are needed here")
        index, *rest = [code.do.as_number(n) for n in numbers if isinstance(n, Number)]
        return write(code, array, index.text, rest)

    return intrinsic


def _prefetch(code: Expressions, array: Array, index: str, rest: list[Number]) -> Value:
    at = code.do.place(array, index)
    code.out.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")
    return Nothing()


def _call(code: Expressions, arguments: Sequence[Value]) -> Value:
    address, group = arguments
    if not isinstance(address, Number) or not isinstance(group, Group):
        raise Untranslatable("an address and a tuple are needed here")
    texts = [code.do.as_number(n).text for n in group.items if isinstance(n, Number)]
    function = code.out.value(f"inttoptr i64 {address.text} to ptr")
    given = ", ".join(f"i64 {text}" for text in texts)
    return Number(code.out.value(f"call i64 {function}({given})"), Kind.SIGNED)


prefetch: Any = word(on_array(_prefetch))
"""prefetch(array, index): ask for the cache line of array[index]; no harm if there is none."""

call: Any = word(_call)
"""call(address, arguments): call the function at an address with a tuple of 64-bit integers; gives one."""
