"""Engines for vectors: usearch, faiss, hnswlib, LanceDB, LlamaIndex in memory, and clew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.algorithms.kernels.compiled import finish_compiling
from clew.types import Query
from tests.benchmarks.engines.engine import (
    CALLERS_OWN,
    Engine,
    Hits,
    Question,
    Row,
    UnsupportedError,
    stacked,
)
from tests.benchmarks.engines.words import check_clew, documents_of
from tests.benchmarks.rivals import require

WIDTH = 384
LINKS, SEARCHED, WHILE_BUILDING = 16, 64, 200  # of HNSW: m, ef and ef_construction


def write_groups(folder: Path, groups: dict[int, int]) -> None:
    """Keep what filters ask for, where a library has no place for it; whole or not at all."""
    new = folder / f"{CALLERS_OWN}.new"
    new.write_text(json.dumps(groups), encoding="utf-8")
    new.replace(folder / CALLERS_OWN)


def read_groups(folder: Path) -> dict[int, int]:
    kept = json.loads((folder / CALLERS_OWN).read_text("utf-8"))
    return {int(id): group for id, group in kept.items()}


class USearch(Engine):
    """usearch: HNSW, saved whole after every change. Its filters are the caller's business."""

    name, part = "usearch", "vectors"
    modules = packages = ("usearch",)

    def _new(self) -> Any:
        return require("usearch.index").Index(
            ndim=WIDTH,
            metric="cos",
            dtype="f32",
            connectivity=LINKS,
            expansion_add=WHILE_BUILDING,
            expansion_search=SEARCHED,
        )

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.file, self.index = folder / "vectors.usearch", self._new()
        self.add(rows)

    def open(self, folder: Path) -> None:
        self.file, self.index = folder / "vectors.usearch", self._new()
        self.index.load(str(self.file))

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        if group is not None and "filter" not in signature(self.index.search).parameters:
            raise UnsupportedError("callers ask for more and drop the others")
        found = self.index.search(question.vector, k)
        return [
            (int(id), 1 - float(distance))
            for id, distance in zip(found.keys, found.distances, strict=True)
        ]

    def add(self, rows: Sequence[Row]) -> None:
        self.index.add(np.array([row.id for row in rows], np.uint64), stacked(rows))
        self.index.save(str(self.file))

    def delete(self, ids: Sequence[int]) -> None:
        for id in ids:
            self.index.remove(id)
        self.index.save(str(self.file))


class FaissFlat(Engine):
    """faiss, exact: rows with ids, written whole after every change."""

    name, part = "faiss flat", "vectors"
    modules, packages = ("faiss",), ("faiss-cpu",)

    def _new(self) -> Any:
        faiss = require("faiss")
        return faiss.IndexIDMap2(faiss.IndexFlatIP(WIDTH))

    def _parameters(self, selector: Any) -> Any:
        return require("faiss").SearchParameters(sel=selector)

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder, self.index, self.groups = folder, self._new(), dict[int, int]()
        self.add(rows)

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.index = require("faiss").read_index(str(folder / "vectors.faiss"))
        self.groups = read_groups(folder)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        parameters = None
        if group is not None:
            own = np.array([id for id, other in self.groups.items() if other == group], np.int64)
            parameters = self._parameters(require("faiss").IDSelectorBatch(own))
        scores, ids = self.index.search(question.vector[None], k, params=parameters)
        hits = zip(ids[0].tolist(), scores[0].tolist(), strict=True)
        return [(id, score) for id, score in hits if id >= 0]

    def add(self, rows: Sequence[Row]) -> None:
        self.index.add_with_ids(stacked(rows), np.array([row.id for row in rows], np.int64))
        self.groups |= {row.id: row.group for row in rows}
        self._write()

    def delete(self, ids: Sequence[int]) -> None:
        self.index.remove_ids(np.array(ids, np.int64))
        for id in ids:
            self.groups.pop(id)
        self._write()

    def _write(self) -> None:
        write_groups(self.folder, self.groups)
        require("faiss").write_index(self.index, str(self.folder / "vectors.faiss"))


