"""An index of LlamaIndex's is read with the vectors it has; one whose store keeps the text is asked for candidates."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from llama_index.core import (
    PropertyGraphIndex,
    SimpleKeywordTableIndex,
    StorageContext,
    SummaryIndex,
    TreeIndex,
    VectorStoreIndex,
)
from llama_index.core.embeddings.multi_modal_base import MultiModalEmbedding
from llama_index.core.indices import MultiModalVectorStoreIndex
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import (
    Document,
    ImageNode,
    IndexNode,
    MetadataMode,
    NodeRelationship,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.simple import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQueryResult,
)
from llama_index.retrievers.clew import ClewRetriever
from llama_index.retrievers.clew.candidates import Candidates
from llama_index.retrievers.clew.store_searches import Search, search_having
from pydantic import PrivateAttr

import clew
import clew.adapters

KIND = MetadataFilters(filters=[MetadataFilter(key="kind", value="person")])


class KeepsText(BasePydanticVectorStore):
    """A vector store that gives back its own nodes, as hosted ones do."""

    stores_text: bool = True
    _inner: SimpleVectorStore = PrivateAttr(default_factory=SimpleVectorStore)
    _nodes: dict = PrivateAttr(default_factory=dict)
    _asked: list = PrivateAttr(default_factory=list)

    @property
    def client(self):
        return None

    def add(self, nodes, **kwargs):
        for node in nodes:
            self._nodes[node.node_id] = node.model_copy(update={"embedding": None})
        return self._inner.add(nodes)

    def delete(self, ref_doc_id, **kwargs):
        raise NotImplementedError

    def query(self, query, **kwargs):
        self._asked.append(query)
        found = self._inner.query(replace(query, node_ids=None))
        return VectorStoreQueryResult(
            [self._nodes[id] for id in found.ids], found.similarities, found.ids
        )


@pytest.fixture
def store():
    return KeepsText()


@pytest.fixture
def hosted(store, nodes, embed_model):
    return VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )


def ids(found):
    return [one.node.node_id for one in found]


def asked_texts(embed_model):
    return [text for kind, text in embed_model.seen if kind == "text"]


def test_nothing_is_embedded_twice_and_the_answer_is_that_of_the_nodes(
    nodes, embed_model, question
):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    embed_model.seen.clear()
    retriever = ClewRetriever.from_index(index, candidates=None)
    found = retriever.retrieve(question)
    assert embed_model.seen == [("question", question)]
    assert ids(found) == ids(ClewRetriever.from_nodes(nodes, embed_model).retrieve(question))
    assert [retriever.index.graph.texts[row] for row in retriever.index.graph.rows("passage")] == [
        node.text for node in nodes
    ]


def test_only_the_nodes_of_the_index_are_read_from_a_shared_docstore(nodes, embed_model, question):
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    storage = StorageContext.from_defaults(docstore=docstore)
    retriever = ClewRetriever.from_index(
        VectorStoreIndex(nodes[:3], storage_context=storage, embed_model=embed_model), budget=None
    )
    assert set(ids(retriever.with_options(similarity_top_k=8).retrieve(question))) == {
        node.node_id for node in nodes[:3]
    }


def test_a_deleted_document_is_not_read(documents, embed_model, question):
    index = VectorStoreIndex.from_documents(
        documents, embed_model=embed_model, transformations=[SentenceSplitter()]
    )
    index.delete_ref_doc("theodore", delete_from_docstore=True)
    found = ClewRetriever.from_index(index, similarity_top_k=8).retrieve(question)
    assert {one.node.ref_doc_id for one in found} == {
        document.node_id for document in documents
    } - {"theodore"}


def test_a_node_that_is_deleted_in_the_store_alone_is_not_read(nodes, embed_model, question):
    """As LlamaIndex's own retriever: the docstore keeps it, and the index lists it still."""
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    retriever = ClewRetriever.from_index(index, similarity_top_k=8, budget=None)
    first = ids(retriever.retrieve(question))[0]
    index.delete_nodes([first])
    assert first in index.docstore.docs
    for one in (retriever, ClewRetriever.from_index(index, similarity_top_k=8, budget=None)):
        assert first not in ids(one.retrieve(question))


