"""Numbers in memory that compiled loops of two threads change at once, without losing a change.

What a thread has written before it adds to such a number, another thread sees after it has read
the number: the operations are sequentially consistent.
"""

from __future__ import annotations

from typing import Any

from clew.algorithms.kernels.compiled import Kernel


def _add(numbers, place, more):
    before = numbers[place]
    numbers[place] += more
    return before


def _read(numbers, place):
    return numbers[place]


def _build_add() -> Any:
    from numba.core import cgutils, types
    from numba.core.imputils import impl_ret_untracked
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array

    @intrinsic
    def add(_context, numbers, place, more):  # noqa: ARG001  # by its signature
        def generate(context, builder, signature, arguments):
            kind, _, _ = signature.args
            array = make_array(kind)(context, builder, arguments[0])
            pointer = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
            before = builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")
            return impl_ret_untracked(context, builder, signature.return_type, before)

        return types.int64(numbers, types.intp, types.int64), generate

    return add


def _build_read() -> Any:
    from numba.core import cgutils, types
    from numba.core.imputils import impl_ret_untracked
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array

    @intrinsic
    def read(_context, numbers, place):  # noqa: ARG001  # likewise
        def generate(context, builder, signature, arguments):
            kind, _ = signature.args
            array = make_array(kind)(context, builder, arguments[0])
            pointer = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
            value = builder.load_atomic(pointer, "seq_cst", 8)
            return impl_ret_untracked(context, builder, signature.return_type, value)

        return types.int64(numbers, types.intp), generate

    return read


add = Kernel(_add, None, {"intrinsic": "add"}, build=_build_add)
"""Add to a number, and return what it was before.

Args:
    numbers: int64 [n].
    place: of the number.
    more: what is added.
"""

read = Kernel(_read, None, {"intrinsic": "read"}, build=_build_read)
"""Return a number.

Args:
    numbers: int64 [n].
    place: of the number.
"""
