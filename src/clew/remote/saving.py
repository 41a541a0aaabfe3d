"""An index that is saved to a database, whole, in the place of one that is there."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from clew.index.contents import IndexContents
from clew.remote.address import Address
from clew.remote.reading import find_index
from clew.remote.schema import make_schema
from clew.remote.session import BoundStatement, Connections, finish
from clew.remote.writing import write_index

ENTER = (
    "INSERT INTO clew_index (tenant, name, version, dimension, nodes) "
    "VALUES (%s, %s, 0, 0, 0) ON CONFLICT (tenant, name) DO NOTHING"
)


def save_remote(index: IndexContents, address: str | os.PathLike[str]) -> None:
    """Write an index to an address, whole, in the place of one that is there.

    Args:
        index: What is written.
        address: `postgresql://user@host/database?index=name&tenant=name`.

    Raises:
        DatabaseUnavailableError: The database does not answer.
        ValueError: The tables in the database are of another version.
    """
    from clew.index.saving import save_contents

    parsed = Address.parse(str(address))
    connections = Connections(parsed.database)
    try:
        with connections.writing() as session:
            finish(make_schema(session))
        connections.close()  # a connection that was made before the extension has no vectors
        with (
            tempfile.TemporaryDirectory(prefix="clew-") as folder,
            connections.writing() as session,
        ):
            save_contents(replace(index, saved_as=None), folder)
            finish(session.run(BoundStatement(ENTER, (parsed.tenant, parsed.name))))
            found = finish(find_index(session, parsed, to_write=True))
            finish(write_index(session, found.number, index, None, Path(folder)))
    finally:
        connections.close()
