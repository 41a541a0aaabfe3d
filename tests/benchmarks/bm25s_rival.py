"""BM25 with stemming, as the package bm25s has it, over the same passages under their headings.

    pip install bm25s PyStemmer

Words are stemmed by PyStemmer in the language of the corpus, and the package's own stop words of
that language are left out, in English those of its longer list. Names such as read_csv are two words.
Chinese is written without spaces, so that the package's own pattern takes a whole clause as one
word: there every sign is a word, and nothing is stemmed. Of the package's settings these were best
on the halves `tune`: bm25+ for lucene, atire, bm25l and robertson, the longer list for the shorter one, names in
parts for names as they are, signs for pairs of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from clew.graph import texts_with_headings
from clew.types import Seeds
from tests.benchmarks.rivals import require

WORDS = r"(?u)[^\W_][^\W_]+"  # the package's own pattern, but that names are taken apart
SIGNS = r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+"  # a Han sign, or a word of others
CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # parts of readCSVFile
LANGUAGES = {name: name for name in ("german", "spanish", "russian", "chinese")}  # of corpora
STOP_WORDS = {"english": "english_plus"}


@dataclass(frozen=True)
class BM25S:
    """Score passages by bm25s.

    Attributes:
        language: of the corpus, as bm25s and PyStemmer name it.
        names: take names such as readCSVFile apart, too, which is no setting of the package.
        method: the variant of BM25, as bm25s names it.
    """

    language: str = "english"
    names: bool = False
    method: str = "bm25+"

    def on(self, graph):
        bm25s, rows = require("bm25s"), graph.rows("passage")
        is_spaced = self.language != "chinese"
        stemmer = require("Stemmer").Stemmer(self.language) if is_spaced else None

        def split(texts):
            return bm25s.tokenize(
                [CAPITALS.sub(" ", text) for text in texts] if self.names else texts,
                token_pattern=WORDS if is_spaced else SIGNS,
                stopwords=STOP_WORDS.get(self.language, self.language),
                stemmer=stemmer,
                return_ids=False,
                show_progress=False,
                allow_empty=False,
            )

        model = bm25s.BM25(method=self.method)
        model.index(split(texts_with_headings(graph, rows.tolist())), show_progress=False)

        def find_seeds(query):
            scores, words = np.zeros(len(graph)), split([query.text])[0]
            if any(word in model.vocab_dict for word in words):
                scores[rows] = model.get_scores(words)
            return Seeds(scores)

        return find_seeds
