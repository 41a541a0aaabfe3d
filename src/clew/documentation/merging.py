"""Sections made one by one become one whole: what says the same is merged, nothing is told twice, and what shares sources is linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.documentation.sections import Part, Section

SAME = 0.9  # cosine of two sections that say the same
RELATED = 3  # the most cross-references of a section


def merged(made: Sequence[Section], of: Mapping[str, int], embed: Any) -> list[Section]:
    """Return the sections without those that say the same as an earlier one, which takes over their questions.

    An extract is what it says on the branches of its own questions: what it has of others, their sections have too.
    """
    kept, vectors = list[Section](), list[Any]()
    for section, vector in zip(
        made, embed([_own(section, of) for section in made]) if made else [], strict=True
    ):
        near = [i for i, other in enumerate(vectors) if float(other @ vector) > SAME]
        if near:
            first = kept[near[0]]
            about = tuple(dict.fromkeys((*first.about, *section.about)))
            kept[near[0]] = replace(first, also=(*first.also, section.question), about=about)
        else:
            kept.append(section)
            vectors.append(vector)
    return kept


def _own(section: Section, of: Mapping[str, int]) -> str:
    own = {
        number
        for number, (id, _) in enumerate(section.sources, 1)
        if section.written or of.get(id) in section.about
    }
    return "\n\n".join(
        [
            section.title,
            section.summary,
            *(part.text for part in section.parts if own.intersection(part.sources)),
        ]
    )


def once(made: Sequence[Section], of: Mapping[str, int]) -> list[Section]:
    """Return the sections with each passage told by one: that titled after its branch, or with a question on it, or with most of it.

    The others say where it is told. `of` is the number of the branch in which each passage stands, by id.

    What a language model wrote stays as it is. An extract that is left with nothing of its own goes, its question to the one that tells it.
    """
    having: dict[str, list[int]] = {}
    for i, section in enumerate(made):
        for id, _ in section.sources:
            having.setdefault(id, []).extend([] if section.written else [i])
    parts_of = [Counter(of.get(id) for id, _ in section.sources) for section in made]
    told = dict[str, int]()
    for id, where in having.items():
        home = of.get(id)
        if where:
            told[id] = min(
                (made[i].branch != home, home not in made[i].about, -parts_of[i][home], i)
                for i in where
            )[-1]
    kept, gone = list[int](), dict[int, int]()
    for i, section in enumerate(made):
        elsewhere = [told.get(id, i) for id, _ in section.sources]
        if section.written or i in elsewhere:
            kept.append(i)
        else:
            gone[i] = elsewhere[0]
    number = {i: at for at, i in enumerate(kept)}
    alone = []
    for i in kept:
        section, parts = made[i], list[Part]()
        for part in section.parts:
            tells = {told.get(section.sources[source - 1][0], i) for source in part.sources}
            elsewhere_at = None if section.written or i in tells else number[min(tells)]
            parts.append(
                replace(
                    part, text="" if elsewhere_at is not None else part.text, told_in=elsewhere_at
                )
            )
        also = tuple(made[j].question for j, to in gone.items() if to == i)
        left = (example for part in parts if part.told_in is None for example in part.examples)
        examples = section.examples if section.written else tuple(dict.fromkeys(left))
        alone.append(
            replace(section, parts=tuple(parts), examples=examples, also=(*section.also, *also))
        )
    return alone


def related(made: Sequence[Section]) -> list[Section]:
    """Return the sections, each with the numbers of those that share most of its sources."""
    read = [{id for id, _ in section.sources} for section in made]
    linked = []
    for i, section in enumerate(made):
        shared = {
            j: len(read[i] & read[j]) for j in range(len(made)) if j != i and read[i] & read[j]
        }
        linked.append(
            replace(
                section,
                related=tuple(sorted(sorted(shared, key=lambda j: (-shared[j], j))[:RELATED])),
            )
        )
    return linked
