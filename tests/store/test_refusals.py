"""What is refused, with one clear error that says what came and what was wanted, and nothing changed."""

from __future__ import annotations

import functools
import json
import os
import re
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b

import numpy as np
import pytest

from clew import Document, Index
from clew.embedding.embedder import Embedder
from clew.link import Next, Similar
from clew.read import Splitter
from clew.store import is_index
from clew.store.arrays import _header
from clew.text.estimate import estimate_tokens


def letters(text):
    return len(text)


def words(text):
    return len(text.split())


@dataclass(frozen=True)
class Whole:
    """A splitter of the caller's own."""

    size: int = 1

    def __call__(self, document):
        from clew.read import keep_whole

        return keep_whole(document)


def listed(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"when": date(1910, 5, 1)}, "document 'b': metadata['when'] is a date"),
        ({"deep": [1, {"k": {1, 2}}]}, "document 'b': metadata['deep'][1]['k'] is a set"),
        ({"n": np.int64(3)}, "document 'b': metadata['n'] is a int64"),
        ({"raw": b"bytes"}, "document 'b': metadata['raw'] is a bytes"),
        (
            {"deep": functools.reduce(lambda inner, _: [inner], range(90), 1)},
            "nested deeper than 64 levels",
        ),
    ],
)
def test_metadata_that_cannot_be_held_are_named_before_anything_is_written(
    embed, tmp_path, metadata, said
):
    index = Index.from_documents(
        [Document("a", "the sea"), Document("b", "an island", metadata)], embedder=embed
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        index.save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_of_other_things_is_left_alone(embed, small, tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(ValueError, match=r"has other files, for instance thesis\.txt"):
        small.save(tmp_path)
    (tmp_path / "b" / "data").mkdir(parents=True)
    (tmp_path / "b" / "data" / "mine.npy").write_bytes(b"")
    with pytest.raises(ValueError, match=r"for instance data/mine\.npy"):
        small.save(tmp_path / "b")
    with pytest.raises(ValueError, match="is a file"):
        small.save(tmp_path / "thesis.txt")
    assert listed(tmp_path) == ["b", "b/data", "b/data/mine.npy", "thesis.txt"]


def test_what_is_no_index_is_said_to_be_none(embed, small, tmp_path):
    (tmp_path / "file").write_text("MANIFEST-00000001.json")
    for place, said in (
        (tmp_path, "has no MANIFEST"),
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path / "file", "no such folder"),
    ):
        assert not is_index(place)
        with pytest.raises(FileNotFoundError, match=f"{place.name} is not a saved index.*{said}"):
            Index.load(place, embedder=embed)
    small.save(tmp_path / "new")
    assert is_index(tmp_path / "new")
    assert is_index(str(tmp_path / "new"))


def test_an_embedder_is_wanted_again_and_must_be_the_same(embed, small, tmp_path):
    small.save(tmp_path)
    with pytest.raises(
        ValueError,
        match=r"embedder='hashed_words' \(24 dimensions\), which is not part of it: give it again",
    ):
        Index.load(tmp_path)
    with pytest.raises(ValueError, match="embedder=hashed_words; other was given"):
        Index.load(tmp_path, embedder=Embedder("other", embed, embed))
    with pytest.raises(
        ValueError, match="24 dimensions, made by 'hashed_words'; the embedder given makes 25"
    ):
        Index.load(
            tmp_path,
            embedder=Embedder(
                "hashed_words", lambda texts: np.hstack([embed(texts), embed(texts)[:, :1]]), embed
            ),
        )
    with pytest.raises(
        ValueError, match="another embedder than this one, though both are named 'hashed_words'"
    ):
        Index.load(
            tmp_path, embedder=Embedder("hashed_words", lambda texts: embed(texts)[:, ::-1], embed)
        )


def test_an_index_with_the_embedded_default_takes_no_other_and_no_other_version_of_it(
    embed, small, tmp_path
):
    Index.from_documents(small.documents).save(tmp_path)
    with pytest.raises(ValueError, match=r"embedder=clew-static-\d+; hashed_words was given"):
        Index.load(tmp_path, embedder=embed)
    with pytest.raises(
        ValueError, match="another embedder than this one, though both are named 'clew-static"
    ):
        Index.load(
            tmp_path, embedder=Index.from_documents(["something", "else altogether"]).embedder
        )
    rewritten(
        tmp_path,
        lambda content: content["settings"]["embedder"].update(name="clew-static-0"),
    )
    with pytest.raises(
        ValueError,
        match=r"embedder clew-static-0, this version of clew has clew-static-\d+: make the index anew",
    ):
        Index.load(tmp_path)


def test_a_counter_of_ones_own_is_wanted_again_and_must_count_the_same(embed, tmp_path):
    index = Index.from_documents([Document("a", "sea and island")], embedder=embed, count=words)
    index.save(tmp_path)
    with pytest.raises(
        ValueError, match=r"count=\S+\.words, which is not part of it: give it again"
    ):
        Index.load(tmp_path, embedder=embed)
    with pytest.raises(ValueError, match=r"count=\S+\.words; \S+\.letters was given"):
        Index.load(tmp_path, embedder=embed, count=letters)
    letters.__qualname__ = words.__qualname__
    with pytest.raises(
        ValueError,
        match=r"both are named \S+\.words: by that a text of ours has 13 tokens, by this \d+",
    ):
        Index.load(tmp_path, embedder=embed, count=letters)
    assert Index.load(tmp_path, embedder=embed, count=words).graph.count == index.graph.count


def test_clews_own_counter_and_splitter_are_made_again_with_their_parameters(embed, tmp_path):
    text = "The sea is wide. The island is small. The ferry comes in winter."
    for splitter in (
        Splitter(12, sentences=True),
        Splitter(14, count=estimate_tokens, language="de"),
        None,
    ):
        index = Index.from_documents([Document("a", text)], embedder=embed, splitter=splitter)
        index.save(tmp_path)
        loaded = Index.load(tmp_path, embedder=embed)
        assert (loaded.splitter, loaded.graph.count) == (splitter, estimate_tokens)
        assert loaded.graph.ids == index.graph.ids
    Index.from_documents(
        [Document("a", text)], embedder=embed, splitter=Splitter(5, count=words)
    ).save(tmp_path)
    with pytest.raises(
        ValueError, match=r"splitter=Splitter\(tokens=5, .*, which is not part of it"
    ):
        Index.load(tmp_path, embedder=embed)
    assert Index.load(
        tmp_path, embedder=embed, splitter=Splitter(5, count=words)
    ).splitter == Splitter(5, count=words)


def test_a_splitter_and_links_of_ones_own_are_wanted_again_and_must_have_the_same_parameters(
    embed, tmp_path
):
    @dataclass(frozen=True)
    class Own(Next):
        pass

    index = Index.from_documents(
        [Document("a", "sea and island")],
        embedder=embed,
        splitter=Whole(3),
        links=(Own(), Similar(2)),
    )
    index.save(tmp_path)
    with pytest.raises(
        ValueError, match=r"splitter=Whole\(size=3\), which is not part of it: give it again"
    ):
        Index.load(tmp_path, embedder=embed, links=(Own(), Similar(2)))
    with pytest.raises(ValueError, match=r"splitter=Whole\(size=3\); Whole\(size=4\) was given"):
        Index.load(tmp_path, embedder=embed, splitter=Whole(4), links=(Own(), Similar(2)))
    with pytest.raises(
        ValueError, match=r"links=.*Own\(\), Similar\(k=2.*, which is not part of it: give it again"
    ):
        Index.load(tmp_path, embedder=embed, splitter=Whole(3))
    with pytest.raises(ValueError, match=r"links=\(.*Similar\(k=2.*; \(.*Similar\(k=3.* was given"):
        Index.load(tmp_path, embedder=embed, splitter=Whole(3), links=(Own(), Similar(3)))
    loaded = Index.load(tmp_path, embedder=embed, splitter=Whole(3), links=(Own(), Similar(2)))
    assert (loaded.splitter, loaded.links) == (index.splitter, index.links)


def test_links_of_clews_own_are_made_again_with_their_parameters(embed, tmp_path):
    links = (Similar(k=3, min_similarity=0.25, kinds=("passage", "sentence")), Next())
    Index.from_documents([Document("a", "sea and island")], embedder=embed, links=links).save(
        tmp_path
    )
    assert Index.load(tmp_path, embedder=embed).links == links


def rewritten(folder, change):
    """Change what the manifest says, with the right checksum: the work of someone who means harm, or of another clew."""
    [file] = folder.glob("MANIFEST-*.json")
    content = json.loads(file.read_bytes())["index"]
    change(content)
    body = json.dumps(content).encode()
    file.write_bytes(
        b'{"blake2b": "'
        + blake2b(body, digest_size=32).hexdigest().encode()
        + b'", "index": '
        + body
        + b"}\n"
    )


def test_an_index_of_a_newer_clew_is_neither_read_nor_written_over(embed, small, tmp_path):
    small.save(tmp_path)
    rewritten(
        tmp_path, lambda content: content.update(format=10, clew="7.0", settings={"unknown": 1})
    )
    before = listed(tmp_path)
    for attempt in (lambda: Index.load(tmp_path, embedder=embed), lambda: small.save(tmp_path)):
        with pytest.raises(
            ValueError,
            match=r"MANIFEST-00000001\.json was saved by clew 7\.0 in format 10; this clew reads 9 and earlier: upgrade clew",
        ):
            attempt()
    assert listed(tmp_path) == before


@pytest.mark.parametrize(
    "path",
    [
        "../secret.npy",
        "data/../../secret.npy",
        "/etc/passwd",
        "data/nodes.ids.npy",
        "data//x",
        "C:\\x",
        "",
    ],
)
def test_a_manifest_cannot_lead_outside_the_folder(embed, small, tmp_path, path):
    small.save(tmp_path)
    rewritten(tmp_path, lambda content: content["files"]["nodes.ids"].update(path=path))
    with pytest.raises(
        ValueError,
        match=r"MANIFEST-00000001\.json is not the manifest of an index.*no path of a file of an index",
    ):
        Index.load(tmp_path, embedder=embed)


@pytest.mark.parametrize("what", ["data", "manifest", "array"])
def test_links_to_elsewhere_are_not_followed(embed, small, tmp_path, what):
    small.save(tmp_path / "a")
    name = {
        "data": "data",
        "manifest": "MANIFEST-00000001.json",
        "array": min((tmp_path / "a" / "data").iterdir()).name,
    }[what]
    place = tmp_path / "a" / ("data" if what == "array" else "") / name
    place.rename(tmp_path / name)
    place.symlink_to(tmp_path / name)
    with pytest.raises(ValueError, match=f"{re.escape(name)} is "):
        Index.load(tmp_path / "a", embedder=embed)


def test_a_pipe_in_the_place_of_a_file_does_not_make_us_wait(embed, small, tmp_path):
    small.save(tmp_path)
    file = min((tmp_path / "data").iterdir())
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ValueError, match=f"{re.escape(file.name)} is not a plain file"):
        Index.load(tmp_path, embedder=embed)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [10**15, 24], "bytes": 96 * 10**15 + 128},
        {"shape": [10**15, 24]},
        {"shape": [-3, 24]},
        {"shape": [2**62, 2**62]},
        {"shape": [1, 1, 1]},
        {"shape": "12"},
        {"dtype": "|O8"},
        {"dtype": "<f2"},
        {"bytes": None},
        {"more": 1},
    ],
)
def test_an_array_that_claims_what_its_file_does_not_hold_is_refused_before_memory_is_asked_for(
    embed, small, tmp_path, change
):
    small.save(tmp_path)
    rewritten(tmp_path, lambda content: content["files"]["nodes.vectors"].update(change))
    with pytest.raises(
        ValueError,
        match=r"nodes\.vectors-.*\.npy is damaged: it has|MANIFEST-00000001\.json is not the manifest of an index",
    ):
        Index.load(tmp_path, embedder=embed)


