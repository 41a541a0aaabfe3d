"""The postprocessor gives what clew makes of the nodes alone, and behaves as the framework's own rerankers do."""

from __future__ import annotations

import copy
import pickle

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import (
    Document,
    ImageNode,
    MediaResource,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever
from pydantic import ValidationError

import clew


@pytest.fixture
def found(nodes):
    return [NodeWithScore(node=node, score=1.0 - i / 10) for i, node in enumerate(nodes)]


def ids(found):
    return [one.node.node_id for one in found]


def shouts(text):
    return 2 * len(text.split())


class Heard(BaseEventHandler):
    events: list

    def handle(self, event, **kwargs):
        self.events.append(event)


def test_it_is_a_postprocessor():
    assert BaseNodePostprocessor in ClewPostprocessor.__mro__


@pytest.mark.parametrize("recipe", clew.recipes.names())
async def test_every_recipe_gives_what_narrow_gives_in_its_order(
    found, embed_model, facts, question, recipe
):
    wanted = clew.narrow(
        question,
        [(one.node, one.score) for one in found],
        recipe=recipe,
        budget=90,
        embedder=embed_model,
        facts=facts,
    )
    postprocessor = ClewPostprocessor(
        recipe=recipe, budget=90, embed_model=embed_model, facts=facts
    )
    assert len(wanted) > 1
    assert ids(postprocessor.postprocess_nodes(found, query_str=question)) == wanted.ids
    assert (
        ids(await postprocessor.apostprocess_nodes(found, QueryBundle(f" {question}\n")))
        == wanted.ids
    )
    assert postprocessor.context(found, question).text == wanted.text


async def test_it_works_behind_a_retriever_of_the_framework(nodes, embed_model, question):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    postprocessor = ClewPostprocessor(budget=60, embed_model=embed_model)
    engine = index.as_query_engine(
        similarity_top_k=5, node_postprocessors=[postprocessor], llm=MockLLM()
    )
    assert isinstance(engine, RetrieverQueryEngine)
    wanted = ids(
        postprocessor.postprocess_nodes(
            index.as_retriever(similarity_top_k=5).retrieve(question), query_str=question
        )
    )
    assert 0 < len(wanted) < 5
    assert (
        ids(engine.query(question).source_nodes)
        == ids((await engine.aquery(question)).source_nodes)
        == wanted
    )


def test_a_retriever_of_another_model_does_not_disturb_it(nodes, embed_model, found, question):
    given = QueryBundle(question, embedding=[1.0, 2.0, 3.0])
    for one in found:
        one.node.embedding = [3.0, 2.0, 1.0]
    for own in (embed_model, None):
        postprocessor = ClewPostprocessor(embed_model=own)
        assert ids(postprocessor.postprocess_nodes(found, given)) == ids(
            postprocessor.postprocess_nodes(found, query_str=question)
        )
    assert given.embedding == [1.0, 2.0, 3.0]


def test_the_callers_nodes_are_neither_changed_nor_shared(found, question):
    before = [one.model_copy(deep=True) for one in found]
    for one in ClewPostprocessor().postprocess_nodes(found, query_str=question):
        one.metadata["tags"].append("scribble")
        one.metadata["year"] = 0
    assert found == before


def test_without_nodes_there_is_nothing_and_without_a_question_an_error(found):
    assert ClewPostprocessor().postprocess_nodes([], query_str="Who?") == []
    with pytest.raises(ValueError, match="query_bundle or a query_str"):
        ClewPostprocessor().postprocess_nodes(found)


def test_top_n_is_how_many_come(found, question):
    for wanted in (1, 4):
        assert (
            len(
                ClewPostprocessor(top_n=wanted, budget=None).postprocess_nodes(
                    found, query_str=question
                )
            )
            == wanted
        )


@pytest.mark.parametrize("shift", [None, -5.0])
def test_nodes_without_scores_or_with_logits_count_by_rank(found, question, shift):
    for one in found:
        one.score = None if shift is None else one.score + shift
    assert ids(
        ClewPostprocessor(recipe="dense").postprocess_nodes(found, query_str=question)
    ) == ids(found)


def test_doubles_and_pictures_among_the_nodes_do_no_harm(found, question):
    wanted = ids(ClewPostprocessor().postprocess_nodes(found, query_str=question))
    more = [
        *found,
        found[2],
        NodeWithScore(node=ImageNode(image_url="http://example.org/corfu.png"), score=0.1),
    ]
    assert ids(ClewPostprocessor().postprocess_nodes(more, query_str=question)) == wanted


def test_pictures_alone_leave_nothing_to_read(question):
    picture = NodeWithScore(node=ImageNode(image_url="http://example.org/corfu.png"), score=0.1)
    assert ClewPostprocessor().postprocess_nodes([picture], query_str=question) == []


def test_a_score_that_is_no_number_is_named(found, question):
    found[3].score = float("nan")
    with pytest.raises(ValueError, match=found[3].node.node_id):
        ClewPostprocessor().postprocess_nodes(found, query_str=question)


def test_the_budget_counts_with_the_callers_tokenizer(found, question):
    context = ClewPostprocessor(budget=60, count=shouts).context(found, question)
    assert context.tokens == shouts(context.text) <= 60


@pytest.mark.parametrize(
    "wrong", [{"budgett": 3}, {"recipe": "nonsense"}, {"budget": 0}, {"top_n": 0}]
)
def test_a_wrong_argument_is_refused_when_it_is_given(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ClewPostprocessor(**wrong)


@pytest.mark.parametrize(("name", "value"), [("topn", 2), ("budget", 0), ("recipe", "nonsense")])
def test_what_is_refused_when_it_is_set_is_not_there_afterwards(found, question, name, value):
    postprocessor = ClewPostprocessor(top_n=3)
    before = postprocessor.to_dict()
    with pytest.raises(ValueError, match=name):
        setattr(postprocessor, name, value)
    assert postprocessor.to_dict() == before
    postprocessor.top_n = 1
    again = ClewPostprocessor.from_dict(postprocessor.to_dict())
    assert len(again.postprocess_nodes(found, query_str=question)) == 1


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_keeps_every_field_and_answers_alike(found, embed_model, facts, question, copied):
    postprocessor = ClewPostprocessor(
        recipe="hipporag", budget=60, top_n=3, embed_model=embed_model, facts=facts, count=shouts
    )
    other = copied(postprocessor)
    assert {
        name: getattr(other, name) for name in ("recipe", "budget", "top_n", "facts", "count")
    } == {
        name: getattr(postprocessor, name)
        for name in ("recipe", "budget", "top_n", "facts", "count")
    }
    assert other.embed_model.model_name == "hash"
    assert ids(other.postprocess_nodes(found, query_str=question)) == ids(
        postprocessor.postprocess_nodes(found, query_str=question)
    )


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_keeps_the_options_that_are_no_fields(found, question, copied):
    allowed = ids(found)[1]
    found[1].node.metadata["reader"] = "guest"
    narrowed = ClewPostprocessor(where={"reader": "guest"}, extractor=None, top_n=9)
    other = copied(narrowed)
    assert ids(other.postprocess_nodes(found, query_str=question)) == [allowed]
    assert other.model_extra == {"where": {"reader": "guest"}, "extractor": None}


def test_pickling_refuses_to_lose_a_field():
    with pytest.raises(TypeError, match="'count' of this postprocessor cannot be pickled"):
        pickle.dumps(ClewPostprocessor(count=lambda text: len(text)))


def test_it_survives_being_written_as_json(found, question):
    postprocessor = ClewPostprocessor(recipe="bm25", top_n=2)
    other = ClewPostprocessor.from_json(postprocessor.to_json())
    assert (other.recipe, other.top_n, other.budget) == ("bm25", 2, 2000)


def test_the_framework_hears_of_it_as_of_any_reranker(found, question):
    heard, debug = Heard(events=[]), LlamaDebugHandler(print_trace_on_end=False)
    root = get_dispatcher()
    root.add_event_handler(heard)
    try:
        postprocessor = ClewPostprocessor(recipe="bm25", budget=60)
        postprocessor.callback_manager = CallbackManager([debug])
        chosen = postprocessor.postprocess_nodes(found, query_str=question)
    finally:
        root.event_handlers.remove(heard)
    start, end = heard.events
    assert (start.class_name(), end.class_name()) == ("ReRankStartEvent", "ReRankEndEvent")
    assert (len(start.nodes), start.top_n, start.model_name, ids(end.nodes)) == (
        8,
        8,
        "clew bm25",
        ids(chosen),
    )
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


def test_a_text_node_made_by_hand_needs_no_metadata(question):
    one = NodeWithScore(node=TextNode(text="Theodore taught Gerald Durrell."), score=0.5)
    assert ids(ClewPostprocessor().postprocess_nodes([one], query_str=question)) == [
        one.node.node_id
    ]


@pytest.mark.parametrize("recipe", ["dense", "hipporag"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_questions_embed_no_node_twice(nodes, embed_model, recipe, is_async):
    got = []

    class Counting(type(embed_model)):
        def _get_text_embedding(self, text):
            got.append(text)
            return super()._get_text_embedding(text)

        _get_query_embedding = _get_text_embedding

    postprocessor = ClewPostprocessor(recipe=recipe, budget=60, embed_model=Counting())
    asked = ["Who lived on Corfu?", "Who wrote novels?", "Who lived on Corfu?"]
    for start, question in enumerate(asked):
        some = [NodeWithScore(node=node) for node in nodes[start : start + 5]]
        anew = ClewPostprocessor(recipe=recipe, budget=60, embed_model=embed_model)
        if is_async:
            chosen = await postprocessor.apostprocess_nodes(some, query_str=question)
        else:
            chosen = postprocessor.postprocess_nodes(some, query_str=question)
        wanted = anew.postprocess_nodes(some, query_str=question)
        assert chosen == wanted
    assert len(got) == 7 + 2
    assert len(set(got)) == len(got)


def test_of_two_nodes_of_one_id_the_first_is_read():
    first = TextNode(text="The ferry sails at ten.", id_="z")
    again = TextNode(text="Granite. " * 500, id_="z")
    twice = [NodeWithScore(node=first, score=0.9), NodeWithScore(node=again, score=0.1)]
    (read,) = ClewPostprocessor(budget=50).postprocess_nodes(twice, query_str="When does it sail?")
    assert read.node.text == first.text


def test_a_picture_is_left_out_and_named(found, question):
    picture = NodeWithScore(node=ImageNode(image_url="http://sea/boat.png", id_="boat"), score=0.95)
    postprocessor = ClewPostprocessor(budget=90)
    assert ids(postprocessor.postprocess_nodes([picture, *found], query_str=question)) == ids(
        postprocessor.postprocess_nodes(found, query_str=question)
    )
    dropped = postprocessor.context([picture, *found], question).dropped
    assert ("boat", "it has no text") in [(one.id, one.reason) for one in dropped]


@pytest.mark.parametrize("about", ["boat", "album"])
def test_facts_of_a_picture_are_left_aside_with_it(found, question, about):
    album = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="album")}
    boat = ImageNode(image_url="http://sea/boat.png", id_="boat", relationships=album)
    postprocessor = ClewPostprocessor(facts={about: [("boat", "sails to", "Riga")]})
    picture = NodeWithScore(node=boat, score=0.95)
    assert ids(postprocessor.postprocess_nodes([picture, *found], query_str=question)) == ids(
        postprocessor.postprocess_nodes(found, query_str=question)
    )


def test_what_two_retrievers_explained_is_read_once(nodes, embed_model, question):
    copies = [TextNode(text=node.text, id_=f"copy of {node.node_id}") for node in nodes]
    bare = [TextNode(text=node.text, id_=node.node_id) for node in nodes]
    explained = [
        one
        for some, n in ((bare, 4), (copies, 3))
        for one in ClewRetriever.from_nodes(some, embed_model, similarity_top_k=n).retrieve(
            question
        )
    ]
    read = ClewPostprocessor(budget=None, top_n=9).postprocess_nodes(explained, query_str=question)
    assert sorted(one.text for one in read) == sorted({one.text for one in explained})


def test_without_an_explanation_the_metadata_are_the_callers_own(found, question):
    silent = ClewPostprocessor(budget=90, explain=False)
    read = silent.postprocess_nodes(found, query_str=question)
    own = {one.node.node_id: one.node for one in found}
    assert read
    assert all(one.node.metadata == own[one.node.node_id].metadata for one in read)
    told = ClewPostprocessor(budget=90).postprocess_nodes(found, query_str=question)
    assert ids(told) == ids(read)
    assert all("clew_rank" in one.node.metadata for one in told)


def test_the_media_of_a_document_come_back_with_the_text():
    picture = MediaResource(data=b"a picture", mimetype="image/png")
    text = MediaResource(text="Ada Brandt *sails* to Riga.", mimetype="text/markdown")
    came = Document(id_="a", text_resource=text, image_resource=picture, metadata={"year": 1931})
    (one,) = ClewPostprocessor().postprocess_nodes(
        [NodeWithScore(node=came, score=1.0)], query_str="Who sails?"
    )
    assert (one.text, one.metadata["clew_rank"], one.node.hash) == (text.text, 1, came.hash)
    assert (one.node.text_resource, one.node.image_resource) == (text, picture)
    if hasattr(Document, "get_content_blocks"):  # an older LlamaIndex shows no pictures
        blocks = came.get_content_blocks(MetadataMode.LLM)
        assert len(blocks) == 3
        assert one.node.get_content_blocks(MetadataMode.LLM) == blocks
