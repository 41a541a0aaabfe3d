"""Working graphs to choose from under a budget: made at random, or those that the recipe `budgeted` makes of a benchmark's questions."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from clew import recipes
from clew.algorithms.budgeted import Problem, solve_with_shared_costs
from clew.measure import Benchmark

SHARE = 0.25  # of all tokens, the budget


def generated(n, seed, connector):
    """Power-law weights, two in three links inside a community, three roots.

    45 in 100 rows hold 20 to 200 tokens and a prize, the others are connectors of so many tokens; the budget is a quarter of all tokens.
    """
    rng = np.random.default_rng(seed)
    weight, group = (1 - rng.random(n)) ** (-1 / 1.5), rng.integers(0, max(1, n // 25), n)
    pairs = set()
    for row in range(1, n):  # held together, then about four links a row
        other = int(rng.choice(row, p=weight[:row] / weight[:row].sum()))
        pairs |= {(row, other), (other, row)}
    for _ in range(3 * n):
        a = int(rng.choice(n, p=weight / weight.sum()))
        near = weight * np.where(group == group[a], 1.0, 0.5 * (group == group[a]).mean())
        b = int(rng.choice(n, p=near / near.sum()))
        pairs |= {(a, b), (b, a)} if a != b else set()
    ordered = np.array(sorted(pairs))
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(ordered[:, 0], minlength=n), out=starts[1:])
    content = rng.random(n) < 0.45
    tokens = np.where(content, rng.integers(20, 201, n), connector)
    roots = np.sort(rng.choice(n, 3, replace=False)).astype(np.int32)
    return Problem(
        starts,
        ordered[:, 1].astype(np.int32),
        np.where(content, rng.random(n), 0.0),
        tokens,
        roots,
        int(tokens.sum() * SHARE),
    )


class Real:
    """The working graphs of the questions in a benchmark folder, as the recipe makes them, each with a quarter of its tokens as budget."""

    def __init__(self, folder):
        self.benchmark = Benchmark.open(folder)
        self.name = self.benchmark.name
        self.index = self.benchmark.index()

    def problem(self, nodes, question, alone=False):
        """The problem of one question among about so many nodes; `alone` links the question to its best terminal only."""
        stage = replace(
            recipes.get("budgeted").selects[0],
            working=nodes,
            method="greedy",
            connected_without_query=alone,
        )
        asked = []

        def noted(problem, shared, *how):
            lines = np.append(shared.tokens, 0)[shared.groups]  # as if each row had its own heading
            asked.append(replace(problem, tokens=problem.tokens + lines))
            return solve_with_shared_costs(problem, shared, *how)

        with patch("clew.select.budgeted.solve_with_shared_costs", noted):
            self.index.ask(
                self.benchmark.questions[question].text,
                recipe=replace(recipes.get("budgeted"), selects=(stage,)),
                budget=None,
            )
        return replace(asked[0], budget=int(asked[0].tokens.sum() * SHARE))
