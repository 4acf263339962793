# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""The ways of going on behind a flop, WAYS numbers side by side for every hand, in one register each.

A hand's bucket is looked up once for all ways. numba would take the numbers one by one: the loops are written for LLVM, and
again in Python for runs without the compiler. Arrays are flat and in single precision; buckets are unsigned. h: hands.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from foldwise.game.primitives.vector_writer import VectorWriter

WAYS = 4


def _by_hand(rows, buckets):
    return rows.reshape(-1, WAYS)[buckets]


def multiply_ways(source, rows, buckets, out):  # [>= h * WAYS], [buckets * WAYS], [h], [>= h * WAYS]
    """out[h] = source[h] * rows[buckets[h]]."""
    count = buckets.size * WAYS
    out[:count] = (source[:count].reshape(-1, WAYS) * _by_hand(rows, buckets)).ravel()


@intrinsic
def _multiply_ways(typing_context, source, rows, buckets, count, out):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WAYS)
        source_data, rows_data, buckets_data, out_data = (writer.data(number) for number in (0, 1, 2, 4))
        with cgutils.for_range(builder, arguments[3]) as loop:
            row = writer.load_row(rows_data, writer.place(buckets_data, loop.index))
            product = builder.fmul(writer.load_row(source_data, loop.index), row)
            writer.store(product, writer.row_at(out_data, loop.index))
        return context.get_dummy_value()

    return types.void(source, rows, buckets, types.intp, out), generate


@overload(multiply_ways)
def _compiled_multiply_ways(source, rows, buckets, out):
    return lambda source, rows, buckets, out: _multiply_ways(source, rows, buckets, buckets.size, out)


def add_multiplied_ways(source, rows, buckets, out):  # the same, but [>= h]
    """out[h] = the sum over ways of source[h] * rows[buckets[h]]."""
    products = source[: buckets.size * WAYS].reshape(-1, WAYS) * _by_hand(rows, buckets)
    total = products[:, 0]
    for way in range(1, WAYS):
        total = total + products[:, way]
    out[: buckets.size] = total


@intrinsic
def _add_multiplied_ways(typing_context, source, rows, buckets, count, out):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WAYS)
        source_data, rows_data, buckets_data, out_data = (writer.data(number) for number in (0, 1, 2, 4))
        with cgutils.for_range(builder, arguments[3]) as loop:
            row = writer.load_row(rows_data, writer.place(buckets_data, loop.index))
            product = builder.fmul(writer.load_row(source_data, loop.index), row)
            lanes = [builder.extract_element(product, ir.IntType(32)(way)) for way in range(WAYS)]
            total = lanes[0]
            for lane in lanes[1:]:
                total = builder.fadd(total, lane)
            builder.store(total, builder.gep(out_data, [loop.index]))
        return context.get_dummy_value()

    return types.void(source, rows, buckets, types.intp, out), generate


@overload(add_multiplied_ways)
def _compiled_add_multiplied_ways(source, rows, buckets, out):
    return lambda source, rows, buckets, out: _add_multiplied_ways(source, rows, buckets, buckets.size, out)


def put_played(
    rows, buckets, is_wide, single, wide, out
):  # [buckets * WAYS], [h], -, [>= h], [>= h * WAYS], [>= h * WAYS]
    """out[h] = what an action is worth times how often each way plays it; worth `single[h]`, or `wide[h]` way by way."""
    count = buckets.size * WAYS
    worth = wide[:count].reshape(-1, WAYS) if is_wide else single[: buckets.size, None]
    out[:count] = (worth * _by_hand(rows, buckets)).ravel()


def add_played(rows, buckets, is_wide, single, wide, out):
    """The same, added."""
    count = buckets.size * WAYS
    worth = wide[:count].reshape(-1, WAYS) if is_wide else single[: buckets.size, None]
    out[:count] += (worth * _by_hand(rows, buckets)).ravel()


def _played(is_wide, is_added):
    """The loop of one case."""

    @intrinsic
    def write(typing_context, rows, buckets, count, worth, out):
        def generate(context, builder, signature, arguments):
            writer = VectorWriter(context, builder, signature, arguments, WAYS)
            rows_data, buckets_data, worth_data, out_data = (writer.data(number) for number in (0, 1, 3, 4))
            with cgutils.for_range(builder, arguments[2]) as loop:
                row = writer.load_row(rows_data, writer.place(buckets_data, loop.index))
                if is_wide:
                    value = writer.load_row(worth_data, loop.index)
                else:
                    value = writer.splat(builder.load(builder.gep(worth_data, [loop.index])))
                product = builder.fmul(value, row)
                target = writer.row_at(out_data, loop.index)
                writer.store(builder.fadd(writer.load(target), product) if is_added else product, target)
            return context.get_dummy_value()

        return types.void(rows, buckets, types.intp, worth, out), generate

    return write


_put_wide, _put_single, _add_wide, _add_single = (
    _played(wide, added) for added in (False, True) for wide in (True, False)
)


@overload(put_played)
def _compiled_put_played(rows, buckets, is_wide, single, wide, out):
    def put(rows, buckets, is_wide, single, wide, out):
        if is_wide:
            _put_wide(rows, buckets, buckets.size, wide, out)
        else:
            _put_single(rows, buckets, buckets.size, single, out)

    return put


@overload(add_played)
def _compiled_add_played(rows, buckets, is_wide, single, wide, out):
    def add(rows, buckets, is_wide, single, wide, out):
        if is_wide:
            _add_wide(rows, buckets, buckets.size, wide, out)
        else:
            _add_single(rows, buckets, buckets.size, single, out)

    return add
