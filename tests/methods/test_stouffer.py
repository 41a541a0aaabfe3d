"""Stouffer's score of a community, read back from the trace: z-scores add up by the root of n."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import clew

CLIQUES = (
    ["Anna", "Ben", "Cleo"],
    ["Dora", "Emil", "Fay", "Gus"],
    ["Hal", "Ida", "Jon", "Kim", "Lea"],
    ["Max", "Nia", "Oli", "Pia", "Quin", "Ria"],
)


def test_over_the_root_of_its_size_a_score_is_linear_in_the_mean_similarity():
    facts = {
        f"d{i}": [(one, "knows", other) for one, other in combinations(names, 2)]
        for i, names in enumerate(CLIQUES)
    }
    documents = [
        clew.Document(id, ". ".join(" ".join(fact) for fact in said)) for id, said in facts.items()
    ]
    index = clew.Index.from_documents(documents, facts=facts)
    question = "Who knows Anna, Dora, Hal and Max?"
    context = index.ask(question, recipe="da_rag", budget=2000)
    notes = next(step.notes for step in context.trace if "levels" in step.notes)
    found = sorted(notes["facts"], key=lambda one: one["nodes"])
    assert [one["nodes"] for one in found] == [3, 4, 5, 6]
    means = np.array([one["mean"] for one in found])
    scores = np.array([one["score"] / np.sqrt(one["nodes"]) for one in found])
    slope, offset = np.polyfit(means, scores, 1)
    assert slope > 0
    assert scores == pytest.approx(slope * means + offset, abs=3e-3)
    assert np.ptp(scores) > 0.1
