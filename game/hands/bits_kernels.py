# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The processor's bit count, which numba has no name for."""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

_config: Any = numba.config
if _config.DISABLE_JIT:  # an intrinsic exists only in compiled code

    def bit_count(bits):
        return int(bits).bit_count()

else:

    @intrinsic
    def bit_count(typing_context, bits):
        """Number of ones in an int64."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), generate
