"""The parameters of the Kurisu-G2 traversal, each with its symbol in the paper.

Kurisu-G2 (ICLR 2026 submission 18441), appendix B.1.1. The paper uses several symbols twice; here
every use has a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

CONTAINER_SIMILARITIES = ("mean", "best")


@dataclass(frozen=True)
class DescentParameters:
    """What a descent may do at each step, how many paths it takes, and what is read of them.

    Attributes:
        max_depth: D, the depth at which a path ends; a path has at most `max_depth + 1` nodes.
        sim_threshold: tau, relative: children with at least this share of the best child's
            similarity may be fused, and grandchildren with this share may be grafted.
        fgw_threshold: epsilon, the largest squared fused Gromov-Wasserstein distance between the
            surroundings before and after a fusion.
        graft_fgw_threshold: the same limit for grafts; the paper uses one epsilon for both.
        content_weight: alpha, the weight of content in that distance, from 0 to 1; structure has
            the rest.
        sharpness: the exponent p of an edge's length, exp(p * (1 - cosine)) - 1.
        graft_rate: eta, how strongly the cosine of its ends changes a graft's strength.
        graft_similarity: the cosine at which a graft's strength does not change. The paper uses
            tau here too, although tau is relative everywhere else.
        n_loc: the most nodes of the surroundings on which the distance is taken, at least 2.
        similar_threshold: theta_sem, the weight from which edges of kind "similar" are followed.
        reward: R, how much one question changes the strengths of edges in all; see `Index.learn`.
            With the decay d of `Index.learn`, no strength moves further from its built value than
            the larger share of the reward divided by d: 0.3 of 0.5 by default.
        penalty_share: gamma, the share of the reward that penalties have.
        container_similarity: "best" or "mean": the similarity of a container to the question is
            the best prize of its passages, or the cosine of their mean vector.
        bisect: True finds the longest allowed fusion by bisection, as the paper's complexity
            analysis supposes; False tests one size after the other, as its pseudo-code does.
        max_paths: the most paths of one question. Each ends where no other path ended.
        max_path_nodes: how many nodes of each path are read, from its end; 1 reads the most
            precise node alone. None reads all of them, and then the rest of the corpus by prize.
        broad: True reads a path from its beginning, which is its broadest node.
        window: how many neighbours on either side of each passage of a path's end are read too.
    """

    max_depth: int = 8
    sim_threshold: float = 0.9
    fgw_threshold: float = 0.02
    graft_fgw_threshold: float = 0.02
    content_weight: float = 0.5
    sharpness: float = 1.0
    graft_rate: float = 0.1
    graft_similarity: float = 0.5
    n_loc: int = 32
    similar_threshold: float = 0.8
    reward: float = 0.03
    penalty_share: float = 0.5
    container_similarity: str = "best"
    bisect: bool = True
    max_paths: int = 10
    max_path_nodes: int | None = None
    broad: bool = False
    window: int = 0

    def __post_init__(self) -> None:
        if self.container_similarity not in CONTAINER_SIMILARITIES:
            raise ValueError(
                f"unknown container_similarity {self.container_similarity!r}; "
                f"known: {', '.join(CONTAINER_SIMILARITIES)}"
            )
        if self.n_loc < 2:
            raise ValueError(f"n_loc is at least 2, a node and one child; got {self.n_loc}")
