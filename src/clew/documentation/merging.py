"""Sections made one by one become a whole: merged, each passage in one of them, linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.documentation.extract import Embed
from clew.documentation.sections import Explanation, Section
from clew.graph import Vectors

MIN_COSINE = 0.9  # of two sections that say the same
MAX_RELATED = 3  # cross-references of a section


def merge_sections(
    sections: Sequence[Section], branch_of: Mapping[str, int], embed: Embed
) -> list[Section]:
    """Return the sections without those that say the same as an earlier one.

    The earlier one takes over their questions. An extract is compared by what it says on the
    branches of its own questions: what it says on others, their own sections say too.

    Args:
        sections: The sections.
        branch_of: The number of the branch of each passage, by id.
        embed: Returns a unit row [n, d] for each text.
    """
    if not sections:
        return []
    vectors = embed([_own_text(section, branch_of) for section in sections])
    result = list[Section]()
    result_vectors = list[Vectors]()
    for section, vector in zip(sections, vectors, strict=True):
        same = [i for i, other in enumerate(result_vectors) if float(other @ vector) > MIN_COSINE]
        if not same:
            result.append(section)
            result_vectors.append(vector)
            continue
        first = result[same[0]]
        result[same[0]] = replace(
            first,
            merged_questions=(*first.merged_questions, section.question),
            branches=tuple(dict.fromkeys((*first.branches, *section.branches))),
        )
    return result


def place_passages(sections: Sequence[Section], branch_of: Mapping[str, int]) -> list[Section]:
    """Return the sections with each passage in one of them; the others refer to that one.

    A passage stands in the section that is titled after its branch, or that has a question on the
    branch, or that has most of the branch. Sections by a language model stay as they are. An
    extract that is left with nothing is dropped, and its question goes to the section that has its
    first passage.

    Args:
        sections: The sections.
        branch_of: The number of the branch of each passage, by id.
    """
    home = _home_sections(sections, branch_of)
    remaining = list[int]()
    absorbed_by = dict[int, int]()
    for i, section in enumerate(sections):
        homes = [home.get(id, i) for id in section.source_ids]
        if section.by_model or i in homes:
            remaining.append(i)
        else:
            absorbed_by[i] = homes[0]
    number = {i: at for at, i in enumerate(remaining)}
    result = []
    for i in remaining:
        section = _with_own_passages(sections[i], i, home, number)
        questions = tuple(sections[j].question for j, by in absorbed_by.items() if by == i)
        merged_questions = (*section.merged_questions, *questions)
        result.append(replace(section, merged_questions=merged_questions))
    return result


def link_related(sections: Sequence[Section]) -> list[Section]:
    """Return the sections, each with the numbers of those that share most of its sources."""
    sources = [set(section.source_ids) for section in sections]
    result = []
    for i, section in enumerate(sections):
        shared = {
            j: count
            for j in range(len(sections))
            if j != i and (count := len(sources[i] & sources[j]))
        }
        most_shared = sorted(shared, key=lambda j: (-shared[j], j))[:MAX_RELATED]
        result.append(replace(section, related=tuple(sorted(most_shared))))
    return result


def _own_text(section: Section, branch_of: Mapping[str, int]) -> str:
    own = {
        number
        for number, id in enumerate(section.source_ids, 1)
        if section.by_model or branch_of.get(id) in section.branches
    }
    texts = (part.text for part in section.explanations if own.intersection(part.sources))
    return "\n\n".join([section.title, section.summary, *texts])


def _home_sections(sections: Sequence[Section], branch_of: Mapping[str, int]) -> dict[str, int]:
    """The number of the extract in which each passage stands, by id."""
    sections_with: dict[str, list[int]] = {}
    for i, section in enumerate(sections):
        if not section.by_model:
            for id in section.source_ids:
                sections_with.setdefault(id, []).append(i)
    passages_on = [Counter(branch_of.get(id) for id in section.source_ids) for section in sections]

    def best(id: str, candidates: Sequence[int]) -> int:
        branch = branch_of.get(id)
        keys = (
            (
                sections[i].branch != branch,
                branch not in sections[i].branches,
                -passages_on[i][branch],
                i,
            )
            for i in candidates
        )
        return min(keys)[-1]

    return {id: best(id, candidates) for id, candidates in sections_with.items()}


def _with_own_passages(
    section: Section, i: int, home: Mapping[str, int], number: Mapping[int, int]
) -> Section:
    """An extract with references in place of the passages that stand in other sections.

    Args:
        section: The section.
        i: Its number before any was dropped.
        home: The section of each passage, by id and in the numbers before.
        number: The number of each remaining section, by its number before.
    """
    if section.by_model:
        return section
    explanations = list[Explanation]()
    for part in section.explanations:
        homes = {home.get(section.source_ids[source - 1], i) for source in part.sources}
        if i in homes:
            explanations.append(part)
        else:
            explanations.append(replace(part, text="", moved_to=number[min(homes)]))
    examples = (
        example for part in explanations if part.moved_to is None for example in part.examples
    )
    return replace(
        section, explanations=tuple(explanations), examples=tuple(dict.fromkeys(examples))
    )
