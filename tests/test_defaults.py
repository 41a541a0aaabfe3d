"""A default that is declared in several places is one: of a stage, of the part, and of the algorithm beneath."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass

import pytest

from clew.algorithms.budgeted.shared_costs import solve_with_shared_costs
from clew.algorithms.budgeted.solve import solve_budgeted
from clew.algorithms.community_detection import (
    CommunityDetection,
    detect_communities,
    modularity,
)
from clew.algorithms.community_search.q_peel import peel, search_communities
from clew.algorithms.mmr import select_mmr
from clew.algorithms.nearest.hnsw import recall, tune_ef
from clew.algorithms.pagerank.full import WalkPart, build_walk, pagerank
from clew.algorithms.pagerank.top import top_pagerank
from clew.algorithms.pagerank.uniform_jumps import JumpsPart, build_jumps
from clew.algorithms.steiner.expansion import expand_tree
from clew.algorithms.steiner.lengths import LazyLengths
from clew.algorithms.transport.fused_gromov_wasserstein import (
    conditional_gradient,
    decide,
    fgw_distance,
    identity_bound,
)
from clew.algorithms.traversal.best_first import TypedLinksPart, search_best_first
from clew.algorithms.traversal.breadth_first import search_breadth_first
from clew.methods import CommunitySearch, Descent
from clew.methods.da_rag.layers import ChunkLayer, SimilarityLayer
from clew.methods.kurisu.edge_learning import strength_changes
from clew.methods.kurisu.hierarchy import DocumentTreePart
from clew.select import MCMI, MMR, Budgeted
from clew.select.mcmi import MAX_COST
from clew.spread import BestFirst, BreadthFirst, Influence, PageRank


def default_of(declared, name):
    if is_dataclass(declared):
        return next(field.default for field in fields(declared) if field.name == name)
    return inspect.signature(declared).parameters[name].default


SAME = {
    "max_depth": [(BreadthFirst, search_breadth_first), (BestFirst, search_best_first)],
    "max_degree": [(BreadthFirst, search_breadth_first)],
    "beam": [(BestFirst, search_best_first)],
    "threshold": [(BestFirst, search_best_first)],
    "max_nodes": [(BestFirst, search_best_first)],
    "decay": [(BestFirst, search_best_first)],
    "resolution": [(CommunityDetection, detect_communities, modularity)],
    "iterations": [(CommunityDetection, detect_communities)],
    "seed": [(CommunityDetection, detect_communities), (recall, tune_ef)],
    "sample": [(recall, tune_ef)],
    "k": [(recall, tune_ef)],
    "method": [(CommunityDetection, detect_communities), (Budgeted, solve_budgeted)],
    "work": [(Budgeted, solve_budgeted, solve_with_shared_costs)],
    "max_steps": [(MCMI, expand_tree)],
    "lambda_mult": [(MMR, select_mmr)],
    "content_weight": [(Descent, decide, fgw_distance, identity_bound, conditional_gradient)],
    "penalty_share": [(Descent, strength_changes)],
    "initial_strength": [(Descent, DocumentTreePart)],
    "damping": [(Influence, JumpsPart, build_jumps, PageRank, pagerank, top_pagerank)],
    "hub_cap": [(CommunitySearch, ChunkLayer)],
    "min_support": [(CommunitySearch, ChunkLayer)],
    "shared": [(CommunitySearch, ChunkLayer)],
    "cascade": [(CommunitySearch, peel, search_communities)],
    "max_k": [(CommunitySearch, search_communities)],
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_the_same_wherever_it_is_declared(name):
    for places in SAME[name]:
        values = {default_of(place, name) for place in places}
        assert len(values) == 1
        assert inspect.Parameter.empty not in values


def test_it_is_the_same_under_another_name():
    pairs = [
        ((Descent, "similar_threshold"), (DocumentTreePart, "min_weight")),
        ((CommunitySearch, "k_neighbor"), (SimilarityLayer, "k")),
        ((CommunitySearch, "entity_descriptions"), (SimilarityLayer, "described")),
        ((CommunitySearch, "min_piece_nodes"), (search_communities, "min_piece")),
        ((CommunitySearch, "n_nearest"), (search_communities, "nearest")),
    ]
    for one, other in pairs:
        assert default_of(*one) == default_of(*other)


@pytest.mark.parametrize(
    "declared",
    [BreadthFirst, BestFirst, PageRank, WalkPart, build_walk, TypedLinksPart],
)
def test_edges_are_followed_in_both_directions_unless_it_is_said(declared):
    assert default_of(declared, "directed") is False


def test_what_has_no_vector_is_as_long_as_what_has_nothing_to_do_with_the_question():
    assert default_of(LazyLengths, "neutral") == (1 - 0) / 2 * MAX_COST
