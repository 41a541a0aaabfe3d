"""What candidates lead to: the names by which a store is asked for what it has not found yet.

A question over several passages names what the first of them is about. What the next is about
stands in the first. A search by the question alone ranks the next one low; a search by that name,
or by the question and that name, finds it. A ranking of the names by a walk over the candidates'
facts finds no more than their ranks and counts do, and takes a graph.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

import numpy as np
from numpy.typing import ArrayLike, NDArray
from selectolax.lexbor import LexborHTMLParser

from clew.document import Document
from clew.graph import EMPTY
from clew.read import NamesAndSymbols, Passage, Triple, load_single
from clew.read.extract.name_reading import count_cased_words
from clew.read.extract.relations import ELLIPSIS
from clew.read.formats.markdown import find_links
from clew.read.langchain_documents import may_have_page_content
from clew.text.code_languages import is_source_code
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.metadata_text import text_under
from clew.text.words import fold_case, stand_side_by_side, words

READER = NamesAndSymbols()
LEADING = 10  # documents whose names are looked at
MIN_CAPITALS = 0.085
"""Different words with a capital within sentences, for each word of prose about what has a name.
Encyclopaedia articles have some .2, German ones .3; documentation and manual pages .03, minutes
.07. There a name that passages share says little of what they are about."""
MIN_NAMES = 0.06
"""Names for each word, which are counted in scripts without capitals."""
FEW_NAMES = "not followed: there are few in what was found"
BEGINNING = 5  # letters
LONG_WORD = 4  # letters, of words of the question that are looked for in what was found
LONG_BEGINNING = 6  # letters, by which such a word is known there
RANK_OFFSET = 2
"""Added to ranks by which what was found leads on. With 60, as for whole rankings, what is fifth by
both goes before what is first by one."""
MAX_TITLE = 120  # characters
LEAD_NAMES = 3  # that a further search is made with
LEAD_DOCUMENTS = 15  # that a further search may add to the candidates
BRIDGE_DOCUMENTS = 10  # the same of a search for a name by itself, which is about that alone
BRIDGE_NAMES = 2  # that are looked for by themselves
NAMED_DOCUMENTS = 3  # that are asked for such names
LEAD_SHARE = 0.95  # of the cosine with a further search, beside that with the question
FIRST_SHARE = 0.85  # the same, of what the question itself found
MAX_LINKS = 200  # names that one search asks for: some stores take no filter of thousands
HOPS = 2
MAX_HOPS = 5
TITLE_WORDS = Kept[str, tuple[str, ...]](4_096)
"""The words of titles: one comes again with its document, and is looked at twice a question."""
DECIMALS = 6
"""Of a cosine: below that stores differ, since some keep unit vectors and some vectors as given. Of
other scores, so that equal sums are equal in whatever order they were added."""


def lead_question(question: str, names: Iterable[str]) -> str:
    """Return what a store is asked for next: the question, and names that it leads to.

    Example:
        >>> lead_question("Where does the husband of Anna live?", ["Ben Okri"])
        'Where does the husband of Anna live? Ben Okri'
    """
    return f"{question} {'; '.join(names)}"


class LeadSearch(NamedTuple):
    """What a store is asked for next.

    Attributes:
        text: What is searched for.
        names: The names in it that the documents lead to.
        limit: How many documents may join what was found.
    """

    text: str
    names: tuple[str, ...]
    limit: int = LEAD_DOCUMENTS


@dataclass(eq=False)
class LeadSearches:
    r"""The further searches for a question, each made of what was found before.

    First come the names of `bridge_names`, each by itself: beside the question, which is about
    other things too, a store finds the document of such a name late. Then comes the question with
    the names of `names_to_follow`. Where what the question found has few names, as documentation
    has, none is followed, unless facts were given.

    Attributes:
        question: What is asked.
        followed: Names that were looked for already.
        has_names: Whether it has many, as `have_names` says; None where nobody has looked.

    Example:
        >>> from clew import Document
        >>> documents = [Document("a", "Blue Harbour\nIt was directed by Ben Okri in Rome.")]
        >>> searches = LeadSearches("Who is the director of Blue Harbour?")
        >>> searches.following(documents).text, searches.following(documents).text
        ('Ben Okri', 'Who is the director of Blue Harbour? Rome')
    """

    question: str
    followed: list[str] = field(default_factory=list)
    has_names: bool | None = None
    _bridges: list[str] | None = None

    def following(
        self, documents: Sequence[object], facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> LeadSearch | None:
        """Return the next search; None where nothing new is named.

        Args:
            documents: What was found, best first, and before it what the last search added.
            facts: Triples by document id, whose ends are names, too.
        """
        if self._bridges is None:
            if not facts:
                self.has_names = have_names(documents)
            if self.has_names is False:
                return None
            self._bridges = list(bridge_names(self.question, documents, facts))
        if self._bridges:
            name = self._bridges.pop(0)
            search = LeadSearch(name, (name,), BRIDGE_DOCUMENTS)
        else:
            names = names_to_follow(self.question, documents, facts, followed=self.followed)
            search = LeadSearch(lead_question(self.question, names), names)
        self.followed += search.names
        return search if search.names else None


def check_hops(hops: object, edges: object) -> tuple[tuple[str, str], ...]:
    """Return the edges as pairs of keys, once the number of hops is known to be one.

    Raises:
        ValueError: `hops` is no whole number from 0 to 5.
        TypeError: An edge is no pair of keys.

    Example:
        >>> check_hops(1, [("links", "url")])
        (('links', 'url'),)
    """
    if not isinstance(hops, int) or isinstance(hops, bool) or not 0 <= hops <= MAX_HOPS:
        raise ValueError(
            "hops is the number of further searches of the store, a whole number from 0 to "
            f"{MAX_HOPS}; got {hops!r}"
        )
    listed = [] if isinstance(edges, str) or not isinstance(edges, Iterable) else list(edges)
    pairs = [tuple(edge) if isinstance(edge, (tuple, list)) else edge for edge in listed]
    if (edges and not listed) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(key, str) for key in pair)
        for pair in pairs
    ):
        raise TypeError(
            "edges are pairs of keys of metadata, such as [('links', 'url')]: a document leads to "
            f"those whose second key has a value that its first key has; got {edges!r}"
        )
    return tuple(pairs)


def have_names(documents: Sequence[object]) -> bool:
    """Return whether the ten best documents have as many names as texts on what has a name.

    Source code has none. Fewer documents say too little of what there is: they do.

    Args:
        documents: What was found, best first: documents of clew's or a framework's.

    Example:
        >>> from clew import Document
        >>> films = [Document(str(i), "It was directed by Ben Okri in Rome.") for i in range(10)]
        >>> have_names(films)
        True
        >>> manual = [Document(str(i), "Press the button until it lights up.") for i in range(10)]
        >>> have_names(manual), have_names(manual[:9])
        (False, True)
    """
    if len(documents) < LEADING:
        return True
    best = _loaded(documents[:LEADING])
    if _are_mostly_code(best):
        return False
    n_words = sum(len(one.text.split()) for one in best)
    cased = count_cased_words(_passages(best))
    if 2 * cased.n >= n_words:
        return cased.capital >= MIN_CAPITALS * n_words
    names = sum(len({fold_case(name) for _, _, name in triples}) for triples in _read(best))
    return names >= MIN_NAMES * n_words


def bridge_names(
    question: str,
    documents: Sequence[object],
    facts: Mapping[str, Iterable[Triple]] | None = None,
    count: int = BRIDGE_NAMES,
) -> tuple[str, ...]:
    r"""Return the names that the question's own words tie to documents which it names.

    Of each document whose title stands in the question, that is the name of which most of the
    question's words are said there, the first of several: for a question on the directors of two
    films, both directors. A document of which none is said has no such name.

    Args:
        question: What is asked.
        documents: What was found, best first: documents of clew's or a framework's.
        facts: Triples by document id, whose ends are names, too.
        count: How many names at most.

    Example:
        >>> from clew import Document
        >>> documents = [
        ...     Document("a", "Blue Harbour\nA film by Anna Bell, directed by Ben Okri in Rome."),
        ...     Document("b", "Night Ferry\nA drama directed by Cleo Hart."),
        ... ]
        >>> question = "Is the director of Blue Harbour older than that of Night Ferry?"
        >>> bridge_names(question, documents)
        ('Ben Okri', 'Cleo Hart')
        >>> bridge_names("Is Blue Harbour a city?", documents)
        ()
    """
    present = tuple(words(question))
    named = _loaded(_named_documents(present, documents))
    prose = [one for one in named if not _is_code(one)][:NAMED_DOCUMENTS]
    names_of, known = _read_names(question, prose, facts)
    found: dict[str, str] = {}
    for names in names_of:
        tied = [
            (name.hits, -place, key)
            for place, (key, name) in enumerate(names.items())
            if name.hits and _is_new(key, name.text, known, present)
        ]
        if tied:
            key = max(tied)[2]
            found.setdefault(key, names[key].text)
    return tuple(islice(found.values(), count))


def names_to_follow(
    question: str,
    documents: Sequence[object],
    facts: Mapping[str, Iterable[Triple]] | None = None,
    count: int = LEAD_NAMES,
    *,
    followed: Collection[str] = (),
) -> tuple[str, ...]:
    r"""Return the names that documents lead to from a question, best first.

    The best documents are those that stand high by the search and by the question's rare words. For
    each of the ten best that has it, a name scores 1 / rank, divided by the number of names there
    and by the number of these documents that have it, times one more than the number of the
    question's words that are said of it there: of "directed by" for a question on a director.
    Documents whose titles stand in the question have the first rank, all of them: a question that
    compares two films leads to both directors. What the question names, and what a document is
    about, leads nowhere new. The names of programs lead to the wrong ones (`save`, `read`): where
    most documents are source code, there are none.

    Args:
        question: What is asked.
        documents: What was found, best first: documents of clew's or a framework's.
        facts: Triples by document id, whose ends are names, too.
        count: How many names at most.
        followed: Names that were looked for already.

    Example:
        >>> from clew import Document
        >>> documents = [Document("a", "Anna\nShe met Cleo Hart. She married Ben Okri in 1990.")]
        >>> names_to_follow("Where does the man live that Anna married?", documents, count=1)
        ('Ben Okri',)
    """
    present = tuple(words(question))
    titled, others = list[object](), list[object]()
    for candidate in _by_words_too(present, documents):
        is_titled = stand_side_by_side(_words_of_title(_title(candidate)), present)
        (titled if is_titled else others).append(candidate)
    best = _loaded([*titled, *others][:LEADING])
    if _are_mostly_code(best):
        return ()
    names_of, known = _read_names(question, best, facts)
    known |= {fold_case(name) for name in followed}
    found_in = Counter(key for names in names_of for key in names)
    scores: dict[str, float] = defaultdict(float)
    written: dict[str, str] = {}
    first_other = len(titled) - bool(titled)
    for i, names in enumerate(names_of, 1):
        rank = max(1, i - first_other)
        for key, (text, hits) in names.items():
            scores[key] += (1 + hits) / (rank * found_in[key] * len(names))
            written.setdefault(key, text)
    ranked = sorted(scores, key=lambda key: -scores[key])
    new = (key for key in ranked if _is_new(key, written[key], known, present))
    return tuple(written[key] for key in islice(new, count))


def _by_words_too(present: Sequence[str], documents: Sequence[object]) -> list[object]:
    """Return documents in the order of 1 / rank as they came and 1 / rank by the question's words.

    By words a document has the sum of log(n / number of documents with it) of the longer words of
    the question that stand in it: vectors of a small model find what is like the question, where
    the document that has its one rare word leads on.

    Args:
        present: The words of the question.
        documents: What was found, best first.
    """
    beginnings = dict.fromkeys(
        [word[:LONG_BEGINNING] for word in present if len(word) >= LONG_WORD]
    )
    if not beginnings:
        return list(documents)
    folded = [_folded(_text(document)) for document in documents]
    has = np.array([[beginning in text for text in folded] for beginning in beginnings], bool)
    counts = np.count_nonzero(has, axis=1)
    by_words = np.round(np.log((len(documents) + 1) / (counts + 0.5)) @ has, DECIMALS)
    of_rank = 1 / (RANK_OFFSET + np.arange(len(documents)))
    scores = of_rank.copy()
    scores[np.argsort(-by_words, kind="stable")] += of_rank
    order = np.argsort(-np.round(scores, DECIMALS), kind="stable")
    return [documents[i] for i in order.tolist()]


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else fold_case(text)


def _loaded(documents: Sequence[object]) -> list[Document]:
    return [one for one in map(load_single, documents) if one is not None]


def _passages(documents: Sequence[Document]) -> list[Passage]:
    return [
        Passage(one.id, one.text, _own_title(one.metadata), format=one.format) for one in documents
    ]


def _read(documents: Sequence[Document]) -> Sequence[Sequence[Triple]]:
    return READER.triples(_passages(documents))


def _is_code(document: Document) -> bool:
    return is_source_code(document.format, document.metadata)


def _are_mostly_code(documents: Sequence[Document]) -> bool:
    return 2 * sum(map(_is_code, documents)) > len(documents)


def _is_new(key: str, text: str, known: Collection[str], present: Sequence[str]) -> bool:
    return key not in known and not stand_side_by_side(tuple(words(text)), present)


def _read_names(
    question: str, documents: Sequence[Document], facts: Mapping[str, Iterable[Triple]] | None
) -> tuple[list[dict[str, _Name]], set[str]]:
    """Return the names in each document, in order and by what compares them, and their subjects."""
    read = _read(documents)
    asked, known, names_of = _beginnings(question), set[str](), list[dict[str, _Name]]()
    for document, triples in zip(documents, read, strict=True):
        known |= {fold_case(subject) for subject in {subject for subject, _, _ in triples}}
        names: dict[str, _Name] = {}
        given = (facts or {}).get(document.id, ())
        for relation, name in (*_names_in(triples, (2,)), *_names_in(given, (0, 2))):
            key, hits = fold_case(name), _hits(relation, asked)
            before = names.get(key)
            if before is None:
                names[key] = _Name(name, hits)
            elif hits > before.hits:
                names[key] = _Name(before.text, hits)
        names_of.append(names)
    return names_of, known


def links_in(text: str, name: str = "") -> tuple[str, ...]:
    """Return what the links of a text may call the documents that they lead to.

    These are the links of Markdown and of HTML, without what follows a "#": as seen from the
    document, and as they are written.

    Args:
        text: What is read.
        name: What the document itself is called, a URL or a path, to which its links are relative.

    Example:
        >>> links_in("See [the tides](../tides.md#high).", "https://sea.org/a/moon.md")
        ('https://sea.org/tides.md', '../tides.md')
        >>> links_in("See <a href='/ships'>ships</a>.", "https://sea.org/a/moon.md")
        ('https://sea.org/ships', '/ships')
    """
    targets = list(find_links(text))
    if "<a" in text:
        anchors = LexborHTMLParser(text).css("a[href]")
        targets += [anchor.attributes.get("href") or "" for anchor in anchors]
    found = list[str]()
    for written in targets:
        with suppress(ValueError):  # an address that is none
            if target := unquote(urldefrag(written.strip()).url):
                found += [urljoin(name, target), target]
    return tuple(dict.fromkeys(found))


def _named_documents(present: Sequence[str], documents: Sequence[object]) -> list[object]:
    """Return the documents whose titles stand in a question, one for each title.

    Of documents whose titles differ in what is in brackets alone, that is the first whose brackets
    stand there, too, or else the first. A title within another one is not meant.

    Args:
        present: The words of the question.
        documents: What was found, best first.
    """
    best: dict[tuple[str, ...], tuple[bool, object]] = {}
    for document in documents:
        title = _words_of_title(_title(document))
        if not stand_side_by_side(title, present):
            continue
        is_whole = stand_side_by_side(_words_of_title(_whole_title(document)), present)
        if title not in best or (is_whole and not best[title][0]):
            best[title] = (is_whole, document)
    return [
        document
        for title, (_, document) in best.items()
        if not any(other != title and stand_side_by_side(title, other) for other in best)
    ]


def _words_of_title(title: str) -> tuple[str, ...]:
    known = TITLE_WORDS.get(title)
    if known is None:
        known = tuple(words(title))
        if len(title) <= MAX_KEPT_TEXT:
            TITLE_WORDS.put(title, known)
    return known


def _title(document: object) -> str:
    """Return the title of a document, or its first line, without what is in brackets."""
    return _whole_title(document).partition("(")[0]


def _whole_title(document: object) -> str:
    first_line = _text(document)[:MAX_TITLE].partition("\n")[0]
    return _own_title(getattr(document, "metadata", EMPTY)) or first_line


def _text(document: object) -> str:
    kind: Any = type(document)  # which mypy does not know to be hashable
    text: str = getattr(document, "page_content", "") if may_have_page_content(kind) else ""
    return text or getattr(document, "text", "")


def _own_title(metadata: Mapping[str, object]) -> str:
    return " ".join(text_under(metadata, "title").split()) if "title" in metadata else ""


class _Name(NamedTuple):
    """A name as a document writes it, and how many words of the question are said of it there."""

    text: str
    hits: int


def _names_in(triples: Iterable[Triple], ends: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield (relation, name) for some ends of triples."""
    for triple in triples:
        for end in ends:
            yield triple[1], triple[end]


