"""Dense retrieval on real questions gives the figures that were computed elsewhere, from the same vectors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.measure import Benchmark, compare

CHECKOUT = Path(__file__).parents[2]
REFERENCE = {
    "musique_train100_gpt35": {
        "R@2": 0.472,
        "R@5": 0.622,
        "R@10": 0.703,
        "all@5": 0.32,
        "all@10": 0.43,
        "MRR@10": 0.833,
        "R@512 reference": 0.598,
        "R@1024 reference": 0.688,
    },
    "hotpot_train100": {
        "R@2": 0.625,
        "R@5": 0.785,
        "R@10": 0.850,
        "all@5": 0.60,
        "all@10": 0.71,
        "MRR@10": 0.885,
        "R@512 reference": 0.760,
        "R@1024 reference": 0.845,
    },
}


def data(name):
    """The folder of a real set: in CLEW_DATA, else in a folder shared/data beside the checkout."""
    said = os.environ.get("CLEW_DATA")
    places = (
        [Path(said)]
        if said
        else [CHECKOUT / "shared" / "data", CHECKOUT.parent / "shared" / "data"]
    )
    for place in places:
        if (place / name).is_dir():
            return place / name
    pytest.skip(
        f"no {name} in {' or '.join(map(str, places))}: set CLEW_DATA to the folder that has it"
    )


@pytest.mark.parametrize("name", REFERENCE)
def test_dense_retrieval_has_the_reference_figures(name):
    # without facts: dense retrieval does not see them, and the index is made in a moment
    found = compare(
        Benchmark.open(data(name), facts="none"), ["dense"], budgets=(512, 1024), samples=10
    )
    for figure, value in REFERENCE[name].items():
        assert found.mean("dense", figure) == pytest.approx(value, abs=0.01 + 1e-9), figure


@pytest.mark.parametrize(
    ("name", "facts"),
    [("musique_train100_gpt35", "triples"), ("hotpot_train100", "surface_triples")],
)
def test_every_name_and_fact_of_the_real_sets_finds_its_vector(name, facts):
    benchmark = Benchmark.open(data(name))
    texts = [
        part
        for triple in benchmark.facts[benchmark.documents[0].id]
        for part in (triple[0], " ".join(triple))
    ]
    if texts:
        assert benchmark.embedder.embed_texts(texts).shape == (len(texts), 384)
    assert (
        sum(map(len, benchmark.facts.values()))
        == {"triples": 17_233, "surface_triples": 4_145}[facts]
    )