class Pictures(MultiModalEmbedding):
    """Sees the same in each picture."""

    def _get_image_embedding(self, img_file_path):
        return [1.0] * 4

    async def _aget_image_embedding(self, img_file_path):
        return [1.0] * 4

    def _get_text_embedding(self, text):
        return [1.0] * 4

    def _get_query_embedding(self, query):
        return [1.0] * 4

    async def _aget_query_embedding(self, query):
        return [1.0] * 4


def test_a_node_that_is_deleted_beside_pictures_is_not_read(nodes, embed_model, question):
    picture = ImageNode(id_="drawn", text="A drawing of the labyrinth.", image="aGk=")
    index = MultiModalVectorStoreIndex(
        [*nodes, picture], embed_model=embed_model, image_embed_model=Pictures()
    )
    retriever = ClewRetriever.from_index(index, similarity_top_k=99, budget=None)
    first = ids(retriever.retrieve(question))[0]
    index.delete_nodes([first])
    left = ids(retriever.retrieve(question))
    assert "drawn" in left
    assert first not in left


def test_an_index_without_vectors_is_embedded_by_the_given_model(nodes, embed_model, question):
    found = ClewRetriever.from_index(SummaryIndex(nodes), embed_model).retrieve(question)
    assert ids(found) == ids(ClewRetriever.from_nodes(nodes, embed_model).retrieve(question))
    assert set(asked_texts(embed_model)) >= {
        node.get_content(MetadataMode.EMBED).strip() for node in nodes
    }


async def test_a_store_that_keeps_the_text_gives_candidates_that_are_narrowed(
    hosted, store, nodes, embed_model, question
):
    retriever = ClewRetriever.from_index(hosted, candidates=4, budget=80, hops=0)
    best = hosted.as_retriever(similarity_top_k=4).retrieve(question)
    wanted = clew.narrow(question, [(one.node, one.score) for one in best], budget=80)
    assert (
        ids(retriever.retrieve(question)) == ids(await retriever.aretrieve(question)) == wanted.ids
    )
    assert retriever.context(question).text == wanted.text
    assert {query.similarity_top_k for query in store._asked} == {4}
    assert len(wanted) > 1


@pytest.mark.parametrize("kind", [SimpleVectorStore, KeepsText])
async def test_a_question_that_wants_more_nodes_than_candidates_finds_so_many(kind, embed_model):
    crowd = [TextNode(text=f"Boat {i} sails to port {i % 7}.", id_=str(i)) for i in range(90)]
    index = VectorStoreIndex(
        crowd,
        storage_context=StorageContext.from_defaults(vector_store=kind()),
        embed_model=embed_model,
    )
    retriever = ClewRetriever.from_index(index, budget=None, hops=0, recipe="dense")
    for wanted in (40, 70, 99):
        narrow = retriever.with_options(similarity_top_k=wanted)
        found = ids(narrow.retrieve("Which boat sails to port 3?"))
        assert found == ids(await narrow.aretrieve("Which boat sails to port 3?"))
        best = index.as_retriever(similarity_top_k=wanted).retrieve("Which boat sails to port 3?")
        assert len(found) == len({*found}) == len(best) == min(wanted, 90)


