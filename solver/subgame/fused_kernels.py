# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="call-arg"
"""One decision of all hands in one pass each way, CHUNK hands at a time in registers.

Down the tree a decision's strategy, the reaches behind it and its strategy sums; up the tree its value and its regrets.
numba would write a loop for each and bring every vector from the cache again: it vectorises no loop over as many arrays,
since they may overlap. So the loops are written for LLVM, and once more in numpy, which runs where the compiler is off.

n: hands, a multiple of CHUNK; A: actions of the decision. Arrays are contiguous and in single precision.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from foldwise.game.primitives.vector_writer import VectorWriter

CHUNK = 32
_LINE = 16  # numbers in a cache line
_LEAST_TOTAL = float(np.float32(1e-30))  # its inverse is finite in single precision


class _DecisionWriter(VectorWriter):
    """Writes regret matching (Zinkevich et al., NIPS 2007, eq. 8) of CHUNK hands."""

    def __init__(self, context, builder, signature, arguments, num_actions, num_hands):
        super().__init__(context, builder, signature, arguments, CHUNK)
        self._num_actions = num_actions
        self._num_hands = num_hands

    def each_action(self, start, work):
        """`work` on each action's place of the hand `start`."""
        with cgutils.for_range(self._builder, self._num_actions) as loop:
            work(self._builder.add(self._builder.mul(loop.index, self._num_hands), start))

    def ask_for(self, ahead, num_rows, start):
        """Begin to load the hands from `start` on of each row of a table that is wanted next."""
        builder, flag = self._builder, ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], function_type)
        with cgutils.for_range(builder, num_rows) as loop:
            at = builder.add(builder.mul(loop.index, self._num_hands), start)
            for line in range(0, CHUNK, _LINE):
                address = builder.gep(ahead, [builder.add(at, self.index(line))])
                builder.call(function, [builder.bitcast(address, byte), flag(0), flag(3), flag(1)])

    def load_from(self, numbers, at):
        return self.load(self.vector_at(numbers, at))

    def store_to(self, vector, numbers, at):
        self.store(vector, self.vector_at(numbers, at))

    def each_match(self, weights, start, work):
        """`work` on each action's place and the hands' strategy there: in proportion to positive weights, or uniform."""
        builder = self._builder
        total = self.variable(self.zero)
        builder.store(self.zero, total)

        def positive(at):
            return self.larger(self.load_from(weights, at), self.zero)

        self.each_action(start, lambda at: builder.store(builder.fadd(builder.load(total), positive(at)), total))
        found = builder.load(total)
        known = builder.fcmp_ordered(">", found, self.constant(_LEAST_TOTAL))
        inverse = builder.fdiv(self.one, found)
        number = ir.FloatType()
        uniform = self.splat(builder.fdiv(number(1.0), builder.sitofp(self._num_actions, number)))
        self.each_action(
            start, lambda at: work(at, builder.select(known, builder.fmul(positive(at), inverse), uniform))
        )


def _matched(weights):
    """[A, n] strategies in proportion to positive weights; uniform without any."""
    positive = np.maximum(weights, np.float32(0.0))
    total = positive.sum(axis=0)
    known = total > _LEAST_TOTAL
    inverse = np.float32(1.0) / np.where(known, total, np.float32(1.0))
    return np.where(known, positive * inverse, np.float32(1.0 / len(weights)))


def share_reach(weights, reach, reaches, ahead, ahead_sums):  # [A, n] regrets or sums, [n], [A, n], [any, n] twice
    """Reaches behind each action: the reach before it times the strategy, which is not kept.

    Memory is asked for `ahead` and `ahead_sums`, rows of the next decision: its tables are mostly not in the cache.
    """
    reaches[:] = _matched(weights) * reach


@intrinsic
def _share_reach(
    typing_context, weights, reach, reaches, ahead, ahead_sums, num_ahead, num_ahead_sums, num_actions, num_hands
):
    def generate(context, builder, signature, arguments):
        writer = _DecisionWriter(context, builder, signature, arguments, *arguments[7:])
        weights_data, reach_data, reaches_data = (writer.data(number) for number in range(3))
        ahead_data, ahead_sums_data = writer.data(3), writer.data(4)

        def chunk(start):
            writer.ask_for(ahead_data, arguments[5], start)
            writer.ask_for(ahead_sums_data, arguments[6], start)
            before = writer.load_from(reach_data, start)
            writer.each_match(
                weights_data,
                start,
                lambda at, sigma: writer.store_to(builder.fmul(sigma, before), reaches_data, at),
            )

        writer.each_chunk(arguments[8], chunk)
        return context.get_dummy_value()

    return types.void(weights, reach, reaches, ahead, ahead_sums, *[types.intp] * 4), generate


@overload(share_reach)
def _compiled_share_reach(weights, reach, reaches, ahead, ahead_sums):
    return lambda weights, reach, reaches, ahead, ahead_sums: _share_reach(
        weights,
        reach,
        reaches,
        ahead,
        ahead_sums,
        ahead.shape[0],
        ahead_sums.shape[0],
        weights.shape[0],
        weights.shape[1],
    )


def play_decision(weights, reach, sigma, reaches):  # [A, n] regrets or sums, [n], [A, n], [A, n]
    """Strategies, and the reaches behind each action."""
    sigma[:] = _matched(weights)
    reaches[:] = sigma * reach


