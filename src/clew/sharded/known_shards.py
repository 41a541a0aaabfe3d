"""What is known of several shards, found once for all questions until a shard is another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from clew.graph import Labels, Rows, offsets_of
from clew.index.contents import IndexContents
from clew.remote.corpus import CorpusFigures
from clew.sharded.joined import join_corpora
from clew.sharded.numbering import ShardNumbers


@dataclass(frozen=True, eq=False)
class KnownShards:
    """What is known of all shards at one moment.

    Attributes:
        corpora: Of each shard.
        numbers: Their numbers.
        whole: Of all shards.
        indexes: The index that each is asked of; None for one in a database.
    """

    corpora: tuple[CorpusFigures, ...]
    numbers: ShardNumbers
    whole: CorpusFigures
    indexes: tuple[IndexContents | None, ...]

    @classmethod
    def of(
        cls, corpora: Sequence[CorpusFigures], indexes: Sequence[IndexContents | None]
    ) -> KnownShards:
        """Return what is known of shards.

        Args:
            corpora: See `corpora`.
            indexes: See `indexes`.

        Raises:
            ValueError: The shards differ in what questions are asked with.
        """
        numbers = ShardNumbers.of(corpora)
        return cls(tuple(corpora), numbers, join_corpora(corpora, numbers), tuple(indexes))

    @cached_property
    def repeated(self) -> Rows | None:
        """The nodes that may have an id of another one; None where a shard is in a database."""
        graphs = [one.graph for one in self.indexes if one is not None]
        if len(graphs) < len(self.indexes):
            return None
        return self.numbers.repeated([graph.ids for graph in graphs])

    @cached_property
    def relations(self) -> tuple[Labels | None, ...]:
        """The relations of each shard's facts, by the names that all have; None for databases."""
        facts = [None if one is None else one.graph.facts for one in self.indexes]
        joined = Labels.join([one.relations for one in facts if one is not None])
        starts = offsets_of([0 if one is None else len(one) for one in facts]).tolist()
        return tuple(
            None if one is None else joined.between(start, end)
            for one, (start, end) in zip(facts, pairwise(starts), strict=True)
        )
