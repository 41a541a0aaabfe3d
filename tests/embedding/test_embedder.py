"""Embedders of every make, and each way in which one can go wrong: one clear error, and nothing changed."""

from __future__ import annotations

import inspect
import pickle
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import clew
from clew.embedding.attach import attach_vectors
from clew.embedding.embedder import Embedder, embed_texts, fit_default
from clew.embedding.raw_vectors import normalize_vectors
from clew.graph import Facts, Graph, Labels, Ragged, freeze
from tests.traced_memory import traced_memory

TEXTS = ["one", "two", "three"]
ROWS = np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
UNIT = np.array([[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]], np.float32)


def letters(texts):
    """Three numbers of a text that no text with a letter has all zero."""
    return np.array([[len(text), text.count("e"), text.count("o")] for text in texts], np.float64)


class Tensor:
    """As much of torch's tensor as is met: it has no array before it is detached, on the host and of a type that numpy has."""

    def __init__(self, values, state=("grad", "cuda", "bfloat16")):
        self.values, self.state = np.asarray(values), state

    def _without(self, what):
        return Tensor(self.values, tuple(s for s in self.state if s != what))

    def detach(self):
        return self._without("grad")

    def cpu(self):
        return self._without("cuda")

    def float(self):
        return self._without("bfloat16")

    def numpy(self):
        if self.state:
            raise TypeError(f"still {self.state}")
        return self.values.astype(np.float32)

    def __array__(self, *_, **__):
        return self.numpy()

    def __iter__(self) -> Iterator[Tensor]:
        return (Tensor(row, self.state) for row in self.values)

    def __len__(self):
        return len(self.values)


def column(values):
    """As a table holds lists: an array of objects, each a list."""
    found = np.empty(len(values), object)
    found[:] = values.tolist()
    return found


def sparse(values):
    from scipy.sparse import csr_array

    return csr_array(values)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(np.asarray, id="array"),
        pytest.param(np.float16, id="half"),
        pytest.param(np.int64, id="whole"),
        pytest.param(np.asfortranarray, id="fortran"),
        pytest.param(lambda v: v.astype(object), id="objects"),
        pytest.param(lambda v: v.tolist(), id="lists"),
        pytest.param(lambda v: tuple(map(tuple, v.tolist())), id="tuples"),
        pytest.param(list, id="rows"),
        pytest.param(column, id="column"),
        pytest.param(iter, id="iterator"),
        pytest.param(lambda v: (row.tolist() for row in v), id="generator"),
        pytest.param(lambda v: [v[0].astype(np.float16), v[1].tolist(), v[2]], id="mixed"),
        pytest.param(Tensor, id="tensor"),
        pytest.param(lambda v: list(Tensor(v)), id="tensors"),
        pytest.param(sparse, id="sparse"),
        pytest.param(lambda v: v * 1e-300, id="tiny"),
        pytest.param(lambda v: v * 1e300, id="huge"),
    ],
)
def test_vectors_of_any_make_become_unit_rows(form):
    found = normalize_vectors(form(ROWS), TEXTS)
    np.testing.assert_allclose(found, UNIT, atol=1e-6)
    assert found.dtype == np.float32
    assert not found.flags.writeable


def test_real_tensors_become_unit_rows():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(ROWS, dtype=torch.bfloat16, requires_grad=True)
    for form in (tensor, list(tensor)):
        np.testing.assert_allclose(normalize_vectors(form, TEXTS), UNIT, atol=1e-6)


