"""Figures of several methods on the same questions, and how sure their differences are.

Questions differ far more from one another than methods do, so methods are compared question by question: the difference's interval is
that of its mean over questions drawn anew, with replacement (Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Floats, freeze

CONFIDENCE = 0.95
CELLS = 4_000_000  # of drawn questions held at once


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of methods, columns of figures, and an interval for every difference from the baseline.

    Attributes:
        title: what the figures have in common. methods, figures: names of rows and columns; `baseline` is one of the methods.
        values: float64 [methods, figures, questions]. low, high: float64 [methods, figures], the 95 % interval of the mean difference
            from the baseline; zero in its own row.
    """

    title: str
    methods: tuple[str, ...]
    figures: tuple[str, ...]
    baseline: str
    values: Floats
    low: Floats
    high: Floats

    @property
    def means(self) -> Floats:
        """The figures: float64 [methods, figures]."""
        means: Floats = self.values.mean(axis=2)
        return means

    @property
    def differences(self) -> Floats:
        """What the means have over the baseline's: float64 [methods, figures]."""
        differences: Floats = (self.values - self.values[self.methods.index(self.baseline)]).mean(
            axis=2
        )
        return differences

    def mean(self, method: str, figure: str) -> float:
        """Return one figure of one method."""
        return float(self.means[self.methods.index(method), self.figures.index(figure)])

    def to_markdown(
        self, *, intervals: bool = False, more: Mapping[str, Mapping[str, str]] | None = None
    ) -> str:
        """Return the table in Markdown; a difference whose interval excludes 0 is bold, with ▲ for more and ▼ for less.

        Args:
            intervals: write every difference and its interval beside the figure. more: further columns, text by name and method.
        """
        more, means, differences = more or {}, self.means, self.differences
        lines = [
            f"| method | {' | '.join((*self.figures, *more))} |",
            "| --- |" + " ---: |" * (len(self.figures) + len(more)),
        ]
        for i, method in enumerate(self.methods):
            cells = [method]
            for j in range(len(self.figures)):
                low, high = self.low[i, j], self.high[i, j]
                sign = "▲" if low > 0 else "▼" if high < 0 else ""
                cell = f"**{means[i, j]:.3f}** {sign}" if sign else f"{means[i, j]:.3f}"
                said = f" ({differences[i, j]:+.3f} [{low:+.3f}, {high:+.3f}])"
                cells.append(cell + (said if intervals and method != self.baseline else ""))
            lines.append(
                f"| {' | '.join((*cells, *(column[method] for column in more.values())))} |"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain dictionaries: by method and figure, the mean, the difference from the baseline and its interval."""
        columns = {
            "mean": self.means,
            "difference": self.differences,
            "low": self.low,
            "high": self.high,
        }
        rows = {
            method: {
                figure: {name: float(c[i, j]) for name, c in columns.items()}
                for j, figure in enumerate(self.figures)
            }
            for i, method in enumerate(self.methods)
        }
        return {"title": self.title, "baseline": self.baseline, "methods": rows}


def table(
    title: str,
    values: Mapping[str, Mapping[str, Sequence[float]]],
    baseline: str,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Table:
    """Return the table of `values[method][figure]`, one number per question, the questions in the same order everywhere.

    Args:
        baseline: the method that the others are compared with. samples: how often the questions are drawn. seed: of the draw; tables of
            the same questions and seed are drawn alike.

    Raises:
        ValueError: the baseline is not among the methods, methods differ in figures, figures in their number of questions, or a number
            is not finite.
    """
    methods = tuple(values)
    if baseline not in values:
        raise ValueError(f"the baseline {baseline!r} is not among the methods {', '.join(methods)}")
    figures = tuple(values[baseline])
    n = len(values[baseline][figures[0]]) if figures else 0
    if not n:
        raise ValueError("a table needs at least one figure of at least one question")
    for method, columns in values.items():
        if tuple(columns) != figures:
            raise ValueError(
                f"{method!r} has the figures {', '.join(columns)}, and {baseline!r} {', '.join(figures)}: they must be the same"
            )
        for figure, column in columns.items():
            if len(column) != n or not np.isfinite(column).all():
                raise ValueError(
                    f"{method!r}, {figure!r}: wanted {n} finite numbers, one per question; got {list(column)[:5]} ..."
                )
    array = freeze(
        [[values[method][figure] for figure in figures] for method in methods], np.float64
    )
    difference = (array - array[methods.index(baseline)]).reshape(-1, n)
    low, high = (
        freeze(bound.reshape(array.shape[:2]), np.float64)
        for bound in intervals(difference, samples=samples, seed=seed)
    )
    return Table(title, methods, figures, baseline, array, low, high)


def intervals(
    differences: Floats, *, samples: int = 10_000, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the low and high ends [rows] of the 95 % percentile intervals of the mean of each row of `differences` [rows, questions].

    Every row is drawn alike. The ends are rounded to 12 decimals, so that float noise does not decide whether one is 0.
    """
    if samples < 1:
        raise ValueError(f"samples is a whole number of at least 1, got {samples}")
    rows, n = differences.shape
    draw = np.random.default_rng(seed)
    means, step = np.empty((samples, rows)), max(1, CELLS // n)
    for start in range(0, samples, step):
        some = min(step, samples - start)
        drawn = draw.integers(0, n, (some, n)) + n * np.arange(some)[:, None]
        times = np.bincount(drawn.ravel(), minlength=some * n).reshape(some, n)
        means[start : start + some] = times @ differences.T / n
    ends = np.round(np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0), 12)
    return ends[0], ends[1]
