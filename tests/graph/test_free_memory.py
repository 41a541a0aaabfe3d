"""Free memory goes back to the system, between the stages of a large index and not of a small one."""

import platform
from pathlib import Path

import pytest

from clew import Index
from clew.graph import release_free_memory
from clew.index import build


def anonymous_bytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_what_is_free_between_what_is_kept_goes_back_to_the_system():
    blocks = [b"x" * 10_000 for _ in range(10_000)]
    kept = blocks[::100]
    del blocks
    before = anonymous_bytes()
    release_free_memory()
    assert before - anonymous_bytes() > 50_000_000
    assert len(kept) == 100


def test_only_a_large_index_gives_memory_back(monkeypatch):
    texts = ["Anna met Ben in Rome.", "Ben left Rome."]
    times = []
    monkeypatch.setattr(build, "release_free_memory", lambda: times.append(1))
    small = Index.from_documents(texts)
    assert not times
    monkeypatch.setattr(build, "MAX_KEPT_ROWS", 1)
    large = Index.from_documents(texts)
    assert len(times) > len(large.links)
    assert large.graph.ids == small.graph.ids
    assert large.graph.edges.weights.tolist() == small.graph.edges.weights.tolist()
