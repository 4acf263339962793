# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""Adding up rows of a tile in registers: what a product with a matrix of mostly zeros spends its time on.

Written as a loop, every entry reads and writes the sum in the cache. As one vector of WIDTH numbers it stays in the
registers of the processor from the first entry to the last, and only the tile is read.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

WIDTH = 128  # numbers in a row: in single precision 8 of the 32 registers of a processor with AVX-512


def add_rows(target, tile, places, weights, first, last):
    """target += weights[e] * tile[places[e]] for every entry e from `first` to `last`.

    target [WIDTH], tile [rows, WIDTH], of one type; all arrays are contiguous.
    """
    for entry in range(first, last):
        target += weights[entry] * tile[places[entry]]


@intrinsic
def _add_rows(typing_context, target, tile, places, weights, first, last):
    def generate(context, builder, signature, arguments):
        def data(number):
            structure = context.make_array(signature.args[number])(context, builder, arguments[number])
            return structure.data

        sums, rows, entry_places, entry_weights = (data(number) for number in range(4))
        start, end = arguments[4:]
        index, lane = ir.IntType(64), ir.IntType(32)
        vector = ir.VectorType(context.get_value_type(target.dtype), WIDTH)
        alignment = target.dtype.bitwidth // 8

        def load(address):
            loaded = builder.load(builder.bitcast(address, vector.as_pointer()))
            loaded.align = alignment
            return loaded

        before, initial = builder.block, load(sums)
        body, done = builder.append_basic_block("entry"), builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed("<", start, end), body, done)

        builder.position_at_end(body)
        entry, total = builder.phi(index), builder.phi(vector)
        place = builder.zext(builder.load(builder.gep(entry_places, [entry])), index)
        row = load(builder.gep(rows, [builder.mul(place, index(WIDTH))]))
        weight = builder.load(builder.gep(entry_weights, [entry]))
        nothing = ir.Constant(vector, ir.Undefined)
        spread = builder.shuffle_vector(
            builder.insert_element(nothing, weight, lane(0)),
            nothing,
            ir.Constant(ir.VectorType(lane, WIDTH), [0] * WIDTH),
        )
        fused = ("contract",)  # one rounding for both, where the processor can
        added = builder.fadd(builder.fmul(row, spread, flags=fused), total, flags=fused)
        following = builder.add(entry, index(1))
        builder.cbranch(builder.icmp_signed("<", following, end), body, done)
        for phi, at_first, later in ((entry, start, following), (total, initial, added)):
            phi.add_incoming(at_first, before)
            phi.add_incoming(later, body)

        builder.position_at_end(done)
        result = builder.phi(vector)
        result.add_incoming(initial, before)
        result.add_incoming(added, body)
        stored = builder.store(result, builder.bitcast(sums, vector.as_pointer()))
        stored.align = alignment
        return context.get_dummy_value()

    return types.void(target, tile, places, weights, types.intp, types.intp), generate


@overload(add_rows)  # numba hands an intrinsic its typing context, which mypy (call-arg) cannot know
def _compiled_add_rows(target, tile, places, weights, first, last):
    if not target.dtype == tile.dtype == weights.dtype or any(
        array.layout != "C" for array in (target, tile, places, weights)
    ):
        return None
    return lambda target, tile, places, weights, first, last: _add_rows(target, tile, places, weights, first, last)
