"""The version of an index, as it is while no change is being carried out.

Not every database shows all that a statement has done at one moment: behind Bolt a reader may find
some of the rows of a change before it finds the others, and the version before or after both. So
a writer says, in a statement of its own, that it is about to change rows, and until when at most;
in another one, that it is done. Who reads the version meanwhile waits.
"""

from __future__ import annotations

from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.statement import CypherRows, CypherSession, CypherStatement

PAUSE = 0.01  # seconds between two looks at a version that is changing


def version_statement(number: int, dialect: Dialect) -> CypherStatement:
    """Return the statement of which `settled_version` takes the rows.

    Args:
        number: The number of the generation that is asked.
        dialect: That of the database.
    """
    text = f"MATCH (i:ClewIndex {{number: $index}}) RETURN i.version, {is_changing(dialect)}"
    return CypherStatement(text, {"index": number})


def is_changing(dialect: Dialect) -> str:
    """Return the expression that says of a node `i` whether its index is being changed."""
    return f"CASE WHEN i.changing > {dialect.clock} THEN 1 ELSE 0 END"


async def settled_version(
    session: CypherSession, statement: CypherStatement, rows: CypherRows
) -> int | None:
    """Return the version once nothing is being changed; None where the generation is gone.

    Args:
        session: What is asked.
        statement: As `version_statement` returns it.
        rows: What came of it.
    """
    while rows and rows[0][1]:
        await session.pause(PAUSE)
        [rows] = await session.run(statement)
    return rows[0][0] if rows else None