async def test_what_the_candidates_lead_to_is_looked_for_under_the_same_filters(
    store, nodes, embed_model
):
    who = "Where does the husband of Anna Berg live?"
    open_to_all = {"kind": "open"}
    crowd = [
        TextNode(
            text=f"Anna {name}\nWhere does her husband live? She asks Kai {name}.",
            id_=name,
            metadata=open_to_all,
        )
        for name in ("Alm", "Ek", "Dahl", "Holm")
    ]
    berg = "Anna Berg\nThe husband of Anna Berg is Ben Okri."
    thread = [
        TextNode(text=berg, id_="anna", metadata=open_to_all),
        TextNode(text="Ben Okri\nHe moved to an island.", id_="ben", metadata={"kind": "secret"}),
    ]
    hosted = VectorStoreIndex(
        [*thread, *crowd],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    embed_model.seen.clear()
    retriever = ClewRetriever.from_index(hosted, candidates=5)
    assert "ben" not in ids(ClewRetriever.from_index(hosted, candidates=5, hops=0).retrieve(who))
    assert "ben" in ids(retriever.retrieve(who))
    assert "ben" in ids(await retriever.aretrieve(who))
    step, *_ = retriever.context(who).trace[0].notes["further"]
    assert "Ben Okri" in step["looked for"]
    assert asked_texts(embed_model) == []  # no node is embedded

    no_secret = MetadataFilters(
        filters=[MetadataFilter(key="kind", value="secret", operator=FilterOperator.NE)]
    )
    assert "ben" not in ids(retriever.with_options(filters=no_secret).retrieve(who))
    assert all(query.filters == no_secret for query in store._asked[-2:])


def test_a_store_that_is_derived_from_elasticsearch_s_is_filtered_as_that():
    class ElasticsearchStore:
        """As LlamaIndex's, whose filters are for one value each."""

    class Derived(ElasticsearchStore):
        pass

    search = Search(QueryBundle("Who?"), 5, None)
    for kind in (ElasticsearchStore, Derived):
        made = search_having(search, kind(), "url", ["a", "b"])
        assert made.filters is None
        assert made.arguments == {"es_filter": [{"terms": {"metadata.url.keyword": ["a", "b"]}}]}


def test_edges_lead_from_a_key_of_metadata_to_another_under_the_same_filters(store, embed_model):
    linked = [
        TextNode(
            text="Who steers? The coxswain.",
            id_="crew",
            metadata={"see": ["rota", "map"], "page": "crew"},
        ),
        TextNode(text="Mondays: Ann.", id_="rota", metadata={"page": "rota"}),
        TextNode(text="North is up.", id_="map", metadata={"page": "map"}),
        TextNode(text="Cows eat grass.", id_="cows", metadata={"page": "cows"}),
    ]
    hosted = VectorStoreIndex(
        linked,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    how = {"candidates": 1, "hops": 0, "budget": None, "recipe": "dense"}
    retriever = ClewRetriever.from_index(hosted, edges=[("see", "page")], **how)
    assert set(ids(ClewRetriever.from_index(hosted, **how).retrieve("Who steers?"))) == {"crew"}
    assert set(ids(retriever.retrieve("Who steers?"))) == {"crew", "rota", "map"}
    no_map = MetadataFilters(
        filters=[MetadataFilter(key="page", value="map", operator=FilterOperator.NE)]
    )
    found = retriever.with_options(filters=no_map).retrieve("Who steers?")
    assert set(ids(found)) == {"crew", "rota"}
    with pytest.raises(TypeError, match="edges are pairs of keys"):
        ClewRetriever.from_index(hosted, edges=["see"])


class GivesNodes(KeepsText):
    """A store that gives nodes by their ids, too."""

    _fetched: list = PrivateAttr(default_factory=list)

    def get_nodes(self, node_ids=None, filters=None):
        self._fetched.append(list(node_ids))
        return [self._nodes[id] for id in reversed(node_ids) if id in self._nodes]


def pieces(n):
    """Pieces of one text, each of which names its neighbours, and its document."""
    made = [
        TextNode(text=f"Piece {i} of the rota.", id_=f"p{i}", metadata={"part": i})
        for i in range(n)
    ]
    for i, node in enumerate(made):
        near = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="rota")}
        if i:
            near[NodeRelationship.PREVIOUS] = made[i - 1].as_related_node_info()
        if i + 1 < n:
            near[NodeRelationship.NEXT] = made[i + 1].as_related_node_info()
        node.relationships = near
    made[2].text = "Who steers the lifeboat? The coxswain."
    return made


