"""Databases that hold an index: it is asked there, and changed there.

`index.save("postgresql://user@host/db?index=handbook")` writes one, and `RemoteIndex.open` opens
it. Nothing of this room is loaded by `import clew`; the client comes with an extra:
`clew[postgres]`, `clew[falkordb]`, or `clew[neo4j]` for what speaks Bolt.
"""

from clew.remote.address import Address, is_address
from clew.remote.protocol import Capabilities, GraphStore
from clew.remote.pulled_index import PulledIndex
from clew.remote.remote_index import RemoteIndex
from clew.remote.saving import save_remote
from clew.remote.session import DatabaseUnavailableError
from clew.remote.working_subgraph import Bounds

__all__ = [
    "Address",
    "Bounds",
    "Capabilities",
    "DatabaseUnavailableError",
    "GraphStore",
    "PulledIndex",
    "RemoteIndex",
    "is_address",
    "save_remote",
]
