"""Topics: what a cluster of questions is about, as a heading and the names and sections in it.

The heading has the words that the names and titles in a cluster share, and other clusters do not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from clew.documentation.branches import Branch
from clew.documentation.clusters import Clusters
from clew.documentation.entries import CodeReference, PublicName
from clew.documentation.questions import DocumentationQuestion
from clew.documentation.uses import Uses
from clew.graph import Graph

MAX_HEADING_WORDS = 3
MAX_RELATED = 3  # topics
MIN_ENTRIES = 2
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
STOP = frozenset(("and", "for", "from", "into", "not", "the", "with"))
COMMON = frozenset(
    ("class", "module", "function", "method", "self", "name", "names", "value", "init")
)


@dataclass(frozen=True)
class Topic:
    """A topic.

    Attributes:
        title: Its heading.
        entries: The paths of the entries on it, those nearest to its middle first.
        related: The numbers of topics whose entries are used by those on it, or use them.
    """

    title: str
    entries: tuple[str, ...]
    related: tuple[int, ...] = ()


def find_topics(  # all that a topic is made of
    clusters: Clusters,
    questions: Sequence[DocumentationQuestion],
    branches: Sequence[Branch],
    graph: Graph,
    reference: CodeReference,
    uses: Uses,
    texts: Mapping[str, str],
) -> tuple[Topic, ...]:
    """Return a topic for each cluster of questions that two or more entries are on.

    Args:
        clusters: The clusters.
        questions: The questions.
        branches: The branches that they are on.
        graph: The graph of the branches.
        reference: The entries.
        uses: How they are used.
        texts: The text of each document, by its id.
    """
    entries_of = _entries_of_branches(branches, graph, reference, texts)
    groups = list[list[PublicName]]()
    for number in range(len(clusters)):
        members = np.flatnonzero(clusters.labels == number).tolist()
        pivot = int(clusters.pivots[number])
        order = [pivot, *(i for i in members if i != pivot)]
        found = {e.path: e for i in order for e in entries_of.get(questions[i].branch, ())}
        # A class stands for its members where all of it is on the topic.
        own = [e for e in found.values() if e.path.rpartition(".")[0] not in found and _tells(e)]
        if len(own) >= MIN_ENTRIES:
            groups.append(own)
    titles = _titles(groups)
    topics = [
        Topic(title, tuple(entry.path for entry in group))
        for title, group in zip(titles, groups, strict=True)
    ]
    return _related(topics, groups, uses)


def _entries_of_branches(
    branches: Sequence[Branch], graph: Graph, reference: CodeReference, texts: Mapping[str, str]
) -> dict[int, list[PublicName]]:
    """Return the entries that are defined in the passages of each branch."""
    starts: defaultdict[str, list[PublicName]] = defaultdict(list)
    for entry in reference.walk():
        starts[entry.place.document].append(entry)
    found: dict[int, list[PublicName]] = {}
    lines_of: dict[int, list[int]] = {}
    for number, branch in enumerate(branches):
        for row in branch.rows:
            owner = int(graph.documents[row])
            if owner < 0 or graph.ids[owner] not in starts:
                continue
            if owner not in lines_of:
                ends = re.finditer("\n", texts[graph.ids[owner]])
                lines_of[owner] = [0, *(end.end() for end in ends)]
            found.setdefault(number, []).extend(
                entry
                for entry in starts[graph.ids[owner]]
                if _is_within(entry, graph, row, lines_of[owner])
            )
    return found


def _is_within(entry: PublicName, graph: Graph, row: int, lines: Sequence[int]) -> bool:
    start, end = graph.spans[row].tolist()
    first, last = bisect_right(lines, start), bisect_right(lines, max(start, end - 1))
    return first <= entry.place.line <= last


def _tells(entry: PublicName) -> bool:
    """Return whether an entry says something of a topic: no special method, no mere constant."""
    if entry.name.startswith("_"):
        return False
    return bool(entry.docs) or entry.kind in ("class", "function", "method")


def _titles(groups: Sequence[Sequence[PublicName]]) -> list[str]:
    counts_of = [Counter(w for e in group for w in set(_words_of(e))) for group in groups]
    groups_with = Counter(word for counts in counts_of for word in counts)
    titles = list[str]()
    for group, counts in zip(groups, counts_of, strict=True):
        order = {word: i for i, word in enumerate(w for e in group for w in _words_of(e))}
        score = {
            word: count * log(1 + len(groups) / groups_with[word]) for word, count in counts.items()
        }
        best = list[str]()
        for word in sorted(score, key=lambda word: (-score[word], order[word])):
            if not any(word.startswith(one[:4]) for one in best):  # "files" beside "file"
                best.append(word)
        titles.append(_title(group, best[:MAX_HEADING_WORDS]))
    return [
        title if titles.count(title) == 1 else f"{title} ({titles[: i + 1].count(title)})"
        for i, title in enumerate(titles)
    ]


def _title(group: Sequence[PublicName], best: Sequence[str]) -> str:
    owners = {e.path.rpartition(".")[0] for e in group if e.kind in ("method", "property")}
    all_members = all(e.kind in ("method", "property", "attribute") for e in group)
    phrase = _phrase(group, best)
    if all_members and len(owners) == 1:
        return f"{next(iter(owners)).rpartition('.')[2]}: {phrase}"
    return phrase[:1].upper() + phrase[1:]


def _phrase(group: Sequence[PublicName], best: Sequence[str]) -> str:
    """Return words as a phrase: as they follow one another in a name, or else as a list."""
    for entry in group:
        own = list(_words_of(entry))
        if best[1:] and set(best) <= set(own):
            return " ".join(sorted(best, key=own.index))
    if not best:
        return "names"
    return ", ".join(best[:-1]) + (" and " if best[1:] else "") + best[-1]


def _words_of(entry: PublicName) -> Iterator[str]:
    """Yield the words of a name."""
    for part in _PART.findall(entry.name):
        if len(part) > 2 and part.lower() not in STOP and part.lower() not in COMMON:
            yield part.lower()


def _related(
    topics: Sequence[Topic], groups: Sequence[Sequence[PublicName]], uses: Uses
) -> tuple[Topic, ...]:
    topic_of: Mapping[str, int] = {
        e.defined_as: i for i, group in enumerate(groups) for one in group for e in one.walk()
    }
    links: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for user, used in uses.see_also.items():
        for target in used:
            one, other = topic_of.get(user), topic_of.get(target)
            if one is not None and other is not None and one != other:
                links[one][other] += 1
                links[other][one] += 1
    return tuple(
        Topic(topic.title, topic.entries, tuple(n for n, _ in links[i].most_common(MAX_RELATED)))
        for i, topic in enumerate(topics)
    )