@pytest.mark.parametrize("kind", [GivesNodes, KeepsText])
async def test_relationships_lead_to_nodes_by_their_ids_without_a_search(kind, embed_model):
    store = kind()
    hosted = VectorStoreIndex(
        pieces(6),
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    question, how = "Who steers the lifeboat?", {"candidates": 1, "hops": 0, "budget": None}
    how["recipe"] = "dense"
    assert ids(ClewRetriever.from_index(hosted, **how).retrieve(question)) == ["p2"]
    retriever = ClewRetriever.from_index(hosted, edges=[("relationships", "node_id")], **how)
    store._asked.clear()
    neighbours = {"p1", "p3"} if kind is GivesNodes else set()
    assert set(ids(retriever.retrieve(question))) == {"p2"} | neighbours
    assert len(store._asked) == 1
    assert set(ids(await retriever.aretrieve(question))) == {"p2"} | neighbours
    (step,) = retriever.context(question).trace[0].notes["further"]
    assert step == {"relationships -> node_id": ("p3", "p1", "rota"), "found": len(neighbours)}
    early = MetadataFilters(
        filters=[MetadataFilter(key="part", value=3, operator=FilterOperator.LT)]
    )
    found = set(ids(retriever.with_options(filters=early).retrieve(question)))
    assert found == {"p2"} | (neighbours - {"p3"})


def test_relationships_are_read_in_the_docstore_first_and_lead_nowhere_else(embed_model):
    store = GivesNodes()
    hosted = VectorStoreIndex(
        pieces(3)[2:],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    hosted.docstore.add_documents(pieces(3)[1:2])
    retriever = ClewRetriever(
        Candidates(
            hosted,
            clew.adapters.CANDIDATES,
            embedder=clew.Embedder.of(embed_model),
            hops=0,
            edges=(("relationships", "node_id"),),
        ),
        recipe="dense",
    )
    assert set(ids(retriever.retrieve("Who steers?"))) == {"p1", "p2"}
    assert store._fetched == [["rota"]]


def test_relationships_lead_to_nothing_but_ids(hosted):
    with pytest.raises(ValueError, match="relationships lead to ids"):
        ClewRetriever.from_index(hosted, edges=[("relationships", "url")])


def test_links_in_the_text_lead_to_nodes_by_what_these_are_called(store, embed_model):
    linked = [
        TextNode(text="Who steers? See [it](b.md).", id_="a", metadata={"path": "docs/a.md"}),
        TextNode(text="The coxswain.", id_="b", metadata={"path": "docs/b.md"}),
        TextNode(text="Nobody.", id_="c", metadata={"path": "b.txt"}),
    ]
    hosted = VectorStoreIndex(
        linked,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    how = {"candidates": 1, "hops": 0, "budget": None, "recipe": "dense"}
    retriever = ClewRetriever.from_index(hosted, edges=[("text", "path")], **how)
    assert set(ids(retriever.retrieve("Who steers?"))) == {"a", "b"}


async def test_in_candidates_mode_filters_go_to_the_store(hosted, store, question):
    retriever = ClewRetriever.from_index(hosted).with_options(filters=KIND)
    found = retriever.retrieve(question)
    assert ids(found) == ids(await retriever.aretrieve(question))
    assert {one.metadata["kind"] for one in found} == {"person"}
    assert store._asked[-1].filters == KIND
    nothing = MetadataFilters(filters=[MetadataFilter(key="kind", value="animal")])
    assert retriever.with_options(filters=nothing).retrieve(question) == []


def test_in_candidates_mode_the_question_is_embedded_once_or_not_at_all(
    hosted, embed_model, question
):
    retriever = ClewRetriever.from_index(hosted, hops=0)
    embed_model.seen.clear()
    retriever.retrieve(question)
    assert [text for kind, text in embed_model.seen if kind == "question"] == [question]
    embed_model.seen.clear()
    retriever.retrieve(QueryBundle(question, embedding=embed_model.of("cows")))
    assert not [text for kind, text in embed_model.seen if kind == "question"]


@dataclass(frozen=True)
class Notes:
    """A method that keeps the query it was asked."""

    asked: list = field(default_factory=list, hash=False)

    def on(self, graph):
        dense = clew.recipes.get("dense").on(graph)
        return lambda query, budget: (self.asked.append(query), dense(query, budget))[1]


def test_every_option_reaches_the_method_over_an_index_and_over_candidates(
    hosted, nodes, embed_model, question
):
    options = {"recipe": Notes(), "similarity_top_k": 2, "deadline": 5.0, "llm": MockLLM()}
    for retriever in (
        ClewRetriever.from_index(hosted, **options),
        ClewRetriever.from_nodes(nodes, embed_model, **options),
    ):
        assert len(retriever.retrieve(question)) == 2
        query = options["recipe"].asked.pop()
        assert (query.limit, query.deadline, query.model) == (2, 5.0, options["llm"])


def test_facts_of_candidates_count_and_those_of_others_are_left_out(hosted, facts, question):
    context = ClewRetriever.from_index(
        hosted, facts=facts, recipe="hipporag", candidates=3
    ).context(question)
    assert any("fact" in hop.kind for item in context for hop in item.why)


async def test_a_store_that_only_works_in_place_does_not_hold_up_the_event_loop(
    hosted, store, question, gate, monkeypatch
):
    query = KeepsText.query
    monkeypatch.setattr(KeepsText, "query", lambda *asked: gate.hold() or query(*asked))
    asked = asyncio.create_task(ClewRetriever.from_index(hosted).aretrieve(question))
    await gate.open_once_begun(asked)
    assert await asked


def test_a_store_that_keeps_the_text_is_asked_though_the_docstore_holds_references(
    store, nodes, embed_model, question
):
    more = [*nodes, IndexNode(text="All letters", index_id="letters", id_="pointer")]
    hosted = VectorStoreIndex(
        more,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    assert set(hosted.docstore.docs) == {"pointer"}
    assert set(ids(ClewRetriever.from_index(hosted).retrieve(question))) > {"theodore", "corfu"}


def test_a_property_graph_index_is_refused(nodes, embed_model):
    graph = PropertyGraphIndex(
        nodes, kg_extractors=[ImplicitPathExtractor()], embed_kg_nodes=False, use_async=False
    )
    with pytest.raises(TypeError, match="ClewPGRetriever"):
        ClewRetriever.from_index(graph)


def test_only_the_nodes_of_a_summary_index_are_read_from_a_shared_docstore(
    nodes, embed_model, question
):
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    index = SummaryIndex(nodes[:2], storage_context=StorageContext.from_defaults(docstore=docstore))
    assert set(ClewRetriever.from_index(index, embed_model).index.graph.ids) == {"corfu", "gerald"}


def test_what_only_the_searches_of_a_store_use_is_checked_and_named_where_there_are_none(
    nodes, embed_model
):
    in_memory = VectorStoreIndex(nodes, embed_model=embed_model)
    for index in (SummaryIndex(nodes), in_memory):
        for wrong, error in (
            ({"candidates": 0}, "candidates is a whole number"),
            ({"hops": 9}, "hops is the number"),
            ({"edges": ["see"]}, "edges are pairs"),
            ({"edges": [("relationships", "url")]}, "relationships lead to ids"),
        ):
            with pytest.raises((TypeError, ValueError), match=error):
                ClewRetriever.from_index(index, embed_model, **wrong)
    given = {"candidates": 5, "hops": 0, "edges": [("see", "url")]}
    for names in (["candidates"], ["hops", "edges"], ["candidates", "hops", "edges"]):
        unused = f"{', '.join(names)}: not used, since this SummaryIndex has its nodes"
        with pytest.warns(UserWarning, match=unused):
            ClewRetriever.from_index(
                SummaryIndex(nodes), embed_model, **{name: given[name] for name in names}
            )
    with pytest.warns(UserWarning, match="hops: not used"):
        ClewRetriever.from_index(in_memory, candidates=None, hops=0)


class FaissVectorStore(BasePydanticVectorStore):
    """As LlamaIndex's of that name: it gives places, takes no filters, and its client has the vector of a place."""

    stores_text: bool = False
    _rows: list = PrivateAttr(default_factory=list)
    _asked: list = PrivateAttr(default_factory=list)

    @property
    def client(self):
        return self

    @property
    def ntotal(self):
        return len(self._rows)

    def add(self, nodes, **kwargs):
        first = len(self._rows)
        self._rows += [node.embedding for node in nodes]
        return [str(first + i) for i in range(len(nodes))]

    def reconstruct(self, place):
        return np.array(self._rows[place], np.float32)

    def delete(self, ref_doc_id, **kwargs):
        raise NotImplementedError

    def query(self, query, **kwargs):
        assert query.filters is None
        self._asked.append(query.similarity_top_k)
        rows = np.reshape(self._rows, (len(self._rows), len(query.query_embedding)))
        cosines = rows @ query.query_embedding / np.linalg.norm(rows, axis=1)
        nearest = np.argsort(-cosines, kind="stable")[: query.similarity_top_k]
        distances = 1 - cosines[nearest]  # less is nearer
        return VectorStoreQueryResult(
            similarities=distances.tolist(), ids=[str(place) for place in nearest]
        )


class FaissOfLists(FaissVectorStore):
    """Over an index without a table of places."""

    def reconstruct(self, place):
        raise RuntimeError("Error: direct map not initialized")


FaissOfLists.__name__ = FaissVectorStore.__name__


def over_faiss(nodes, embed_model, kind=FaissVectorStore):
    return VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=kind()),
        embed_model=embed_model,
    )


@pytest.mark.parametrize("kind", [SimpleVectorStore, FaissVectorStore])
async def test_a_store_of_vectors_alone_is_searched_as_one_that_keeps_the_text(
    kind, store, nodes, embed_model, question
):
    """The same vectors, so the same nodes, in the same order, and none is embedded."""
    films = [
        TextNode(text=f"Film {i}\nIt was directed by Ben Okri {i} in Rome.", id_=f"film{i}")
        for i in range(20)
    ]
    director = TextNode(text="Ben Okri 7\nHe was born on an island.", id_="director")
    every = [*nodes, *films, director]
    in_memory = VectorStoreIndex(
        every,
        storage_context=StorageContext.from_defaults(vector_store=kind()),
        embed_model=embed_model,
    )
    hosted = VectorStoreIndex(
        every,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embed_model,
    )
    embed_model.seen.clear()
    who = "Where was the director of Film 7 born?"
    how = {"candidates": 5, "budget": None}
    over = ClewRetriever.from_index(in_memory, **how)
    for asked in (question, who):
        found = ids(over.retrieve(asked))
        assert found == ids(await over.aretrieve(asked))
        assert {*found} == {*ids(ClewRetriever.from_index(hosted, **how).retrieve(asked))}
    context = over.context(who)
    assert "director" in context.ids
    assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
    assert any("Ben Okri 7" in str(item.why) for item in context), "names are read"
    further = context.trace[0].notes["further"]
    assert sum(step["found"] for step in further) > 0
    assert asked_texts(embed_model) == []
    in_memory.insert_nodes([TextNode(text="Ben Okri 7 steers.", id_="new")])
    assert "new" in ids(over.retrieve("Who is Ben Okri 7?"))


@pytest.mark.parametrize("candidates", [50, None])
def test_no_node_of_faiss_is_embedded_again(candidates, nodes, embed_model, question):
    index = over_faiss(nodes, embed_model)
    embed_model.seen.clear()
    found = ClewRetriever.from_index(index, candidates=candidates).retrieve(question)
    assert asked_texts(embed_model) == []
    in_memory = VectorStoreIndex(nodes, embed_model=embed_model)
    same = ClewRetriever.from_index(in_memory, candidates=candidates).retrieve(question)
    assert ids(found) == ids(same)


class GuardedFaiss(FaissVectorStore):
    """Leaves out what stands at even places."""

    def query(self, query, **kwargs):
        found = super().query(query, **kwargs)
        kept = [i for i, place in enumerate(found.ids) if int(place) % 2]
        return VectorStoreQueryResult(
            similarities=[found.similarities[i] for i in kept], ids=[found.ids[i] for i in kept]
        )


async def test_a_store_that_is_derived_from_one_over_faiss_is_asked_by_its_own_query(embed_model):
    who = "Who steers the lifeboat?"
    crowd = [
        TextNode(text=f"{who} {i}", id_=f"n{i}", metadata={"kind": "far" if i > 30 else "near"})
        for i in range(40)
    ]
    index = over_faiss(crowd, embed_model, GuardedFaiss)
    embed_model.seen.clear()
    retriever = ClewRetriever.from_index(index, budget=None, similarity_top_k=40)
    odd = {f"n{i}" for i in range(1, 40, 2)}
    assert {*ids(retriever.retrieve(who))} == {*ids(await retriever.aretrieve(who))} == odd
    only = MetadataFilters(filters=[MetadataFilter(key="kind", value="far")])
    far = ClewRetriever.from_index(
        index, candidates=4, hops=0, filters=only, budget=None, recipe="dense", similarity_top_k=4
    )
    assert len({*ids(far.retrieve(who))} & odd & {f"n{i}" for i in range(31, 40)}) == 4
    assert asked_texts(embed_model) == []


def test_an_index_over_faiss_without_nodes_is_searched_when_some_come(embed_model):
    index = over_faiss([], embed_model)
    retriever = ClewRetriever.from_index(index)
    assert retriever.retrieve("Who steers?") == []
    index.insert_nodes([TextNode(text="Ann steers.", id_="ann")])
    assert ids(retriever.retrieve("Who steers?")) == ["ann"]
    assert index.vector_store._asked


def test_an_index_of_faiss_s_that_gives_no_vectors_is_read_whole(nodes, embed_model, question):
    index = over_faiss(nodes, embed_model, FaissOfLists)
    retriever = ClewRetriever.from_index(index)
    assert ids(retriever.retrieve(question)) == ids(
        ClewRetriever.from_nodes(nodes, embed_model).retrieve(question)
    )
    assert index.vector_store._asked == []


@pytest.mark.parametrize("wanted", ["near", "far"])
async def test_a_filter_is_asked_of_as_many_of_faiss_s_nearest_as_it_takes(wanted, embed_model):
    """The store would refuse it; nothing that it forbids is read, and nothing that it allows missed."""
    who = "Who steers the lifeboat?"
    crowd = [
        TextNode(
            text=f"{who} {number}", id_=f"near{number}", metadata={"kind": "near", "no": number}
        )
        for number in range(40)
    ]
    far = [
        TextNode(text=f"Granite {number}.", id_=f"far{number}", metadata={"kind": "far", "no": 0})
        for number in range(3)
    ]
    index = over_faiss([*crowd, *far], embed_model)
    only = MetadataFilters(
        filters=[
            MetadataFilter(key="kind", value=wanted),
            MetadataFilter(key="no", value=30, operator=FilterOperator.LT),
        ]
    )
    retriever = ClewRetriever.from_index(
        index, candidates=5, hops=0, filters=only, budget=None, recipe="dense", similarity_top_k=5
    )
    found = ids(retriever.retrieve(who))
    assert found == ids(await retriever.aretrieve(who))
    allowed = {id: node for id, node in index.docstore.docs.items() if id.startswith(wanted)}
    assert set(found) <= {id for id, node in allowed.items() if node.metadata["no"] < 30}
    assert len(found) == (5 if wanted == "near" else 3)
    assert index.vector_store._asked[0] == 5
    assert max(index.vector_store._asked) < (40 if wanted == "near" else 4 * 43)
    following = ClewRetriever.from_index(
        index, candidates=1, hops=0, edges=[("no", "no")], filters=only, budget=None
    )
    same = {following.retrieve(who)[0].node.metadata["no"]}
    assert {one.node.metadata["no"] for one in following.retrieve(who)} == same


def test_of_a_node_that_was_inserted_again_faiss_s_last_vector_counts(nodes, embed_model):
    index = over_faiss(nodes, embed_model)
    retriever = ClewRetriever.from_index(index, candidates=2, hops=0, budget=None, recipe="dense")
    rows = index.vector_store._rows
    place = [node.node_id for node in nodes].index("spiro")
    before = QueryBundle("Who drove the Dodge?", embedding=rows[place])
    assert ids(retriever.retrieve(before))[0] == "spiro"
    index.insert_nodes([TextNode(text="Granite: hard.", id_="spiro")])
    found = retriever.retrieve(before)
    assert "spiro" not in ids(found)
    assert len(found) == 2
    now = QueryBundle("What is hard?", embedding=rows[-1])
    assert ids(retriever.retrieve(now))[0] == "spiro"
    index.docstore.delete_document("spiro")
    found = retriever.retrieve(now)
    assert "spiro" not in ids(found)
    assert len(found) == 2


@pytest.mark.parametrize("candidates", [0, -1, True, 2.0, "5"])
def test_how_many_candidates_are_asked_for_is_a_whole_number(hosted, candidates):
    with pytest.raises(ValueError, match="candidates is a whole number of at least 1"):
        ClewRetriever.from_index(hosted, candidates=candidates)


def test_an_index_of_keywords_is_followed_and_gives_its_own_nodes_alone(embed_model):
    kept = StorageContext.from_defaults()
    letters = [Document(text=f"The ferry {i} sails.", id_=f"D{i}") for i in range(4)]
    how = {"storage_context": kept, "llm": MockLLM()}
    table = SimpleKeywordTableIndex.from_documents(letters, **how)
    SimpleKeywordTableIndex.from_documents([Document(text="The ferry of another index.")], **how)
    retriever = ClewRetriever.from_index(table, embed_model, similarity_top_k=9, budget=None)

    def read():
        return {one.node.get_content() for one in retriever.retrieve("Which ferry sails?")}

    assert read() == {one.text for one in letters}
    table.delete_ref_doc("D2", delete_from_docstore=False)
    table.insert(Document(text="The new ferry sails."))
    assert read() == {*(letters[i].text for i in (0, 1, 3)), "The new ferry sails."}


def test_a_tree_is_followed_and_gives_its_own_nodes_alone(embed_model):
    kept = StorageContext.from_defaults()
    letters = [Document(text=f"The ferry {i} sails.", id_=f"D{i}") for i in range(4)]
    how = {"storage_context": kept, "llm": MockLLM(), "build_tree": False}
    tree = TreeIndex.from_documents(letters, **how)
    TreeIndex.from_documents([Document(text="The ferry of another index.")], **how)
    retriever = ClewRetriever.from_index(tree, embed_model, similarity_top_k=9, budget=None)

    def read():
        return {one.node.get_content() for one in retriever.retrieve("Which ferry sails?")}

    assert read() == {one.text for one in letters}
    tree.insert(Document(text="The new ferry sails."))
    assert read() == {*(one.text for one in letters), "The new ferry sails."}
