"""BM25: a passage scores by the question's rare words in it, with its length allowed for.

Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond" (2009), in
Lucene's form. Words are compared by their stems in the language of the document
(`clew.text.stems`). English function words of a question count less: where text is short they are
rare, and their idf takes them for what is asked. A heading is a field of its own (BM25F): its words
count as if they occurred `heading_weight` times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.postings import Postings
from clew.graph import (
    EMPTY,
    Graph,
    Mask,
    Rows,
    canonical_text,
    texts_with_headings,
    titles_of_all,
)
from clew.seed._kept_stems import KEPT_STEMS, StemmedText
from clew.seed._likely_languages import likely_language
from clew.seed._stem_numbers import Forms, RunStems
from clew.seed.languages import Languages, LanguagesPart
from clew.text.kept import Kept
from clew.text.numbering import GrownNumbers
from clew.text.stems import FUNCTION_WORDS, stem_words, stems_in_each
from clew.text.words import terms, terms_of_all
from clew.types import Query, Seeds

QUESTION_WORDS = FUNCTION_WORDS | {"do", "i"}
FUNCTION_WEIGHT = 1 / 3  # of "how", "do" and the like, which are rare in references and notes
MIN_COMMON = 0.3  # of the nodes, which have a stem that is common among them
BLOCK = 256  # texts whose terms are looked for together
MIN_BY_RUNS = 512  # texts of which each distinct run of signs is read once
MIN_PART = 16_384  # of these, those whose words are counted together: a part takes some 40 MB
MAX_PARTS = 16
LARGE_BLOCK = 2048  # of these, those whose runs are numbered together
MAX_KEPT_QUESTIONS = 16  # whose weights of stems are kept
MAX_SHARE_LOOKED_UP = 1 / 16  # of saved stems, above which all are made
MAX_KEPT_COUNTS = 256  # texts of a graph whose stems are counted text by text, and kept


@dataclass(frozen=True)
class BM25:
    """Score nodes of the chosen kinds by BM25.

    Attributes:
        k1: how much a repeated word adds, >= 0.
        b: how far long passages are marked down, in [0, 1].
        kinds: the kinds of node that are searched.
        heading_weight: how often a word of a heading counts, >= 1.

    Example:
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red fox", "blue sky", "red sky at night"])
        >>> BM25().on(graph)(Query("a blue fox")).scores.round(2).tolist()
        [0.44, 0.44, 0.0]
    """

    k1: float = 1.5
    b: float = 0.75
    kinds: tuple[str, ...] = ("passage",)
    heading_weight: int = 2

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise ValueError(f"k1 is a number of at least 0; got {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b is a share from 0 to 1; got {self.b}")
        if self.heading_weight < 1:
            raise ValueError(
                f"heading_weight is a whole number of at least 1; got {self.heading_weight}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        index = graph.part(InvertedIndexPart(self.kinds, self.heading_weight))

        def find_seeds(query: Query) -> Seeds:
            scores = np.zeros(len(graph))
            weights = index.weights_in(canonical_text(graph, query.text))
            if not weights:
                note = "no word of the question occurs in the passages"
                return Seeds(scores, notes={"fallback": note})
            scores[index.rows] = index.postings.bm25(weights, self.k1, self.b)
            return Seeds(scores)

        return find_seeds


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """The stems of some nodes, and how often each node has each.

    Attributes:
        rows: the indexed nodes.
        stems: every stem and its number.
        forms: of each language, by its place in `languages`, every term as it is written, and the
            number of its stem.
        languages: the languages of the nodes, the most frequent first.
        postings: how often each of `rows` has each stem.
    """

    rows: Rows
    stems: Mapping[str, int]
    forms: tuple[Mapping[str, int], ...]
    languages: tuple[str, ...]
    postings: Postings

    def weights_in(self, text: str) -> Mapping[int, float]:
        """Return the number of each stem of a question that some node has, and how much it counts.

        It counts as often as it occurs, but a function word of English `FUNCTION_WEIGHT` times.
        The stems are those of the question's own language, or else of another one of the corpus.
        Several stages of a method ask for those of one question.
        """
        known = self._known_weights.get(text)
        return self._known_weights.put(text, self._weights_in(text)) if known is None else known

    @cached_property
    def _known_weights(self) -> Kept[str, Mapping[int, float]]:
        return Kept(MAX_KEPT_QUESTIONS)

    def _weights_in(self, text: str) -> Mapping[int, float]:
        every, own = terms(text), likely_language(text, self.languages)
        function_words = QUESTION_WORDS if own == "en" else frozenset[str]()
        weights = dict[int, float]()
        for term, (stem, is_known) in zip(every, self._stems(every, own), strict=True):
            if is_known:
                number = self.stems[stem]
                weight = FUNCTION_WEIGHT if term in function_words else 1.0
                weights[number] = weights.get(number, 0.0) + weight
        return weights

    def stems_of(
        self,
        text: str,
        left_out: AbstractSet[str] = frozenset(),
        left_out_if_rare: AbstractSet[str] = frozenset(),
    ) -> list[tuple[str, bool]]:
        """Return the stem of every term of a question, and whether some node has it.

        A term that no node has in any language is stemmed by the question's own.

        Args:
            text: the question.
            left_out: terms that are left out, unless there are no others.
            left_out_if_rare: those of the others that are left out, unless there are no others,
                where less than `MIN_COMMON` of the nodes have their stem.
        """
        every = terms(text)
        wanted = [term for term in every if term not in left_out] or every
        stems = self._stems(wanted, likely_language(text, self.languages))
        if left_out_if_rare.isdisjoint(wanted):
            return stems
        kept = [
            (stem, is_known)
            for term, (stem, is_known) in zip(wanted, stems, strict=True)
            if term not in left_out_if_rare or (is_known and self._is_common(stem))
        ]
        return kept or stems

    def _is_common(self, stem: str) -> bool:
        return self.postings.frequency(self.stems[stem]) >= MIN_COMMON * len(self.postings)

    def _stems(self, wanted: Sequence[str], own: str) -> list[tuple[str, bool]]:
        languages = dict.fromkeys([own, *self.languages])
        collected = list[tuple[str, bool]]()
        for stems in stems_in_each(wanted, languages):
            known = next((stem for stem in stems if self._has(stem)), None)
            collected.append((stems[0], False) if known is None else (known, True))
        return collected

    def numbers_of(self, wanted: Sequence[str]) -> list[set[int]]:
        """Return the numbers of the stems that each term has in the languages of the nodes."""
        stems = stems_in_each(wanted, self.languages)
        return [{self.stems[stem] for stem in of_one if self._has(stem)} for of_one in stems]

    def _has(self, stem: str) -> bool:
        return stem in self.stems and self.postings.has(self.stems[stem])

    def without_unused(self) -> InvertedIndex:
        """Return the index without the stems that no node has any more, and their forms."""
        n = len(self.stems)
        starts, texts, counts = self.postings.arrays(n)
        used = np.diff(starts) > 0
        if used.all():
            return self
        is_used, numbers = used.tolist(), (np.cumsum(used) - 1).tolist()
        stems = {stem: numbers[old] for stem, old in self.stems.items() if is_used[old]}
        forms = tuple(
            {form: numbers[old] for form, old in of_one.items() if is_used[old]}
            for of_one in self.forms
        )
        left = np.concatenate([[0], np.cumsum(np.diff(starts)[used])])
        postings = Postings.of_arrays(left, texts, counts, len(self.postings), len(stems))
        return replace(self, stems=stems, forms=forms, postings=postings)

    def rows_with(self, form: str) -> set[int]:
        """Return the nodes that have the stem of a term in some language."""
        numbers = {forms[form] for forms in self.forms if form in forms}
        return {row for n in numbers for row in self.rows[self.postings.texts_with(n)].tolist()}


@dataclass(frozen=True)
class InvertedIndexPart:
    """The part that computes the `InvertedIndex` of a graph.

    Attributes:
        kinds: the kinds of node that are indexed.
        heading_weight: how often a word of a heading counts, >= 1.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["The foxes are in the red wood.", "The sky is red."])
        >>> index = graph.part(InvertedIndexPart())
        >>> weights = index.weights_in("Is there a fox, or a cat?")
        >>> {stem: round(weights[n], 2) for stem, n in index.stems.items() if n in weights}
        {'fox': 1.0, 'is': 0.33}
    """

    kinds: tuple[str, ...] = ("passage",)
    heading_weight: int = 2

    def compute(self, graph: Graph) -> InvertedIndex:
        languages, rows = graph.part(LanguagesPart()), graph.rows(*self.kinds)
        same = self._of_same_rows(graph, rows)
        if same is not None:
            return same
        stems = dict[str, int]()
        if len(rows) <= MAX_KEPT_COUNTS:
            return self._of_few(graph, rows, languages)
        forms = [Forms(name, stems) for name in languages.names]
        if len(rows) < MIN_BY_RUNS:
            postings = Postings.of(self._numbered(graph, rows, languages, forms))
        else:
            postings = Postings.of_parts(self._parts(graph, rows, languages, forms))
        return InvertedIndex(rows, stems, tuple(map(dict, forms)), languages.names, postings)

    def _of_same_rows(self, graph: Graph, rows: Rows) -> InvertedIndex | None:
        """Return the index of the passages where these are all rows, as without reports.

        A second index of the same texts takes as much memory as all else of a question.
        """
        of_passages = replace(self, kinds=("passage",))
        if of_passages == self or not np.array_equal(rows, graph.rows(*of_passages.kinds)):
            return None
        return graph.part(of_passages)

    def _of_few(self, graph: Graph, rows: Rows, languages: Languages) -> InvertedIndex:
        """Return the index of a few nodes, such as candidates, by what is known of their texts."""
        some, places = rows.tolist(), languages.of_rows[rows].tolist()
        all_titles = titles_of_all(graph, some)
        texts = texts_with_headings(graph, some, all_titles)
        headings = [self._of_heading(graph, titles) for titles in all_titles]
        stems, postings = KEPT_STEMS.postings(
            [
                StemmedText(text, languages.names[place], of_heading)
                for text, place, of_heading in zip(texts, places, headings, strict=True)
            ]
        )

        def forms_of(place: int) -> dict[str, int]:
            forms = dict[str, int]()
            for text, of_heading, its_place in zip(texts, headings, places, strict=True):
                if its_place == place:
                    written = [*terms(text), *of_heading]
                    of_written = stem_words(written, languages.names[place])
                    for form, stem in zip(written, of_written, strict=True):
                        forms.setdefault(form, stems[stem])
            return forms

        late = tuple(
            LateForms(partial(forms_of, n), holds_texts=True) for n in range(len(languages.names))
        )
        return InvertedIndex(rows, stems, late, languages.names, postings)

    def _of_heading(self, graph: Graph, titles: Sequence[str]) -> list[str]:
        """Return the terms that the titles above a node add to its own."""
        if not titles or self.heading_weight <= 1:
            return []
        return terms(canonical_text(graph, "\n".join(titles))) * (self.heading_weight - 1)

    def grow(self, graph: Graph, base: Graph, before: InvertedIndex) -> InvertedIndex:
        """Return what `compute` returns; all texts are read again where a language changes."""
        languages, rows = graph.part(LanguagesPart()), graph.rows(*self.kinds)
        same = self._of_same_rows(graph, rows)
        if same is not None:
            return same
        old = languages.of_rows[: len(base)]
        if not _are_stemmed_alike(languages, before, old, base.part(LanguagesPart()).of_rows):
            return self.compute(graph)
        new = rows[rows >= len(base)]
        stems = _numbers_to_grow(before, int(graph.tokens[new].sum()))
        forms = [  # what a term of the new texts is, its stem says, too
            Forms(name, stems, known.added if isinstance(known, LateForms) else known)
            for name, known in zip(languages.names, before.forms, strict=True)
        ]
        postings = before.postings.with_texts(self._numbered(graph, new, languages, forms))
        grown = tuple(
            known.with_added(dict(own)) if isinstance(known, LateForms) else dict(own)
            for known, own in zip(before.forms, forms, strict=True)
        )
        return InvertedIndex(rows, stems, grown, languages.names, postings)

    def shrink(
        self, graph: Graph, base: Graph, stays: Mask, before: InvertedIndex
    ) -> InvertedIndex:
        """Return what `compute` returns, with stems that no node has any more.

        All texts are read again where a language changes.
        """
        same = self._of_same_rows(graph, graph.rows(*self.kinds))
        if same is not None:
            return same
        languages = graph.part(LanguagesPart())
        of_old = base.part(LanguagesPart()).of_rows[stays]
        if not _are_stemmed_alike(languages, before, languages.of_rows, of_old):
            return self.compute(graph)
        postings = before.postings.with_only(stays[before.rows])
        forms = tuple(
            dict(one) if isinstance(one, LateForms) and one.holds_texts else one
            for one in before.forms
        )
        return replace(before, rows=graph.rows(*self.kinds), forms=forms, postings=postings)

    def _numbered(
        self, graph: Graph, rows: Rows, languages: Languages, forms: Sequence[Forms]
    ) -> Iterator[list[int]]:
        """Yield the numbers of the stems of every node; a heading's as often as they count."""
        headings: dict[str, list[str]] = {}  # many nodes have one heading
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            some, places = block.tolist(), languages.of_rows[block].tolist()
            all_titles = titles_of_all(graph, some)
            lists = terms_of_all(texts_with_headings(graph, some, all_titles))
            if self.heading_weight > 1:
                for i, titles in enumerate(all_titles):
                    if titles:
                        key = "\n".join(titles)
                        if key not in headings:
                            headings[key] = terms(canonical_text(graph, key))
                        lists[i] = [*lists[i], *headings[key] * (self.heading_weight - 1)]
            for place, run in groupby(range(len(some)), places.__getitem__):
                yield from forms[place].numbers_of([lists[i] for i in run])

    def _parts(
        self, graph: Graph, rows: Rows, languages: Languages, forms: Sequence[Forms]
    ) -> Iterator[Postings]:
        """Yield the postings of some nodes each, of which all words are in memory at once."""
        stems = [RunStems(of_one, terms_of_all) for of_one in forms]
        size = max(MIN_PART, len(rows) // MAX_PARTS)
        for start in range(0, len(rows), size):
            own = rows[start : start + size]
            numbers, owners = self._numbered_by_runs(graph, own, languages, stems)
            yield Postings.of_pairs(numbers, owners, len(own))

    def _numbered_by_runs(
        self, graph: Graph, rows: Rows, languages: Languages, stems: Sequence[RunStems]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return what `_numbered` yields, and the place of the node that has each number."""
        numbers, owners = list[NDArray[np.int32]](), list[NDArray[np.int32]]()
        headings = cache(partial(canonical_text, graph))  # many nodes have one heading
        for start in range(0, len(rows), LARGE_BLOCK):
            block = rows[start : start + LARGE_BLOCK]
            some, places = block.tolist(), languages.of_rows[block].tolist()
            titles = titles_of_all(graph, some)
            searched = texts_with_headings(graph, some, titles)
            for place, run in groupby(range(len(some)), places.__getitem__):
                texts, nodes = list[str](), list[int]()
                for i in run:
                    own = [headings("\n".join(titles[i]))] * (self.heading_weight - 1)
                    texts += [searched[i], *own] if titles[i] else [searched[i]]
                    nodes += [start + i] * (len(texts) - len(nodes))
                found, of_text = stems[place].numbers_of(texts)
                numbers.append(found)
                owners.append(np.array(nodes, np.int32)[of_text])
        return np.concatenate(numbers), np.concatenate(owners)


def _numbers_to_grow(before: InvertedIndex, n_tokens: int) -> dict[str, int] | GrownNumbers[str]:
    """Return the numbers of stems, to which those of new texts can be added.

    A table of those that are saved is made only where many are looked up.

    Args:
        before: The stems that there are.
        n_tokens: The tokens of the new texts.
    """
    are_at_hand = isinstance(before.stems, dict)
    many = MAX_SHARE_LOOKED_UP * len(before.stems)
    return dict(before.stems) if are_at_hand or n_tokens > many else GrownNumbers(before.stems)


class LateForms(Mapping[str, int]):
    """The numbers of the stems of terms, found when one is first asked for: questions ask none.

    Args:
        make: Returns them.
        added: Those of the terms of texts that came later.
        holds_texts: Whether `make` has the texts of nodes, which may have gone.
    """

    def __init__(
        self,
        make: Callable[[], Mapping[str, int]],
        added: Mapping[str, int] = EMPTY,
        *,
        holds_texts: bool = False,
    ) -> None:
        self._make, self.added, self.holds_texts = make, added, holds_texts

    def with_added(self, added: Mapping[str, int]) -> LateForms:
        """Return these, but for other terms of texts that came later."""
        return LateForms(self._make, added, holds_texts=self.holds_texts)

    @cached_property
    def _forms(self) -> dict[str, int]:
        return {**self._make(), **self.added}

    @property
    def stored(self) -> object:
        """What they are found by, and they themselves once they are; see `clew.graph.sizes`."""
        return self._make, self.added, self.__dict__.get("_forms")

    def __getitem__(self, form: str) -> int:
        return self._forms[form]

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def __reduce__(self) -> tuple[type[dict[str, int]], tuple[dict[str, int]]]:
        return dict, (self._forms,)


def _are_stemmed_alike(
    languages: Languages, before: InvertedIndex, now: NDArray[np.int8], then: NDArray[np.int8]
) -> bool:
    """Whether nodes have the languages that they had before."""
    return languages.names == before.languages and np.array_equal(now, then)
