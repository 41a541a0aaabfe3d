"""The linear programme of a connected choice, which grows by cuts.

    max  prizes x   such that  every row of `matrix` x <= `limits`  and  lower <= x <= upper

It is solved by scipy's HiGHS or, warm-started, by highspy. A bound is never read off the solver.
From its duals y >= 0, whatever their error, follows that no x has a value above limits y + sum of
max over x in [lower, upper] of (prizes - matrix' y) x.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import numpy as np

from clew.graph import Floats

SparseMatrix = Any  # a scipy CSR array; scipy is not loaded for its type

BACKENDS = ("auto", "scipy", "highspy")


class LinearProgram:
    """Rows <= limits over n columns. `add` appends rows; `solve` uses all of them.

    Args:
        prizes: float64 [n].
        backend: "scipy" or "highspy".
    """

    def __init__(self, prizes: Floats, backend: str) -> None:
        self.prizes = prizes
        self.parts: list[Any] = []
        self.limits = np.zeros(0)
        self.warm = _WarmSolver(prizes) if backend == "highspy" else None

    def add(self, matrix: SparseMatrix, limits: Floats) -> None:
        """Append the rows of a sparse matrix and their limits."""
        if not matrix.shape[0]:
            return
        self.parts.append(matrix)
        self.limits = np.concatenate([self.limits, limits])
        if self.warm is not None:
            self.warm.add(matrix, limits)

    @property
    def matrix(self) -> SparseMatrix:
        """All rows as one sparse matrix."""
        from scipy.sparse import vstack

        if len(self.parts) > 1:
            self.parts = [vstack(self.parts, "csr")]
        return self.parts[0]

    def solve(
        self, lower: Floats, upper: Floats, seconds: float | None
    ) -> tuple[str, Floats, Floats]:
        """Solve within the limits lower and upper, float64 [n].

        Returns:
            ("optimal", "infeasible" or "stopped", x, duals y >= 0).
        """
        if self.warm is not None:
            return self.warm.solve(lower, upper, seconds)
        from scipy.optimize import linprog

        options: Any = {"presolve": False} | ({} if seconds is None else {"time_limit": seconds})
        sides: Any = np.stack([lower, upper], 1)
        solution = linprog(
            -self.prizes, self.matrix, self.limits, bounds=sides, method="highs-ds", options=options
        )
        if solution.status == 0:
            return (
                "optimal",
                np.asarray(solution.x),
                np.maximum(0, -np.asarray(solution.ineqlin.marginals)),
            )
        return "infeasible" if solution.status == 2 else "stopped", np.zeros(0), np.zeros(0)

    def bound(self, y: Floats, lower: Floats, upper: Floats) -> tuple[float, Floats]:
        """Return a value that no feasible x exceeds, by duals y >= 0, and the reduced prizes."""
        reduced = self.prizes - self.matrix.T @ y
        total = float(self.limits @ y + np.maximum(reduced * lower, reduced * upper).sum())
        return total + 1e-10 * (1 + abs(total)), reduced

    def solve_integer(
        self, lower: Floats, upper: Floats, min_value: float, nodes: int, seconds: float | None
    ) -> tuple[str, Floats, float, int]:
        """Solve with x in {0, 1}, and only for values of `min_value` or more.

        The limit halves the time, measured.

        Args:
            lower: float64 [n].
            upper: float64 [n].
            min_value: the least value that is looked for; "infeasible" says that there is none.
            nodes: of the search tree, at most.
            seconds: at most; None for no limit.

        Returns:
            ("optimal", "infeasible" or "stopped", x or empty, a value that no such x exceeds,
            nodes).
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        options: Any = {"mip_rel_gap": 0.0, "node_limit": min(nodes, 2**31 - 1)} | (
            {} if seconds is None else {"time_limit": seconds}
        )
        worth = csr_array(-self.prizes[None, :])
        rows = LinearConstraint(
            vstack([self.matrix, worth], "csr"), -np.inf, np.append(self.limits, -min_value)
        )
        whole = np.ones(len(lower), np.int64)
        solution: Any = milp(
            -self.prizes,
            integrality=whole,
            bounds=Bounds(lower, upper),
            constraints=rows,
            options=options,
        )
        state = {0: "optimal", 2: "infeasible"}.get(solution.status, "stopped")
        x = np.zeros(0) if solution.x is None else np.round(solution.x)
        bound = np.inf if solution.mip_dual_bound is None else -float(solution.mip_dual_bound)
        if state == "optimal":
            bound = max(bound if np.isfinite(bound) else -np.inf, float(self.prizes @ x))
        margin = 1e-6 * (1 + abs(bound))  # HiGHS calls a gap closed at 1e-6
        return state, x, bound + margin, int(solution.mip_node_count or 0)


def choose_backend(name: str) -> str:
    """Return "highspy" where "auto" finds it, else "scipy".

    Raises:
        ValueError: an unknown name.
        ModuleNotFoundError: "highspy" is not installed.
    """
    from importlib.util import find_spec

    if name not in BACKENDS:
        raise ValueError(f"unknown backend {name!r}; known: {', '.join(BACKENDS)}")
    if name == "highspy" and find_spec("highspy") is None:
        raise ModuleNotFoundError(
            "the backend 'highspy' is not installed; install clew[exact] or use backend='scipy'"
        )
    return "highspy" if name != "scipy" and find_spec("highspy") is not None else "scipy"


@functools.cache
def _silent_solver() -> type:
    """Return a class of highspy's solver that prints nothing, not even its name.

    As it is made it tells HiGHS of its callbacks, and HiGHS 1.16 prints its version at that, before
    anybody could ask it not to.
    """
    highspy: Any = import_module("highspy")

    class Silent(highspy.Highs):  # type: ignore[misc]  # its base is known when it is loaded
        def enableCallbacks(self) -> None:  # noqa: N802  (highspy's name)
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Silent


class _WarmSolver:
    """highspy's solver, which continues from its last basis when rows were added."""

    def __init__(self, prizes: Floats) -> None:
        highspy: Any = import_module("highspy")
        self.size, self.states = len(prizes), highspy.HighsModelStatus
        self.columns = np.arange(self.size, dtype=np.int32)
        self.highs: Any = _silent_solver()()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        self.highs.setOptionValue("threads", 1)
        self.highs.addVars(self.size, np.zeros(self.size), np.ones(self.size))
        self.highs.changeColsCost(self.size, self.columns, -prizes)

    def add(self, matrix: SparseMatrix, limits: Floats) -> None:
        """Append rows."""
        below = np.full(len(limits), -np.inf)
        starts, columns = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        self.highs.addRows(len(limits), below, limits, matrix.nnz, starts, columns, matrix.data)

    def solve(
        self, lower: Floats, upper: Floats, seconds: float | None
    ) -> tuple[str, Floats, Floats]:
        """Solve as `LinearProgram.solve`."""
        if seconds is not None:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.changeColsBounds(self.size, self.columns, lower, upper)
        self.highs.run()
        state = self.highs.getModelStatus()
        if state == self.states.kOptimal:
            solution = self.highs.getSolution()
            x, y = np.array(solution.col_value), np.maximum(0, -np.array(solution.row_dual))
            return "optimal", x, y
        status = "infeasible" if state == self.states.kInfeasible else "stopped"
        return status, np.zeros(0), np.zeros(0)
