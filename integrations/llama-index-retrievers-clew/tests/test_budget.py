"""The budget holds for what a response synthesizer prints, metadata included, in every way of asking."""

from __future__ import annotations

import pytest
from llama_index.core import MockEmbedding, PropertyGraphIndex, VectorStoreIndex
from llama_index.core.bridge.pydantic import Field
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever

import clew
from clew.adapters import NothingFitsWarning

ABSTRACT = "letters about the animals of an island and the people who lived on it "


class Listens(CustomLLM):
    """A language model that answers nothing and remembers what it was shown."""

    shown: list[str] = Field(default_factory=list)

    @property
    def metadata(self):
        return LLMMetadata(context_window=100_000)

    def complete(self, prompt, formatted=False, **how):
        self.shown.append(prompt)
        return CompletionResponse(text="")

    def stream_complete(self, prompt, formatted=False, **how):
        raise NotImplementedError


def words(text):
    return len(text.split())


def size(found, count=words):
    return count("\n\n".join(one.node.get_content(metadata_mode=MetadataMode.LLM) for one in found))


def ids(found):
    return [one.node.node_id for one in found]


@pytest.fixture
def long(nodes):
    """Each with metadata that a prompt shows, of another length."""
    return [
        TextNode(id_=node.node_id, text=node.text, metadata={"abstract": ABSTRACT * (1 + i % 3)})
        for i, node in enumerate(nodes)
    ]


def every_way(long, embed_model, budget):
    documents = [
        Document(id_=node.node_id, text=node.text, metadata=node.metadata) for node in long
    ]
    vectors = VectorStoreIndex(long, embed_model=embed_model)
    chunks = PropertyGraphIndex(
        long, kg_extractors=[ImplicitPathExtractor()], embed_kg_nodes=False, use_async=False
    )
    how = {"budget": budget, "count": words}
    yield ClewRetriever.from_documents(documents, embed_model, **how)
    yield ClewRetriever.from_documents(documents, embed_model, splitter=clew.Splitter(), **how)
    yield ClewRetriever.from_nodes(long, **how)
    yield ClewRetriever.from_index(vectors, **how)
    yield ClewPGRetriever(chunks.property_graph_store, embed_model, **how)
    engine = vectors.as_retriever(similarity_top_k=8)
    post = ClewPostprocessor(embed_model=embed_model, **how)

    class Narrowed:
        def retrieve(self, question):
            return post.postprocess_nodes(engine.retrieve(question), query_str=question)

        def context(self, question):
            return post.context(engine.retrieve(question), question)

    yield Narrowed()


@pytest.mark.parametrize("budget", [60, 150])
def test_metadata_that_a_prompt_shows_is_within_the_budget(long, embed_model, question, budget):
    for retriever in every_way(long, embed_model, budget):
        found, context = retriever.retrieve(question), retriever.context(question)
        assert 0 < size(found) <= budget
        assert ids(found) == context.ids
        assert (context.budget, context.tokens) == (budget, words(context.text))
        assert context.tokens <= budget
        assert context.trace[-1].notes["tokens"] == size(found)
        assert context.trace[-1].notes["at first"] > budget
        assert all(item.text in context.text for item in context)


async def test_the_prompt_itself_is_within_it_and_nothing_is_embedded_twice(
    long, embed_model, question
):
    retriever = ClewRetriever.from_nodes(long, embed_model, count=words, budget=60)
    embed_model.seen.clear()
    found = await retriever.aretrieve(question)
    assert embed_model.seen == [("question", question)]
    assert ids(found) == ids(retriever.retrieve(question))
    llm = Listens()
    RetrieverQueryEngine.from_args(retriever, llm=llm).query(question)
    prompt = llm.shown[-1]
    assert found[0].get_content(MetadataMode.LLM) in prompt
    assert words(prompt) - words(ABSTRACT) < 120


def test_candidates_are_embedded_once_however_often_they_are_narrowed(long, embed_model, question):
    found = (
        VectorStoreIndex(long, embed_model=MockEmbedding(4))
        .as_retriever(similarity_top_k=8)
        .retrieve(question)
    )
    post = ClewPostprocessor(embed_model=embed_model, count=words, budget=80)
    context = post.context(found, question)
    assert context.trace[-1].notes["asked again with"]
    assert len(embed_model.seen) == len(set(embed_model.seen))


