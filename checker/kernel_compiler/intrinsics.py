"""What kernels can say beside Python: prefetches, calls of compiled code, atomic reads and changes, and a place to meet.

An atomic read sees everything that its writer wrote before it changed the element by `write`, `exchange` or `add`.
"""

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

from numpy import int64
from numpy.typing import NDArray

from ...base.structs import Data
from .body import Body
from .expressions import Intrinsic
from .jit import inline
from .kinds import Array, Group, Nothing, Number, NumberKind, Untranslatable, Value


class _Word(Data):
    """A name that only kernels can call."""

    intrinsic: Intrinsic


def word(write: Intrinsic) -> Any:
    """Make a function that writes instructions callable by kernels."""
    return _Word(write)


def on_array(write: Callable[[Body, Array, str, list[Number]], Value]) -> Intrinsic:
    """The same where the first arguments are an array and an index."""

    def intrinsic(body: Body, arguments: Sequence[Value]) -> Value:
        array, *numbers = arguments
        if not isinstance(array, Array) or not all(isinstance(n, Number) for n in numbers):
            raise Untranslatable("an array and numbers are needed here")
        index, *rest = [body.do.as_number(n) for n in numbers if isinstance(n, Number)]
        return write(body, array, index.text, rest)

    return intrinsic


def _prefetch(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    at = body.do.place(array, index)
    body.out.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")
    return Nothing()


LINE_BYTES = 64
"""What `first_alike` looks at at once: a cache line of most processors."""


def _first_alike(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    out, do, size = body.out, body.do, array.element.bits
    lanes = 8 * LINE_BYTES // size
    kind, truths = f"<{lanes} x i{size}>", f"<{lanes} x i1>"

    def every(scalar: str) -> str:
        one = out.value(f"insertelement {kind} poison, i{size} {scalar}, i64 0")
        return out.value(f"shufflevector {kind} {one}, {kind} poison, <{lanes} x i32> zeroinitializer")

    wanted, counts = (every(do.narrowed(value, array.element)) for value in rest)
    line = out.value(f"and i64 {index}, {-lanes}")
    entries = out.value(f"load {kind}, ptr {do.place(array, line)}, align {LINE_BYTES}")
    other = out.value(f"and {kind} {out.value(f'xor {kind} {entries}, {wanted}')}, {counts}")
    alike = out.value(f"icmp eq {kind} {other}, zeroinitializer")
    free = out.value(f"icmp eq {kind} {entries}, zeroinitializer")
    either = out.value(f"or {truths} {alike}, {free}")
    mask = out.value(f"zext i{lanes} {out.value(f'bitcast {truths} {either} to i{lanes}')} to i64")
    # Beyond the line there is one more, where to look next if there is none.
    known = out.value(f"or i64 {mask}, {1 << lanes}")
    within = out.value(f"and i64 {index}, {lanes - 1}")
    left = out.value(f"lshr i64 {known}, {within}")
    steps = out.value(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)")
    return Number(out.value(f"add i64 {index}, {steps}"), NumberKind.UNSIGNED)


_TOGETHER = 4
"""How many words `cross` works on at once."""


def _cross(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    out, do, kind = body.out, body.do, f"<{_TOGETHER} x i64>"

    def every(scalar: str) -> str:
        one = out.value(f"insertelement {kind} poison, i64 {scalar}, i64 0")
        return out.value(f"shufflevector {kind} {one}, {kind} poison, <{_TOGETHER} x i32> zeroinitializer")

    other, *numbers = (number.text for number in rest)
    shift, mask = map(every, numbers)
    at, opposite = do.place(array, index), do.place(array, other)
    a = out.value(f"load {kind}, ptr {at}, align 8")
    b = out.value(f"load {kind}, ptr {opposite}, align 8")
    down = out.value(f"lshr {kind} {a}, {shift}")
    change = out.value(f"and {kind} {out.value(f'xor {kind} {down}, {b}')}, {mask}")
    up = out.value(f"shl {kind} {change}, {shift}")
    out.do(f"store {kind} {out.value(f'xor {kind} {a}, {up}')}, ptr {at}, align 8")
    out.do(f"store {kind} {out.value(f'xor {kind} {b}, {change}')}, ptr {opposite}, align 8")
    return Nothing()


def _ones(body: Body, arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if not isinstance(value, Number):
        raise Untranslatable("a number is needed here")
    text = body.do.as_number(value).text
    return Number(body.out.value(f"call i64 @llvm.ctpop.i64(i64 {text})"), NumberKind.UNSIGNED)


def _call(body: Body, arguments: Sequence[Value]) -> Value:
    address, group = arguments
    if not isinstance(address, Number) or not isinstance(group, Group):
        raise Untranslatable("an address and a tuple are needed here")
    texts = [body.do.as_number(n).text for n in group.items if isinstance(n, Number)]
    function = body.out.value(f"inttoptr i64 {address.text} to ptr")
    given = ", ".join(f"i64 {text}" for text in texts)
    return Number(body.out.value(f"call i64 {function}({given})"), NumberKind.SIGNED)


prefetch: Any = word(on_array(_prefetch))
"""prefetch(array, index): ask for the cache line of array[index]; no harm if there is none."""

first_alike: Any = word(on_array(_first_alike))
"""first_alike(table, place, wanted, mask): where, from table[place] on, the first entry is that is 0 or that agrees with `wanted` in the
bits of `mask`; or where the next line of the table begins, if there is none in this one. Lines are of LINE_BYTES, and the
table is made of whole ones. Others may write to the table meanwhile: what has come since is to be read again."""

cross: Any = word(on_array(_cross))
"""cross(words, index, other, shift, mask): each of the four words from words[index] on, and its like from words[other] on, exchange bits: those of `mask` in the
latter, and those `shift` above them in the former."""

ones: Any = word(_ones)
"""ones(number): how many bits are set."""

call: Any = word(_call)
"""call(address, arguments): call the function at an address with a tuple of 64-bit integers; gives one."""


def _read(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    return body.do.load(array, index, "load atomic", f" acquire, align {array.element.bits // 8}")


def _write(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    out, do, kind = body.out, body.do, array.element
    at, value = do.place(array, index), do.narrowed(rest[0], kind)
    out.do(f"store atomic i{kind.bits} {value}, ptr {at} release, align {kind.bits // 8}")
    return Nothing()


def _exchange(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    out, do, size = body.out, body.do, array.element.bits
    old, new = (do.narrowed(value, array.element) for value in rest)
    at = do.place(array, index)
    pair = out.value(f"cmpxchg ptr {at}, i{size} {old}, i{size} {new} acq_rel acquire")
    return do.widened(out.value(f"extractvalue {{ i{size}, i1 }} {pair}, 0"), array.element)


def _add(body: Body, array: Array, index: str, rest: list[Number]) -> Value:
    out, do, size = body.out, body.do, array.element.bits
    at, amount = do.place(array, index), do.narrowed(rest[0], array.element)
    return do.widened(out.value(f"atomicrmw add ptr {at}, i{size} {amount} acq_rel"), array.element)


def _pause(body: Body, arguments: Sequence[Value]) -> Value:
    # A side effect that keeps the loop around it; what else may run on this core can be told later.
    body.out.do("fence seq_cst")
    return Nothing()


read: Any = word(on_array(_read))
"""read(array, index): the element, with all that was written before it."""

write: Any = word(on_array(_write))
"""write(array, index, value): change the element, after all that was written before."""

exchange: Any = word(on_array(_exchange))
"""exchange(array, index, expected, wanted): write `wanted` if the element is `expected`; gives what it was."""

add: Any = word(on_array(_add))
"""add(array, index, amount): add to an element; gives what it was."""

pause: Any = word(_pause)

_SPINS = 2000
"""How often a thread looks whether the others have come before it lets other programs run."""


@inline
def meet(barrier: NDArray[int64], workers: int, yield_: int) -> None:
    """Wait until all workers have called this: then all have seen what each wrote before.

    `barrier` has two elements, how many have come and how often all met, far enough apart.
    `yield_` is what `yield_address` gives.
    """
    turn = read(barrier, 8)
    if add(barrier, 0, 1) == workers - 1:
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