@lru_cache(4096)  # the relations of a document that is found again come again
def _beginnings(text: str) -> frozenset[str]:
    """Return the first letters of longer words, by which "director" is known in "directed"."""
    return frozenset([word[:BEGINNING] for word in words(text) if len(word) >= BEGINNING])


def _hits(relation: str, asked: frozenset[str]) -> int:
    """Return how many of the question's words a relation has."""
    own = relation.removeprefix(ELLIPSIS)  # which is no word
    if own.isascii():  # most have none of them, which shows at once
        folded = own.lower()
        if not any(map(folded.__contains__, asked)):
            return 0
    return len(_beginnings(own) & asked)


def cosines_by_id(
    vectors: Mapping[str, ArrayLike],
    question: ArrayLike,
    leads: Sequence[ArrayLike] = (),
    first: Collection[str] = (),
) -> dict[str, float]:
    """Return how near each vector is to the question or to what it leads to, by the same ids.

    That is the highest of the cosine with the question and `LEAD_SHARE` of each cosine with a
    further search: what only the bridge's name finds is far from the question itself. What the
    question found has `FIRST_SHARE` of these.

    Args:
        vectors: The vectors of documents, by id.
        question: The question's vector.
        leads: The vectors of further searches; see `LeadSearches`.
        first: The ids of what the question found.

    Example:
        >>> cosines_by_id({"a": [3, 4], "b": [1, 0]}, [0, 2])
        {'a': 0.8, 'b': 0.0}
        >>> cosines_by_id({"a": [3, 4], "b": [1, 0]}, [0, 2], leads=[[1, 0]])
        {'a': 0.8, 'b': 0.95}
        >>> cosines_by_id({"a": [3, 4], "b": [1, 0]}, [0, 2], leads=[[1, 0]], first=["b"])
        {'a': 0.8, 'b': 0.85}
    """
    if not vectors:
        return {}
    rows = _rows_of(list(vectors.values()))
    lengths = np.linalg.norm(rows, axis=1)
    nearness = _cosines(rows, lengths, question)
    of_question = frozenset(first)
    shares = np.array([FIRST_SHARE if id in of_question else LEAD_SHARE for id in vectors])
    for lead in leads:
        nearness = np.maximum(nearness, shares * _cosines(rows, lengths, lead))
    return dict(zip(vectors, np.round(nearness, DECIMALS).tolist(), strict=True))


def _rows_of(vectors: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return vectors as the rows of an array; of lists, which stores have, in half the time."""
    lists = [vector for vector in vectors if isinstance(vector, list)]
    width = len(lists[0]) if lists else 0
    if len(lists) == len(vectors) and all(len(one) == width for one in lists):
        pack = struct.Struct(f"{width}d").pack
        with suppress(struct.error):  # not numbers alone, of which numpy says more
            rows = b"".join([pack(*numbers) for numbers in lists])
            return np.frombuffer(rows, np.float64).reshape(len(lists), width)
    return np.array(vectors, np.float64)


def _cosines(
    rows: NDArray[np.float64], row_lengths: NDArray[np.float64], question: ArrayLike
) -> NDArray[np.float64]:
    asked = np.asarray(question, np.float64)
    lengths = row_lengths * np.linalg.norm(asked)
    products: NDArray[np.float64] = np.einsum("ij,j->i", rows, asked)
    products[lengths == 0] = 0
    return products / np.where(lengths > 0, lengths, 1.0)