@given(arrays(np.float64, (4, 3), elements=st.floats(-1e150, 1e150)))
def test_rows_keep_their_direction_and_the_callers_array_stays_as_it_was(values):
    before, texts = values.copy(), ["a", "b", "c", "d"]
    found = normalize_vectors(values, texts, zeros=True)
    for row, raw in zip(found.astype(np.float64), values, strict=True):
        if not raw.any():
            assert not row.any()
            continue
        scaled = raw / np.abs(raw).max()
        np.testing.assert_allclose(row, scaled / np.sqrt((scaled**2).sum()), atol=1e-6)
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize(
    ("raw", "kind", "said"),
    [
        ([[1, 2], [np.nan, 1], [1, 1]], ValueError, "'two' has NaN or infinite"),
        (
            [[1, 2], [np.nan, 1], [np.inf, 1]],
            ValueError,
            "'two' has NaN or infinite values, as have 1 more",
        ),
        ([[1, 2], [None, 1], [1, 1]], ValueError, "'two' has NaN"),
        ([[1, 2], [1, 1], [0, 0]], ValueError, "'three' is all zeros: the embedder found nothing"),
        ([[1, 2], [1, 2, 3], [1, 2]], ValueError, "'two' has 3 dimensions; wanted 2"),
        ([[1, 2], [], [1, 2]], ValueError, r"'two' came as an array of shape \(0,\)"),
        ([[1, 2], 3, [1, 2]], ValueError, r"'two' came as an array of shape \(\)"),
        (np.ones((3, 0)), ValueError, r"'one' came as an array of shape \(0,\)"),
        (np.ones((3, 2, 2)), ValueError, r"'one' came as an array of shape \(2, 2\)"),
        ([1.0, 2.0, 3.0], ValueError, r"'one' came as an array of shape \(\)"),
        ([[1, 2], [3, 4]], ValueError, "2 vectors for 3 texts"),
        ([[1, 2]] * 4, ValueError, "4 vectors for 3 texts"),
        ([], ValueError, "0 vectors for 3 texts"),
        ([None, None, None], ValueError, r"'one' came as an array of shape \(\)"),
        (np.float64(1), ValueError, "a float64 for 3 texts"),
        (None, TypeError, "returned a NoneType"),
        (7, TypeError, "returned a int"),
        ("abc", TypeError, "returned a str"),
        ({"one": [1, 2]}, TypeError, "returned a dict"),
        ([["a", "b"]] * 3, TypeError, "values of type <U1"),
        ([[1j, 2]] * 3, TypeError, "values of type complex128"),
        ([[object(), 1]] * 3, TypeError, "not numbers"),
        ([[1, [2, 3]]] * 3, TypeError, "not numbers"),
    ],
)
def test_a_bad_answer_is_one_error_that_names_the_first_text(raw, kind, said):
    with pytest.raises(kind, match=said):
        normalize_vectors(raw, TEXTS)


def test_vectors_must_be_of_the_dimension_that_the_others_have():
    with pytest.raises(ValueError, match="'one' has 2 dimensions; wanted 5, as the others have"):
        normalize_vectors(ROWS, TEXTS, width=5)
    with pytest.raises(ValueError, match="'four' has 4 dimensions; wanted 3"):  # of another batch
        embed_texts(
            Embedder.of(lambda texts: np.ones((len(texts), len(texts[0])))),
            ["one", "two", "four"],
            batch_size=1,
        )


def test_equal_texts_are_embedded_once_in_batches_of_their_own_order():
    seen = []

    def embed(texts):
        seen.append(list(texts))
        texts.clear()  # the list is the embedder's own
        return letters(seen[-1])

    asked = ["b", "a", "b", "c", "a", "d", "e"]
    found = embed_texts(Embedder.of(embed), asked, batch_size=2)
    assert seen == [["b", "a"], ["c", "d"], ["e"]]
    np.testing.assert_array_equal(found, normalize_vectors(letters(asked), asked))
    assert not found.flags.writeable


def test_no_texts_need_no_embedder():
    def never(texts):
        raise AssertionError

    assert embed_texts(Embedder.of(never), [], width=7).shape == (0, 7)


def test_progress_counts_distinct_texts(capsys):
    embed_texts(Embedder.of(letters), ["a", "b", "a"], progress=True)
    assert "2/2" in capsys.readouterr().err
    embed_texts(Embedder.of(letters), ["a", "b"])
    assert not capsys.readouterr().err


class RateLimitError(Exception):
    pass


def lazily(texts):
    for text in texts:
        if text == "4":
            raise RateLimitError("slow down")
        yield [1.0, float(text)]


def at_once(texts):
    return list(lazily(texts))


@pytest.mark.parametrize("embed", [lazily, at_once])
def test_a_failure_half_way_says_which_batch_and_keeps_its_cause(embed):
    said = "the embedder '\\w+' failed on batch 3 of 4, texts 5 to 6: RateLimitError: slow down"
    with pytest.raises(RuntimeError, match=said) as caught:
        embed_texts(Embedder.of(embed), [str(i) for i in (0, 1, 2, 3, 5, 4, 6)], batch_size=2)
    assert isinstance(caught.value.__cause__, RateLimitError)


def test_a_failing_embedder_leaves_the_index_as_it_was():
    def embed(texts):
        if any("bad" in text for text in texts):
            raise RateLimitError
        return letters(texts)

    index = clew.Index.from_documents(["one text", "another"], embedder=embed)
    before = index.graph.vectors.copy()
    with pytest.raises(RuntimeError, match="failed on batch 1 of 1"):
        index.add(["a bad one"])
    np.testing.assert_array_equal(index.graph.vectors, before)
    assert len(index) == 2


async def waiting(texts):
    return letters(texts)


class Waiting:
    async def __call__(self, texts):
        return letters(texts)


