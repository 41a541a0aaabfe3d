"""A changed index that nobody keeps: whoever drops it meant to change the index itself.

`index.add(documents)` as a statement of its own makes an index and loses it. The interpreter then
frees the index in the frame that called, by the instruction after the call. That tells it from
every use: what is kept, passed on, asked or returned is freed later or elsewhere. An interpreter
that frees objects otherwise gives no warning.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from dataclasses import dataclass
from opcode import opmap
from types import CodeType, FrameType
from typing import TypeVar

CACHE, POP_TOP = opmap.get("CACHE"), opmap.get("POP_TOP")  # not every interpreter has them
WORD = 2  # bytes of an instruction

T = TypeVar("T")


class DroppedIndexWarning(UserWarning):
    """A method returned a changed index, and nothing was done with it."""


@dataclass(frozen=True)
class _Call:
    """A call that is under way.

    Attributes:
        frame: The identity of the frame that called.
        code: What runs there.
        instruction: The place of the call in it, in bytes.
        name: What was called.
    """

    frame: int
    code: CodeType
    instruction: int
    name: str

    def is_dropped_in(self, frame: FrameType) -> bool:
        """Return whether the frame is dropping at this moment what the call returned."""
        if id(frame) != self.frame or frame.f_code is not self.code:
            return False
        code, here = self.code.co_code, frame.f_lasti
        between = code[self.instruction + WORD : here : WORD]
        is_next = here > self.instruction and set(between) <= {CACHE}
        return is_next and code[here] == POP_TOP


def warning_if_dropped(changed: T, before: object) -> T:
    """Return a changed index, which warns if the caller of the method drops it at once.

    Args:
        changed: What a method returns. The method calls this itself.
        before: The index that was changed. Where it is the same, nothing is lost.
    """
    if changed is not before:
        method = sys._getframe(1)
        caller = method.f_back
        if caller is not None:
            call = _Call(id(caller), caller.f_code, caller.f_lasti, method.f_code.co_name)
            weakref.finalize(changed, _warn_if_dropped, call).atexit = False
    return changed


def _warn_if_dropped(call: _Call) -> None:
    try:
        frame = sys._getframe(2)  # the first is weakref's own
    except ValueError:  # an error ends the program, and no function runs any more
        return
    if call.is_dropped_in(frame):
        warnings.warn(
            f"an index does not change: {call.name}() returns the changed one, which was dropped "
            f"here; keep it, as in index = index.{call.name}(...)",
            DroppedIndexWarning,
            stacklevel=3,
        )
