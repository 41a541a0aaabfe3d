"""A map of questions: a point for each, a colour for each cluster, the pivot questions by their words (Kurisu-G2, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

WIDTH, HEIGHT, EDGE, LEGEND, LINE, SHOWN = 760, 420, 24, 24, 18, 95
GOLDEN = 137.50776405003785  # degrees between the hues of two clusters that follow each other


def map_of(points: Any, labels: Any, texts: Sequence[str], pivots: Sequence[int]) -> str:
    """Return the map as SVG; a pointer on a point shows its question.

    Args:
        points: float [n, 2]. labels: the cluster of each, int [n]. texts: the questions. pivots: the one in the middle of each cluster.
    """
    places = np.asarray(points, np.float64)
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    scaled = (places - low) / span * [WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE] + EDGE
    dots = [
        _dot(x, y, int(label), text, i in set(pivots))
        for i, ((x, y), label, text) in enumerate(zip(scaled.tolist(), labels, texts, strict=True))
    ]
    rows = [
        _row(
            HEIGHT + LEGEND + LINE * cluster,
            cluster,
            texts[pivot],
            int(np.sum(np.asarray(labels) == cluster)),
        )
        for cluster, pivot in enumerate(pivots)
    ]
    height = HEIGHT + LEGEND + LINE * len(rows)
    style = "<style>text{font:12px system-ui,sans-serif;fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#9198a1}}</style>"
    frame = f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" fill="none" stroke="#8c959f" rx="8"/>'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
    return "\n".join(
        [
            opening,
            f"<title>{len(texts)} questions in {len(pivots)} clusters</title>{style}",
            frame,
            *dots,
            *rows,
            "</svg>\n",
        ]
    )


def _colour(cluster: int) -> str:
    return f"hsl({cluster * GOLDEN % 360:.0f} 62% {(46, 58, 38)[cluster % 3]}%)"


def _dot(x: float, y: float, cluster: int, text: str, pivot: bool) -> str:
    ring = ' stroke="#57606a" stroke-width="2"' if pivot else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{7 if pivot else 4}" fill="{_colour(cluster)}"{ring}><title>{escape(text)}</title></circle>'


def _row(y: int, cluster: int, text: str, size: int) -> str:
    said = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return f'<circle cx="{EDGE / 2}" cy="{y - 4}" r="5" fill="{_colour(cluster)}"/><text x="{EDGE}" y="{y}">{size} · {escape(said)}</text>'
