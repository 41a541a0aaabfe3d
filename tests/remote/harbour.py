"""Documents about ferries with facts, vectors that depend on a text alone, and their index."""

from __future__ import annotations

import numpy as np

import clew
from clew.remote import Bounds

NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())


def embed(texts):
    """Vectors that depend on a text alone, so that a change of one document changes no other's."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=16) for text in texts]
    return [row / np.linalg.norm(row) for row in rows]


def harbour(count, owners=("a",)):
    """Documents of several owners about ferries, islands and captains, and facts of each."""
    documents, facts = [], {}
    for i in range(count):
        ferry, island, captain = f"Ferry {i}", f"Island {i % 17}", f"Captain {i % 29}"
        own = {"owner": owners[i % len(owners)]}
        text = f"{ferry} sails to {island} with {captain} at {i % 24} o'clock."
        documents.append(clew.Document(f"d{i}", text, own))
        facts[f"d{i}"] = [(ferry, "sails to", island), (captain, "commands", ferry)]
    return documents, facts


def saved(server, documents, facts=None, **parts):
    index = clew.Index.from_documents(documents, facts=facts, embedder=embed)
    address = server.address(**parts)
    index.save(address)
    return index, address
