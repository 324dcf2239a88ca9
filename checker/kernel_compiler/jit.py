"""Python functions as native code: the inner loops of the engine.

A kernel is translated (see `translation`) and compiled when it is first called with arguments of some types and
dimensions; the object code is kept with the other compiled code.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..llvm import machine_code
from ..llvm.machine_code import MachineCode, compile_kernel
from ..llvm.text import Assembly
from .kinds import Array, Group, Nothing, Number, NumberKind, Untranslatable, Value
from .operations import element_of
from .translation import Translation

_WORD = 2**64 - 1


def inline(function: Callable[..., Any]) -> Any:
    """A kernel that is only called by others."""
    return Kernel(function)


def jit(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls. It runs without the GIL, and keeps no reference to its arguments.

    Arguments are integers, numpy's numbers, contiguous arrays of one or two dimensions, and tuples of these.
    It returns a number, a tuple of numbers or nothing.
    """
    return Kernel(function)


class Kernel:
    """A function that can be compiled, and what was compiled of it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.kernel = function
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        self._compiled: dict[Any, _Compiled] = {}
        self._lock = Lock()

    def __call__(self, *arguments: Any) -> Any:
        compiled, words = self._for(arguments)
        return compiled(words)

    def ready(self, *arguments: Any) -> Callable[[], Any]:
        """A call with these arguments, to be made again and again: what they are is found out once.

        Arrays are not kept: they must not go, nor move, as long as it is called.
        """
        compiled, words = self._for(arguments)
        given = compiled.given(words)
        return lambda: compiled.call(given)

    def _for(self, arguments: tuple[Any, ...]) -> tuple[_Compiled, list[int]]:
        words: list[int] = []
        types = tuple(_type_of(a, words) for a in arguments)
        compiled = self._compiled.get(types)
        if compiled is None:
            with self._lock:  # threads that call it for the first time at once
                compiled = self._compiled.get(types)
                if compiled is None:
                    compiled = self._compiled[types] = _Compiled(self.kernel, types)
        return compiled, words


class _Compiled:
    """The code of a kernel for arguments of certain types."""

    def __init__(self, function: Callable[..., Any], types: tuple[Any, ...]) -> None:
        self.code: MachineCode
        signature: list[str] = []

        def text() -> tuple[str, str]:
            made, note = _module(function, types)
            signature.append(note)
            return made, note

        self.code, note = compile_kernel(_description(function, types), text, "kernel")
        shape, *self._messages = note.split("\n")
        self._tuple, self._kinds = shape.startswith("tuple"), shape.split()[1:]
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(self.code["kernel"])

    def __call__(self, words: list[int]) -> Any:
        return self.call(self.given(words))

    def given(self, words: list[int]) -> ctypes.Array[ctypes.c_uint64]:
        """The words of the arguments, as the code reads them."""
        return (ctypes.c_uint64 * max(1, len(words)))(*words)

    def call(self, given: ctypes.Array[ctypes.c_uint64]) -> Any:
        """Run the code, and give what it returns. Raises ValueError where it does."""
        results = (ctypes.c_int64 * max(1, len(self._kinds)))()
        status = self._call(given, results)
        if status:
            raise ValueError(self._messages[status - 1])
        found = [_as_python(results[i], kind) for i, kind in enumerate(self._kinds)]
        if self._tuple:
            return tuple(found)
        return found[0] if found else None


def _as_python(word: int, kind: str) -> Any:
    if kind == NumberKind.TRUTH.name:
        return bool(word)
    return np.uint64(word & _WORD) if kind == NumberKind.UNSIGNED.name else word


def _type_of(argument: Any, words: list[int]) -> Any:
    """What the code depends on; the words by which the argument is passed go to `words`."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise Untranslatable("only contiguous arrays can be given to a kernel")
        words.append(argument.__array_interface__["data"][0])
        words.extend(argument.shape)
        return "array", argument.dtype.str, argument.ndim
    if isinstance(argument, tuple):
        names = getattr(argument, "_fields", ())
        return "tuple", tuple(_type_of(item, words) for item in argument), names
    words.append(int(argument) & _WORD)
    if isinstance(argument, np.uint64):
        return "unsigned"
    if isinstance(argument, np.unsignedinteger):
        return "small"
    return "truth" if isinstance(argument, bool | np.bool_) else "signed"


