"""Relevance: is what nothing answers told from what something answers, and where is the line?

    python -m tests.benchmarks.relevance --cache CACHE --sources SOURCES
    python -m tests.benchmarks.relevance --cache CACHE --sources SOURCES --half held
    python -m tests.benchmarks.relevance --cache CACHE --sources SOURCES --half held --at-best

The first line fits the coefficients of `clew.relevance` on the tune halves of the everyday sets, and
prints them with the threshold at which 3 in 100 of the answerable questions are lost. A question of
a set is asked of the whole folder, and of parts of 1 to 50 files which have some answers, so that
the number of passages is learnt too; the parts are drawn with a fixed seed. Every set weighs the same, a part
a fifth of the whole, and questions with and without an answer alike. The regression is over the most
relevant passage of each question, which depends on the coefficients, so it is fitted until they stay. What
is printed as "told" is that of coefficients fitted on all other sets.

The second line fits nothing: it shows for every set what the coefficients and the default of clew's own
code say, and what would be told at best, by lines that are chosen on the very questions. The third shows
how far these features reach at most, by coefficients that are fitted on the very questions, too, and by a
forest of decision trees, which bends where a line cannot: for each set one that has seen all others. The
first and the third need scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.relevance import (
    FITTED,
    MIN_RELEVANCE,
    MIN_RELEVANCE_IN_CODE,
    Coefficients,
    QuestionRelevance,
    features,
)
from tests.benchmarks.everyday import (
    add_corpora,
    build_index,
    corpora_of,
    folder_and_questions,
    index_of,
)
from tests.benchmarks.rivals import require

PARTS = (1, 2, 5, 15, 50)  # files
DRAWN = 2  # parts of each size
FOREIGN = 5  # questions that nothing answers, of each part
LOST = 0.03
ROUNDS = 8
PART_WEIGHT = 0.2


@dataclass(frozen=True)
class Case:
    """A question asked of a folder.

    Attributes:
        corpus: The name of the set.
        files: How many files were read; 0 for all.
        answerable: Whether one of them answers.
        of_code: Whether most documents are source code, which has a line of its own.
        candidates: The features of the passages that may be the most relevant.
    """

    corpus: str
    files: int
    answerable: bool
    of_code: bool
    candidates: Any


def cases_of(index: clew.Index, corpus: str, files: int, records: list[Any]) -> Iterator[Case]:
    """Yield a case for each question that has words."""
    for record in records:
        vector = np.asarray(index.embed_question(record["question"]), np.float32)
        length = np.linalg.norm(vector)
        found = QuestionRelevance.of_question(
            index.graph, record["question"], vector / length if length else vector
        )
        if found is not None:
            candidates = features(*found.best_candidates())
            yield Case(corpus, files, record["answerable"], index.is_of_code, candidates)


def cases_of_parts(
    folder: Path, corpus: str, records: list[Any], options: argparse.Namespace
) -> Iterator[Case]:
    """Yield the cases of small parts of a folder."""
    rng = random.Random(corpus)
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    answerable = [record for record in records if record["answerable"]]
    others = [record for record in records if not record["answerable"]]
    for size in PARTS * DRAWN:
        if size >= len(paths):
            continue
        asked = rng.sample(answerable, min(len(answerable), max(1, size // 2)))
        wanted = dict.fromkeys(record["gold"][0]["file"] for record in asked)
        wanted |= dict.fromkeys(rng.sample(paths, size))
        chosen = set(list(wanted)[:size])
        with tempfile.TemporaryDirectory() as part:
            for path in chosen:
                target = Path(part, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / path, target)
            index = build_index(Path(part), options)
        inside = [one for one in answerable if {place["file"] for place in one["gold"]} & chosen]
        foreign = rng.sample(others, min(FOREIGN, len(others)))
        yield from cases_of(index, corpus, size, inside + foreign)


def logits(cases: list[Case], coefficients: Any) -> Any:
    """Return that of the most relevant passage of each case."""
    return np.array([(case.candidates @ coefficients).max() for case in cases])


def fit(cases: list[Case]) -> Any:
    """Return the coefficients, float64 [6], that tell the cases apart."""
    linear = require("sklearn.linear_model")
    strata = Counter((case.corpus, case.files, case.answerable) for case in cases)
    weights = np.array(
        [
            (PART_WEIGHT if case.files else 1) / strata[case.corpus, case.files, case.answerable]
            for case in cases
        ]
    )
    weights *= len(cases) / weights.sum()
    labels = [case.answerable for case in cases]
    coefficients = np.array(FITTED)
    for _ in range(ROUNDS):
        best = np.array(
            [case.candidates[(case.candidates @ coefficients).argmax()] for case in cases]
        )
        scale = best.std(axis=0) + (best.std(axis=0) == 0)
        model = linear.LogisticRegression(C=10.0, fit_intercept=False, max_iter=1000)
        model.fit(best / scale, labels, sample_weight=weights)
        coefficients = model.coef_[0] / scale
    return coefficients


def report(cases: list[Case], values: Any, thresholds: Any) -> None:
    """Print how many of the questions without and with an answer are below their thresholds.

    For each set, asked of the whole folder, and for each size of part.
    """
    has_answer, below = np.array([case.answerable for case in cases]), values < thresholds
    for title, key in (("set", "corpus"), ("files", "files")):
        for name in dict.fromkeys(getattr(case, key) for case in cases):
            rows = [
                i
                for i, case in enumerate(cases)
                if getattr(case, key) == name and (key == "files" or not case.files)
            ]
            if rows:
                own, has = below[rows], has_answer[rows]
                told = f"told {own[~has].sum():4} of {(~has).sum():4}"
                print(
                    f"{title} {name or 'all'!s:12} {told}  lost {own[has].sum():4} of {has.sum():4}"
                )


def report_at_best(how: str, values: Any, has_answer: Any, of_code: Any) -> None:
    """Print what lines would tell that are chosen on these very questions and lose 3 in 100.

    There is one for questions on code and one for the others.
    """
    below = np.zeros(len(values), np.bool_)
    for own in (of_code, ~of_code):
        if (own & has_answer).any():
            below[own] = values[own] < np.quantile(values[own & has_answer], LOST)
    print(
        f"{how}, lines chosen on these questions: told {below[~has_answer].sum()} of "
        f"{(~has_answer).sum()}, lost {below[has_answer].sum()} of {has_answer.sum()}"
    )


def fitted_apart(cases: list[Case], of_code: Any) -> Any:
    """Return the logits by coefficients that are fitted on these questions, two sets of them."""
    values = np.zeros(len(cases))
    for own in (of_code, ~of_code):
        some = [case for case, is_own in zip(cases, own, strict=True) if is_own]
        if len({case.answerable for case in some}) == 2:
            values[own] = logits(some, fit(some))
    return values


def told_by_trees(cases: list[Case]) -> Any:
    """Return how likely each question has an answer, by trees that have seen all other sets."""
    ensemble = require("sklearn.ensemble")
    coefficients = np.array(FITTED)
    best = np.array([one.candidates[(one.candidates @ coefficients).argmax()] for one in cases])
    has_answer = np.array([case.answerable for case in cases])
    values, corpora = np.zeros(len(cases)), np.array([case.corpus for case in cases])
    for corpus in dict.fromkeys(corpora):
        inside = corpora == corpus
        forest = ensemble.RandomForestClassifier(
            500, min_samples_leaf=5, class_weight="balanced", random_state=0
        )
        forest.fit(best[~inside], has_answer[~inside])
        values[inside] = forest.predict_proba(best[inside])[:, 1]
    return values


SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --half held"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--embedder", help="any that clew takes (default: clew's own)")
    parser.add_argument("--keep-index", type=Path, help="as in the everyday benchmark")
    parser.add_argument("--at-best", action="store_true", help="see above")
    parser.set_defaults(names=False, sentences=False)
    options = parser.parse_args()
    cases = []
    own = corpora_of(options.corpora) if options.folder is None else [str(options.folder)]
    if options.at_best and len(own) < 2:
        parser.error("--at-best needs two sets at least: trees see all but one")
    for corpus in own:
        folder, questions = folder_and_questions(corpus, options)
        lines = questions.read_text("utf-8").splitlines()
        records = [record for record in map(json.loads, lines) if record["half"] == options.half]
        cases += cases_of(index_of(folder, options), corpus, 0, records)
        if options.half == "tune":
            cases += cases_of_parts(folder, corpus, records, options)
    has_answer = np.array([case.answerable for case in cases])
    whole = np.array([not case.files for case in cases])
    if options.half == "tune":
        values = np.zeros(len(cases))
        for corpus in own:
            inside = np.array([case.corpus == corpus for case in cases])
            others = [case for case in cases if case.corpus != corpus]
            values[inside] = logits([case for case in cases if case.corpus == corpus], fit(others))
        threshold = float(np.quantile(values[has_answer & whole], LOST))
        print("fitted on all other sets:")
        report(cases, values, threshold)
        coefficients = fit(cases)
        values = logits(cases, coefficients)
        threshold = float(np.quantile(values[has_answer & whole], LOST))
        print(Coefficients(*coefficients.round(3).tolist()))
        print(f"threshold {1 / (1 + np.exp(-threshold)):.3f}")
    else:
        values = logits(cases, np.array(FITTED))
        of_code = np.array([case.of_code for case in cases])
        least = np.where(of_code, MIN_RELEVANCE_IN_CODE, MIN_RELEVANCE)
        threshold = np.log(least / (1 - least))
        report_at_best("clew's coefficients", values, has_answer, of_code)
        if options.at_best:
            fitted = logits(cases, fit(cases))
            report_at_best("coefficients fitted on these", fitted, has_answer, of_code)
            apart = fitted_apart(cases, of_code)
            report_at_best("those of code apart", apart, has_answer, of_code)
            report_at_best("trees", told_by_trees(cases), has_answer, of_code)
    report(cases, values, threshold)


if __name__ == "__main__":
    main()
