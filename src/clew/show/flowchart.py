"""A context as a flowchart in Mermaid's language, which GitHub, GitLab, Jupyter and most editors draw."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.context import Context
from clew.show.network import drawn
from clew.show.paths import named, shortened

JOINER = "\u2060"
COLOURS = {
    "question": "fill:#1f2937,stroke:#1f2937,color:#ffffff",
    "seed": "fill:#dbeafe,stroke:#2563eb,color:#111827",
    "expansion": "fill:#dcfce7,stroke:#16a34a,color:#111827",
    "bridge": "fill:#ffedd5,stroke:#ea580c,color:#111827",
    "fact": "fill:#f3e8ff,stroke:#9333ea,color:#111827",
    "report": "fill:#ccfbf1,stroke:#0d9488,color:#111827",
    "fill": "fill:#f3f4f6,stroke:#6b7280,color:#111827",
    "connector": "fill:#ffffff,stroke:#9ca3af,color:#374151,stroke-dasharray:4 3",
}


def mermaid(context: Context, *, edges: int = 40, width: int = 60) -> str:
    """Return a flowchart from the question over its ways to the items; solid arrows are the ways, dotted lines other edges.

    Args:
        edges: the most other edges that are drawn, the strongest first; a comment says how many were left out.
        width: the longest text in a box, in characters.
    """
    network, left_out = drawn(context, edges)
    short = {name: f"n{i}" for i, name in enumerate(network.nodes)}
    lines = ["flowchart LR"]
    for name, node in network.nodes(data=True):
        lines.append(
            f'    {short[name]}["{_label(node, width)}"]:::{node["role"] if node["role"] in COLOURS else "connector"}'
        )
    for tail, head, edge in network.edges(data=True):
        label = _escaped(_said(edge, width))
        lines.append(
            f'    {short[tail]} {"-->" if edge["way"] else "-.-"}|"{label}"| {short[head]}'
        )
    if left_out:
        lines.append(f"    %% {left_out} weaker edges are not drawn")
    lines += [f"    classDef {role} {colour}" for role, colour in COLOURS.items()]
    return "\n".join(lines) + "\n"


def _label(node: Mapping[str, Any], width: int) -> str:
    """What a box says: for an item its place in the reading and its title above the beginning of its text."""
    text = _escaped(shortened(node["text"], width)) or "&nbsp;"
    if "rank" not in node:
        return text
    title = shortened(node["title"], width - 6)
    return f"{node['rank']} · {_escaped(title)}<br/>{text}"


def _said(edge: Mapping[str, Any], width: int) -> str:
    if edge["text"]:
        return shortened(edge["text"], width)
    return (
        f"{edge['kind']} {edge['weight']:.2f}"
        if edge["kind"] in ("touches", "similar", "synonym")
        else named(edge["kind"])
    )


def _escaped(text: str) -> str:
    """Everything but letters, digits and plain punctuation as a numbered entity, so that no text is read as Mermaid, Markdown or HTML.

    Mermaid decodes a box's entities before it looks for line breaks, formulas and icons: an invisible joiner stands in their way.
    """
    apart = re.sub(r"(?<=[<$\\])|(?<=:)(?=fa-)", JOINER, text)
    return "".join(c if c.isalnum() or c in " .,:·…“”" else f"#{ord(c)};" for c in apart)
