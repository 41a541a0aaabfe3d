"""An index that is saved to a database, whole, in the place of one that is there."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from clew.index.contents import IndexContents
from clew.remote.address import Address
from clew.remote.database import connect
from clew.remote.session import finish


def save_remote(index: IndexContents, address: str | os.PathLike[str]) -> None:
    """Write an index to an address, whole, in the place of one that is there.

    Args:
        index: What is written.
        address: As in `Address.parse`.

    Raises:
        DatabaseUnavailableError: The database does not answer.
        ValueError: What is in the database is of another version.
    """
    from clew.index.saving import save_contents
    from clew.index.weights import with_weights_as_built

    index = with_weights_as_built(index)  # else one change would write all vectors anew
    parsed = Address.parse(str(address))
    database = connect(parsed)
    try:
        with database.writing() as session:
            finish(database.enter(session, parsed))
        database.close()  # PostgreSQL: a connection from before the extension has no vectors
        with (
            # Windows deletes no file that is still mapped.
            tempfile.TemporaryDirectory(prefix="clew-", ignore_cleanup_errors=True) as folder,
            database.writing() as session,
        ):
            save_contents(replace(index, saved_as=None), folder)
            found = finish(database.find(session, parsed, to_write=True))
            finish(database.write(session, found, index, None, Path(folder)))
    finally:
        database.close()