def test_async_callables_are_refused_before_or_when_they_answer():
    for source in (waiting, Waiting()):
        with pytest.raises(TypeError, match="is async; give a plain callable"):
            Embedder.of(source)
    hidden = Embedder.of(lambda texts: waiting(texts))
    with pytest.raises(TypeError, match="returned an awaitable"):
        embed_texts(hidden, ["a"])
    with pytest.raises(TypeError, match="returned an awaitable"):
        hidden.embed_question("a")


@pytest.mark.parametrize(
    "raw",
    [
        lambda t: letters([*t, *t]),
        lambda t: letters(t)[0],
        lambda t: letters(t)[:0],
        lambda _: [[1, [2]]],
    ],
)
def test_a_question_has_one_vector(raw):
    with pytest.raises(ValueError, match=r"for 1 text; wanted \[1, d\]"):
        Embedder.of(raw).embed_question("why?")


@pytest.mark.parametrize(
    "make",
    [
        letters,
        lambda t: letters(t).tolist(),
        lambda t: iter(letters(t)),
        lambda t: Tensor(letters(t)),
    ],
)
def test_a_question_is_embedded_as_a_text_of_its_own(make):
    np.testing.assert_array_equal(
        np.asarray(Embedder.of(make).embed_question("hello")), letters(["hello"])[0]
    )


@pytest.mark.parametrize("source", [None, 3, [1.0], {"a": [1]}])
def test_what_cannot_embed_is_refused(source):
    with pytest.raises(
        TypeError, match=f"cannot embed with a {type(source).__name__}: wanted a callable"
    ):
        Embedder.of(source)


def test_a_class_is_not_taken_for_an_object_of_it():
    with pytest.raises(TypeError, match="the embedder is the class Waiting; give an object of it"):
        Embedder.of(Waiting)


@dataclass
class Transformer:
    """As much of a sentence-transformers model as is met; older ones have `encode` alone."""

    name: str = "some/model"

    def encode(self, texts):
        return letters(texts)

    @property
    def model_card_data(self):
        return types.SimpleNamespace(base_model=self.name)


class AskingTransformer(Transformer):
    def encode_document(self, texts):
        return letters(texts) + np.eye(3)[0]

    def encode_query(self, texts):
        return letters(texts) + np.eye(3)[1]


def test_a_sentence_transformers_model_embeds_questions_as_such():
    older, newer = Embedder.of(Transformer()), Embedder.of(AskingTransformer())
    assert older.name == newer.name == "some/model"
    np.testing.assert_array_equal(older.embed_question("one"), letters(["one"])[0])
    np.testing.assert_array_equal(newer.embed_texts(["one"]), letters(["one"]) + np.eye(3)[0])
    np.testing.assert_array_equal(newer.embed_question("one"), letters(["one"])[0] + np.eye(3)[1])


def test_a_name_is_a_sentence_transformers_model(monkeypatch):
    monkeypatch.setitem(
        sys.modules,
        "sentence_transformers",
        types.SimpleNamespace(SentenceTransformer=AskingTransformer),
    )
    assert Embedder.of("all-MiniLM-L6-v2").name == "all-MiniLM-L6-v2"
    assert Embedder.of(Path("models") / "mini").name == str(Path("models") / "mini"), (
        "a model's folder is named as a path, too"
    )
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        ImportError,
        match=r"\('all-MiniLM-L12-v2'\) needs sentence-transformers: pip install 'clew\[st\]'",
    ):
        Embedder.of("all-MiniLM-L12-v2")  # which no test has loaded


def test_a_model_is_loaded_once_for_all_questions_that_name_it(monkeypatch):
    loaded, embedded = list[str](), list[str]()

    class Counted(AskingTransformer):
        def __init__(self, name):
            super().__init__(name)
            loaded.append(name)

        def encode_document(self, texts):
            embedded.extend(texts)
            return super().encode_document(texts)

    module = types.SimpleNamespace(SentenceTransformer=Counted)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    for question in ("Who sails?", "Who rows?"):
        clew.narrow(question, ["Anna sails.", "Ben rows."], embedder="counted/first")
    assert loaded == ["counted/first"]
    assert sorted(embedded) == ["Anna sails.", "Ben rows."]
    for name in ("counted/second", "counted/third", "counted/third", "counted/first"):
        Embedder.of(name)
    assert loaded == [f"counted/{one}" for one in ("first", "second", "third", "first")]


async def test_langchain_embeddings_are_met_by_their_methods():
    fake = pytest.importorskip("langchain_core.embeddings").DeterministicFakeEmbedding(size=8)
    embedder = Embedder.of(fake)
    assert embedder.embed_texts(TEXTS) == fake.embed_documents(TEXTS)
    assert (
        embedder.embed_question("one")
        == fake.embed_query("one")
        == await embedder.aembed_question("one")
    )
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(embedder)).embed_question("one"), fake.embed_query("one")
    )