@pytest.mark.parametrize(
    "config",
    [
        None,
        {"links": [1]},
        {"links": "Next()"},
        {"count": None},
        {"count": {"name": "x", "own": 1, "probe": 1}},
        {"splitter": {"name": "x", "own": "x"}},
    ],
)
def test_a_manifest_with_nonsense_in_it_is_refused_by_name(embed, small, tmp_path, config):
    small.save(tmp_path)

    def change(content):
        if config is None:
            content["settings"] = {}
        else:
            content["settings"]["config"].update(config)

    rewritten(tmp_path, change)
    with pytest.raises(ValueError, match=r"MANIFEST-00000001\.json is not the manifest"):
        Index.load(tmp_path, embedder=embed)


@pytest.mark.parametrize(
    "name",
    [
        "nodes.ids",
        "nodes.kinds.codes",
        "edges.heads",
        "documents.metadata",
        "strings.starts",
        "nodes.references.starts",
    ],
)
def test_files_that_do_not_fit_together_are_refused(embed, small, tmp_path, name):
    small.save(tmp_path)

    def swapped(content):
        content["files"][name] = content["files"][
            "given.facts.starts" if name.endswith("starts") else "documents.text"
        ]
        if name in ("nodes.kinds.codes", "edges.heads", "documents.metadata"):
            content["files"][name] = content["files"]["given.facts.values"]

    rewritten(tmp_path, swapped)
    with pytest.raises(ValueError, match=r"MANIFEST-00000001\.json lists do not fit together"):
        Index.load(tmp_path, embedder=embed)
    rewritten(tmp_path, lambda content: content["files"].pop(name))
    with pytest.raises(ValueError, match=rf"do not fit together: {re.escape(name)} is missing"):
        Index.load(tmp_path, embedder=embed)


