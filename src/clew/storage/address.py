"""The address of an index in object storage, or in anything else that fsspec reaches."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

HIDDEN = "***"
ADDRESS = re.compile(r"([a-z][a-z0-9+.:-]+)://\S.*", re.DOTALL)
DATABASE_SCHEMES = (
    *("postgresql", "postgres", "falkordb"),
    *("bolt", "bolt+s", "neo4j", "neo4j+s"),
)
"""What the address of a database begins with; `clew.remote.database` says what holds an index."""

OTHERS = ("http", "https", *DATABASE_SCHEMES)
"""Schemes of what is no storage of files: pages, which cannot be listed, and databases."""


def is_storage(path: object) -> bool:
    """Return whether this is the address of a storage, and neither a path nor a database.

    Example:
        >>> is_storage("s3://bucket/handbook"), is_storage("handbook")
        (True, False)
    """
    if not isinstance(path, str):
        return False
    match = ADDRESS.fullmatch(path)
    return match is not None and match[1] not in OTHERS


def without_password(address: str) -> str:
    """Return an address as it is shown: no password is.

    Example:
        >>> without_password("sftp://anna:secret@host/handbook")
        'sftp://anna:***@host/handbook'
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket that is not closed
        return address.partition("://")[0] + "://" + HIDDEN
    if parts.password is None:
        return address
    user, _, server = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:{HIDDEN}@{server}"))
