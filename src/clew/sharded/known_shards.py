"""What is known of several shards, found once for all questions until a shard is another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.graph import Rows
from clew.index.contents import IndexContents
from clew.remote.corpus import CorpusFigures
from clew.sharded.joined import join_corpora
from clew.sharded.late_rows import NumberedLabels, WordNumbers
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
    def relations(self) -> tuple[NumberedLabels | None, ...]:
        """The relations of each shard's facts by numbers that all have; None for databases."""
        numbers = WordNumbers()
        return tuple(
            None if one is None else NumberedLabels(one.graph.facts.relations, numbers)
            for one in self.indexes
        )
