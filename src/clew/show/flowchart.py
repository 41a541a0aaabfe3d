"""A context as a flowchart in Mermaid's language, which GitHub, GitLab and Jupyter draw."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.show.drawable import Drawable
from clew.show.network import network_to_draw
from clew.show.paths import display_name, shorten

WORD_JOINER = "\u2060"  # invisible
STYLES = {
    "question": "fill:#1f2937,stroke:#1f2937,color:#ffffff",
    "seed": "fill:#dbeafe,stroke:#2563eb,color:#111827",
    "expansion": "fill:#dcfce7,stroke:#16a34a,color:#111827",
    "bridge": "fill:#ffedd5,stroke:#ea580c,color:#111827",
    "fact": "fill:#f3e8ff,stroke:#9333ea,color:#111827",
    "report": "fill:#ccfbf1,stroke:#0d9488,color:#111827",
    "fill": "fill:#f3f4f6,stroke:#6b7280,color:#111827",
    "connector": "fill:#ffffff,stroke:#9ca3af,color:#374151,stroke-dasharray:4 3",
}
WEIGHTED_KINDS = ("touches", "similar", "synonym")  # kinds whose weight differs between edges


def to_mermaid(context: Drawable, *, max_edges: int = 40, width: int = 60) -> str:
    r"""Return a flowchart of the paths from the question to the items.

    Solid arrows are the paths, dotted lines other edges.

    Args:
        context: What to draw.
        max_edges: How many edges beside the paths are drawn at most, the strongest first. A comment
            says how many were left out.
        width: The longest text in a box, in characters.

    Returns:
        The text of the flowchart.

    Example:
        >>> from clew.context import Context
        >>> from clew.items import Hop, Item
        >>> path = (Hop("question", "touches", "oars", weight=0.9),)
        >>> item = Item("oars", "Oars are of ash.", 0.7, "seed", "passage", 5, why=path)
        >>> context = Context((item,), item.text, 5, None, "What are oars of?", "dense")
        >>> print(*to_mermaid(context).splitlines()[:4], sep="\n")
        flowchart LR
            n0["What are oars of#63;"]:::question
            n1["1 · oars<br/>Oars are of ash."]:::seed
            n0 -->|"touches 0.90"| n1
    """
    network, left_out = network_to_draw(context, max_edges)
    names = {id: f"n{i}" for i, id in enumerate(network.nodes)}
    lines = ["flowchart LR"]
    for id, node in network.nodes(data=True):
        style = node["role"] if node["role"] in STYLES else "connector"
        lines.append(f'    {names[id]}["{_box_label(node, width)}"]:::{style}')
    for tail, head, edge in network.edges(data=True):
        arrow = "-->" if edge["on_path"] else "-.-"
        label = _escape(_edge_label(edge, width))
        lines.append(f'    {names[tail]} {arrow}|"{label}"| {names[head]}')
    if left_out:
        lines.append(f"    %% {left_out} weaker edges are not drawn")
    lines += [f"    classDef {role} {style}" for role, style in STYLES.items()]
    return "\n".join(lines) + "\n"


def _box_label(node: Mapping[str, Any], width: int) -> str:
    """The text of a box; for an item, its place and title above the beginning of its text."""
    text = _escape(shorten(node["text"], width)) or "&nbsp;"
    if "rank" not in node:
        return text
    title = shorten(node["title"], width - 6)
    return f"{node['rank']} · {_escape(title)}<br/>{text}"


def _edge_label(edge: Mapping[str, Any], width: int) -> str:
    if edge["text"] and edge["kind"] == "shared":
        return shorten(f"in common: {edge['text']}", width)
    if edge["text"]:
        return shorten(edge["text"], width)
    if edge["kind"] in WEIGHTED_KINDS:
        return f"{edge['kind']} {edge['weight']:.2f}"
    return display_name(edge["kind"])


def _escape(text: str) -> str:
    """The text with everything but letters, digits and plain punctuation as a numbered entity.

    So no text is read as Mermaid, Markdown or HTML. Mermaid decodes a box's entities before it
    looks for line breaks, formulas and icons: an invisible word joiner splits these.
    """
    split = re.sub(r"(?<=[<$\\])|(?<=:)(?=fa-)", WORD_JOINER, text)
    return "".join(c if c.isalnum() or c in " .,:·…“”" else f"#{ord(c)};" for c in split)
