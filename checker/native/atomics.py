"""What threads need to work on the same arrays: atomic reads and changes, and a place to meet.

A read sees everything that its writer wrote before it changed the element by `exchange` or `add`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy import int64
from numpy.typing import NDArray

from .intrinsics import call
from .jit import inline


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


def _resized(builder: Any, value: Any, wanted: ir.IntType) -> Any:
    if value.type.width > wanted.width:
        return builder.trunc(value, wanted)
    return builder.zext(value, wanted) if value.type.width < wanted.width else value


def _read(typing_context: Any, array: Any, index: Any) -> Any:
    signature = array.dtype(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = signature.return_type.bitwidth // 8
        return builder.load_atomic(_pointer(context, builder, signature, arguments), "acquire", size)

    return signature, generate


def _exchange(typing_context: Any, array: Any, index: Any, expected: Any, wanted: Any) -> Any:
    signature = array.dtype(array, index, expected, wanted)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = ir.IntType(signature.return_type.bitwidth)
        old, new = (_resized(builder, value, element) for value in arguments[2:])
        pointer = _pointer(context, builder, signature, arguments)
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "acquire"), 0)

    return signature, generate


def _add(typing_context: Any, array: Any, index: Any, amount: Any) -> Any:
    signature = array.dtype(array, index, array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "acq_rel")

    return signature, generate


def _pause(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # A side effect that keeps the loop around it; what else may run on this core can be told later.
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


read: Any = intrinsic(_read)
"""read(array, index): the element, with all that was written before it."""

exchange: Any = intrinsic(_exchange)
"""exchange(array, index, expected, wanted): write `wanted` if the element is `expected`; gives what it was."""

add: Any = intrinsic(_add)
"""add(array, index, amount): add to an element; gives what it was."""

pause: Any = intrinsic(_pause)

_SPINS = 2000
"""How often a thread looks whether the others have come before it lets other programs run."""


@inline
def meet(barrier: NDArray[int64], members: int, yield_: int) -> None:
    """Wait until all members have called this: then all have seen what each wrote before.

    `barrier` has two elements, how many have come and how often all met, far enough apart.
    `yield_` is what `yield_address` gives.
    """
    turn = read(barrier, 8)
    if add(barrier, 0, 1) == members - 1:
        barrier[0] = 0
        add(barrier, 8, 1)
        return
    spins = 0
    while read(barrier, 8) == turn:
        spins += 1
        if spins > _SPINS:
            call(yield_, (0,))
        else:
            pause()


def yield_address() -> int:
    """The address of the system's function that lets another thread run."""
    found: Callable[..., Any]
    if sys.platform == "win32":
        found = ctypes.windll.kernel32.SwitchToThread
    else:
        found = ctypes.CDLL(None).sched_yield
    return ctypes.cast(found, ctypes.c_void_p).value or 0