def test_a_splitter_named_in_a_manifest_is_only_ever_one_of_clews_own(embed, small, tmp_path):
    small.save(tmp_path)
    for name in ("documents_of", "annotations", "os.system", "Path", "Piece.__init__"):
        rewritten(
            tmp_path,
            lambda content, name=name: content["settings"]["config"].update(
                splitter={"name": name, "own": name, "parameters": {}, "counters": {}}
            ),
        )
        with pytest.raises(ValueError, match="this version of clew"):
            Index.load(tmp_path, embedder=embed)


def test_an_unknown_verification_is_refused(embed, small, tmp_path):
    small.save(tmp_path)
    with pytest.raises(ValueError, match="verify is 'changed', 'full' or 'size', not 'hash'"):
        Index.load(tmp_path, embedder=embed, verify="hash")


@pytest.mark.parametrize("place", ["count", "splitter"])
def test_a_tokenizer_that_a_manifest_names_is_not_fetched(
    embed, small, tmp_path, monkeypatch, place
):
    tiktoken_load = pytest.importorskip("tiktoken.load")
    asked = []
    monkeypatch.setattr(tiktoken_load, "read_file", asked.append)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "no tables"))
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    small.save(tmp_path / "index")
    counted = {"name": "cl100k_base", "own": True, "probe": 30}
    splitter = {
        "name": "Splitter()",
        "own": "Splitter",
        "parameters": {},
        "counters": {"count": "cl100k_base"},
    }
    part = {"count": counted, "splitter": splitter}[place]
    rewritten(
        tmp_path / "index", lambda content: content["settings"]["config"].update({place: part})
    )
    with pytest.raises(ValueError, match=r"nothing is fetched unasked.*get_encoding\('cl100k_base"):
        Index.load(tmp_path / "index", embedder=embed)
    assert not asked
    if place == "count":  # the caller says yes: what stands for the network is asked, and has none
        with pytest.raises(TypeError):
            Index.load(tmp_path / "index", embedder=embed, count="cl100k_base")
        assert len(asked) == 1


def test_a_file_larger_than_the_memory_is_named(embed, small, tmp_path):
    small.save(tmp_path)
    n = 1 << 42
    [file] = (tmp_path / "data").glob("strings.bytes-*")

    def enlarged(content):
        entry = content["files"]["strings.bytes"]
        header = _header("|u1", (n,))
        entry.update(shape=[n], bytes=len(header) + n)
        file.write_bytes(header)
        os.truncate(file, len(header) + n)  # sparse: it takes no place on the disk

    rewritten(tmp_path, enlarged)
    with pytest.raises(ValueError, match=rf"bytes of memory; the largest is .*{file.name}"):
        Index.load(tmp_path, embedder=embed)


def test_a_memory_that_is_too_small_is_named(embed, small, tmp_path, monkeypatch):
    small.save(tmp_path)

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("clew.store.arrays._read_all", full)
    with pytest.raises(ValueError, match=r"MANIFEST-00000001\.json does not fit into the memory"):
        Index.load(tmp_path, embedder=embed)
