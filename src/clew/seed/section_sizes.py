"""What a node contains, and what some passages are to what is around them.

A section that begins with a line of its own that repeats its heading, as a definition in a
reference begins with its signature, is an entry of the section around. A few words before sections
of their own lead in what stands there. A passage near the begin of a document under "Abstract",
"Summary" or "NAME", where a manual page says what its program does, is the document's summary.

Where most passages of a section begin an entry of their own, as the options of a command do and
the keys of a configuration, the section is a list of many subjects. So is what stands in a module
of Python between its functions and classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask, Rows
from clew.seed.in_documents import containers_at_the_top, outermost_containers

_WORDS = re.compile(r"(?:@|\w+ ){0,4}")  # before a name in its signature, such as "async with"
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")
_BEHIND = ("", "(", "[", " ", ":", "=")  # a name in its signature
ENTRY = 3  # passages that an entry of a reference counts as
LEAD_IN = 8  # passages that the section of a lead-in counts as, for it
MAX_LEAD_IN = 24  # words of a lead-in
SUMMARY = -1  # in place of a number of passages, for the summary of a document
OF_ENTRY = -2  # in place of a number of passages, for one that is directly in an entry
OF_LIST = -3  # in place of a number of passages, for one of many subjects, which counts as alone
MIN_LISTED = 4  # passages of a section that is a list
SUMMARY_WITHIN = 3  # passages at the begin of a document
SUMMARY_HEADINGS = frozenset({"abstract", "name", "summary"})
# A heading in a passage of several short sections: "NAME" in capitals, as manual pages write it.
_SUMMARY_LINE = re.compile(
    r"^[^\w\n]*+(?:NAME|A(?:bstract|BSTRACT)|S(?:ummary|UMMARY))[ \t]*$", re.MULTILINE
)
_BEGIN = 600  # signs of a passage in which such a heading stands
# A line that begins with an option, a key, a file of the system or a variable of the environment.
_TERM = re.compile(
    r"^[ \t]*+(?:[-*] )?+`{0,2}+"
    r"(?:-{1,2}[A-Za-z0-9?@#][\w-]*|[A-Za-z][\w.-]*=|/proc/\S|[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?!\())",
    re.MULTILINE,
)
MODULE = "module"  # the key of the metadata under which a module of Python has its name
_OF_MODULE = "module "  # what its heading begins with


@dataclass(frozen=True)
class SectionSizesPart:
    """The part that counts the passages that are directly in each node, int64 [n].

    An entry of a reference has at least `ENTRY`. A passage has `LEAD_IN` where it leads in the
    sections below its own, `SUMMARY` where it is the summary of its document, `OF_ENTRY` where it
    is directly in an entry, `OF_LIST` where it is one of many subjects of its section, else 0. A
    graph that is a part of a corpus is given the counts of the whole.
    """

    def compute(self, graph: Graph) -> NDArray[np.int64]:
        return self._sizes(graph, graph.rows("passage"))

    def grow(self, graph: Graph, base: Graph, before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `compute` returns; all is looked at again where old documents have grown."""
        n, rows, tops = len(base), graph.rows("passage"), containers_at_the_top(graph)
        old, new = rows[rows < n], rows[rows >= n]
        if not _are_in_several(tops[old]) or (tops[n:] < n).any():
            return self.compute(graph)
        counts = self._sizes(graph, new)
        counts[:n] = before
        return counts

    def shrink(
        self, graph: Graph, base: Graph, stays: Mask, before: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return what `compute` returns; all is looked at again where part of a document goes."""
        tops, rows = containers_at_the_top(base), base.rows("passage")
        left = rows[stays[rows]]
        loses = np.zeros(len(base), np.bool_)
        loses[tops[~stays]] = True
        if (
            loses[tops[stays]].any()
            or not _are_in_several(tops[left])
            or not np.array_equal(_are_first(base, left), _are_first(graph, graph.rows("passage")))
        ):
            return self.compute(graph)
        return before[stays]

    def _sizes(self, graph: Graph, rows: Rows) -> NDArray[np.int64]:
        """Return the counts of the documents that some passages are all of; 0 of the others."""
        parents = graph.parents[rows]
        counts = np.bincount(parents[parents >= 0], minlength=len(graph))
        is_entry = np.zeros(len(graph) + 1, np.bool_)  # the last is for nodes that are in none
        for section in parents[_are_first(graph, rows)].tolist():
            is_entry[section] = _is_entry(graph.texts[section], graph.texts[section + 1])
        counts[_listed(graph, rows, counts)] = OF_LIST
        counts[is_entry[:-1] & (counts < ENTRY)] = ENTRY
        counts[rows[is_entry[parents]]] = OF_ENTRY
        has_sections = np.zeros(len(graph) + 1, np.bool_)  # the last is for nodes that are in none
        has_sections[graph.parents[graph.rows("section")]] = True
        has_sections[-1] = False
        for row in rows[has_sections[parents]].tolist():
            if len(graph.texts[row].split(None, MAX_LEAD_IN)) < MAX_LEAD_IN:
                counts[row] = LEAD_IN
        counts[_summaries(graph, rows)] = SUMMARY
        return counts


def _are_first(graph: Graph, rows: Rows) -> Mask:
    """Return which passages follow the node that they are directly in."""
    parents = graph.parents[rows]
    first: Mask = (parents >= 0) & (parents == rows - 1)
    return first


def _are_in_several(tops: NDArray[np.int64]) -> bool:
    """Return whether passages are in several documents, by the outermost container of each."""
    return len(tops) > 0 and bool((tops != tops[0]).any())


def _summaries(graph: Graph, passages: Rows) -> list[int]:
    """Return the first summary of every document."""
    containers = outermost_containers(graph)
    inside = passages[containers[passages] != passages]
    if not len(inside):
        return []
    by_document = inside[np.argsort(containers[inside], kind="stable")]
    _, starts, sizes = np.unique(containers[by_document], return_index=True, return_counts=True)
    found = list[int]()
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        first = by_document[start : start + min(size, SUMMARY_WITHIN)].tolist()
        if (summary := next((row for row in first if _is_summary(graph, row)), None)) is not None:
            found.append(summary)
    return found


def _is_summary(graph: Graph, row: int) -> bool:
    """Return whether a passage stands under the heading of a summary, or has one in it."""
    heading = graph.texts[int(graph.parents[row])].strip()
    if heading.lower() in SUMMARY_HEADINGS:
        return True
    return _SUMMARY_LINE.search(graph.texts[row][:_BEGIN]) is not None


def _listed(graph: Graph, passages: Rows, counts: NDArray[np.int64]) -> list[int]:
    """Return the passages of which each is one of many subjects of its section."""
    parents, are_sections = graph.parents[passages], graph.kinds.mask("section")
    many = (parents >= 0) & (np.append(counts, 0)[parents] >= MIN_LISTED)
    by_section = dict[int, list[int]]()
    for row, section in zip(passages[many].tolist(), parents[many].tolist(), strict=True):
        by_section.setdefault(section, []).append(row)
    listed = list[int]()
    for section, rows in by_section.items():
        document = int(graph.documents[section])
        if document >= 0 and MODULE in graph.metadata[document]:
            listed += rows if graph.texts[section].startswith(_OF_MODULE) else []
        elif are_sections[section]:
            terms = [row for row in rows if _TERM.search(graph.texts[row])]
            listed += terms if 2 * len(terms) >= len(rows) else []
    return listed


def _is_entry(heading: str, text: str) -> bool:
    """Return whether a text begins with a signature, in a line of its own, of what is above it."""
    line, _, described = text.partition("\n\n")
    name, line = heading.partition(", ")[0].replace("`", ""), line.replace("`", "")
    if not name or " " in name or name not in line or "\n" in line or not described:
        return False
    if line.rstrip().endswith(_SENTENCE_ENDS):
        return False
    words_before, _, behind = line.partition(name)
    return _WORDS.fullmatch(words_before) is not None and behind[:1] in _BEHIND
