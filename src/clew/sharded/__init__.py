"""Several indexes that are asked as one: shards, each of documents of its own, on any machine.

`ShardedIndex.open([...])` takes folders of saved indexes and addresses of databases. A question is
sent to all shards at once. What each finds of it is put together, with the frequencies of all, and
answered as one index would answer. `build_shards` builds shards, on several machines at once;
`partition_by_hash`, `partition_by_components` and `read_partition` say which shard each document
goes to.
"""

from clew.sharded.building import EmptyShardWarning, build_shards
from clew.sharded.partition import (
    divide,
    partition_by_components,
    partition_by_hash,
    read_partition,
)
from clew.sharded.sharded_index import ShardedIndex

__all__ = [
    "EmptyShardWarning",
    "ShardedIndex",
    "build_shards",
    "divide",
    "partition_by_components",
    "partition_by_hash",
    "read_partition",
]
