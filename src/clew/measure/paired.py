"""Figures of several methods on the same questions, with intervals for their differences.

Questions differ far more from one another than methods do, so methods are compared question by
question. The interval of a difference is that of its mean over questions drawn anew, with
replacement (Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Floats, freeze

CONFIDENCE = 0.95
CELLS = 4_000_000  # of drawn questions in memory at once
DECIMALS = 12  # of an interval's ends


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of methods, columns of figures, an interval for every difference from the baseline.

    Attributes:
        title: What the figures have in common.
        methods: The names of the rows.
        figures: The names of the columns.
        baseline: The method that the others are compared with.
        values: float64 [methods, figures, questions].
        low: The lower end of the 95 % interval of the mean difference from the baseline, float64
            [methods, figures]; 0 in the baseline's row.
        high: The upper end, likewise.
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
        """The means minus the baseline's: float64 [methods, figures]."""
        baseline = self.values[self.methods.index(self.baseline)]
        differences: Floats = (self.values - baseline).mean(axis=2)
        return differences

    def mean(self, method: str, figure: str) -> float:
        """Return one figure of one method."""
        return float(self.means[self.methods.index(method), self.figures.index(figure)])

    def to_markdown(
        self, *, intervals: bool = False, more: Mapping[str, Mapping[str, str]] | None = None
    ) -> str:
        """Return the table in Markdown.

        A figure is bold where the interval of its difference excludes 0, with ▲ for more than the
        baseline and ▼ for less.

        Args:
            intervals: Whether to write every difference and its interval beside the figure.
            more: Further columns: texts by column and method.
        """
        further = more or {}
        lines = [
            f"| method | {' | '.join((*self.figures, *further))} |",
            "| --- |" + " ---: |" * (len(self.figures) + len(further)),
        ]
        for i, method in enumerate(self.methods):
            with_interval = intervals and method != self.baseline
            cells = [
                self._cell(i, j, with_interval=with_interval) for j in range(len(self.figures))
            ]
            cells += [column[method] for column in further.values()]
            lines.append(f"| {' | '.join((method, *cells))} |")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as dictionaries of numbers, by method and figure.

        A cell has the mean, the difference from the baseline and the interval's ends.
        """
        columns = {
            "mean": self.means,
            "difference": self.differences,
            "low": self.low,
            "high": self.high,
        }
        rows = {
            method: {
                figure: {name: float(column[i, j]) for name, column in columns.items()}
                for j, figure in enumerate(self.figures)
            }
            for i, method in enumerate(self.methods)
        }
        return {"title": self.title, "baseline": self.baseline, "methods": rows}

    def _cell(self, i: int, j: int, *, with_interval: bool) -> str:
        low, high = self.low[i, j], self.high[i, j]
        sign = "▲" if low > 0 else "▼" if high < 0 else ""
        mean = f"{self.means[i, j]:.3f}"
        cell = f"**{mean}** {sign}" if sign else mean
        if not with_interval:
            return cell
        return f"{cell} ({self.differences[i, j]:+.3f} [{low:+.3f}, {high:+.3f}])"


def build_tables(
    titles: Sequence[str],
    columns: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    baseline: str,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> tuple[Table, ...]:
    """Return the tables of those titles under which the baseline has figures.

    Args:
        titles: The titles, in order.
        columns: `columns[method][title]` is what `build_table` takes of a method.
        baseline: As in `build_table`.
        samples: As in `build_table`.
        seed: As in `build_table`.

    Example:
        >>> columns = {"dense": {"By score": {"R@5": [0.5, 1.0]}, "Rendered": {}}}
        >>> [one.title for one in build_tables(("By score", "Rendered"), columns, "dense")]
        ['By score']
    """
    return tuple(
        build_table(
            title,
            {method: of_title[title] for method, of_title in columns.items()},
            baseline,
            samples=samples,
            seed=seed,
        )
        for title in titles
        if columns[baseline][title]
    )


def build_table(
    title: str,
    values: Mapping[str, Mapping[str, Sequence[float]]],
    baseline: str,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Table:
    """Return the table of figures.

    Args:
        title: What the figures have in common.
        values: `values[method][figure]` is one number per question, the questions in the same
            order everywhere.
        baseline: The method that the others are compared with.
        samples: How often the questions are drawn.
        seed: Of the draw; tables of the same questions and seed are drawn alike.

    Raises:
        ValueError: The baseline is not among the methods, methods differ in their figures, figures
            in their number of questions, or a number is not finite.

    Example:
        >>> values = {"dense": {"R@5": [0.5, 1.0, 0.0]}, "bm25": {"R@5": [1.0, 1.0, 0.5]}}
        >>> build_table("By score", values, "dense", samples=100).mean("dense", "R@5")
        0.5
    """
    methods = tuple(values)
    if baseline not in values:
        raise ValueError(f"the baseline {baseline!r} is not among the methods {', '.join(methods)}")
    figures = tuple(values[baseline])
    n = len(values[baseline][figures[0]]) if figures else 0
    if not n:
        raise ValueError("a table needs at least one figure of at least one question")
    for method, columns in values.items():
        _check_columns(method, columns, baseline, figures, n)
    array = freeze(
        [[values[method][figure] for figure in figures] for method in methods], np.float64
    )
    differences = (array - array[methods.index(baseline)]).reshape(-1, n)
    low, high = (
        freeze(end.reshape(array.shape[:2]), np.float64)
        for end in bootstrap_intervals(differences, samples=samples, seed=seed)
    )
    return Table(title, methods, figures, baseline, array, low, high)


def bootstrap_intervals(
    differences: Floats, *, samples: int = 10_000, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the 95 % percentile intervals of the mean of each row.

    Every row is drawn alike. The ends are rounded, so that float noise does not decide whether one
    is 0.

    Args:
        differences: float64 [rows, questions].
        samples: How often the questions are drawn.
        seed: Of the draw.

    Returns:
        The lower and the upper ends, float64 [rows].

    Example:
        >>> import numpy as np
        >>> low, high = bootstrap_intervals(np.full((1, 20), 0.1), samples=100)
        >>> bool(low[0] == high[0] == 0.1)
        True
    """
    if samples < 1:
        raise ValueError(f"samples is a whole number of at least 1, got {samples}")
    rows, n = differences.shape
    rng = np.random.default_rng(seed)
    means, step = np.empty((samples, rows)), max(1, CELLS // n)
    for start in range(0, samples, step):
        size = min(step, samples - start)
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[start : start + size] = counts @ differences.T / n
    tail = (1 - CONFIDENCE) / 2
    ends = np.round(np.quantile(means, [tail, (1 + CONFIDENCE) / 2], axis=0), DECIMALS)
    return ends[0], ends[1]


def _check_columns(
    method: str,
    columns: Mapping[str, Sequence[float]],
    baseline: str,
    figures: tuple[str, ...],
    n: int,
) -> None:
    if tuple(columns) != figures:
        raise ValueError(
            f"{method!r} has the figures {', '.join(columns)}, and {baseline!r} "
            f"{', '.join(figures)}: they must be the same"
        )
    for figure, column in columns.items():
        if len(column) != n or not np.isfinite(column).all():
            raise ValueError(
                f"{method!r}, {figure!r}: wanted {n} finite numbers, one per question; got "
                f"{list(column)[:5]} ..."
            )
