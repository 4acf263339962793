# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""Rows of WIDTH numbers, one for each of as many vectors ("lanes"), in one register each.

Work on a vector that looks up a place for every element spends its time on finding the places. With the vectors side by
side, element by element, one lookup serves all of them, and their numbers come with one load. numba would not keep such a
row in a register: the loops are written for LLVM, and again in Python for runs without the compiler.

All arrays are flat and contiguous: single precision for rows, unsigned integers for places.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from foldwise.game.primitives.vector_writer import VectorWriter

WIDTH = 8
_STEP = 4


def _row(rows, at):
    return rows[WIDTH * int(at) : WIDTH * int(at) + WIDTH]


def add_up_rows(sums, rows, places, first, count):
    """sums[k] = the sum of the first k of the `count` rows at places[first:]: count + 1 rows are written.

    The total is kept in double precision, because the errors of a thousand additions would decide between actions of
    equal worth; it grows by _STEP rows at a time, within which single precision loses no more than a rounding does.
    """
    total = np.zeros(WIDTH)
    _row(sums, 0)[:] = 0.0
    for k in range(count):
        if k % _STEP == 0 or k >= count // _STEP * _STEP:
            base, part = total.astype(np.float32), np.zeros(WIDTH, np.float32)
        part = part + _row(rows, places[first + k])
        _row(sums, k + 1)[:] = base + part
        if k % _STEP == _STEP - 1 or k >= count // _STEP * _STEP:
            total += part


@intrinsic
def _add_up_rows(typing_context, sums, rows, places, first, count):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        sums_data, rows_data, places_data = (writer.data(number) for number in range(3))
        start, size = arguments[3:]
        double = ir.VectorType(ir.DoubleType(), WIDTH)
        total = writer.variable(ir.Constant(double, [0.0] * WIDTH))
        writer.store(writer.zero, writer.row_at(sums_data, writer.index(0)))

        def step(done, num_rows):
            before = builder.load(total)
            base, part = builder.fptrunc(before, writer.zero.type), None
            for k in range(num_rows):
                at = builder.add(done, writer.index(k))
                row = writer.load_row(rows_data, writer.place(places_data, builder.add(start, at)))
                part = row if part is None else builder.fadd(part, row)
                writer.store(builder.fadd(base, part), writer.row_at(sums_data, builder.add(at, writer.index(1))))
            builder.store(builder.fadd(before, builder.fpext(part, double)), total)

        num_steps = builder.sdiv(size, writer.index(_STEP))
        with cgutils.for_range(builder, num_steps) as loop:
            step(builder.mul(loop.index, writer.index(_STEP)), _STEP)
        stepped = builder.mul(num_steps, writer.index(_STEP))
        with cgutils.for_range(builder, builder.sub(size, stepped)) as loop:
            step(builder.add(stepped, loop.index), 1)
        return context.get_dummy_value()

    return types.void(sums, rows, places, types.intp, types.intp), generate


@overload(add_up_rows)
def _compiled_add_up_rows(sums, rows, places, first, count):
    return lambda sums, rows, places, first, count: _add_up_rows(sums, rows, places, first, count)


def sum_rows(sums, at, rows, places, first, count):
    """sums[at] = the sum of the `count` rows at places[first:]."""
    total = 0.0 * _row(sums, at)
    for k in range(count):
        total = total + _row(rows, places[first + k])
    _row(sums, at)[:] = total


@intrinsic
def _sum_rows(typing_context, sums, at, rows, places, first, count):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        sums_data, rows_data, places_data = (writer.data(number) for number in (0, 2, 3))
        start, size = arguments[4:]
        total = writer.variable(writer.zero)
        with cgutils.for_range(builder, size) as loop:
            row = writer.load_row(rows_data, writer.place(places_data, builder.add(start, loop.index)))
            builder.store(builder.fadd(builder.load(total), row), total)
        writer.store(builder.load(total), writer.row_at(sums_data, arguments[1]))
        return context.get_dummy_value()

    return types.void(sums, types.intp, rows, places, types.intp, types.intp), generate


@overload(sum_rows)
def _compiled_sum_rows(sums, at, rows, places, first, count):
    return lambda sums, at, rows, places, first, count: _sum_rows(sums, at, rows, places, first, count)


def put_balances(out, sums, below, up_to, count):
    """out[i] = sums[below[i]] - (sums[count] - sums[up_to[i]]): what stands before i less what stands behind."""
    for i in range(count):
        _row(out, i)[:] = _row(sums, below[i]) - (_row(sums, count) - _row(sums, up_to[i]))


@intrinsic
def _put_balances(typing_context, out, sums, below, up_to, count):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        out_data, sums_data, below_data, up_to_data = (writer.data(number) for number in range(4))
        total = writer.load_row(sums_data, arguments[4])
        with cgutils.for_range(builder, arguments[4]) as loop:
            before = writer.load_row(sums_data, writer.place(below_data, loop.index))
            within = writer.load_row(sums_data, writer.place(up_to_data, loop.index))
            balance = builder.fsub(before, builder.fsub(total, within))
            writer.store(balance, writer.row_at(out_data, loop.index))
        return context.get_dummy_value()

    return types.void(out, sums, below, up_to, types.intp), generate


@overload(put_balances)
def _compiled_put_balances(out, sums, below, up_to, count):
    return lambda out, sums, below, up_to, count: _put_balances(out, sums, below, up_to, count)


