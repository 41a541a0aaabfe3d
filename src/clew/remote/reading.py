"""What those who ask an index in a database know of it: where it is, and figures of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Graph, freeze
from clew.index.config import IndexConfig
from clew.index.contents import IndexContents
from clew.relevance import MAX_SAMPLE
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures
from clew.remote.session import BoundStatement, Session
from clew.remote.values import NumberList, read_vectors
from clew.remote.writing import FOR_QUESTIONS, SETTINGS, read_file
from clew.store.config_record import restore_config, restore_embedder
from clew.store.fitted_embedder import read_fitted
from clew.store.packing import unpack
from clew.store.tables import ColumnReader

FIND = "SELECT id, version, nodes, dimension FROM clew_index WHERE tenant = %s AND name = %s"
SAMPLE = (
    "SELECT array_agg(vector IS NOT NULL ORDER BY number), "
    "string_agg(vector_send(vector), ''::bytea ORDER BY number) "
    "FROM clew_node WHERE index = %s AND number = ANY(%s::int[])"
)


@dataclass(frozen=True)
class FoundIndex:
    """Where an index is in its database.

    Attributes:
        number: Its number.
        version: Its version, which every write raises.
        nodes: How many nodes it has.
        dimension: The width of its vectors.
    """

    number: int
    version: int
    nodes: int
    dimension: int


@dataclass(frozen=True, eq=False)
class AskedPart(IndexContents):
    """A working subgraph as what is asked; the documents stay in the database."""

    of_code: bool = False

    @property
    def is_of_code(self) -> bool:  # the whole index knows it
        return self.of_code


async def find_index(session: Session, address: Address, *, to_write: bool = False) -> FoundIndex:
    """Return where an index is.

    Args:
        session: What is asked.
        address: Its address.
        to_write: Whether it is locked until the end of the transaction.

    Raises:
        KeyError: There is no index of this name, or not of this tenant.
    """
    sql = FIND + " FOR UPDATE" if to_write else FIND
    [rows] = await session.run(BoundStatement(sql, (address.tenant, address.name)))
    if not rows:
        raise KeyError(missing_index(address))
    return FoundIndex(*rows[0])


def missing_index(address: Address) -> str:
    """Return what is wrong where there is no index of this name."""
    whose = f" of the tenant {address.tenant!r}" if address.tenant else ""
    return f"the database has no index {address.name!r}{whose}: save one there first"


async def read_corpus(
    session: Session, address: Address, caller_parts: Mapping[str, Any]
) -> CorpusFigures:
    """Return what those who ask know of the whole index; it holds for one version.

    Args:
        session: What is asked.
        address: The address of the index.
        caller_parts: What the caller gives again, as in `clew.Index.load`.
    """
    found = await find_index(session, address)
    arrays = unpack(np.frombuffer(await read_file(session, found.number, FOR_QUESTIONS), np.uint8))
    reader = ColumnReader(arrays.__getitem__)
    settings = json.loads(reader.texts(SETTINGS)[0])
    config = restore_config(settings["config"], caller_parts)
    record = settings["embedder"]
    fitted = read_fitted(reader, record["name"]) if record["own"] else None
    passages = freeze(reader.numbers("passages"), np.int32)
    places = np.linspace(0, len(passages) - 1, min(len(passages), MAX_SAMPLE)).round()
    sample = passages[places.astype(np.int64)]
    [[[has, vectors]]] = await session.run(
        BoundStatement(SAMPLE, (found.number, NumberList(sample)))
    )
    return CorpusFigures(
        number=found.number,
        version=found.version,
        nodes=found.nodes,
        embedder=restore_embedder(record, caller_parts.get("embedder"), fitted),
        languages=reader.texts("languages"),
        passages=passages,
        lengths=freeze(reader.numbers("lengths"), np.float64),
        documents=reader.numbers("documents").astype(np.int64),
        n_documents=int(reader.numbers("n_documents")[0]),
        sample=read_vectors(vectors, np.array(has or [], np.bool_), found.dimension),
        dimension=found.dimension,
        is_of_code=settings["is_of_code"],
        has_reports=settings["has_reports"],
        untrusted=config["untrusted"],
        count=config["count"],
        canonical=config["canonical"],
    )


def as_contents(corpus: CorpusFigures, graph: Graph) -> AskedPart:
    """Return a part of an index as what is asked, with the settings of the whole.

    Args:
        corpus: What is known of the whole index.
        graph: The part.
    """
    is_own = corpus.embedder.fitted is not None
    config = IndexConfig(
        embedder=None if is_own else corpus.embedder,
        untrusted=corpus.untrusted,
        links=(),
        extractor=None,
        splitter=None,
        count=corpus.count,
        canonical=corpus.canonical,
    )
    fitted = corpus.embedder if is_own else None
    return AskedPart(graph, config, fitted_embedder=fitted, of_code=corpus.is_of_code)
