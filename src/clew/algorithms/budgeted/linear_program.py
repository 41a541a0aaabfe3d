"""The linear programme of a connected choice that grows by cuts, over scipy's HiGHS or, warm-started, over highspy.

    max  prizes x   such that  every row of `matrix` x <= `limits`  and  lower <= x <= upper

A bound is never read off the solver: from its duals y >= 0, whatever their error, follows that no x is worth more than
limits y + sum of max over x in [lower, upper] of (prizes - matrix' y) x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats

BACKENDS = ("auto", "scipy", "highspy")


class Programme:
    """Rows <= limits over n columns; `add` appends rows, `solve` never leaves a row out."""

    def __init__(self, prizes: Floats, backend: str) -> None:
        self.prizes = prizes
        self.parts: list[Any] = []
        self.limits = np.zeros(0)
        self.highs = _warm(prizes) if backend == "highspy" else None

    def add(self, matrix: Any, limits: Floats) -> None:
        """Append the rows of a sparse matrix and their limits."""
        if not matrix.shape[0]:
            return
        self.parts.append(matrix)
        self.limits = np.concatenate([self.limits, limits])
        if self.highs is not None:
            below = np.full(len(limits), -np.inf)
            starts, columns = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
            self.highs.addRows(len(limits), below, limits, matrix.nnz, starts, columns, matrix.data)

    @property
    def matrix(self) -> Any:
        """All rows as one sparse matrix."""
        from scipy.sparse import vstack

        if len(self.parts) > 1:
            self.parts = [vstack(self.parts, "csr")]
        return self.parts[0]

    def solve(
        self, lower: Floats, upper: Floats, seconds: float | None
    ) -> tuple[str, Floats, Floats]:
        """Return ("optimal", "infeasible" or "stopped", x, y >= 0)."""
        if self.highs is not None:
            return _solved_warm(self.highs, len(self.prizes), lower, upper, seconds)
        from scipy.optimize import linprog

        options: Any = {"presolve": False} | ({} if seconds is None else {"time_limit": seconds})
        sides: Any = np.stack([lower, upper], 1)
        found = linprog(
            -self.prizes, self.matrix, self.limits, bounds=sides, method="highs-ds", options=options
        )
        if found.status == 0:
            return (
                "optimal",
                np.asarray(found.x),
                np.maximum(0, -np.asarray(found.ineqlin.marginals)),
            )
        return "infeasible" if found.status == 2 else "stopped", np.zeros(0), np.zeros(0)

    def bound(self, y: Floats, lower: Floats, upper: Floats) -> tuple[float, Floats]:
        """Return what no feasible x is worth more than, by the duals y >= 0, and the reduced prizes behind it."""
        left = self.prizes - self.matrix.T @ y
        total = float(self.limits @ y + np.maximum(left * lower, left * upper).sum())
        return total + 1e-10 * (1 + abs(total)), left

    def solve_integer(
        self, lower: Floats, upper: Floats, least: float, nodes: int, seconds: float | None
    ) -> tuple[str, Floats, float, int]:
        """Return ("optimal", "infeasible" or "stopped", x in 0 and 1 or empty, what no integer x is worth more than, nodes).

        Only what is worth `least` or more is looked for: half the time, measured, and infeasible says that there is none.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        options: Any = {"mip_rel_gap": 0.0, "node_limit": min(nodes, 2**31 - 1)} | (
            {} if seconds is None else {"time_limit": seconds}
        )
        worth = csr_array(-self.prizes[None, :])
        rows = LinearConstraint(
            vstack([self.matrix, worth], "csr"), -np.inf, np.append(self.limits, -least)
        )
        whole = np.ones(len(lower), np.int64)
        found: Any = milp(
            -self.prizes,
            integrality=whole,
            bounds=Bounds(lower, upper),
            constraints=rows,
            options=options,
        )
        state = {0: "optimal", 2: "infeasible"}.get(found.status, "stopped")
        x = np.zeros(0) if found.x is None else np.round(found.x)
        bound = np.inf if found.mip_dual_bound is None else -float(found.mip_dual_bound)
        if state == "optimal":
            bound = max(bound if np.isfinite(bound) else -np.inf, float(self.prizes @ x))
        margin = 1e-6 * (1 + abs(bound))  # HiGHS calls a gap closed at 1e-6
        return state, x, bound + margin, int(found.mip_node_count or 0)


def chosen_backend(name: str) -> str:
    """Return "highspy" where "auto" finds it, else "scipy".

    Raises:
        ValueError: an unknown name. ModuleNotFoundError: highspy was asked for and is not installed.
    """
    from importlib.util import find_spec

    if name not in BACKENDS:
        raise ValueError(f"unknown backend {name!r}; known: {', '.join(BACKENDS)}")
    if name == "highspy" and find_spec("highspy") is None:
        raise ModuleNotFoundError(
            "the backend 'highspy' is not installed; install clew[exact] or use backend='scipy'"
        )
    return "highspy" if name != "scipy" and find_spec("highspy") is not None else "scipy"


def _warm(prizes: Floats) -> Any:
    from importlib import import_module

    highs = import_module("highspy").Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("threads", 1)
    n = len(prizes)
    highs.addVars(n, np.zeros(n), np.ones(n))
    highs.changeColsCost(n, np.arange(n, dtype=np.int32), -prizes)
    return highs


def _solved_warm(
    highs: Any,
    n: int,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    seconds: float | None,
) -> tuple[str, Floats, Floats]:
    from importlib import import_module

    if seconds is not None:
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
    highs.changeColsBounds(n, np.arange(n, dtype=np.int32), lower, upper)
    highs.run()
    state = highs.getModelStatus()
    states = import_module("highspy").HighsModelStatus
    if state == states.kOptimal:
        found = highs.getSolution()
        return "optimal", np.array(found.col_value), np.maximum(0, -np.array(found.row_dual))
    infeasible = state == states.kInfeasible
    return "infeasible" if infeasible else "stopped", np.zeros(0), np.zeros(0)