def take_balances(out, sums, places, below, up_to, first, count):
    """The same of `count` rows at places[first:], whose sums are given, taken from out[places]."""
    for k in range(first, first + count):
        _row(out, places[k])[:] -= _row(sums, below[k]) - (_row(sums, count) - _row(sums, up_to[k]))


@intrinsic
def _take_balances(typing_context, out, sums, places, below, up_to, first, count):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        out_data, sums_data, places_data, below_data, up_to_data = (writer.data(number) for number in range(5))
        start, size = arguments[5:]
        total = writer.load_row(sums_data, size)
        with cgutils.for_range(builder, size) as loop:
            at = builder.add(start, loop.index)
            target = writer.row_at(out_data, writer.place(places_data, at))
            before = writer.load_row(sums_data, writer.place(below_data, at))
            within = writer.load_row(sums_data, writer.place(up_to_data, at))
            balance = builder.fsub(before, builder.fsub(total, within))
            writer.store(builder.fsub(writer.load(target), balance), target)
        return context.get_dummy_value()

    return types.void(out, sums, places, below, up_to, types.intp, types.intp), generate


@overload(take_balances)
def _compiled_take_balances(out, sums, places, below, up_to, first, count):
    return lambda out, sums, places, below, up_to, first, count: _take_balances(
        out, sums, places, below, up_to, first, count
    )


def put_rests(out, rows, sums, high, low, num_sums, count):
    """out[i] = half of all sums, less sums[high[i]] and sums[low[i]], plus rows[i]."""
    total = 0.0 * _row(sums, 0)
    for k in range(num_sums):
        total = total + _row(sums, k)
    for i in range(count):
        _row(out, i)[:] = (total * total.dtype.type(0.5) - (_row(sums, high[i]) + _row(sums, low[i]))) + _row(rows, i)


@intrinsic
def _put_rests(typing_context, out, rows, sums, high, low, num_sums, count):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        out_data, rows_data, sums_data, high_data, low_data = (writer.data(number) for number in range(5))
        num, size = arguments[5:]
        total = writer.variable(writer.zero)
        with cgutils.for_range(builder, num) as loop:
            builder.store(builder.fadd(builder.load(total), writer.load_row(sums_data, loop.index)), total)
        half = builder.fmul(builder.load(total), writer.constant(0.5))
        with cgutils.for_range(builder, size) as loop:
            first = writer.load_row(sums_data, writer.place(high_data, loop.index))
            second = writer.load_row(sums_data, writer.place(low_data, loop.index))
            rest = builder.fsub(half, builder.fadd(first, second))
            whole = builder.fadd(rest, writer.load_row(rows_data, loop.index))
            writer.store(whole, writer.row_at(out_data, loop.index))
        return context.get_dummy_value()

    return types.void(out, rows, sums, high, low, types.intp, types.intp), generate


@overload(put_rests)
def _compiled_put_rests(out, rows, sums, high, low, num_sums, count):
    return lambda out, rows, sums, high, low, num_sums, count: _put_rests(out, rows, sums, high, low, num_sums, count)


def to_lanes(vectors, picked, out):
    """out[i, v] = vectors[picked[v], i]; vectors [any, size of at least WIDTH], picked int64[WIDTH], out flat."""
    out.reshape(-1, WIDTH)[:] = vectors[picked].T


@intrinsic
def _to_lanes(typing_context, vectors, picked, size, out):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        vectors_data, picked_data, out_data = (writer.data(number) for number in (0, 1, 3))
        length = arguments[2]
        firsts = [
            builder.mul(builder.load(builder.gep(picked_data, [writer.index(lane)])), length) for lane in range(WIDTH)
        ]

        def turn(start):
            loaded = [writer.load(writer.vector_at(vectors_data, builder.add(first, start))) for first in firsts]
            for k, row in enumerate(writer.transposed(loaded)):
                writer.store(row, writer.row_at(out_data, builder.add(start, writer.index(k))))

        writer.each_block(length, turn)
        return context.get_dummy_value()

    return types.void(vectors, picked, types.intp, out), generate


@overload(to_lanes)
def _compiled_to_lanes(vectors, picked, out):
    return lambda vectors, picked, out: _to_lanes(vectors, picked, vectors.shape[1], out)


def from_lanes(lanes, scales, picked, out):
    """out[picked[v], i] = scales[v] * lanes[i, v]: the way back; scales [WIDTH]."""
    out[picked] = (lanes.reshape(-1, WIDTH) * scales).T


@intrinsic
def _from_lanes(typing_context, lanes, scales, picked, size, out):
    def generate(context, builder, signature, arguments):
        writer = VectorWriter(context, builder, signature, arguments, WIDTH)
        lanes_data, scales_data, picked_data, out_data = (writer.data(number) for number in (0, 1, 2, 4))
        length = arguments[3]
        firsts = [
            builder.mul(builder.load(builder.gep(picked_data, [writer.index(lane)])), length) for lane in range(WIDTH)
        ]
        factors = writer.load_row(scales_data, writer.index(0))

        def turn(start):
            rows = [writer.load_row(lanes_data, builder.add(start, writer.index(k))) for k in range(WIDTH)]
            scaled = [builder.fmul(row, factors) for row in rows]
            for first, vector in zip(firsts, writer.transposed(scaled)):
                writer.store(vector, writer.vector_at(out_data, builder.add(first, start)))

        writer.each_block(length, turn)
        return context.get_dummy_value()

    return types.void(lanes, scales, picked, types.intp, out), generate


@overload(from_lanes)
def _compiled_from_lanes(lanes, scales, picked, out):
    return lambda lanes, scales, picked, out: _from_lanes(lanes, scales, picked, out.shape[1], out)
