"""The retriever gives the index's own context as the framework's nodes, wherever the framework asks it."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from typing import Any

import pytest
from llama_index.core import MockEmbedding, SummaryIndex, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import (
    Document,
    ImageDocument,
    ImageNode,
    IndexNode,
    MediaResource,
    Node,
    NodeRelationship,
    QueryBundle,
    TextNode,
)
from llama_index.core.tools import RetrieverTool
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever
from pydantic import Field, PrivateAttr, field_serializer

import clew
from clew.read import Piece

MARKS = {"clew_rank", "clew_role", "clew_why", "clew_relevance"}


@pytest.fixture
def index(documents, embed_model, facts):
    return clew.Index.from_documents(documents, embedder=embed_model, facts=facts)


def ids(found):
    return [one.node.node_id for one in found]


def only(**wanted):
    return MetadataFilters(
        filters=[MetadataFilter(key=key, value=value) for key, value in wanted.items()]
    )


def test_it_is_a_retriever():
    assert BaseRetriever in ClewRetriever.__mro__


@pytest.mark.parametrize("recipe", clew.recipes.names())
async def test_every_recipe_gives_the_same_nodes_in_the_same_order_everywhere(
    index, question, recipe
):
    context = index.ask(question, recipe=recipe, budget=90)
    retriever = ClewRetriever(index, recipe=recipe, budget=90)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    assert len(context) > 1
    found = retriever.retrieve(question)
    assert [(one.node.node_id, one.text) for one in found] == [
        (item.id, item.text) for item in context
    ]
    highest = max(item.score for item in context)
    assert [one.score / context.relevance for one in found] == pytest.approx(
        [item.score / highest for item in context]
    )
    assert len(SimilarityPostprocessor(similarity_cutoff=0).postprocess_nodes(found)) == len(found)
    assert SimilarityPostprocessor(similarity_cutoff=1).postprocess_nodes(found) == []
    assert ids(await retriever.aretrieve(question)) == context.ids
    assert ids((await engine.aquery(question)).source_nodes) == context.ids
    assert ids(engine.query(question).source_nodes) == context.ids
    assert retriever.context(question).text == context.text
    assert (await retriever.acontext(question)).text == context.text


def test_a_cutoff_keeps_the_related_and_cuts_the_unrelated_at_the_same_line_for_each_question(
    nodes,
):
    """No node is cut for what the budget holds, so that the unrelated come, too."""
    cutoff = SimilarityPostprocessor(similarity_cutoff=0.3)
    retriever = ClewRetriever.from_nodes(nodes, recipe="dense", budget=None)
    for question, related, unrelated in (
        ("Where is Jersey?", "jersey", "alexandria"),
        ("Who taught Gerald Durrell to look at the water of ponds?", "theodore", "corfu"),
    ):
        found = retriever.retrieve(question)
        assert {related, unrelated} <= set(ids(found))
        kept = ids(cutoff.postprocess_nodes(found))
        assert related in kept
        assert unrelated not in kept
    for recipe in ("dense", clew.recipes.DEFAULT):
        found = retriever.with_options(recipe=recipe).retrieve("How do I bake bread at home?")
        assert found, "a few sentences are too few to tell that nothing answers"
        assert cutoff.postprocess_nodes(found) == [], "even its best passage is unrelated"


def test_the_callers_documents_are_neither_changed_nor_shared(index, documents, question):
    before = [document.model_copy(deep=True) for document in documents]
    retriever = ClewRetriever(index)
    first = retriever.retrieve(question)
    for one in first:
        assert isinstance(one.node, TextNode)
        assert set(one.metadata) >= MARKS
        one.metadata["tags"].append("scribble")
        one.metadata["year"] = 0
        one.node.excluded_llm_metadata_keys.append("year")
        one.node.relationships[NodeRelationship.NEXT] = documents[0].as_related_node_info()
        one.node.set_content("scribble")
    assert documents == before
    again = retriever.retrieve(question)
    assert all(
        "scribble" not in one.metadata["tags"] and one.text != "scribble" and one.metadata["year"]
        for one in again
    )


def test_metadata_that_cannot_be_copied_come_as_they_are():
    lock, source = threading.Lock(), Document(text="A book.", metadata={"tags": ["myth"]})
    source.metadata["lock"] = lock
    came = TextNode(id_="a", text="Theseus and the thread.", metadata=source.metadata)
    came.relationships[NodeRelationship.SOURCE] = source.as_related_node_info()
    for retriever in (ClewRetriever.from_nodes([came]), ClewRetriever.from_documents([source])):
        (found,) = retriever.with_options(similarity_top_k=1).retrieve("Theseus and the book")
        shown = [found.node, *found.node.relationships.values()]
        for one in shown:
            assert one.metadata["lock"] is lock
            one.metadata["tags"].append("changed")
    assert came.metadata["tags"] == ["myth"]
    assert came.source_node.metadata["tags"] == source.metadata["tags"] == ["myth"]


def test_text_nodes_come_back_whole_as_they_came(embed_model, documents, question):
    nodes = SentenceSplitter(chunk_size=64, chunk_overlap=0).get_nodes_from_documents(documents)
    own = {node.node_id: node for node in nodes}
    found = ClewRetriever.from_nodes(nodes, embed_model).retrieve(question)
    assert found
    for one in found:
        node = one.node.model_copy(
            update={"metadata": {k: v for k, v in one.metadata.items() if k not in MARKS}}
        )
        node.excluded_llm_metadata_keys = [
            key for key in node.excluded_llm_metadata_keys if key not in MARKS
        ]
        node.excluded_embed_metadata_keys = [
            key for key in node.excluded_embed_metadata_keys if key not in MARKS
        ]
        assert node.to_dict() == own[one.node.node_id].to_dict()
        assert node.hash == own[one.node.node_id].hash == one.node.hash


async def test_fusion_knows_a_node_again_when_metadata_is_left_alone(nodes, embed_model, question):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    plain, own = index.as_retriever(similarity_top_k=8), {node.node_id: node.hash for node in nodes}
    retriever = ClewRetriever.from_index(
        index, recipe="dense", similarity_top_k=8, budget=None, explain=False
    )
    assert {one.node_id: one.node.hash for one in retriever.retrieve(question)} == own
    parts = [plain, retriever]
    fused = QueryFusionRetriever(
        parts,
        llm=MockLLM(),
        num_queries=1,
        similarity_top_k=8,
        mode="reciprocal_rerank",
        use_async=False,
    )
    ranks = [{id: rank for rank, id in enumerate(ids(part.retrieve(question)))} for part in parts]
    for one in fused.retrieve(question):
        assert one.score == pytest.approx(sum(1 / (60 + rank[one.node_id]) for rank in ranks))


def halves(document):
    middle = document.text.index(" ", len(document.text) // 2)
    return [
        Piece("passage", document.text[:middle], 0, middle),
        Piece("passage", document.text[middle:], middle, len(document.text)),
    ]


def test_a_piece_of_a_document_names_its_source_and_place(embed_model, documents, question):
    documents[0].excluded_llm_metadata_keys = ["year"]
    found = ClewRetriever.from_documents(documents, embed_model, splitter=halves).retrieve(question)
    own = {document.node_id: document for document in documents}
    assert "corfu" in {one.node.ref_doc_id for one in found}
    for one in found:
        source = own[one.node.ref_doc_id]
        assert one.text == source.text[one.node.start_char_idx : one.node.end_char_idx]
        assert one.node.source_node.hash == source.hash
        assert one.metadata["year"] == source.metadata["year"]
        assert (
            one.node.excluded_llm_metadata_keys[: len(source.excluded_llm_metadata_keys)]
            == source.excluded_llm_metadata_keys
        )
        one.node.source_node.metadata["tags"].append("scribble")
    assert all("scribble" not in document.metadata["tags"] for document in documents)


def test_a_node_parser_splits_as_it_would_by_itself(embed_model, documents, question):
    parser = SentenceSplitter(chunk_size=40, chunk_overlap=0)
    texts = {node.text for node in parser.get_nodes_from_documents(documents)}
    found = ClewRetriever.from_documents(documents, embed_model, splitter=parser).retrieve(question)
    assert found
    assert {one.text for one in found} <= texts
    assert {one.node.ref_doc_id for one in found} <= {document.node_id for document in documents}


def test_nodes_of_a_hierarchy_come_once_and_never_with_the_text_around_them(embed_model, question):
    long = Document(
        id_="book",
        text=" ".join(
            f"Chapter {i} tells of Gerald Durrell on Corfu in year {i}." for i in range(60)
        ),
    )
    nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64]).get_nodes_from_documents(
        [long]
    )
    parents = {node.node_id for node in nodes if node.child_nodes}
    found = ClewRetriever.from_nodes(nodes, embed_model, budget=300, min_relevance=0).retrieve(
        question
    )
    assert len(found) > 1
    assert not parents & set(ids(found))
    assert set(ids(found)) <= {node.node_id for node in nodes}


def test_filters_decide_what_may_be_read(documents, embed_model, facts, question):
    retriever = ClewRetriever.from_documents(
        documents, embed_model, facts=facts, recipe="dense", filters=only(kind="place")
    )
    alone = ClewRetriever.from_documents(
        [d for d in documents if d.metadata["kind"] == "place"], embed_model, recipe="dense"
    )
    assert ids(retriever.retrieve(question)) == ids(alone.retrieve(question))


async def test_a_filter_that_allows_nothing_finds_nothing(index, question):
    retriever = ClewRetriever(index, filters=only(kind="animal"))
    assert retriever.retrieve(question) == await retriever.aretrieve(question) == []
    assert retriever.context(question).text == ""


def test_similarity_top_k_is_how_many_come(index, question):
    for wanted in (1, 3, 8):
        assert (
            len(ClewRetriever(index, similarity_top_k=wanted, budget=None).retrieve(question))
            == wanted
        )


def test_options_change_for_one_question_and_the_index_is_shared(index, question):
    retriever = ClewRetriever(index, budget=2000)
    other = retriever.with_options(similarity_top_k=2, recipe="bm25", filters=only(kind="person"))
    assert other.index is retriever.index
    assert (retriever.similarity_top_k, retriever.recipe, retriever.filters) == (
        None,
        clew.recipes.DEFAULT,
        None,
    )
    assert (
        ids(other.retrieve(question))
        == index.ask(question, recipe="bm25", limit=2, where={"kind": "person"}).ids
    )
    retriever.similarity_top_k = 1
    assert len(retriever.retrieve(question)) == 1


def test_what_is_wrong_is_said_at_once(index, documents, embed_model):
    with pytest.raises(TypeError, match="budgett"):
        ClewRetriever(index).with_options(budgett=3)
    with pytest.raises(ValueError, match=r"unknown recipe 'nonsense'; known: .*dense"):
        ClewRetriever(index, recipe="nonsense")
    with pytest.raises(ValueError, match="at least one word"):
        ClewRetriever(index).retrieve(" \n")
    with pytest.raises(TypeError, match="from_documents"):
        ClewRetriever(documents)
    with pytest.raises(TypeError, match="filters"):
        ClewRetriever(index, filters={"kind": "place"})
    with pytest.raises(TypeError, match="similarity_topk"):
        ClewRetriever.from_documents(documents, embed_model, similarity_topk=3)


async def test_the_bundles_own_embedding_is_the_questions_vector_and_the_bundle_stays_as_it_was(
    index, embed_model, question
):
    retriever, other = (
        ClewRetriever(index, recipe="dense"),
        "Which sea lies between Greece and Italy?",
    )
    bundle = QueryBundle(question, embedding=embed_model.of(other))
    embed_model.seen.clear()
    assert (
        ids(retriever.retrieve(bundle))
        == index.ask(other, recipe="dense").ids
        != index.ask(question, recipe="dense").ids
    )
    assert ids(await retriever.aretrieve(bundle)) == index.ask(other, recipe="dense").ids
    assert bundle == QueryBundle(question, embedding=embed_model.of(other))
    bare = QueryBundle(f"  {question}\n")
    retriever.retrieve(bare)
    assert bare == QueryBundle(f"  {question}\n")


async def test_custom_texts_are_embedded_in_the_place_of_the_question(index, embed_model, question):
    retriever, texts = ClewRetriever(index, recipe="dense"), ["deep sea", "Greece and Italy"]
    mean = [(a + b) / 2 for a, b in zip(*map(embed_model.of, texts), strict=True)]
    wanted = index.ask(question, recipe="dense", vector=mean).ids
    bundle = QueryBundle(question, custom_embedding_strs=texts)
    assert ids(retriever.retrieve(bundle)) == ids(await retriever.aretrieve(bundle)) == wanted
    assert bundle.embedding is None


def test_a_vector_left_by_another_retriever_does_not_disturb_an_index_with_its_own_embedder(
    documents, question
):
    retriever = ClewRetriever.from_documents(documents)
    foreign = QueryBundle(question, embedding=[1.0, 2.0], custom_embedding_strs=["cows"])
    assert ids(retriever.retrieve(foreign)) == ids(retriever.retrieve(question))


def test_questions_are_stripped_as_tools_hand_them_over(index, embed_model, question):
    tool = RetrieverTool.from_defaults(
        ClewRetriever(index, budget=60), name="letters", description="letters"
    )
    embed_model.seen.clear()
    said = tool.call(question), tool.call(input=question)
    assert embed_model.seen[0] == ("question", question)
    assert all("scorpions" in str(one) and "clew_" not in str(one) for one in said)


def test_a_chat_engine_reads_what_it_found(index, question):
    engine = ContextChatEngine.from_defaults(
        retriever=ClewRetriever(index, budget=60),
        llm=MockLLM(),
        memory=ChatMemoryBuffer.from_defaults(token_limit=500),
    )
    answer = engine.chat(question)
    assert ids(answer.source_nodes) == index.ask(question, budget=60).ids
    assert "clew_" not in str(answer)


async def test_the_event_loop_runs_on_while_the_embedder_is_slow(
    documents, slow_embed_model, question, gate
):
    retriever = ClewRetriever.from_documents(documents, slow_embed_model)
    asked = asyncio.gather(*(retriever.aretrieve(question) for _ in range(3)))
    await gate.open_once_begun(asked)
    found = await asked
    assert len({tuple(ids(one)) for one in found}) == 1


def test_an_index_node_leads_to_what_it_stands_for(embed_model, nodes, question):
    inner = ClewRetriever.from_nodes(nodes, embed_model, similarity_top_k=1)
    outer = [
        IndexNode(text="All about Gerald Durrell on Corfu", index_id="letters", id_="pointer"),
        TextNode(text="Cows.", id_="cows"),
    ]
    retriever = ClewRetriever.from_nodes(
        outer, embed_model, object_map={"letters": inner}, similarity_top_k=1
    )
    assert ids(retriever.retrieve(question)) == ids(inner.retrieve(question))


def test_a_misspelt_option_is_refused_before_anything_is_embedded(documents, nodes, embed_model):
    for make, given in (
        (ClewRetriever.from_documents, documents),
        (ClewRetriever.from_nodes, nodes),
    ):
        for wrong in ({"similarity_topk": 3}, {"recipe": "nonsense"}):
            with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
                make(given, embed_model, **wrong)
    assert not embed_model.seen


def test_a_misspelt_attribute_is_refused_when_it_is_set(index, question):
    class Counting(ClewRetriever):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.questions = 0

    retriever = ClewRetriever(index)
    with pytest.raises(AttributeError, match="does not take similarity_topk; it takes recipe"):
        retriever.similarity_topk = 1
    retriever.similarity_top_k = 1
    retriever.callback_manager = retriever.callback_manager
    assert len(retriever.retrieve(question)) == 1
    assert Counting(index, similarity_top_k=2).questions == 0, "a class has its own attributes"
    retriever.similarity_top_k = 0
    with pytest.raises(ValueError, match=r"^similarity_top_k is a whole number of at least 1"):
        retriever.retrieve(question)


def letters(texts):
    return [[text.lower().count(letter) for letter in "aeioustr"] for text in texts]


def letter(question):
    return letters([question])[0]


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copied_retriever_answers_alike(documents, question, copied):
    retriever = ClewRetriever.from_documents(
        documents,
        clew.Embedder("letters", letters, letter),
        similarity_top_k=3,
        filters=only(kind="person"),
    )
    assert ids(copied(retriever).retrieve(question)) == ids(retriever.retrieve(question))


def test_a_deep_copy_shares_the_corpus(index):
    retriever = ClewRetriever(index)
    assert copy.deepcopy({"engine": retriever})["engine"].index is index


def test_constant_vectors_and_one_document_are_answered(documents, question):
    assert len(ClewRetriever.from_documents(documents, MockEmbedding(4)).retrieve(question)) > 0
    assert ids(ClewRetriever.from_documents(documents[:1]).retrieve(question)) == ["corfu"]


def test_an_extractor_reads_facts_out_of_documents_and_nodes():
    documents = [
        Document(text="Theseus of Athens killed the Minotaur.", id_="a"),
        Document(text="Ariadne helped Theseus of Athens.", id_="b"),
    ]
    how = {"extractor": clew.Names(), "recipe": "hipporag"}
    for made in (
        ClewRetriever.from_documents(documents, **how),
        ClewRetriever.from_nodes(documents, **how),
    ):
        assert made.context("Who killed the Minotaur?").trace[0].notes["facts"] > 0


async def test_fusion_knows_a_node_that_two_questions_or_two_retrievers_found(nodes, embed_model):
    questions = ["Who taught Gerald Durrell on Corfu?", "Where did Theodore Stephanides live?"]
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    both = [ClewRetriever.from_index(index), index.as_retriever(similarity_top_k=8)]
    fusion = QueryFusionRetriever(
        both, llm=MockLLM(), num_queries=1, use_async=False, similarity_top_k=20
    )
    for question in questions:
        found = [one.node.node_id for one in fusion.retrieve(question)]
        assert len(found) == len(set(found)) == len(nodes)
    twice = [ClewRetriever.from_index(index).retrieve(question) for question in questions]
    for one in (*twice[0], *twice[1]):
        assert one.node.hash == next(n.hash for n in nodes if n.node_id == one.node.node_id)
        assert TextNode.from_dict(one.node.to_dict()).metadata == one.node.metadata


def test_a_node_that_stands_for_an_index_keeps_its_hash_and_so_does_one_that_was_pickled():
    pointer = IndexNode(text="The timetable says when the ferry sails.", index_id="t", id_="p")
    retriever = ClewRetriever.from_nodes([pointer, TextNode(text="The ferry is red.", id_="q")])
    for question in ("When does the ferry sail?", "What does the timetable say?"):
        for found in retriever.retrieve(question):
            own = {"p": pointer.hash, "q": TextNode(text="The ferry is red.", id_="q").hash}
            assert found.node.hash == own[found.node_id]
            assert pickle.loads(pickle.dumps(found.node)).hash == own[found.node_id]
            assert isinstance(found.node, IndexNode) == (found.node_id == "p")


class Row(TextNode):
    """A row of a table, which tells none but itself of classes that are made of it."""

    page: int = 0
    tags: list[str] = Field(default_factory=list)

    def __init_subclass__(cls, /, table: str, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)


class DatedRow(Row, table="dated"):
    """One with a constructor, a serializer, a private attribute and a hash of its own."""

    text: str = Field(default="", alias="words")
    _read: int = PrivateAttr(0)

    def __init__(self, *, page: int = 7, **fields: Any) -> None:
        super().__init__(page=page, **fields)

    @field_serializer("page")
    def _page(self, page: int) -> str:
        return f"page {page}"

    @property
    def hash(self) -> str:
        return f"{self.page} {self.text} {self.metadata}"

    @classmethod
    def class_name(cls) -> str:
        return "DatedRow"


@pytest.mark.parametrize("kind", [Row, DatedRow])
def test_a_node_of_a_class_of_ones_own_keeps_its_class_its_fields_and_its_hash(kind):
    came = [
        kind(id_="a", text="Ada Brandt sails to Riga.", page=3, tags=["sea"], metadata={"no": 1}),
        kind(id_="b", text="Who sails? Ben Okri sails to Riga.", page=4, metadata={"no": 2}),
    ]
    own = {node.node_id: node for node in came}
    retriever = ClewRetriever.from_nodes(came, similarity_top_k=2)
    for node in came:
        if kind is DatedRow:
            node._read = node.page
    for question in ("Who sails?", "Where does Ada Brandt sail?"):
        found = [one.node for one in retriever.retrieve(question)]
        assert len({type(node) for node in found}) == 1
        assert {node.node_id for node in found} == {"a", "b"}
        for node in found:
            theirs = own[node.node_id]
            assert isinstance(node, kind)
            assert node.hash == theirs.hash
            assert "clew_rank" in node.metadata
            assert getattr(node, "_read", None) == getattr(theirs, "_read", None)
            changed = {name for name in theirs.to_dict() if "metadata" in name}
            assert {k: v for k, v in node.to_dict().items() if k not in changed} == {
                k: v for k, v in theirs.to_dict().items() if k not in changed
            }
            pickled = pickle.loads(pickle.dumps(node))
            assert type(pickled) is type(node)
            assert pickled.hash == copy.deepcopy(node).hash == theirs.hash
            assert pickled.to_dict() == node.to_dict()


def test_the_media_of_a_document_come_back_with_the_text():
    picture = MediaResource(data=b"a picture", mimetype="image/png")
    came = [
        Document(id_="a", text="Ada Brandt sails to Riga.", image_resource=picture),
        Node(
            id_="b",
            text_resource=MediaResource(text="Who *sails*?", mimetype="text/markdown"),
            audio_resource=MediaResource(data=b"a sound", mimetype="audio/mpeg"),
            video_resource=MediaResource(url="https://example.org/film.mp4"),
        ),
        ImageDocument(id_="c", text="Ben Okri sails to Riga.", image=b"another picture"),
        ImageNode(id_="d", text="A ship sails.", image_path="ship.png"),
        Document(id_="e", text="Nobody sails."),
    ]
    retriever = ClewRetriever.from_nodes(came, similarity_top_k=5, budget=None)
    found = {one.node_id: one for one in retriever.retrieve("Who sails to Riga?")}
    assert len(found) == len(came)
    for node in came:
        one = found[node.node_id]
        assert one.text == node.get_content()
        for same in (one.node, pickle.loads(pickle.dumps(one.node))):
            for name in ("image_resource", "audio_resource", "video_resource"):
                assert getattr(same, name, None) == getattr(node, name, None)
            assert same.hash == node.hash
            if hasattr(Node, "get_content_blocks") and node.node_id != "d":  # which has no file
                assert same.get_content_blocks() == node.get_content_blocks()
    assert found["b"].node.text_resource == came[1].text_resource
    assert found["d"].node.image_path == "ship.png"
    found["a"].node.image_resource.mimetype = "image/gif"
    assert picture.mimetype == came[0].image_resource.mimetype == "image/png"
    assert not hasattr(found["e"].node, "image_resource")


def test_what_the_objects_of_an_index_stand_for_is_read(embed_model):
    times = SummaryIndex([TextNode(text="The ferry sails at ten.", id_="times")])
    pointer = IndexNode(text="The timetable", index_id="t", id_="p", obj=times.as_retriever())
    index = VectorStoreIndex(objects=[pointer], embed_model=embed_model)
    theirs, ours = index.as_retriever(), ClewRetriever.from_index(index)
    for retriever in (theirs, ours):
        assert [found.node_id for found in retriever.retrieve("timetable")] == ["times"]
