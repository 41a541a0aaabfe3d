"""What could the same words tell at best? Rankers and judges that are learned from them.

    python -m tests.benchmarks.learned --cache CACHE --sources SOURCES

The default ranks passages, and says that nothing answers, by a few formulas whose numbers were chosen by hand. Here
machines choose: of every passage among the `TOP` best of the default some thirty measures are taken of
what its words, its place and clew's vectors say of the question, and boosted trees and a logistic regression learn
from the questions of all other corpora which passage answers, and whether any does. Corpora of one
folder or of one kind of text are left out together; of a single folder the questions are taken in three parts. What they gain is about what better formulas
over the same words could gain; what is missing beyond it needs to know what words mean.

The first table has the gain over the default at 1, 3 and 10, in thousandths, as the mean over corpora. The
second has the share of the questions without an answer that are told, where `LOST` of those with one are
lost: of each group at the line that does so in it.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew import recipes
from clew.graph import titles_of
from clew.relevance import QuestionRelevance, relevance
from clew.seed import Dense
from clew.text.stems import FUNCTION_WORDS
from clew.types import Query
from tests.benchmarks.bm25s_rival import CAPITALS, LANGUAGES, SIGNS
from tests.benchmarks.everyday import (
    GROUPS,
    KS,
    QuotedQuestion,
    add_corpora,
    index_of,
    is_hit,
    places_of,
    read_questions,
)
from tests.benchmarks.rivals import require

TOP = 60  # passages that are ranked anew
WINDOW = 20  # words within which several of the question count as near
LOST = (0.015, 0.03)
PARTS = 3  # of the questions of a single folder
TOGETHER = (("howto", "tasks", "posts", "chores", "python"), GROUPS["languages"])
SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --half all"


@dataclass
class Asked:
    """One question and the best passages of the default.

    Attributes:
        measures: float64 [passages, measures], the best first.
        answers: bool [passages], which of them answer.
        is_answerable: Whether the folder has an answer.
        relevance: The highest that clew gives a passage.
        whole: float64 [measures of the question].
    """

    measures: Any
    answers: Any
    is_answerable: bool
    relevance: float
    whole: Any


class Texts:
    """The words of a corpus as stems."""

    def __init__(self, graph: clew.Graph, language: str) -> None:
        self.graph, self.rows = graph, graph.rows("passage")
        is_spaced = language != "chinese"
        stemmer = require("Stemmer").Stemmer(language) if is_spaced else None
        pattern = re.compile(r"[^\W_]+" if is_spaced else SIGNS)

        def split(text: str) -> list[str]:
            found = [word.lower() for word in pattern.findall(CAPITALS.sub(" ", text))]
            return stemmer.stemWords(found) if stemmer else found

        self.split = split
        self.bodies = [split(graph.texts[row]) for row in self.rows.tolist()]
        self.headings_of = functools.cache(
            lambda row: [split(title) for title in reversed(titles_of(graph, row))]
        )
        self.counts: Counter[str] = Counter()
        for row, body in zip(self.rows.tolist(), self.bodies, strict=True):
            self.counts.update({*body}.union(*self.headings_of(row)))

    def idf(self, stem: str) -> float:
        n, has = len(self.rows), self.counts[stem]
        return float(np.log(1 + (n - has + 0.5) / (has + 0.5))) if has else 0.0


def closeness(body: list[str], stems: list[str], idf: Any) -> tuple[float, float]:
    """Return how near neighbours in the question stand, and the most idf within `WINDOW` words."""
    places = [(at, stem) for at, stem in enumerate(body) if stem in stems][:200]
    near = 0.0
    for pair in itertools.pairwise(stems):
        first, second = ([at for at, stem in places if stem == one] for one in pair)
        if first and second:
            least = min(abs(one - other) for one in first for other in second)
            near += 1.0 if least <= 1 else 0.6 if least <= 3 else 0.3 if least <= 8 else 0.0
    of_stem = dict(zip(stems, idf, strict=True))
    most = 0.0
    for start, (at, _) in enumerate(places):
        within = {stem for other, stem in places[start:] if other - at <= WINDOW}
        most = max(most, sum(of_stem[stem] for stem in within))
    return near / max(len(stems) - 1, 1), most


def ask(texts: Texts, index: clew.Index, find: Any, dense: Any, question: QuotedQuestion) -> Asked:
    """Return the measures of the best passages."""
    graph, rows = texts.graph, texts.rows
    vector = np.asarray(index.embed_question(question.text), np.float32)
    vector = vector / (np.linalg.norm(vector) or 1)
    query = Query(question.text, vector)
    scores, cosines = find(query).scores[rows], dense(query).scores[rows]
    best = [place for place in np.argsort(-scores, kind="stable")[:TOP] if scores[place] > 0]
    stems = list(dict.fromkeys(texts.split(question.text)))
    stems = [stem for stem in stems if stem not in FUNCTION_WORDS] or stems
    idf = np.array([texts.idf(stem) for stem in stems])
    total = float(idf.sum()) or 1.0
    rarest = int(idf.argmax()) if len(stems) else 0
    parents = graph.parents[rows]

    def share(words: Iterable[str]) -> float:
        return float(idf @ [stem in words for stem in stems]) / total

    measured = []
    for rank, place in enumerate(best):
        body, headings = texts.bodies[place], texts.headings_of(int(rows[place]))
        own, nearest = set(body), set(headings[0]) if headings else set()
        above = set().union(*headings)
        near, window = closeness(body, stems, idf)
        times = np.array([body.count(stem) for stem in stems])
        begins = {word[:4] for word in own if len(word) > 3}
        alike = [stem not in own and stem[:4] in begins for stem in stems]
        text = graph.texts[int(rows[place])]
        beside = [scores[one] for one in (place - 1, place + 1) if 0 <= one < len(rows)]
        measured.append(
            [
                scores[place] / scores[best[0]],
                np.log(scores[place] / scores[best[0]]),
                rank,
                cosines[place],
                cosines[place] / (cosines.max() or 1),
                share(own),
                share(nearest),
                share(above),
                share(own | above),
                near,
                window / total,
                len(nearest & {*stems}) / max(len(nearest), 1),
                np.log1p(len(body)),
                len(headings),
                place == 0 or parents[place - 1] != parents[place],
                max(beside, default=0.0) / scores[best[0]],
                share(set(body[:15])),
                float(idf @ alike) / total,
                bool(stems) and stems[rarest] in own,
                bool(stems) and stems[rarest] in own | above,
                float(idf @ (times / (times + 0.3 + 0.9 * len(body) / 120))) / total,
                len(stems),
                sum(not texts.counts[stem] for stem in stems),
                total / max(len(stems), 1),
                np.mean(parents[best[:20]] == parents[place]),
                "=" in text or "()" in text,
                text.count("\n") / max(len(body), 1),
            ]
        )
    measures = np.array(measured, np.float64).reshape(len(best), -1)
    items = index.graph.texts
    answers = [bool(question.places) and is_hit(question, (), items[int(rows[at])]) for at in best]
    found = QuestionRelevance.of_question(graph, question.text, vector)
    coverage, deviation, *others = found.best_candidates()
    of_best = relevance(coverage, deviation, *others)
    whole = [found.best, coverage.max(), deviation.max(), *others, np.sort(of_best)[-3:].mean()]
    return Asked(
        measures, np.array(answers, bool), bool(question.places), found.best, np.array(whole)
    )


def beside_each_other(measures: Any) -> Any:
    """Return the measures, and how far each stands out among those of its question."""
    return np.hstack([measures, (measures - measures.mean(0)) / (measures.std(0) + 1e-6)])


def of_question(asked: Asked) -> Any:
    """Return measures of a question as a whole: of its best passage, and of the best by each."""
    measures = (
        asked.measures if len(asked.measures) else np.zeros((1, asked.measures.shape[1] or 27))
    )
    ranked = -np.sort(-measures, axis=0)
    return np.concatenate(
        [asked.whole, measures[0], ranked[0], ranked[:3].mean(0), ranked[:10].mean(0)]
    )


def learners() -> dict[str, Callable[[], Any]]:
    """Return what learns, by name."""
    ensemble, pipeline = require("sklearn.ensemble"), require("sklearn.pipeline")
    linear, preprocessing = require("sklearn.linear_model"), require("sklearn.preprocessing")
    return {
        "boosted trees": lambda: ensemble.HistGradientBoostingClassifier(
            max_iter=150,
            learning_rate=0.05,
            max_leaf_nodes=12,
            min_samples_leaf=100,
            l2_regularization=5,
            random_state=0,
        ),
        "logistic regression": lambda: pipeline.make_pipeline(
            preprocessing.StandardScaler(), linear.LogisticRegression(C=0.05, max_iter=2000)
        ),
    }


def learned(
    make: Callable[[], Any], samples: dict[str, tuple[Any, Any, Any]]
) -> Callable[[str], Callable[[Any], Any]]:
    """Return what scores rows of a corpus, learned from the others.

    Args:
        make: Returns a learner.
        samples: By corpus, rows, labels and weights.
    """

    @functools.cache
    def score_without(left_out: tuple[str, ...]) -> Callable[[Any], Any]:
        rows, labels, weights = (
            np.concatenate([own[i] for corpus, own in samples.items() if corpus not in left_out])
            for i in range(3)
        )
        if len({*labels.tolist()}) < 2:
            return lambda rows: np.zeros(len(rows))
        model = make()
        steps = getattr(model, "steps", None)
        name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        return model.fit(rows, labels, **{name: weights}).decision_function

    def score_of(corpus: str) -> Callable[[Any], Any]:
        return score_without(next((group for group in TOGETHER if corpus in group), (corpus,)))

    return score_of


def hits(corpora: dict[str, list[Asked]], score: Callable[[str, Asked], Any]) -> Any:
    """Return hit@1, 3 and 10 as the mean over corpora."""
    means = []
    for corpus, questions in corpora.items():
        figures = []
        for asked in questions:
            if asked.is_answerable:
                order = np.argsort(-score(corpus, asked), kind="stable")
                figures.append([asked.answers[order[:k]].any() for k in KS])
        means.append(np.mean(figures, axis=0))
    return np.mean(means, axis=0)


def show_ranking(corpora: dict[str, list[Asked]]) -> None:
    """Print what the rankers gain."""
    samples = {}
    for corpus, questions in corpora.items():
        telling = [one for one in questions if 0 < one.answers.sum() < len(one.answers)]
        rows = [beside_each_other(one.measures) for one in telling]
        weights = [np.where(one.answers, 1 / one.answers.sum(), 1 / 20) for one in telling]
        if telling:
            labels = np.concatenate([one.answers for one in telling])
            every = np.concatenate(weights) / len(telling)
            samples[corpus] = np.vstack(rows), labels, every
    before = hits(corpora, lambda _, asked: -asked.measures[:, 2])
    print("| | hit@1 | hit@3 | hit@10 |\n|---|---|---|---|")
    print("| the default |", " | ".join(f"{value:.3f}" for value in before), "|")
    for name, make in learners().items():
        score_of = learned(make, samples)
        after = hits(
            corpora,
            lambda corpus, asked, score_of=score_of: (
                score_of(corpus)(beside_each_other(asked.measures))
                if len(asked.measures)
                else np.zeros(0)
            ),
        )
        gains = " | ".join(f"{1000 * gain:+.0f}" for gain in after - before)
        print(f"| {name} | {gains} |", flush=True)


def show_judging(corpora: dict[str, list[Asked]]) -> None:
    """Print what the judges tell."""
    samples = {}
    for corpus, questions in corpora.items():
        labels = np.array([one.is_answerable for one in questions])
        share = np.clip(labels.mean(), 1e-3, 1 - 1e-3)
        weights = np.where(labels, 1 / share, 1 / (1 - share)) / len(labels)
        samples[corpus] = np.array([of_question(one) for one in questions]), labels, weights
    judges: dict[str, dict[str, Any]] = {
        "clew's relevance": {
            corpus: np.array([one.relevance for one in questions])
            for corpus, questions in corpora.items()
        }
    }
    for name, make in learners().items():
        score_of = learned(make, samples)
        judges[name] = {corpus: score_of(corpus)(own[0]) for corpus, own in samples.items()}
    code = set(GROUPS["code"])
    groups = {
        "prose": [corpus for corpus in corpora if corpus not in code],
        "source code": [corpus for corpus in corpora if corpus in code],
    }
    titles = [f"{group}, {lost:.1%} lost" for group in groups for lost in LOST]
    print(f"\n| told of those without an answer | {' | '.join(titles)} |")
    print("|---" * (1 + len(titles)) + "|")
    for name, scores in judges.items():
        print(f"| {name} |", end="")
        for own in groups.values():
            if not own:
                print(" - |" * len(LOST), end="")
                continue
            values = np.concatenate([scores[corpus] for corpus in own])
            labels = np.concatenate([samples[corpus][1] for corpus in own])
            for lost in LOST:
                line = np.quantile(values[labels], lost) if labels.any() else 0.0
                told = (values[~labels] < line).mean() if (~labels).any() else np.nan
                print(f" {told:.0%} |", end="")
        print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--keep-index", type=Path, help="as in `everyday`")
    options = parser.parse_args()
    options.names, options.sentences, options.embedder = False, False, None
    corpora: dict[str, list[Asked]] = {}
    for corpus, folder, path in places_of(parser, options):
        index = index_of(folder, options)
        texts = Texts(index.graph, LANGUAGES.get(corpus, "english"))
        find, dense = recipes.PASSAGES.on(index.graph), Dense().on(index.graph)
        questions = read_questions(path, options.half)
        corpora[corpus] = [ask(texts, index, find, dense, question) for question in questions]
        print(f"{corpus}: {len(questions)} questions", flush=True)
    if len(corpora) == 1:
        ((corpus, questions),) = corpora.items()
        corpora = {f"{corpus} {part}": questions[part::PARTS] for part in range(PARTS)}
    print()
    show_ranking(corpora)
    show_judging(corpora)


if __name__ == "__main__":
    main()