@intrinsic
def _play_decision(typing_context, weights, reach, sigma, reaches, num_actions, num_hands):
    def generate(context, builder, signature, arguments):
        writer = _DecisionWriter(context, builder, signature, arguments, *arguments[4:])
        weights_data, reach_data, sigma_data, reaches_data = (writer.data(number) for number in range(4))

        def chunk(start):
            before = writer.load_from(reach_data, start)

            def put(at, strategy):
                writer.store_to(strategy, sigma_data, at)
                writer.store_to(builder.fmul(strategy, before), reaches_data, at)

            writer.each_match(weights_data, start, put)

        writer.each_chunk(arguments[5], chunk)
        return context.get_dummy_value()

    return types.void(weights, reach, sigma, reaches, types.intp, types.intp), generate


@overload(play_decision)
def _compiled_play_decision(weights, reach, sigma, reaches):
    return lambda weights, reach, sigma, reaches: _play_decision(
        weights, reach, sigma, reaches, weights.shape[0], weights.shape[1]
    )


def play_and_add(weights, reach, sigma, reaches, sums, factor, weight, ahead, ahead_sums):  # as above, sums [A, n]
    """The same, and strategy sums: factor times what they were, plus weight times reach times strategy.

    Memory is asked for the next decision's tables, as in `share_reach`.
    """
    play_decision(weights, reach, sigma, reaches)
    sums[:] = sums * factor + weight * reach * sigma


@intrinsic
def _play_and_add(
    typing_context,
    weights,
    reach,
    sigma,
    reaches,
    sums,
    factor,
    weight,
    ahead,
    ahead_sums,
    num_ahead,
    num_ahead_sums,
    num_actions,
    num_hands,
):
    def generate(context, builder, signature, arguments):
        writer = _DecisionWriter(context, builder, signature, arguments, *arguments[11:])
        weights_data, reach_data, sigma_data, reaches_data, sums_data = (writer.data(number) for number in range(5))
        factors, added = (writer.splat(number) for number in arguments[5:7])

        ahead_data, ahead_sums_data = writer.data(7), writer.data(8)

        def chunk(start):
            writer.ask_for(ahead_data, arguments[9], start)
            writer.ask_for(ahead_sums_data, arguments[10], start)
            before = writer.load_from(reach_data, start)
            weighed = builder.fmul(added, before)

            def put(at, strategy):
                writer.store_to(strategy, sigma_data, at)
                writer.store_to(builder.fmul(strategy, before), reaches_data, at)
                kept = builder.fmul(writer.load_from(sums_data, at), factors)
                writer.store_to(builder.fadd(kept, builder.fmul(weighed, strategy)), sums_data, at)

            writer.each_match(weights_data, start, put)

        writer.each_chunk(arguments[12], chunk)
        return context.get_dummy_value()

    single = types.float32
    arrays = (weights, reach, sigma, reaches, sums)
    return types.void(*arrays, single, single, ahead, ahead_sums, *[types.intp] * 4), generate


@overload(play_and_add)
def _compiled_play_and_add(weights, reach, sigma, reaches, sums, factor, weight, ahead, ahead_sums):
    return lambda weights, reach, sigma, reaches, sums, factor, weight, ahead, ahead_sums: _play_and_add(
        weights,
        reach,
        sigma,
        reaches,
        sums,
        factor,
        weight,
        ahead,
        ahead_sums,
        ahead.shape[0],
        ahead_sums.shape[0],
        weights.shape[0],
        weights.shape[1],
    )


def learn_decision(sigma, action_values, regrets, positive, negative, floor, value):  # [A, n] three times, ..., [n]
    """The value of a decision to who takes it, and his regrets: what is kept of them plus what each action gains on it."""
    value[:] = (sigma * action_values).sum(axis=0)
    kept = regrets * np.where(regrets > 0.0, positive, negative)
    regrets[:] = np.maximum(kept + (action_values - value), floor)


@intrinsic
def _learn_decision(
    typing_context, sigma, action_values, regrets, positive, negative, floor, value, num_actions, num_hands
):
    def generate(context, builder, signature, arguments):
        writer = _DecisionWriter(context, builder, signature, arguments, *arguments[7:])
        sigma_data, values_data, regrets_data, value_data = (writer.data(number) for number in (0, 1, 2, 6))
        gains, losses, least = (writer.splat(number) for number in arguments[3:6])

        def chunk(start):
            total = writer.variable(writer.zero)
            builder.store(writer.zero, total)

            def add(at):
                part = builder.fmul(writer.load_from(sigma_data, at), writer.load_from(values_data, at))
                builder.store(builder.fadd(builder.load(total), part), total)

            writer.each_action(start, add)
            worth = builder.load(total)
            writer.store_to(worth, value_data, start)

            def learn(at):
                regret = writer.load_from(regrets_data, at)
                factor = builder.select(builder.fcmp_ordered(">", regret, writer.zero), gains, losses)
                gain = builder.fsub(writer.load_from(values_data, at), worth)
                changed = builder.fadd(builder.fmul(regret, factor), gain)
                writer.store_to(writer.larger(changed, least), regrets_data, at)

            writer.each_action(start, learn)

        writer.each_chunk(arguments[8], chunk)
        return context.get_dummy_value()

    single = types.float32
    arguments = (sigma, action_values, regrets, single, single, single, value, types.intp, types.intp)
    return types.void(*arguments), generate


@overload(learn_decision)
def _compiled_learn_decision(sigma, action_values, regrets, positive, negative, floor, value):
    return lambda sigma, action_values, regrets, positive, negative, floor, value: _learn_decision(
        sigma, action_values, regrets, positive, negative, floor, value, sigma.shape[0], sigma.shape[1]
    )
