"""What is known of an index's documents after changes of some: what is found out of all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew import Document, Index
from clew.index.contents import OF_DOCUMENTS
from tests.store.test_changes import every_size


def document(number, text="The ferry to Corfu."):
    return Document(
        f"d{number}",
        f"{text} It is {number}.",
        {"path": f"d{number}.py"} if number % 3 == 0 else {},
        embedded_as=f"Ferry {number}." if number % 4 == 0 else None,
    )


@pytest.mark.parametrize("are_known", [True, False])
def test_they_are_those_of_all_documents(are_known, monkeypatch):
    every_size(monkeypatch)
    index = Index.from_documents([document(number) for number in range(20)])
    steps = [
        lambda before: before.add([document(20), document(21)]),
        lambda before: before.upsert([document(6, "A quay."), document(24), document(1)]),
        lambda before: before.delete(["d20", "d3", "d4"]),
        lambda before: before.upsert([document(number, "A bay.") for number in (5, 8, 9)]),
    ]
    for n, step in enumerate(steps, 1):
        if are_known:
            assert index.document_of
            assert not index.related_documents
            assert index.embedded_as
            assert index.n_of_code
        index = step(index)
        assert index.changed, "in place"
        fresh = replace(index)
        assert fresh.__dict__.keys().isdisjoint(OF_DOCUMENTS)
        for name in OF_DOCUMENTS:
            found, expected = getattr(index, name), getattr(fresh, name)
            if name == "are_containers":
                found, expected = found.tolist(), expected.tolist()
            if name == "metadata_values":
                where = {"path": ["d6.py", "d9.py"]}
                found, expected = (one.allowed(where).tolist() for one in (found, expected))
                assert sum(found) == sum(one.id in {"d6", "d9"} for one in index.documents)
            assert found == expected, (n, name)
        assert [*index.document_of] == [one.id for one in index.documents]
        assert all(index.document_of[one.id] is one for one in index.documents)