def _module(function: Callable[..., Any], types: tuple[Any, ...]) -> tuple[str, str]:
    """The text of a module with the function `kernel`, and what it returns: kinds, then messages, a line each."""
    translation = Translation()
    body, out = translation.body, translation.out
    parameters = _Parameters(out)
    result = translation.call(function, [parameters.take(t) for t in types])
    items = result.items if isinstance(result, Group) else () if isinstance(result, Nothing) else (result,)
    kinds = []
    for i, item in enumerate(items):
        assert isinstance(item, Number)
        kinds.append(item.kind.name)
        at = out.value(f"getelementptr i64, ptr %results, i64 {i}")
        out.do(f"store i64 {body.do.as_number(item).text}, ptr {at}")
    out.do("ret i64 0")
    text = "\n".join(
        [
            "define i64 @kernel(ptr %given, ptr %results) nounwind {",
            "entry:",
            *body.lines,
            "}",
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            "declare i64 @llvm.cttz.i64(i64, i1)",
            "declare i64 @llvm.ctpop.i64(i64)",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n",
        ]
    )
    shape = " ".join(["tuple" if isinstance(result, Group) else "number", *kinds])
    return text, "\n".join([shape, *body.messages])


class _Parameters:
    """Reads the arguments of a kernel from where its caller put them."""

    def __init__(self, out: Assembly) -> None:
        self.out, self._count = out, 0

    def take(self, type_: Any) -> Value:
        """The next argument, of this type."""
        if isinstance(type_, str):
            word = self._word()
            if type_ == "truth":
                return Number(self.out.value(f"icmp ne i64 {word}, 0"), NumberKind.TRUTH)
            return Number(word, NumberKind[type_.upper()])
        if type_[0] == "tuple":
            return Group(tuple(self.take(t) for t in type_[1]), type_[2])
        address = self._word()
        pointer = self.out.value(f"inttoptr i64 {address} to ptr")
        length, columns = self._word(), None
        if type_[2] == 2:
            columns = self._word()
        return Array(address, pointer, length, columns, element_of(np.dtype(type_[1])))

    def _word(self) -> str:
        at = self.out.value(f"getelementptr i64, ptr %given, i64 {self._count}")
        self._count += 1
        return self.out.value(f"load i64, ptr {at}")


def _description(function: Callable[..., Any], types: tuple[Any, ...]) -> str:
    """What decides the code of a kernel: the compilers, the files of all kernels that it calls, and the constants they use."""
    kernels, waiting = {function}, [function]
    constants = set()
    while waiting:
        kernel = waiting.pop()
        for name in kernel.__code__.co_names:
            value = kernel.__globals__.get(name)
            if isinstance(value, Kernel) and value.kernel not in kernels:
                kernels.add(value.kernel)
                waiting.append(value.kernel)
            elif isinstance(value, int | np.integer):
                constants.add(f"{kernel.__module__}.{name} = {type(value).__name__} {int(value)}")
    files = sorted({Path(kernel.__code__.co_filename) for kernel in kernels})
    texts = [_compilers(), *map(_digest, files), *sorted(constants)]
    return f"{function.__module__}.{function.__qualname__} {types!r} {texts}"


@cache
def _compilers() -> str:
    """A name for this version of what makes kernels into code."""
    rooms = (Path(__file__).parent, Path(machine_code.__file__).parent)
    return "".join(_digest(source) for room in rooms for source in sorted(room.glob("*.py")))


@cache
def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()
