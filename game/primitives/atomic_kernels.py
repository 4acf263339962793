# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""Counters that threads inside of kernels share: read, added to and claimed as one step that no other thread can split.

All are sequentially consistent: what a thread wrote before it changed a counter is seen by who reads the change. Counters
are int64 arrays. In plain Python, where the compiler is off, one lock stands for all.
"""

import threading
import time

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_ORDER = "seq_cst"
_BYTES = 8
_LOCK = threading.Lock()


def _address(context, builder, signature, arguments):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def read_counter(counters, at):
    """What a counter is now."""
    with _LOCK:
        return counters[at]


@intrinsic
def _read_counter(typing_context, counters, at):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_address(context, builder, signature, arguments), _ORDER, _BYTES)

    return types.int64(counters, types.intp), generate


@overload(read_counter)
def _compiled_read_counter(counters, at):
    return lambda counters, at: _read_counter(counters, at)


def add_to_counter(counters, at, amount):
    """Add; returns what it was before."""
    with _LOCK:
        before = counters[at]
        counters[at] += amount
        return before


@intrinsic
def _add_to_counter(typing_context, counters, at, amount):
    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _address(context, builder, signature, arguments), arguments[2], _ORDER)

    return types.int64(counters, types.intp, types.int64), generate


@overload(add_to_counter)
def _compiled_add_to_counter(counters, at, amount):
    return lambda counters, at, amount: _add_to_counter(counters, at, amount)


def claim_number(counters, at, number):
    """Whether the counter was `number` and is the next one now: of several threads that ask, one is told yes."""
    with _LOCK:
        if counters[at] != number:
            return False
        counters[at] += 1
        return True


@intrinsic
def _claim_number(typing_context, counters, at, number):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature, arguments)
        following = builder.add(arguments[2], ir.IntType(64)(1))
        return builder.extract_value(builder.cmpxchg(address, arguments[2], following, _ORDER, _ORDER), 1)

    return types.boolean(counters, types.intp, types.int64), generate


@overload(claim_number)
def _compiled_claim_number(counters, at, number):
    return lambda counters, at, number: _claim_number(counters, at, number)


def let_others_run():
    """Give the rest of this thread's turn on the processor to whoever waits for it."""
    time.sleep(0)  # waits for nothing: plain Python has no other way to yield


@intrinsic
def _let_others_run(typing_context):
    def generate(context, builder, signature, arguments):
        function_type = ir.FunctionType(ir.IntType(32), [])
        name = "sched_yield"
        function = builder.module.globals.get(name) or ir.Function(builder.module, function_type, name)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


@overload(let_others_run)
def _compiled_let_others_run():
    return lambda: _let_others_run()
