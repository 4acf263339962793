# mypy: allow-untyped-defs, allow-untyped-calls
"""Writing loops over vectors for LLVM, where numba's own would not vectorise, or not keep a vector in a register."""

from llvmlite import ir
from numba.core import cgutils


class VectorWriter:
    """Writes loads, stores and loops of vectors of `width` numbers into a function."""

    def __init__(self, context, builder, signature, arguments, width):
        self._builder = builder
        self._width = width
        self._context = context
        self._arguments = arguments
        self._signature = signature
        self._vector = ir.VectorType(ir.FloatType(), self._width)
        self._index = ir.IntType(64)
        self.zero = self.constant(0.0)
        self.one = self.constant(1.0)

    def constant(self, number):
        return ir.Constant(self._vector, [number] * self._width)

    def splat(self, number):
        """A vector of one and the same number."""
        undefined = ir.Constant(self._vector, ir.Undefined)
        first = self._builder.insert_element(undefined, number, ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), self._width), [0] * self._width)
        return self._builder.shuffle_vector(first, undefined, everywhere)

    def larger(self, left, right):
        """Of two vectors the larger number at each place."""
        return self._builder.select(self._builder.fcmp_ordered(">", left, right), left, right)

    def index(self, number):
        return self._index(number)

    def data(self, number):
        """Address of an array's first element; what follows it there must be the rest of it."""
        kind = self._signature.args[number]
        if kind.layout != "C":
            raise TypeError(f"{kind}: expected a contiguous array")
        make = self._context.make_array(kind)
        return make(self._context, self._builder, self._arguments[number]).data

    def place(self, places, at):
        return self._builder.zext(self._builder.load(self._builder.gep(places, [at])), self._index)

    def vector_at(self, numbers, at):
        """Address of as many numbers as a vector has from `at` on."""
        return self._builder.bitcast(self._builder.gep(numbers, [at]), self._vector.as_pointer())

    def load(self, address):
        loaded = self._builder.load(address)
        loaded.align = 4
        return loaded

    def store(self, vector, address):
        self._builder.store(vector, address).align = 4

    def row_at(self, rows, at):
        return self.vector_at(rows, self._builder.mul(at, self._index(self._width)))

    def load_row(self, rows, at):
        return self.load(self.row_at(rows, at))

    def variable(self, vector):
        return cgutils.alloca_once_value(self._builder, vector)

    def transposed(self, vectors):
        """A square of vectors to its columns: each round interleaves the first half of them with the second."""
        half = self._width // 2
        lanes = ir.VectorType(ir.IntType(32), self._width)
        width = self._width
        low, high = (
            ir.Constant(lanes, [start + k // 2 + width * (k % 2) for k in range(width)]) for start in (0, half)
        )
        for _ in range(self._width.bit_length() - 1):
            pairs = zip(vectors[:half], vectors[half:])
            vectors = [self._builder.shuffle_vector(*pair, mask) for pair in pairs for mask in (low, high)]
        return vectors

    def each_chunk(self, size, work):
        """`work` on vectors from 0 on, one after the other; they must fill the size."""
        width = self._index(self._width)
        with cgutils.for_range(self._builder, self._builder.sdiv(size, width)) as loop:
            work(self._builder.mul(loop.index, width))

    def each_block(self, size, work):
        """`work` on vectors from 0 on, one after the other; the last two overlap, so there must be one at least."""
        self.each_chunk(size, work)
        work(self._builder.sub(size, self._index(self._width)))
