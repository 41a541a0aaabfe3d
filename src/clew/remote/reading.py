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
from clew.index.drift import drift_of_record
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures, sampled_places
from clew.remote.database import AnySession, Database, FoundIndex, IndexChangedError
from clew.remote.files import FOR_QUESTIONS, SETTINGS
from clew.remote.session import DatabaseUnavailableError
from clew.seed.cohesion import Cohesion
from clew.store.config_record import restore_config, restore_embedder
from clew.store.fitted_embedder import read_fitted
from clew.store.packing import unpack
from clew.store.tables import ColumnReader

ATTEMPTS = 50
"""How often an index is read anew that is written while it is read, before that is an error."""


@dataclass(frozen=True, eq=False)
class AskedPart(IndexContents):
    """A working subgraph as what is asked; the documents stay in the database."""

    of_code: bool = False
    many_entities: bool = False
    bare_names: bool = False

    @property
    def is_of_code(self) -> bool:  # the whole index knows it
        return self.of_code

    @property
    def has_many_entities(self) -> bool:  # likewise
        return self.many_entities

    @property
    def has_bare_names(self) -> bool:  # likewise
        return self.bare_names


async def read_corpus(
    database: Database, session: AnySession, address: Address, caller_parts: Mapping[str, Any]
) -> CorpusFigures:
    """Return what those who ask know of the whole index; it holds for one version.

    Args:
        database: The database.
        session: What is asked.
        address: The address of the index.
        caller_parts: What the caller gives again, as in `clew.Index.load`.

    Raises:
        DatabaseUnavailableError: The index is written again and again meanwhile.
        KeyError: There is no such index.
    """
    for _ in range(ATTEMPTS):
        found = await database.find(session, address)
        try:
            return await _corpus_of(database, session, found, caller_parts)
        except IndexChangedError:
            continue
    raise never_still()


def never_still() -> DatabaseUnavailableError:
    """Return the error that an index was written as often as it was read."""
    return DatabaseUnavailableError(
        f"the index was written {ATTEMPTS} times while it was read; try again when fewer write"
    )


async def _corpus_of(
    database: Database, session: AnySession, found: FoundIndex, caller_parts: Mapping[str, Any]
) -> CorpusFigures:
    data = await database.read_file(session, found, FOR_QUESTIONS)
    reader = ColumnReader(unpack(np.frombuffer(data, np.uint8)).__getitem__)
    settings = json.loads(reader.texts(SETTINGS)[0])
    config = restore_config(settings["config"], caller_parts)
    record = settings["embedder"]
    fitted = read_fitted(reader, record["name"]) if record["own"] else None
    passages = freeze(reader.numbers("passages"), np.int32)
    sampled = passages[sampled_places(len(passages))]
    sample = await database.read_vectors(session, found, sampled)
    await database.check_current(session, found)
    entities = freeze(reader.numbers("entities"), np.int32)
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
        sample=sample,
        sampled=freeze(sampled, np.int32),
        dimension=found.dimension,
        is_of_code=settings["is_of_code"],
        has_reports=settings["has_reports"],
        has_bare_names=settings.get("has_bare_names", False),  # an index from before has vectors
        untrusted=config["untrusted"],
        count=config["count"],
        canonical=config["canonical"],
        n_entities=len(entities),
        entities=entities,
        entity_keys=reader.numbers("entity_keys").astype(np.int64),
        summaries=freeze(reader.numbers("summaries") if reader.has("summaries") else [], np.int32),
        runs=reader.numbers("runs").astype(np.int64) if reader.has("runs") else None,
        cohesion=Cohesion(*(reader.numbers("cohesion").tolist() if reader.has("cohesion") else ())),
        drift=drift_of_record(settings.get("drift", {})),  # an index from before it has none
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
    return AskedPart(
        graph,
        config,
        fitted_embedder=fitted,
        of_code=corpus.is_of_code,
        many_entities=corpus.n_entities > len(corpus.passages),
        bare_names=corpus.has_bare_names,
    )