class FaissHNSW(FaissFlat):
    """HNSW of faiss, which cannot delete."""

    name = "faiss HNSW"

    def _new(self) -> Any:
        faiss = require("faiss")
        index = faiss.IndexHNSWFlat(WIDTH, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = WHILE_BUILDING, SEARCHED
        return faiss.IndexIDMap2(index)

    def _parameters(self, selector: Any) -> Any:
        return require("faiss").SearchParametersHNSW(sel=selector, efSearch=SEARCHED)

    def delete(self, ids: Sequence[int]) -> None:
        try:
            super().delete(ids)
        except RuntimeError as error:
            raise UnsupportedError("it is built again") from error


class HNSWLib(Engine):
    """hnswlib: what is deleted is marked; saved whole after every change."""

    name, part = "hnswlib", "vectors"
    modules = packages = ("hnswlib",)

    def _new(self) -> Any:
        return require("hnswlib").Index(space="cosine", dim=WIDTH)

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder, self.index, self.groups = folder, self._new(), dict[int, int]()
        self.index.init_index(len(rows), M=LINKS, ef_construction=WHILE_BUILDING)
        self.index.set_ef(SEARCHED)
        self.add(rows)

    def open(self, folder: Path) -> None:
        self.folder, self.index = folder, self._new()
        self.groups = read_groups(folder)
        self.index.load_index(str(folder / "vectors.hnswlib"))
        self.index.set_ef(SEARCHED)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        allowed = None if group is None else lambda row: self.groups[row] == group
        ids, distances = self.index.knn_query(question.vector, k, num_threads=1, filter=allowed)
        hits = zip(ids[0].tolist(), distances[0].tolist(), strict=True)
        return [(id, 1 - distance) for id, distance in hits]

    def add(self, rows: Sequence[Row]) -> None:
        wanted = self.index.get_current_count() + len(rows)
        if wanted > self.index.get_max_elements():
            self.index.resize_index(wanted)
        self.index.add_items(stacked(rows), np.array([row.id for row in rows]))
        self.groups |= {row.id: row.group for row in rows}
        self._write()

    def delete(self, ids: Sequence[int]) -> None:
        for id in ids:
            self.index.mark_deleted(id)
        self._write()

    def _write(self) -> None:
        write_groups(self.folder, self.groups)
        self.index.save_index(str(self.folder / "vectors.hnswlib"))


class LanceVectors(Engine):
    """LanceDB without an approximate index: all vectors are compared."""

    name, part = "LanceDB flat", "vectors"
    modules = packages = ("lancedb",)

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        arrow = require("pyarrow")
        vector = arrow.list_(arrow.float32(), WIDTH)
        fields = {"id": arrow.int64(), "group": arrow.int64(), "vector": vector}
        self.schema = arrow.schema(list(fields.items()))
        base = require("lancedb").connect(str(folder))
        self.table = base.create_table("passages", self._records(rows), schema=self.schema)

    def open(self, folder: Path) -> None:
        self.table = require("lancedb").connect(str(folder)).open_table("passages")
        self.schema = self.table.schema

    def _records(self, rows: Sequence[Row]) -> Any:
        arrow = require("pyarrow")
        values = arrow.FixedSizeListArray.from_arrays(stacked(rows).ravel(), WIDTH)
        columns = [[row.id for row in rows], [row.group for row in rows], values]
        return arrow.table(columns, schema=self.schema)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        search = self.table.search(question.vector).distance_type("cosine")
        if group is not None:
            search = search.where(f'"group" = {int(group)}', prefilter=True)
        found = search.select(["id", "_distance"]).limit(k).to_list()
        return [(row["id"], 1 - row["_distance"]) for row in found]

    def add(self, rows: Sequence[Row]) -> None:
        self.table.add(self._records(rows))

    def delete(self, ids: Sequence[int]) -> None:
        self.table.delete(f"id IN ({', '.join(map(str, ids))})")


class LlamaIndexMemory(Engine):
    """LlamaIndex's index in memory with the vectors alone, written whole after every change."""

    name, part = "LlamaIndex in memory", "vectors"
    modules, packages = ("llama_index.core",), ("llama-index-core",)

    def _nodes(self, rows: Sequence[Row]) -> list[Any]:
        node = require("llama_index.core.schema").TextNode
        return [
            node(
                id_=str(row.id),
                text=row.text,
                embedding=row.vector.tolist(),
                metadata={"group": row.group},
            )
            for row in rows
        ]

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        core = require("llama_index.core")
        self.folder, self.model = folder, core.MockEmbedding(embed_dim=WIDTH)
        self.index = core.VectorStoreIndex(self._nodes(rows), embed_model=self.model)
        self._write()

    def open(self, folder: Path) -> None:
        core = require("llama_index.core")
        self.folder, self.model = folder, core.MockEmbedding(embed_dim=WIDTH)
        storage = core.StorageContext.from_defaults(persist_dir=str(folder))
        self.index = core.load_index_from_storage(storage, embed_model=self.model)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        filters = None
        if group is not None:
            types = require("llama_index.core.vector_stores")
            wanted = types.MetadataFilter(key="group", value=group)
            filters = types.MetadataFilters(filters=[wanted])
        bundle = require("llama_index.core.schema").QueryBundle(
            question.text, embedding=question.vector.tolist()
        )
        retriever = self.index.as_retriever(similarity_top_k=k, filters=filters)
        return [(int(node.node_id), node.score) for node in retriever.retrieve(bundle)]

    def add(self, rows: Sequence[Row]) -> None:
        self.index.insert_nodes(self._nodes(rows))
        self._write()

    def delete(self, ids: Sequence[int]) -> None:
        self.index.delete_nodes([str(id) for id in ids], delete_from_docstore=True)
        self._write()

    def _write(self) -> None:
        self.index.storage_context.persist(str(self.folder))


KNOWN: dict[str, Any] = {}
"""Vectors by their texts, so that nothing is embedded."""


def known_vectors(texts: list[str]) -> Any:
    return np.array([KNOWN[text] for text in texts], np.float32)


class ClewVectors(Engine):
    """clew's recipe `dense` over the given vectors, exact; without facts and links."""

    name, part = "clew `dense`", "vectors"
    nearest: clew.HNSW | None = None

    @classmethod
    def prepare(cls, rows: Sequence[Row]) -> None:
        KNOWN.update({row.text: row.vector for row in rows})

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder = folder
        self.index = clew.Index.from_documents(
            documents_of(rows),
            embedder=known_vectors,
            extractor=None,
            links=(),
            nearest=self.nearest,
        )
        if self.nearest is not None:
            self.index.graph.part(self.nearest)  # made, so that it is saved
        self.index.save(folder)

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.index = clew.Index.load(folder, embedder=known_vectors)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        where = None if group is None else {"group": group}
        answer = self.index.ask(
            question.text, vector=question.vector, recipe="dense", limit=k, budget=None, where=where
        )
        return [(int(item.id), item.score) for item in answer]

    def add(self, rows: Sequence[Row]) -> None:
        KNOWN.update({row.text: row.vector for row in rows})
        self.index = self.index.add(documents_of(rows))
        self.index.save(self.folder)

    def delete(self, ids: Sequence[int]) -> None:
        self.index = self.index.delete([str(id) for id in ids])
        self.index.save(self.folder)

    def settle(self) -> None:
        finish_compiling()

    def check(self) -> None:
        check_clew(self.folder)


class ClewCosines(ClewVectors):
    """clew's cosines by themselves: the same index, whose scores are ranked and nothing more."""

    name = "clew's cosines"

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        from clew.seed import Dense

        graph = self.index.filtered(None if group is None else {"group": group}).graph
        scores = Dense().on(graph)(Query(question.text, question.vector)).scores
        best = np.argsort(-scores, kind="stable")[:k]
        return [(int(graph.ids[row]), float(scores[row])) for row in best]


class ClewHNSW(ClewVectors):
    """clew's recipe `dense` over its approximate index, which is that of faiss."""

    name = "clew HNSW"
    modules, packages = ("faiss",), ("faiss-cpu",)
    nearest = clew.HNSW(
        m=LINKS, ef_construction=WHILE_BUILDING, ef_search=SEARCHED, kinds=("passage",)
    )


VECTORS: tuple[type[Engine], ...] = (
    USearch,
    FaissFlat,
    FaissHNSW,
    HNSWLib,
    LanceVectors,
    LlamaIndexMemory,
    ClewCosines,
    ClewVectors,
    ClewHNSW,
)
