"""The parameters of the Kurisu-G2 traversal, each with its symbol in the paper.

Kurisu-G2 (ICLR 2026 submission 18441), appendix B.1.1. The paper uses several symbols twice; here
every use has a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.methods.kurisu.edge_learning import BUILT_STRENGTH, DEFAULT_SHAPE, RewardShape

# The words that a parameter may have, the tuned one first.
CHOICES = {
    "container_similarity": ("best", "mean"),
    "threshold": ("weighted", "literal"),
    "structure": ("paths", "embedding"),
    "fused_vector": ("mean", "text"),
    "ends": ("best", "last"),
}


@dataclass(frozen=True)
class DescentParameters:
    """What a descent may do at each step, how many paths it takes, and what is read of them.

    Attributes:
        start_node: the id of the node that every path begins at; only what is below it, or is
            reached from there, is read. None for the root of the corpus.
        ends: "best" or "last": a path leaves a passage only for its sentences or for what is no
            worse, or goes on as far as anything leads, as Algorithm 1 prints it. A graft or a
            semantic edge can lead from the passage that answers to a worse one.
        max_depth: D, the depth at which a path ends; a path has at most `max_depth + 1` nodes.
        sim_threshold: tau, relative: children with at least this share of the best child's
            similarity may be fused, and grandchildren with this share may be grafted.
        threshold: "weighted" or "literal": the strengths of edges weigh both sides of the
            threshold and the order of the children, or only its right side, as line 11 of
            Algorithm 1 prints it.
        fgw_threshold: epsilon, the largest squared fused Gromov-Wasserstein distance between the
            surroundings before and after a fusion.
        graft_fgw_threshold: the same limit for grafts; the paper uses one epsilon for both.
        content_weight: alpha, the weight of content in that distance, from 0 to 1; structure has
            the rest.
        structure: "paths" or "embedding": distances within the surroundings are those of shortest
            paths, or those of the nodes' vectors alone, as section 2.2.4 prints them. By vectors
            alone no graft changes anything, and every one is allowed.
        fused_vector: "mean" or "text": the vector of a fused node is the mean of its members', or
            that of their texts, concatenated in the order of the documents and embedded as a whole
            (chi = phi(l(v'))). Containers have no text of their own: where one is among the
            members, it is the mean.
        sharpness: the exponent p of an edge's length, exp(p * (1 - cosine)) - 1.
        graft_rate: eta, how strongly the cosine of its ends changes a graft's strength.
        graft_similarity: the cosine at which a graft's strength does not change. The paper uses
            tau here too, although tau is relative everywhere else.
        initial_strength: the strength p, above 0 and at most 1, with which an edge of weight 1
            exists before anything is learnt. What is learnt moves it from there.
        n_loc: the most nodes of the surroundings on which the distance is taken, at least 2.
        similar_threshold: theta_sem, the weight from which edges of kind "similar" are followed.
        reward: R, how much one question changes the strengths of edges in all; see `Index.learn`.
            With the decay d of `Index.learn`, no strength moves further from its built value than
            the larger share of the reward divided by d: 0.3 of 0.5 by default.
        penalty_share: gamma, the share of the reward that penalties have.
        reward_margin: eta of appendix B.3, the deviations below the mean from which similarities
            count as above it.
        penalty_cut: delta, the deviations below the mean from which an edge loses.
        reward_temperature: tau+, above 0; the higher it is, the more evenly gains are shared.
        penalty_temperature: tau-, above 0; the same for losses.
        min_deviation: sigma_min, above 0, the least deviation that similarities are divided by.
        container_similarity: "best" or "mean": the similarity of a container to the question is
            the best prize of its passages, or the cosine of their mean vector.
        bisect: True finds the longest allowed fusion by bisection, as the paper's complexity
            analysis supposes; False tests one size after the other, as its pseudo-code does.
        max_paths: the most paths of one question. Each ends in a passage where no other path ended;
            once their ends fill their share of the room, there are no more.
        max_path_nodes: how many nodes of each path are read, from its end; 1 reads the most
            precise node alone. None reads all of them.
        fill: True reads the rest of the corpus by prize, once all of every path is read. False
            does so only where nothing of the paths fits, and then reads one passage.
        broad: True reads a path from its beginning, which is its broadest node.
        window: how many neighbours on either side of each passage of a path's end are read too.
        sentence_window: the same for sentences. A sentence alone says little.
        end_share: the share of the room, above 0 and at most 1, that ends take where they are
            sentences; the rest is for reading back to whole passages. Where the passages of all
            ends fit, or a number of passages is wanted, they are read at once.
    """

    start_node: str | None = None
    ends: str = "best"
    max_depth: int = 8
    sim_threshold: float = 0.9
    threshold: str = "weighted"
    fgw_threshold: float = 0.02
    graft_fgw_threshold: float = 0.02
    content_weight: float = 0.5
    structure: str = "paths"
    fused_vector: str = "mean"
    sharpness: float = 1.0
    graft_rate: float = 0.1
    graft_similarity: float = 0.5
    initial_strength: float = BUILT_STRENGTH
    n_loc: int = 32
    similar_threshold: float = 0.8
    reward: float = 0.03
    penalty_share: float = 0.5
    reward_margin: float = DEFAULT_SHAPE.margin
    penalty_cut: float = DEFAULT_SHAPE.z_cut
    reward_temperature: float = DEFAULT_SHAPE.temp_pos
    penalty_temperature: float = DEFAULT_SHAPE.temp_neg
    min_deviation: float = DEFAULT_SHAPE.sigma_min
    container_similarity: str = "best"
    bisect: bool = True
    max_paths: int = 40
    max_path_nodes: int | None = None
    fill: bool = True
    broad: bool = False
    window: int = 0
    sentence_window: int = 1
    end_share: float = 0.85

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; known: {', '.join(known)}"
                )
        if not 0 < self.initial_strength <= 1:
            raise ValueError(
                f"initial_strength is above 0 and at most 1; got {self.initial_strength}"
            )
        for name in ("reward_temperature", "penalty_temperature", "min_deviation"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is above 0; got {getattr(self, name)}")
        if not 0 < self.end_share <= 1:
            raise ValueError(f"end_share is above 0 and at most 1; got {self.end_share}")
        if self.n_loc < 2:
            raise ValueError(f"n_loc is at least 2, a node and one child; got {self.n_loc}")

    @property
    def reward_shape(self) -> RewardShape:
        """How a reward is shared among edges."""
        return RewardShape(
            self.reward_margin,
            self.penalty_cut,
            self.reward_temperature,
            self.penalty_temperature,
            self.min_deviation,
        )
