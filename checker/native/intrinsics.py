"""Two instructions that numba has no words for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, generate


def _call(typing_context: Any, address: Any, arguments: Any) -> Any:
    signature = types.int64(address, arguments)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        items = cgutils.unpack_tuple(builder, values[1])
        function_type = ir.FunctionType(word, [word] * len(items))
        return builder.call(builder.inttoptr(values[0], function_type.as_pointer()), items)

    return signature, generate


prefetch: Any = intrinsic(_prefetch)
"""prefetch(array, index): ask for the cache line of array[index]; no harm if there is none."""

call: Any = intrinsic(_call)
"""call(address, arguments): call the function at an address with a tuple of 64-bit integers; gives one."""
