"""The bytes of a change: what is in them comes back as it was, and the formats that are needed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from clew import Document, Index
from clew.store import change_files
from clew.store.change_files import MIN_BYTES, pack_change, unpack_change
from clew.store.manifest import CHANGES, generations, name_of_change
from clew.store.packing import pack
from tests.store.test_changes import corpus, every_size

ARRAYS = st.sampled_from([np.uint8, np.int32, np.int64, np.float32, np.float64]).flatmap(
    lambda dtype: arrays_of.arrays(dtype, st.integers(0, 1500))
)


@given(arrays=st.dictionaries(st.sampled_from(["a", "b.starts", "nodes.vectors"]), ARRAYS))
def test_a_change_comes_back_as_it_was(arrays):
    packed = pack_change(arrays)
    for data in (packed.data, pack(arrays)):  # and one that an earlier clew packed
        found = unpack_change(data)
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert found[name].tobytes() == array.tobytes()


def test_long_columns_of_little_are_compressed_and_vectors_stay_as_they_are():
    language_of_node = np.zeros(100_000, np.uint8)
    vectors = np.zeros((500, 100), np.float32)
    packed = pack_change({"words.language_of_node": language_of_node, "nodes.vectors": vectors})
    assert packed.is_compressed
    assert vectors.nbytes < packed.bytes < vectors.nbytes + 1000
    short = pack_change(
        {"nodes.vectors": vectors, "edges.gone": np.zeros(MIN_BYTES // 8, np.int32)}
    )
    assert not short.is_compressed


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("is_small", [False, True])
def test_the_name_of_a_change_says_what_is_in_it(is_late, is_small):
    name = name_of_change(12, is_late=is_late, is_small=is_small)
    match = CHANGES.fullmatch(name)
    assert (match[1], bool(match["late"]), bool(match["small"])) == ("00000012", is_late, is_small)


@pytest.mark.parametrize(("smallest", "wanted"), [(2048, [2, 8, 8]), (10**9, [2, 3, 3])])
def test_a_generation_has_the_earliest_format_that_reads_it(
    tmp_path, embed, monkeypatch, smallest, wanted
):
    every_size(monkeypatch)
    monkeypatch.setattr(change_files, "MIN_BYTES", smallest)
    index = Index.from_documents(corpus(40), embedder=embed)
    index.save(tmp_path)
    for i in (40, 41):
        index = index.add([Document(str(i), "A sloop of the harbour. " * 200)])
        index.save(tmp_path)
    files = [file for _, file in sorted(generations(tmp_path).items())]
    assert [json.loads(file.read_bytes())["index"]["format"] for file in files] == wanted
    loaded = Index.load(tmp_path, embedder=embed, verify="full")
    assert loaded.ask("Which sloop?").text == index.ask("Which sloop?").text
