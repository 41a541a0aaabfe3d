"""The address of an index in a database: where the database is, whose index it is, and its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from clew.index.saving import DATABASE_SCHEMES, is_remote

DEFAULT_NAME = "default"


@dataclass(frozen=True)
class Address:
    """Where an index is.

    Attributes:
        database: What the client of the database connects to; it may hold a password.
        name: The name of the index in the database.
        tenant: Whose index it is. Indexes of two tenants may have one name.

    Example:
        >>> Address.parse("postgresql://anna@host/db?index=handbook&tenant=harbour")
        Address(name='handbook', tenant='harbour')
    """

    database: str
    name: str = DEFAULT_NAME
    tenant: str = ""

    @classmethod
    def parse(cls, address: str) -> Self:
        """Return the address that a text is.

        Args:
            address: `postgresql://user@host/database?index=name&tenant=name`, or one of another
                scheme of `clew.index.saving.DATABASE_SCHEMES`. Other parameters are those of the
                database's client.

        Raises:
            ValueError: It is of another kind of database, or the name is empty.
        """
        if not is_address(address):
            raise ValueError(
                "an index in a database has an address such as postgresql://user@host/database"
                "?index=handbook, and begins with one of "
                f"{', '.join(f'{one}://' for one in DATABASE_SCHEMES)}; "
                f"what came begins with {address.partition(':')[0]!r}"
            )
        parts = urlsplit(address)
        query = parse_qsl(parts.query, keep_blank_values=True)
        own = {key: value for key, value in query if key in ("index", "tenant")}
        others = urlencode([pair for pair in query if pair[0] not in own])
        name = own.get("index", DEFAULT_NAME)
        if not name:
            raise ValueError("the index has an empty name: write index=NAME into the address")
        return cls(urlunsplit(parts._replace(query=others)), name, own.get("tenant", ""))

    @property
    def scheme(self) -> str:
        """The kind of the database, such as "postgresql"."""
        return urlsplit(self.database).scheme

    def __repr__(self) -> str:
        return f"Address(name={self.name!r}, tenant={self.tenant!r})"  # the password stays unseen


def is_address(text: object) -> bool:
    """Return whether this is the address of an index in a database, and no path.

    Example:
        >>> is_address("postgresql://host/db?index=handbook"), is_address("handbook")
        (True, False)
    """
    return isinstance(text, str) and is_remote(text)
