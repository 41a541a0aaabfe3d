"""Progress bars on stderr, and nothing at all where none is wanted.

A bar of tqdm, even a disabled one, takes a lock that forked processes share, and where one of them
is killed meanwhile the others wait for it for ever. So a bar is made only where one is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast, overload

Value = TypeVar("Value")


class Bar(Protocol[Value]):
    """What clew does with a progress bar."""

    def __iter__(self) -> Iterator[Value]: ...
    def __enter__(self) -> Bar[Value]: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> object: ...
    def update(self, n: int = 1) -> object: ...


class _NoBar(Generic[Value]):
    """Goes through its values and shows nothing."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values)

    def __enter__(self) -> _NoBar[Value]:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def update(self, n: int = 1) -> None:
        """Show nothing."""


@overload
def progress_bar(values: Iterable[Value], *, shown: bool, label: str, unit: str) -> Bar[Value]: ...
@overload
def progress_bar(*, shown: bool, label: str, unit: str, total: int) -> Bar[int]: ...
def progress_bar(
    values: Iterable[Any] | None = None,
    *,
    shown: bool,
    label: str,
    unit: str,
    total: int | None = None,
) -> Bar[Any]:
    """Return a progress bar over values, or one that `update` moves, where a total is given.

    Args:
        values: What is gone through.
        shown: Whether it is shown on stderr.
        label: What stands before the bar.
        unit: What a value is called.
        total: How many steps there are; None for as many as there are values.

    Example:
        >>> list(progress_bar(["a", "b"], shown=False, label="reading", unit="letter"))
        ['a', 'b']
    """
    if not shown:
        return _NoBar(() if values is None else values)
    from tqdm import tqdm

    return cast("Bar[Any]", tqdm(values, total=total, desc=label, unit=unit))
