"""A map of the questions: a point for each, a colour for each cluster (Kurisu-G2, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

WIDTH, HEIGHT = 760, 420  # of the map without its legend, in pixels
MARGIN = 24  # around the points
LEGEND_GAP, LINE_HEIGHT = 24, 18
MAX_LEGEND_LETTERS = 95
GOLDEN_ANGLE = 137.50776405003785  # degrees between the hues of two successive clusters
LIGHTNESS = (46, 58, 38)  # percent, of three successive clusters

STYLE = (
    "<style>text{font:12px system-ui,sans-serif;fill:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#9198a1}}</style>"
)


def draw_map(
    points: ArrayLike, labels: ArrayLike, texts: Sequence[str], pivots: Sequence[int]
) -> str:
    """Return the map as SVG; a pointer on a point shows its question.

    Args:
        points: The place of each question, float [n, 2].
        labels: The cluster of each question, int [n].
        texts: The questions.
        pivots: The question in the middle of each cluster.

    Example:
        >>> svg = draw_map([[0.0, 0.0], [1.0, 1.0]], [0, 0], ["What?", "Why?"], [0])
        >>> svg.count("<title>What?")
        1
    """
    places = np.asarray(points, np.float64)
    clusters = np.asarray(labels).tolist()
    low, high = places.min(axis=0), places.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    scaled = (places - low) / extent * [WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN] + MARGIN
    pivot_set = set(pivots)
    dots = [
        _dot(x, y, cluster, text, is_pivot=i in pivot_set)
        for i, ((x, y), cluster, text) in enumerate(
            zip(scaled.tolist(), clusters, texts, strict=True)
        )
    ]
    rows = [
        _legend_row(cluster, texts[pivot], clusters.count(cluster))
        for cluster, pivot in enumerate(pivots)
    ]
    height = HEIGHT + LEGEND_GAP + LINE_HEIGHT * len(rows)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">'
    )
    title = f"<title>{len(texts)} questions in {len(pivots)} clusters</title>{STYLE}"
    frame = (
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" '
        'fill="none" stroke="#8c959f" rx="8"/>'
    )
    return "\n".join([opening, title, frame, *dots, *rows, "</svg>\n"])


def _colour(cluster: int) -> str:
    hue, lightness = cluster * GOLDEN_ANGLE % 360, LIGHTNESS[cluster % len(LIGHTNESS)]
    return f"hsl({hue:.0f} 62% {lightness}%)"


def _dot(x: float, y: float, cluster: int, text: str, *, is_pivot: bool) -> str:
    radius = 7 if is_pivot else 4
    ring = ' stroke="#57606a" stroke-width="2"' if is_pivot else ""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{_colour(cluster)}"{ring}>'
        f"<title>{escape(text)}</title></circle>"
    )


def _legend_row(cluster: int, text: str, size: int) -> str:
    y = HEIGHT + LEGEND_GAP + LINE_HEIGHT * cluster
    short = text if len(text) <= MAX_LEGEND_LETTERS else text[: MAX_LEGEND_LETTERS - 1] + "…"
    return (
        f'<circle cx="{MARGIN / 2}" cy="{y - 4}" r="5" fill="{_colour(cluster)}"/>'
        f'<text x="{MARGIN}" y="{y}">{size} · {escape(short)}</text>'
    )
