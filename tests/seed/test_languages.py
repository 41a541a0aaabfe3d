"""The languages of a corpus: they are those of all its documents, whatever came and went before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew.seed.languages
from clew import Document, Index
from clew.algorithms.kernels import machine_code
from clew.graph import Graph, carry_grown_parts, carry_shrunk_parts, with_nodes
from clew.index import in_place
from clew.index.filtering import filtered_index
from clew.seed import _identifier_model, _likely_languages
from clew.seed.languages import LanguagesPart
from clew.text.stems import EVERY, identify_language, language_identifier, likeliest_language
from tests.text.test_stems import SENTENCES

PART = LanguagesPart()
SHORT = "Ja, 7."
TEXTS = st.lists(
    st.tuples(st.sampled_from([*SENTENCES, "short"]), st.integers(0, 20)), min_size=1, max_size=12
)


def graph_of(texts, first=0):
    contents = [f"{number}: {SENTENCES.get(name, SHORT)}" for name, number in texts]
    return Graph.of(contents, ids=[f"d{first + i}" for i in range(len(texts))])


def check_lowest(graph):
    """The lowest digests that a graph has are the first of those that it would find anew."""
    own, anew = graph.part(PART).sample.lowest, PART.compute(graph).sample.lowest
    n = len(own.keys)
    assert own.keys.tolist() == anew.keys[:n].tolist()
    assert own.rows.tolist() == anew.rows[:n].tolist()
    assert own.are_all <= (n == len(graph.rows("passage")))


def named(languages):
    return languages.names, [languages.names[place] for place in languages.of_rows]


@given(TEXTS, TEXTS, st.data())
def test_whatever_comes_and_goes_the_languages_are_those_of_what_is_left(before, added, data):
    largest = data.draw(st.integers(1, 16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clew.seed.languages, "MAX_SAMPLE", largest)
        patch.setattr(clew.seed.languages, "MAX_KNOWN", data.draw(st.integers(1, 24)))
        base = graph_of(before)
        base.part(PART)
        grown = with_nodes(base, graph_of(added, len(before)))
        carry_grown_parts(grown, base)
        assert named(grown.part(PART)) == named(PART.compute(graph_of(before + added)))
        check_lowest(grown)
        stays = np.array(
            data.draw(st.lists(st.booleans(), min_size=len(grown), max_size=len(grown)))
        )
        left = grown.filtered(stays)
        carry_shrunk_parts(left, grown, stays)
        texts = [text for text, is_left in zip(before + added, stays, strict=True) if is_left]
        assert named(left.part(PART)) == named(PART.compute(graph_of(texts)))
        check_lowest(left)


def test_a_filter_of_a_saved_index_makes_the_texts_of_a_few_documents_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(clew.seed.languages, "MAX_SAMPLE", 8)
    texts = [f"{i}. {SENTENCES['en']} The ferry {i} is late." * 4 for i in range(400)]
    documents = [Document(f"d{i}", text, {"part": i % 4}) for i, text in enumerate(texts)]
    Index.from_documents(documents, extractor=None).save(tmp_path)
    index = Index.load(tmp_path)
    begun = []
    beginning = clew.seed.languages._Documents.beginning
    monkeypatch.setattr(
        clew.seed.languages._Documents,
        "beginning",
        lambda own, place: begun.append(place) or beginning(own, place),
    )
    filtered = filtered_index(index, {"part": 2})
    assert filtered.graph.part(PART).names == ("en",)
    assert len(begun) <= 8 < len(filtered.documents)
    kept = [one for one in documents if one.metadata["part"] == 2]
    anew = Index.from_documents(kept, extractor=None).graph.part(PART).sample
    assert filtered.graph.part(PART).sample.keys == anew.keys


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_changes_no_language(texts, random):
    order = random.sample(range(len(texts)), len(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clew.seed.languages, "MAX_SAMPLE", 4)
        names, of_rows = named(graph_of(texts).part(PART))
        shuffled = named(graph_of([texts[one] for one in order]).part(PART))
    assert shuffled == (names, [of_rows[one] for one in order])


def test_a_document_that_cannot_change_the_languages_is_not_identified(tmp_path, monkeypatch):
    """After a new process has opened an index, the identifier would take most of the time of `add`."""
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    documents = [Document(f"d{i}", f"{i}. {SENTENCES['de']}") for i in range(90)]
    Index.from_documents(documents, extractor=None).save(tmp_path)
    asked = []
    identify = _likely_languages.find_likeliest

    def noted(sample, among):
        asked.append(sample)
        return identify(sample, among)

    monkeypatch.setattr(_likely_languages, "find_likeliest", noted)
    opened = Index.load(tmp_path)
    changed = opened.add([Document("new", f"new: {SENTENCES['fr']}")]).delete(["d3", "d50"])
    assert not asked
    assert changed.graph.part(PART).names == ("de",)
    more = [Document(f"f{i}", f"{i}. {SENTENCES['fr']}") for i in range(8)]
    assert changed.add(more).graph.part(PART).names == ("de", "fr")
    assert len(asked) >= 9, "those that were not identified before, too"


@given(
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.lists(st.sampled_from(" ".join(SENTENCES.values()).split()), max_size=12).map(
                " ".join
            ),
        ),
        max_size=6,
    ),
    st.sampled_from([EVERY, ("no", "sr", "fr"), ("de", "en")]),
)
def test_many_texts_are_in_the_languages_that_the_library_finds_in_each(texts, among):
    for text in (*texts, *map(str.upper, texts)):
        assert _likely_languages.find_likeliest(text, among) == likeliest_language(text, among)
    for languages in (None, among):
        expected = [identify_language(text, languages) for text in texts]
        assert _likely_languages.identify_languages_of(texts, languages) == expected


def test_the_unpacked_model_is_that_of_the_library_and_a_damaged_one_is_written_anew(
    tmp_path, monkeypatch
):
    """It is kept on the disk, since the library takes half a second to unpack it."""
    monkeypatch.setattr(machine_code, "find_folder", lambda: tmp_path)
    library = language_identifier()

    def check():
        _identifier_model.identifier_model.cache_clear()
        model = _identifier_model.identifier_model()
        assert np.array_equal(model.blocks, library.tk_row)
        assert np.array_equal(model.moves, library.tk_nextmove)
        assert np.array_equal(model.outputs, library.tk_output)
        assert np.array_equal(model.weights, library.nb_ptc)
        assert np.array_equal(model.priors, library.nb_pc)
        assert model.codes.tolist() == library.nb_classes
        assert not any(one.flags.writeable for one in model)
        return model

    check()
    (folder,) = tmp_path.glob("languages-*")
    unpacked = []
    unpack = _identifier_model.unpacked
    monkeypatch.setattr(
        _identifier_model, "unpacked", lambda packed: unpacked.append(packed) or unpack(packed)
    )
    check()
    assert not unpacked, "it is read from the disk"
    moves = folder / "moves.npy"
    moves.write_bytes(moves.read_bytes()[:-1])
    check()
    check()
    assert len(unpacked) == 1
    assert list(tmp_path.glob("languages-*")) == [folder]
    monkeypatch.setattr(machine_code, "find_folder", lambda: None)
    check()
    assert len(unpacked) == 2
    _identifier_model.identifier_model.cache_clear()
