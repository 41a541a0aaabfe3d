"""What is compressed is read as it was, and what is no compressed array or text is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from clew import Document, Index
from clew.embedding import compact
from clew.graph import unit_rows
from clew.store import tables, text_bytes
from clew.store.arrays import ITEM_SIZES
from clew.store.compression import compressed, decompress, expanded, pack_array, unpack_array
from clew.store.text_bytes import CompressedBytes, compress_blocks
from clew.store.text_column import StringTable
from tests.store.test_changes import every_size
from tests.store.test_round_trip import same

ANY = st.sampled_from([*ITEM_SIZES]).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0))
)


@given(ANY, st.integers(1, 400))
def test_an_array_is_read_to_the_bit_as_it_was_written(array, times):
    array = np.concatenate([array] * times)
    written = compressed({"one": array, "mapped": array}, mapped=("mapped",))
    read = expanded(written)
    assert written["mapped"] is array
    assert list(read) == ["one", "mapped"]
    assert (read["one"].dtype, read["one"].shape) == (array.dtype, array.shape)
    assert read["one"].tobytes() == array.tobytes()
    assert sum(each.nbytes for each in written.values()) <= 2 * array.nbytes


def test_numbers_that_grow_slowly_take_a_hundredth():
    assert pack_array(np.arange(0, 3 * 10**6, 300, dtype=np.int32)).nbytes < 400
    assert pack_array(np.repeat(np.array([1.5, 2.5], np.float32), 5000)).nbytes < 400


def test_what_is_no_compressed_array_is_refused_by_its_name():
    whole = pack_array(np.arange(1000, dtype=np.int32)).tobytes()
    frame = zstandard.compress(bytes(10**6))
    wrong = [
        b"",
        whole[:20],
        whole[:-1],
        b"<i8" + whole[3:],
        b"<x4" + whole[3:],
        whole[:3] + b"\x03" + whole[4:],
        whole[:4] + b"\x07" + whole[5:],
        whole[:8] + b"\xff" * 8 + whole[16:],
        whole[:24] + frame,  # larger than it says
        whole[:24] + b"no frame at all",
    ]
    for raw in wrong:
        with pytest.raises(ValueError, match=r"^edges\.tails\.zstd: "):
            expanded({"edges.tails.zstd": np.frombuffer(raw, np.uint8)})
    assert unpack_array(np.frombuffer(whole, np.uint8)).tolist() == list(range(1000))


@given(st.lists(st.binary(max_size=40), max_size=5), st.integers(1, 20), st.integers(1, 5))
def test_any_run_of_bytes_is_cut_out_of_blocks(parts, size, kept):
    raw = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_bytes, "BLOCK", size)
        patch.setattr(text_bytes, "MAX_BLOCKS", kept)
        patch.setattr(text_bytes, "MAX_KEPT", kept)
        blocks = CompressedBytes(*compress_blocks(parts))
        assert len(blocks) == len(raw)
        for each in (blocks, pickle.loads(pickle.dumps(blocks))):
            for start in range(0, len(raw) + 1, 7):
                for end in range(start, len(raw) + 1, 5):
                    assert bytes(each.cut(start, end)) == raw[start:end]
                    assert len(each._made) <= kept


def test_a_block_of_another_size_is_refused(monkeypatch):
    frames, starts = compress_blocks([b"sea" * 23_000])
    blocks = CompressedBytes(frames, starts)
    monkeypatch.setattr(text_bytes, "BLOCK", text_bytes.BLOCK // 2)
    with pytest.raises(ValueError, match=r"block 0 of the texts: it is no frame of 16,384 bytes"):
        CompressedBytes(frames, starts).cut(0, 3)
    with pytest.raises(ValueError, match="it is no frame"):
        decompress(b"sea", 3)
    assert bytes(blocks.cut(0, 0)) == b""


def test_texts_are_made_ahead_only_where_they_are_read_one_after_the_other():
    raw = "".join(f"text {i:04d}" for i in range(500)).encode()
    frames = compress_blocks([raw])
    table = StringTable(CompressedBytes(*frames), np.arange(0, len(raw) + 1, 9))
    for code in (400, 17, 250, 3):
        assert table[code] == f"text {code:04d}"
    assert len(table._made) == 4
    assert [table[code] for code in range(500)] == [f"text {code:04d}" for code in range(500)]
    assert table.made(np.array([5, 6, 8, 9, 10, 12, 16, 17, 18, 4, 499])) == [
        f"text {code:04d}" for code in (5, 6, 8, 9, 10, 12, 16, 17, 18, 4, 499)
    ]


@pytest.mark.parametrize("stored", [0, 10**9])
def test_a_large_index_of_the_callers_vectors_is_saved_in_blocks(monkeypatch, tmp_path, stored):
    every_size(monkeypatch)
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    monkeypatch.setattr(tables, "MIN_STORED", stored)
    vectors = unit_rows(np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32))
    texts = [f"Ferry {i} sails from Quay {i % 7} to Corfu at {i}." * (1 + i % 3) for i in range(60)]
    index = Index.from_documents(
        [Document(f"d{i}", text, vector=vectors[i]) for i, text in enumerate(texts)],
        embedder=lambda some: [np.eye(5)[len(text) % 5] for text in some],
    )
    index.save(tmp_path)
    embedder = index.embedder
    loaded = Index.load(tmp_path, embedder=embedder, verify="full")
    same(loaded.graph, index.graph)
    assert loaded.documents == index.documents
    more = loaded.add([Document("new", "Ferry 99 sails.", vector=vectors[3])]).delete("d4")
    more.save(tmp_path)
    again = Index.load(tmp_path, embedder=embedder)
    same(again.graph, more.graph)
    for name in ("bm25", "fused"):
        question = "Which ferry sails from Quay 3?"
        one, other = (each.ask(question, recipe=name) for each in (more, again))
        assert one.text == other.text


def test_a_block_that_is_read_again_and_again_is_decompressed_once(monkeypatch):
    monkeypatch.setattr(text_bytes, "BLOCK", 8)
    monkeypatch.setattr(text_bytes, "MAX_BLOCKS", 3)
    raw = np.arange(160, dtype=np.uint8)
    blocks, made = CompressedBytes(*compress_blocks([raw.tobytes()])), []
    block = blocks._block
    monkeypatch.setattr(blocks, "_block", lambda number: made.append(number) or block(number))
    for turn in range(40):
        for start in (8, 8 * (turn % 20)):
            assert bytes(blocks.cut(start, start + 5)) == raw[start : start + 5].tobytes()
            assert len(blocks._made) <= 3
    assert made.count(1) == 1
    assert len(made) == 1 + 2 * 19  # the others have gone before they come again
