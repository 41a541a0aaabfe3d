"""Values that find out more about themselves as they are asked, and can be copied meanwhile."""

from __future__ import annotations

from typing import Any


class CopiedAtOnce:
    """A value that is pickled and copied as it is at one moment.

    Python goes through the dictionary of a value item by item, and raises an error where another
    thread adds one, as what is computed at first use does.

    Example:
        >>> class Fields(CopiedAtOnce):
        ...     pass
        >>> fields = Fields()
        >>> fields.rows = [1]
        >>> state = fields.__getstate__()
        >>> fields.total = 1
        >>> state
        {'rows': [1]}
    """

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()