def llamaindex_embedding():
    base = pytest.importorskip("llama_index.core.base.embeddings.base").BaseEmbedding

    class Letters(base):
        def _get_text_embedding(self, text):
            return letters([text])[0].tolist()

        def _get_query_embedding(self, query):
            return (letters([query])[0] + 1).tolist()

        async def _aget_query_embedding(self, query):
            return (letters([query])[0] + 2).tolist()

    return Letters(model_name="letters-of-llama", embed_batch_size=2)


async def test_a_llamaindex_embedding_is_met_by_its_methods():
    embedder = Embedder.of(llamaindex_embedding())
    assert embedder.name == "letters-of-llama"
    np.testing.assert_array_equal(
        embed_texts(embedder, TEXTS), normalize_vectors(letters(TEXTS), TEXTS)
    )
    np.testing.assert_array_equal(embedder.embed_question("one"), letters(["one"])[0] + 1)
    np.testing.assert_array_equal(await embedder.aembed_question("one"), letters(["one"])[0] + 2)
    index = clew.Index.from_documents(TEXTS, embedder=llamaindex_embedding())
    assert (await index.aask("one", recipe="dense")).ids == index.ask("one", recipe="dense").ids


@pytest.mark.parametrize("source", [letters, Transformer(), AskingTransformer()])
def test_an_embedder_is_pickled_where_its_source_is(source):
    embedder = Embedder.of(source)
    again = pickle.loads(pickle.dumps(embedder))
    assert again.name == embedder.name
    np.testing.assert_array_equal(again.embed_texts(TEXTS), embedder.embed_texts(TEXTS))
    np.testing.assert_array_equal(again.embed_question("one"), embedder.embed_question("one"))


def test_only_the_embedded_default_may_give_no_vector():
    embedder = fit_default(["some words", "other words"])[0]
    assert embedder.allows_zero_vectors
    assert not embed_texts(embedder, ["!?"]).any()
    assert Embedder.of(embedder.fitted).fitted is embedder.fitted
    assert not Embedder.of(embedder.embed_texts.__call__).allows_zero_vectors
    with pytest.raises(ValueError, match="'!\\?' is all zeros"):
        embed_texts(
            Embedder("clew-static-1", embedder.embed_texts, embedder.embed_question),
            ["!?"],
        )


def test_an_embedder_comes_back_as_it_is():
    embedder = Embedder.of(letters)
    assert Embedder.of(embedder) is embedder
    assert embedder.name == "letters"
    assert not inspect.iscoroutinefunction(embedder.embed_question)


def test_vectors_are_held_once_while_they_are_attached():
    """Those of a batch go where they belong: texts that come again, facts, and those that have theirs."""
    width, n = 256, 3000
    texts = [f"text {i % (n - 9)}" for i in range(n)]
    facts = [(i, i + 1, f"fact {i}") for i in range(n - 1)]

    def embed(texts):
        rows = np.zeros((len(texts), width), np.float32)
        for row, text in enumerate(texts):
            kind, number = text.split()
            rows[row, int(number) % (width // 2) + (kind == "fact") * width // 2] = 1
        return rows

    graph = Graph.of(texts)
    graph = replace(
        graph,
        facts=Facts(
            tuple(text for _, _, text in facts),
            freeze(np.zeros((n - 1, 0)), np.float32),
            freeze([one for one, _, _ in facts], np.int32),
            freeze([other for _, other, _ in facts], np.int32),
            Labels.of(["to"] * (n - 1)),
            Ragged.of([[0]] * (n - 1)),
        ),
    )
    attach_vectors(Graph.of(["text 1"]), embed)
    _, peak = traced_memory(lambda: attach_vectors(graph, embed))
    attached = attach_vectors(graph, embed)[1]
    np.testing.assert_array_equal(attached.vectors, embed(texts))
    np.testing.assert_array_equal(attached.facts.vectors, embed(list(graph.facts.texts)))
    assert peak < 1.75 * 4 * width * (2 * n - 1), "more than once, and the texts"
    known = {"text 7": attached.vectors[0], "fact 7": attached.vectors[1]}
    again = attach_vectors(graph, embed, known=known)[1]
    assert (again.vectors[7] == known["text 7"]).all()
    assert (again.facts.vectors[7] == known["fact 7"]).all()
    others = np.arange(n - 1) != 7
    np.testing.assert_array_equal(again.facts.vectors[others], attached.facts.vectors[others])
