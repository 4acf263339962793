# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""Prefetching entries before they are needed: a walk over tables larger than the cache mostly waits for memory."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def prefetch(array, index):
    """Begin to load `array[index]`; changes nothing. In plain Python there is nothing to do."""


@intrinsic
def _prefetch(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        array_type, _ = signature.args
        structure = context.make_array(array_type)(context, builder, arguments[0])
        entry = cgutils.get_item_pointer(context, builder, array_type, structure, [arguments[1]], wraparound=False)
        address = builder.bitcast(entry, ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], function_type)
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # for reading, to stay in cache, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch)  # numba hands an intrinsic its typing context, which mypy (call-arg) cannot know
def _compiled_prefetch(array, index):
    return lambda array, index: _prefetch(array, index)
