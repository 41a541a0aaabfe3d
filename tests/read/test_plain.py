"""The canonical text: what a text is found by, while the raw one is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew import Document, Index, Plain
from clew.graph import text_with_heading

WRITTEN = {
    "prose": ("Snow fell on 3 * 4 fields; snake_case and a-b stay, as does 2 > 1 [sic].",) * 2,
    "emphasis": (
        "It was **not** *yet* __so__ _late_, ***really***.",
        "It was not yet so late, really.",
    ),
    "a link": (
        'See [the manual](https://a.org/b_(c)?d=1 "M") and ![a map](m.png).',
        "See the manual and a map.",
    ),
    "a link by name": ("See [the manual][1].\n\n[1]: https://a.org/x 'M'", "See the manual."),
    "a bare link": ("At <https://a.org/x> it is.", "At https://a.org/x it is."),
    "code": ("Call `ask(x)` or ``b``:\n\n```python\nx = 1\n```", "Call ask(x) or b:\nx = 1"),
    "tags": ("H<sub>2</sub>O <!-- no\n no --> is<br/>wet", "H 2 O is wet"),
    "blocks": ("# Head\n\n> said\n> twice\n\n- one\n* two\n\n---\n", "Head\nsaid\ntwice\none\ntwo"),
    "a table": ("| a | b |\n| --- | :-: |\n| 1 | 2 |", "a b\n1 2"),
    "reStructuredText": (
        "Head\n====\n\n:py:func:`~os.walk` and :ref:`more <label>`, `text <x.html>`_",
        "Head\nos.walk and more, text",
    ),
    "citation marks": ("So it is [1], they say [2, 4–6].", "So it is , they say ."),
    "what typesetting leaves": (
        "The ex-\nample is soft\u00adly ﬁne\u200b.",
        "The example is softly fine.",
    ),
    "other scripts": ("**Ολυμπία** と *東京* هي `مدينة`", "Ολυμπία と 東京 هي مدينة"),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_marks_go_and_words_stay(case):
    raw, wanted = WRITTEN[case]
    assert Plain()(raw) == wanted


@settings(max_examples=4 * settings().max_examples)
@given(st.text(st.sampled_from("ab .,-\n中é'"), max_size=60))
def test_of_prose_nothing_is_lost_but_space_and_the_marks_of_lists(text):
    def signs(some):
        return [sign for sign in some if sign.isalnum()]

    assert signs(Plain()(text)) == signs(text)


MARKED = [
    Document(
        "a",
        "The **boat** sails to [Delos](https://ferries.example/timetable/winter) at dawn.",
        format="text",
    ),
    Document("b", "The timetable of winter is kept by `Ariadne`.", format="text"),
    Document("c", "<b></b>", format="text"),
]


def hashed(texts):
    """Bags of words, spelt as they are: what differs in the text differs in the vector."""
    import zlib

    rows = np.zeros((len(texts), 64), np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            rows[row, zlib.crc32(word.encode()) % 64] += 1
    return rows


@pytest.mark.parametrize("embedder", [None, hashed])
def test_what_is_read_is_raw_and_what_is_found_by_is_canonical(embedder):
    raw, plain = (
        Index.from_documents(MARKED, embedder=embedder, canonical=how) for how in (None, Plain())
    )
    assert plain.graph.texts == raw.graph.texts
    assert text_with_heading(plain.graph, 0) == "The boat sails to Delos at dawn."
    assert text_with_heading(plain.graph, 2) == MARKED[2].text, (
        "where nothing would be left it stays as it is"
    )
    for recipe in ("bm25", "dense", "fused"):
        assert plain.ask("the **boat** sails", recipe=recipe).items[0].text == MARKED[0].text
    found = {item.id for item in raw.ask("timetable", recipe="bm25")}
    assert found == {"a", "b"}, "the target of a link is matched"
    assert {item.id for item in plain.ask("timetable", recipe="bm25")} == {"b"}


def test_a_question_is_made_canonical_too():
    index = Index.from_documents(MARKED, embedder=hashed, canonical=str.upper)
    loud = hashed(["THE TIMETABLE OF WINTER IS KEPT BY `ARIADNE`."])[0]
    assert index.graph.vectors[1] @ loud == pytest.approx(np.linalg.norm(loud))
    one, other = (
        index.ask(text, recipe="dense")
        for text in ("the timetable of winter", "THE TIMETABLE OF WINTER")
    )
    assert [item.score for item in one] == [item.score for item in other]


@pytest.mark.parametrize("embedder", [None, hashed])
def test_what_is_added_deleted_filtered_saved_and_loaded_is_found_alike(tmp_path, embedder):
    documents = [Document(d.id, d.text, {"n": n}, format="text") for n, d in enumerate(MARKED)]
    whole = Index.from_documents(documents, embedder=embedder, canonical=Plain())
    grown = Index.from_documents(documents[:2], embedder=embedder, canonical=Plain()).add(
        documents[2:]
    )
    part = Index.from_documents(documents[:2], embedder=embedder, canonical=Plain())
    whole.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", embedder=embedder)
    assert loaded.graph.canonical == Plain()
    for recipe in ("bm25", "dense", "hipporag", "budgeted"):
        wanted = whole.ask("the *winter* boat", recipe=recipe)
        for index in (grown, loaded, loaded.delete("c").add(documents[2:])):
            assert index.ask("the *winter* boat", recipe=recipe).text == wanted.text
        wanted = part.ask("the *winter* boat", recipe=recipe).text
        assert whole.ask("the *winter* boat", recipe=recipe, where={"n": [0, 1]}).text == wanted
        assert whole.delete("c").ask("the *winter* boat", recipe=recipe).text == wanted


def shout(text):
    return text.upper()


def test_one_of_ones_own_is_given_again_on_loading(tmp_path):
    Index.from_documents(MARKED, embedder=hashed, canonical=shout).save(tmp_path / "index")
    with pytest.raises(ValueError, match="canonical"):
        Index.load(tmp_path / "index", embedder=hashed)
    with pytest.raises(ValueError, match="canonical"):
        Index.load(tmp_path / "index", embedder=hashed, canonical=Plain())
    assert (
        Index.load(tmp_path / "index", embedder=hashed, canonical=shout)
        .ask("sails", recipe="dense")
        .items[0]
        .id
        == "a"
    )


@pytest.mark.parametrize(
    ("given", "said"), [("plain", "canonical"), (lambda text: None, "NoneType"), (Plain, "Plain")]
)
def test_what_is_no_function_of_texts_is_refused(given, said):
    with pytest.raises(TypeError, match=said):
        Index.from_documents(["one"], embedder=hashed, canonical=given)


def test_both_adapters_take_it():
    from langchain_clew import ClewRetriever as ForLangChain
    from langchain_core.documents import Document as LangChainDocument
    from llama_index.core import Document as LlamaDocument
    from llama_index.retrievers.clew import ClewRetriever as ForLlamaIndex

    chain = ForLangChain.from_documents(
        [LangChainDocument(id=d.id, page_content=d.text) for d in MARKED],
        canonical=Plain(),
        recipe="bm25",
        k=1,
    )
    assert [document.id for document in chain.invoke("a **timetable**")] == ["b"]
    llama = ForLlamaIndex.from_documents(
        [LlamaDocument(id_=d.id, text=d.text) for d in MARKED],
        canonical=Plain(),
        recipe="bm25",
        similarity_top_k=1,
    )
    assert [node.node_id for node in llama.retrieve("a **timetable**")] == ["b"]
    assert clew.Plain()("**x**") == "x"