def test_what_does_not_fit_even_alone_makes_room_for_the_rest(nodes, embed_model, question):
    mixed = [
        TextNode(
            id_=node.node_id, text=node.text, metadata={"abstract": ABSTRACT * 20} if i % 2 else {}
        )
        for i, node in enumerate(nodes)
    ]
    retriever = ClewRetriever.from_nodes(mixed, embed_model, count=words, budget=60, recipe="dense")
    found, context = retriever.retrieve(question), retriever.context(question)
    assert found
    assert not any(one.metadata.get("abstract") for one in found)
    assert size(found) <= 60
    assert context.text == "\n".join(f"- {one.text}" for one in found)
    left_out = context.trace[-1].notes["left out"]
    assert left_out
    assert set(left_out) <= {node.node_id for node in nodes[1::2]}
    assert len(retriever.with_options(similarity_top_k=3).retrieve(question)) == 3  # as they fit


def test_a_budget_that_holds_no_node_with_its_metadata_says_so(long, question):
    retriever = ClewRetriever.from_nodes(long, budget=25, count=words)
    why = r"25 tokens holds none .* excluded_llm_metadata_keys"
    with pytest.warns(NothingFitsWarning, match=why):
        assert retriever.retrieve(question) == []
    with pytest.warns(NothingFitsWarning, match=why):
        context = retriever.context(question)
    assert (context.text, context.tokens, "25 tokens" in context.nothing_found) == ("", 0, True)
    with pytest.raises(clew.BudgetError, match=why):
        retriever.with_options(strict=True).retrieve(question)
    given = [NodeWithScore(node=node) for node in long]
    with pytest.warns(NothingFitsWarning, match=why):
        assert (
            ClewPostprocessor(budget=25, count=words).postprocess_nodes(given, None, question) == []
        )
    with pytest.raises(clew.BudgetError, match=why):
        ClewPostprocessor(budget=25, count=words, strict=True).postprocess_nodes(
            given, None, question
        )


def test_without_metadata_to_show_nothing_is_asked_twice(nodes, embed_model, question, documents):
    index = clew.Index.from_documents(nodes, embedder=embed_model)
    asked, given = ClewRetriever(index, budget=60).context(question), index.ask(question, budget=60)
    assert [step.stage for step in asked.trace] == [step.stage for step in given.trace]
    assert asked.text == given.text


def test_headings_are_within_the_budget_too():
    sections = "".join(
        f"## A rather long heading of chapter {i}\n\nThe animals of day {i}.\n\n" for i in range(20)
    )
    document = Document(
        id_="book", text=f"# Letters about animals\n\n{sections}", metadata={"file_name": "book.md"}
    )
    retriever = ClewRetriever.from_documents(
        [document], splitter=clew.Splitter(tokens=8), count=words, budget=60
    )
    found = retriever.retrieve("Which animals?")
    assert 30 < size(found) <= 60
    assert all("chapter" in one.get_content(MetadataMode.LLM) for one in found)


def test_of_a_file_that_clew_read_a_model_sees_the_name_and_the_heading(tmp_path):
    (tmp_path / "wren.md").write_text(
        "# Wren\n\nAn old meter.\n\n## History\n\nIt was discontinued in 2021.", encoding="utf-8"
    )
    retriever = ClewRetriever(
        index=clew.Index.from_documents(tmp_path, splitter=clew.Splitter()), budget=60
    )
    printed = [
        found.node.get_content(MetadataMode.LLM)
        for found in retriever.retrieve("When was it discontinued?")
    ]
    assert "file_name: wren.md" in printed[0]
    assert "Wren > History" in printed[0]
    assert not any(str(tmp_path) in page or "title:" in page for page in printed)


@pytest.mark.parametrize("where", ["retriever", "postprocessor"])
def test_a_sentence_window_is_counted_as_the_prompt_shows_it(where):
    days = " ".join(f"On day {i} the ferry sails at {i} and a quarter." for i in range(60))
    parser = SentenceWindowNodeParser.from_defaults(window_size=3)
    nodes = parser.get_nodes_from_documents([Document(text=days, id_="days")])
    asked = QueryBundle("When does the ferry sail?")
    if where == "retriever":
        found = ClewRetriever.from_nodes(nodes, count=words, budget=200).retrieve(asked)
    else:
        found = ClewPostprocessor(count=words, budget=200).postprocess_nodes(
            [NodeWithScore(node=node) for node in nodes], asked
        )
    shown = MetadataReplacementPostProcessor(target_metadata_key="window")
    read = shown.postprocess_nodes(found)
    assert len(read) > 1
    assert 90 < sum(words(one.get_content(MetadataMode.LLM)) for one in read) <= 200
